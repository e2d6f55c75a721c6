import Foundation
import TarnStore

extension ManagedSequence {
  /// Makes a change, and reports it to the observers of the property and of other properties that
  /// it changes.
  ///
  /// - Parameters:
  ///   - kind: the kind of change, unless the list takes over embedded objects that it holds
  ///     already.
  ///   - leaving: the positions of removed elements, unless they are inserted again.
  ///   - coming: inserted elements.
  func changing<E: Error>(
    _ kind: @autoclosure () -> PropertyEffect.Kind, leaving: @autoclosure () -> Range<Int> = 0..<0,
    with coming: @autoclosure () -> [_BoxedValue] = [], _ change: () throws(E) -> Void
  ) throws(E) {
    guard let properties = instance.properties else { return try change() }
    _ = writing()
    let row = ObjectRef(classID: place.classID, key: place.key)
    let isOfProperty = place.nested == nil && self.kind == .list
    let here = PropertyEffect(row, place.column, isOfProperty ? kind() : .setting)
    if here.kind.isOfNothing { return try change() }
    guard holdsEmbedded else { return try instance.telling([here], properties, change) }
    try instance.telling(effects(here, leaving(), coming(), properties), properties, change)
  }

  /// Embedded objects that are removed from a collection are deleted, and inserted ones are removed
  /// from their former owners.
  private func effects(
    _ here: PropertyEffect, _ leaving: Range<Int>, _ coming: [_BoxedValue], _ table: PropertyTable
  ) -> [PropertyEffect] {
    let view = view()
    let column = instance.schemaToBind()[place.classID][place.column]
    var present: [ObjectRef?] = []
    trapping { () throws(StorageError) in
      try view.forEach(in: 0..<view.count) { value in
        present.append(column.linkTarget(of: value))
        return true
      }
    }
    let taken = coming.compactMap(\.object).filter { $0._core === instance && !$0.isInvalidated }
      .map { ObjectRef(classID: $0._binding!.classID, key: ObjectKey($0._key)) }
    let deleted = present[leaving].compactMap { $0 }.filter { !taken.contains($0) }
    let isMove = present.contains { $0.map(taken.contains) == true }
    let others = table.effects(ofDeleting: deleted, taking: taken, in: instance.session) {
      $0.row == here.row && $0.column == here.column
    }
    return [isMove ? PropertyEffect(here.row, place.column) : here] + others
  }

  /// True if the elements are embedded objects, even if dynamic ones.
  var holdsEmbedded: Bool {
    let schema = instance.schemaToBind()
    let column = schema[place.classID][place.column]
    return place.nested == nil && column.target.map(schema.isEmbedded) == true
  }

  /// The position of a key of a map, if it exists.
  func positions(of key: String) -> Range<Int> {
    let (index, isFound) = find(key)
    return isFound ? index..<index + 1 : 0..<0
  }
}

extension PropertyEffect.Kind {
  /// Replaces the elements in a range of a list by `count` others.
  static func replacing(_ range: Range<Int>, _ count: Int) -> PropertyEffect.Kind {
    if range.isEmpty {
      return .insertion(IndexSet(range.lowerBound..<range.lowerBound + count))
    }
    if count == 0 { return .removal(IndexSet(range)) }
    return count == range.count ? .replacement(IndexSet(range)) : .setting
  }
}

/// Collections of objects that are added over others.
extension ManagedSequence {
  /// Copies elements, and leaves bitwise equal ones unchanged: they are not reported.
  ///
  /// Embedded objects have no keys. An unmanaged one is taken as the one at its position in the
  /// list, or under its key in the map, which is updated.
  func merge(_ other: any SequenceBacking) {
    let (boxes, keys) = (other.all, kind == .map ? other.allKeys : [])
    takingIn { session throws(StorageError) in
      let (old, oldKeys) = (values(), kind == .map ? allKeys : [])
      let new: [CopiedValue]
      // Elements of a set have neither a position nor a key.
      if kind != .set, property.target is EmbeddedObject.Type {
        new = try mergeEmbedded(boxes, keys, old, oldKeys).map { .value($0) }
      } else {
        new = try copies(boxes)
      }
      if instance.properties != nil, try session.holds(new, keys: keys, in: place) { return }
      try changing(.setting, leaving: 0..<old.count, with: boxes) { () throws(StorageError) in
        try session.assign(new, keys: keys, in: place)
      }
    }
  }

  private func mergeEmbedded(
    _ boxes: [_BoxedValue], _ keys: [String], _ old: [Value], _ oldKeys: [String]
  ) throws(StorageError) -> [Value] {
    let oldIndices = Dictionary(zip(oldKeys.map(StoredText.init), old.indices)) { $1 }
    // New elements that are managed themselves do not match an existing one.
    let coming = Set(boxes.compactMap { $0.object?._core == nil ? nil : $0.object!._key })
    var new: [Value] = []
    for (index, boxed) in boxes.enumerated() {
      let known =
        kind == .map ? oldIndices[StoredText(keys[index])] : index < old.count ? index : nil
      if let object = boxed.object, object._core == nil, let known,
        case .link(let there) = old[known], !coming.contains(there.rawValue)
      {
        instance.merge(object, into: there, .modified)
      }
      new.append(try stored(boxed))
    }
    return new
  }
}
