import Foundation
import TarnStore

/// Tells observers of properties what local changes do.
///
/// They are called before and after each change, in the middle of the write. Those that are called
/// before it, and those of changes that are parts of a larger one, may not end the write.
extension Instance {
  /// Makes a change that has these effects.
  ///
  /// - Parameter ids: classes with other changes than those.
  func telling<R, E: Error>(
    _ effects: [PropertyEffect], in ids: [ClassID] = [], _ table: PropertyTable,
    _ change: () throws(E) -> R
  ) throws(E) -> R {
    let telling = delivery.telling { table.begin(effects, in: ids) }
    let result = try change()
    if write.isInLargerChange { delivery.telling { telling.finish() } } else { telling.finish() }
    return result
  }

  /// Makes an assignment of a value as it is stored; null for one that is not stored yet.
  func assigning<E: Error>(
    _ row: LinkTarget, _ column: ColumnID, _ value: Value, _ store: () throws(E) -> Void
  ) throws(E) {
    guard let properties else { return try store() }
    try telling(effects(ofSetting: column, of: row, to: value), properties, store)
  }

  // MARK: - Effects

  /// Pointing a link to an embedded object elsewhere deletes that, and takes the new one from where
  /// it was.
  func effects(
    ofSetting column: ColumnID, of row: LinkTarget, to value: Value
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
      + effects(ofDeleting: old.map { [$0] } ?? [], taking: new.map { [$0] } ?? []) {
        $0.row == row && $0.column == column
      }
  }

  /// What goes when objects are deleted, and what loses links to them or to embedded ones that
  /// come to another owner.
  ///
  /// - Parameter isKnown: says what the caller tells by itself.
  func effects(
    ofDeleting objects: [LinkTarget], taking taken: [LinkTarget] = [],
    except isKnown: (PropertyEffect) -> Bool = { _ in false }
  ) -> [PropertyEffect] {
    guard let session, let properties, !(objects.isEmpty && taken.isEmpty) else { return [] }
    let bystanders = trapping { () throws(StorageError) in
      try session.bystanders(ofDeleting: objects, taking: taken)
    }
    let lost = Set(bystanders.gone + taken)
    var effects = bystanders.gone.map { PropertyEffect($0, .leaving(forGood: false)) }
    for holder in bystanders.holders {
      let row = LinkTarget(classID: holder.classID, key: holder.key)
      guard properties.watches(row, holder.column) else { continue }
      let effect = effect(on: row, holder.column) { lost.contains($0) }
      if let effect, !isKnown(effect) { effects.append(effect) }
    }
    return effects
  }

  /// What becomes of a property when these objects are lost to it; nil if it has none of them.
  private func effect(
    on row: LinkTarget, _ column: ColumnID, ofLosing isLost: (LinkTarget) -> Bool
  ) -> PropertyEffect? {
    guard let session else { return nil }
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
    let positions = positions(in: row, described, where: isLost)
    if positions.isEmpty { return described.type == .any ? PropertyEffect(row, column) : nil }
    guard described.collection == .list else { return PropertyEffect(row, column) }
    // Without the object an element of any type is null, others go.
    let kind: PropertyEffect.Kind =
      described.type == .any ? .replacement(positions) : .removal(positions)
    return PropertyEffect(row, column, kind)
  }

  private func positions(
    in row: LinkTarget, _ column: ColumnSchema, where matches: (LinkTarget) -> Bool
  ) -> IndexSet {
    var positions = IndexSet()
    let place = SequencePlace(classID: row.classID, key: row.key, column: column.id)
    trapping { () throws(StorageError) in
      guard let sequence = try session?.sequence(at: place) else { return }
      var position = 0
      try sequence.forEach(in: 0..<sequence.count) { value in
        if let target = column.linkTarget(of: value), matches(target) { positions.insert(position) }
        position += 1
        return true
      }
    }
    return positions
  }

  // MARK: - Deleting

  /// Deletes objects of this instance.
  func deleting(_ objects: @autoclosure () -> [LinkTarget], _ delete: () -> Void) {
    guard let properties else { return delete() }
    telling(effects(ofDeleting: objects()), properties, delete)
  }

  /// Deletes all objects of these classes.
  func clearing(_ ids: [ClassID], _ clear: () -> Void) {
    guard let properties, let session else { return clear() }
    let owned = trapping { () throws(StorageError) in try session.owned(byAllOf: ids) }
    let (cleared, gone) = (Set(ids), Set(owned))
    func goes(_ row: LinkTarget) -> Bool { cleared.contains(row.classID) || gone.contains(row) }
    var effects = (properties.rows(of: ids) + owned).map {
      PropertyEffect($0, .leaving(forGood: false))
    }
    for (row, column) in properties.properties where !goes(row) {
      if let effect = effect(on: row, column, ofLosing: goes) { effects.append(effect) }
    }
    telling(effects, in: ids, properties, clear)
  }

  /// Makes new objects of a class.
  func inserting<R, E: Error>(into id: ClassID, _ insert: () throws(E) -> R) throws(E) -> R {
    guard let properties, properties.watches(id) else { return try insert() }
    return try telling([], in: [id], properties, insert)
  }

  // MARK: - Coming and going

  /// Takes an observation in. Assignments that did not have to ask so far do so from now on.
  func add(_ observation: PropertyObservation) {
    let table = properties ?? PropertyTable()
    properties = table
    table.add(observation)
    if session != nil, tracking == nil { rowsMoved() }
  }

  /// Forgets observations whose objects are gone for good. To be called where no write is open.
  func endProperties() {
    properties?.endGone()
    if properties?.isEmpty == true { properties = nil }
  }

  func endProperty(_ state: ObservationState) {
    properties?.remove(state)
    if properties?.isEmpty == true { properties = nil }
  }
}
