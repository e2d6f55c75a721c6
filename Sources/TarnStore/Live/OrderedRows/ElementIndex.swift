/// The elements of a collection of objects under names, which they keep while others are inserted,
/// removed or moved: rows that refer to names can be updated after an edit without iterating the
/// collection. About 100 bytes per element. A value type.
struct ElementIndex: Sendable {
  /// The names in the order of the collection, including those of elements that are not objects.
  private(set) var names: OrderedRoot
  /// The biased key of the object under each name that has one.
  private var objects: OrderStatisticTree<LabelPair>
  /// The names of objects by their keys, which are the prefixes; several names of one object by
  /// age.
  private var byObject: OrderedRoot
  private var next: Int64

  /// Each element is named by its position.
  ///
  /// - Parameter elements: nil for an element that is not an object.
  init(_ elements: [ObjectKey?]) {
    names = OrderedRoot(sorted: elements.indices.map { ObjectKey(Int64($0)) })
    next = Int64(elements.count)
    var pairs: ContiguousArray<LabelPair> = []
    pairs.reserveCapacity(elements.count)
    for (position, key) in elements.enumerated() {
      guard let key else { continue }
      pairs.append(
        LabelPair(
          order: OrderedRoot.biased(ObjectKey(Int64(position))), value: OrderedRoot.biased(key)))
    }
    objects = OrderStatisticTree(ascending: pairs)
    radixSort(&pairs) { $0.value }
    byObject = OrderedRoot(count: pairs.count) { (pairs[$0].order, pairs[$0].value) }
  }

  var count: Int { names.count }

  /// The object with a name; nil if the element is not an object.
  func object(_ name: ObjectKey) -> ObjectKey? {
    var cursor = OrderStatisticTree.Cursor(objects)
    let (index, isFound) = cursor.seek(OrderedRoot.biased(name))
    return isFound ? OrderedRoot.key(biased: cursor.entries[index].value) : nil
  }

  /// The names of all elements that are one of those objects.
  func names(of keys: KeySet) throws(StorageError) -> [ObjectKey] {
    var found: [ObjectKey] = []
    for key in keys { found += try byObject.keys(prefixed: OrderedRoot.biased(key)) }
    return found
  }

  /// True if one element comes before another.
  func isBefore(_ a: ObjectKey, _ b: ObjectKey) -> Bool {
    var lookup = OrderedRoot.Lookup(names)
    return lookup.position(of: a)! < lookup.position(of: b)!
  }

  // MARK: - Edits

  /// The effect of an edit on the names.
  struct Edit {
    var gone: [ObjectKey] = []
    var come: [ObjectKey] = []
    var moved: [ObjectKey] = []
    /// Elements that were set, even to the same object. Elements that became other objects are also
    /// in `gone` with their old names and in `come` with the new ones.
    var set: [ObjectKey] = []
  }

  /// True if looking up so few elements is faster than iterating all of them.
  static func isFew(_ number: Int, among count: Int) -> Bool { number <= max(8, count / 16) }

