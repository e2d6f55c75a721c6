import Foundation
import TarnStore

/// The effects that a change in the open write has on observed properties.
extension PropertyTable {
  /// Assigning a link to an embedded object deletes the former object, and removes the new one from
  /// its former owner.
  func effects(
    ofSetting column: ColumnID, of row: ObjectRef, to value: Value, in session: WriteSession?
  ) -> [PropertyEffect] {
    let assignment = PropertyEffect(row, column)
    guard let session, let target = session.schema[row.classID][column].target,
      session.schema.isEmbedded(target)
    else { return [assignment] }
    let described = session.schema[row.classID][column]
    let former = trapping { () throws(StorageError) in
      try session.value(of: column, at: row.key, in: row.classID)
    }
    let (old, new) = (former.flatMap(described.linkTarget), described.linkTarget(of: value))
    if old == new { return [assignment] }
    return [assignment]
      + effects(
        ofDeleting: old.map { [$0] } ?? [], taking: new.map { [$0] } ?? [], in: session
      ) {
        $0.row == row && $0.column == column
      }
  }

  /// The effects of deleting objects: on the objects themselves, and on the properties that lose a
  /// link to them or an embedded object that moves to another owner.
  ///
  /// - Parameter isKnown: true for effects that the caller reports itself.
  func effects(
    ofDeleting objects: [ObjectRef], taking taken: [ObjectRef] = [], in session: WriteSession?,
    except isKnown: (PropertyEffect) -> Bool = { _ in false }
  ) -> [PropertyEffect] {
    guard let session, !(objects.isEmpty && taken.isEmpty) else { return [] }
    let bystanders = trapping { () throws(StorageError) in
      try session.bystanders(ofDeleting: objects, taking: taken)
    }
    let lost = Set(bystanders.gone + taken)
    var effects = bystanders.gone.map { PropertyEffect($0, .leaving(forGood: false)) }
    for origin in bystanders.origins {
      let row = ObjectRef(classID: origin.classID, key: origin.key)
      guard watches(row, origin.column) else { continue }
      let effect = effect(on: row, origin.column, in: session) { lost.contains($0) }
      if let effect, !isKnown(effect) { effects.append(effect) }
    }
    return effects
  }

  /// The effect on a property of losing these objects; nil if it contains none of them.
  func effect(
    on row: ObjectRef, _ column: ColumnID, in session: WriteSession,
    ofLosing isLost: (ObjectRef) -> Bool
  ) -> PropertyEffect? {
    let described = session.schema[row.classID][column]
    guard described.type == .link || described.type == .any else { return nil }
    guard described.collection != .none else {
      let value = trapping { () throws(StorageError) in
        try session.value(of: column, at: row.key, in: row.classID)
      }
      switch value {
      case .list, .map: return PropertyEffect(row, column)
      case let value?:
        return described.linkTarget(of: value).map(isLost) == true
          ? PropertyEffect(row, column) : nil
      case nil: return nil
      }
    }
    let positions = positions(in: row, described, session, where: isLost)
    if positions.isEmpty { return described.type == .any ? PropertyEffect(row, column) : nil }
    guard described.collection == .list else { return PropertyEffect(row, column) }
    // An `AnyRealmValue` element becomes null without its object, other elements are removed.
    let kind: PropertyEffect.Kind =
      described.type == .any ? .replacement(positions) : .removal(positions)
    return PropertyEffect(row, column, kind)
  }

  private func positions(
    in row: ObjectRef, _ column: ColumnSchema, _ session: WriteSession,
    where matches: (ObjectRef) -> Bool
  ) -> IndexSet {
    var positions = IndexSet()
    let place = SequencePlace(classID: row.classID, key: row.key, column: column.id)
    trapping { () throws(StorageError) in
      guard let sequence = try session.sequence(at: place) else { return }
      var position = 0
      try sequence.forEach(in: 0..<sequence.count) { value in
        if let target = column.linkTarget(of: value), matches(target) { positions.insert(position) }
        position += 1
        return true
      }
    }
    return positions
  }
}