  /// Updates the names for an edit. Costs time only for its changes, if they are few.
  ///
  /// - Parameter sequence: the collection after the edit.
  /// - Returns: nil if the edit changed much; nothing was changed then.
  mutating func follow(
    _ script: EditScript, to sequence: any SequenceReading, isReplaced: (ObjectKey) -> Bool
  ) throws(StorageError) -> Edit? {
    guard Self.isFew(script.runs.count + script.modified.count, among: count) else { return nil }
    let kept = script.runs.reduce(0) { if case .old(_, let count) = $1 { $0 + count } else { $0 } }
    guard Self.isFew(script.oldCount + script.newCount - 2 * kept, among: count) else { return nil }
    let changes = script.indexChanges(withMoves: true)
    guard Self.isFew(changes.deletions.count + changes.insertions.count, among: count) else {
      return nil
    }
    var edit = Edit()
    var incoming: [Incoming] = []
    let moved = Dictionary(uniqueKeysWithValues: changes.moves.map { ($0.to, $0.from) })
    let leaving = Set(changes.moves.map(\.from))
    edit.gone = changes.deletions.filter { !leaving.contains($0) }.map { names.key(at: $0) }
    for position in changes.insertions {
      if let from = moved[position] {
        let name = names.key(at: from)
        incoming.append(Incoming(name: name, position: position, object: object(name)))
        edit.moved.append(name)
      } else {
        incoming.append(try fresh(at: position, in: sequence, &edit))
      }
    }
    for element in script.modified {
      let position = Int(element.rawValue)
      let name = names.key(at: script.oldPosition(of: position)!)
      let now = try Self.object(at: position, in: sequence)
      if now == object(name), now.map(isReplaced) != true {
        edit.set.append(name)
        continue
      }
      edit.gone.append(name)
      edit.moved.removeAll { $0 == name }
      incoming.removeAll { $0.position == position }
      incoming.append(try fresh(at: position, in: sequence, &edit))
      edit.set.append(incoming.last!.name)
    }
    try apply(edit, incoming.sorted { $0.position < $1.position }, script)
    return edit
  }

  /// An element to be inserted.
  private struct Incoming {
    var name: ObjectKey
    var position: Int
    var object: ObjectKey?
  }

  private mutating func fresh(
    at position: Int, in sequence: any SequenceReading, _ edit: inout Edit
  ) throws(StorageError) -> Incoming {
    let name = ObjectKey(next)
    next += 1
    edit.come.append(name)
    return Incoming(
      name: name, position: position, object: try Self.object(at: position, in: sequence))
  }

  private static func object(
    at position: Int, in sequence: any SequenceReading
  ) throws(StorageError) -> ObjectKey? {
    if case .link(let key) = try sequence.value(at: position) { key } else { nil }
  }

  private mutating func apply(
    _ edit: Edit, _ incoming: [Incoming], _ script: EditScript
  ) throws(StorageError) {
    let positions = Dictionary(uniqueKeysWithValues: incoming.map { ($0.name, $0.position) })
    let old = names
    func position(of name: ObjectKey) -> Int {
      positions[name] ?? script.newPosition(of: old.position(of: name)!)!
    }
    names = try old.applying(
      removals: edit.gone, insertions: incoming.map(\.name), insertionsAreOrdered: true
    ) { position(of: $0) < position(of: $1) }
    let come = Set(edit.come)
    let objects = incoming.filter { come.contains($0.name) && $0.object != nil }.map {
      LabelPair(
        order: OrderedRoot.biased($0.name), value: OrderedRoot.biased($0.object!))
    }.sorted { ($0.value, $0.order) < ($1.value, $1.order) }
    byObject = try byObject.applying(
      removals: edit.gone, insertions: objects.map { OrderedRoot.key(biased: $0.order) },
      insertionsAreOrdered: true, prefixes: objects.map(\.value)
    ) { $0 < $1 }
    typealias Edits = ContiguousArray<OrderStatisticTree<LabelPair>.Edit>
    var edits = Edits(objects.map { .init(put: $0) })
    edits += edit.gone.map { .init(remove: LabelPair(order: OrderedRoot.biased($0), value: 0)) }
    edits.sort { $0.entry.order < $1.entry.order }
    self.objects = self.objects.applying(edits)
  }
}

extension OrderedRoot {
  /// The rows of a sorted root that have a prefix, in order.
  func keys(prefixed prefix: UInt64) throws(StorageError) -> [ObjectKey] {
    guard case .sorted(let rows, _) = storage else { trap("a keyed root has no prefixes") }
    let start = try rows.partitionPoint(in: 0..<rows.weight) { $0.prefix < prefix }
    var found: [ObjectKey] = []
    rows.forEachLeaf(from: start) { leaf in
      for index in max(start - leaf.start, 0)..<leaf.entries.count {
        guard leaf.entries[index].prefix == prefix else { return false }
        found.append(Self.key(biased: leaf.entries[index].value))
      }
      return true
    }
    return found
  }
}
