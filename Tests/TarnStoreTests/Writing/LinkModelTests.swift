import TestSupport
import Testing

@testable import TarnStore

/// Links of every kind between objects that come and go, against arrays: what links to what, read
/// from both ends.
struct LinkModelTests {
  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func bothEndsOfEveryLinkAgree(seed: UInt64) throws {
    let file = TemporaryStore()
    var run = try LinkRun(seed: seed, store: file.open(LinkRun.classes))
    for _ in 0..<40 { try run.commitSomething() }
  }
}

/// Objects of one class that link to each other through one column of each kind.
private struct LinkRun {
  static let node = ClassID(0)
  static let one = ColumnID(0)
  static let list = ColumnID(1)
  static let set = ColumnID(2)
  static let map = ColumnID(3)
  static let any = ColumnID(4)
  static let anyList = ColumnID(5)
  static let owned = ColumnID(6)
  static let classes = [
    ClassDefinition(
      name: "Node",
      properties: [
        .init(name: "one", type: .link, isOptional: true, target: "Node"),
        .init(name: "list", type: .link, collection: .list, target: "Node"),
        .init(name: "set", type: .link, collection: .set, target: "Node"),
        .init(name: "map", type: .link, collection: .map, isOptional: true, target: "Node"),
        .init(name: "any", type: .any),
        .init(name: "anyList", type: .any, collection: .list),
        .init(name: "owned", type: .link, collection: .list, target: "Node", deleteRule: .cascade),
      ])
  ]

  struct Node: Equatable {
    var one: ObjectKey?
    var list: [ObjectKey] = []
    var set: Set<ObjectKey> = []
    var map: [String: ObjectKey?] = [:]
    /// An object, or the objects of a list within the value; nil for null.
    var any: [ObjectKey?]?
    var anyIsList = false
    var anyList: [ObjectKey?] = []
    var owned: [ObjectKey] = []
  }

  let store: Store
  private var random: SeededRandom
  private var nodes: [ObjectKey: Node] = [:]

  init(seed: UInt64, store: Store) {
    self.store = store
    random = SeededRandom(seed: seed)
  }

  mutating func commitSomething() throws {
    let session = WriteSession(try SnapshotReader(store.newestSnapshot())) {}
    for _ in 0..<random.pick([1, 5, 40]) {
      try change(session)
      try session.checkInvariants()
    }
    try check { try session.origins(of: $0, in: Self.node, through: $1) }
    if random.below(8) == 0 { return try forget() }
    _ = try store.commit(session)
    let reader = try SnapshotReader(store.newestSnapshot())
    try check { try reader.origins(of: $0, in: Self.node, through: $1) }
    try compare(reader)
  }

  /// A cancelled write: the model is read from the file again.
  private mutating func forget() throws {
    let reader = try SnapshotReader(store.newestSnapshot())
    nodes = [:]
    for key in try keys(reader) { nodes[key] = try read(key, reader) }
  }

  // MARK: - Changing

  private func place(_ key: ObjectKey, _ column: ColumnID) -> SequencePlace {
    SequencePlace(classID: Self.node, key: key, column: column)
  }

  private mutating func change(_ session: WriteSession) throws {
    let keys = nodes.keys.sorted()
    if keys.count < 4 || random.below(8) == 0 {
      let key = try session.create([:], in: Self.node)
      nodes[key] = Node()
      return
    }
    let key = random.pick(keys)
    let target = random.pick(keys)
    switch random.below(12) {
    case 0: try delete([key], session)
    case 1 where random.below(6) == 0:
      try delete(Array(Set((0..<5).map { _ in random.pick(keys) })), session)
    case 2: try setOne(key, random.below(4) == 0 ? nil : target, session)
    case 3, 4: try changeList(key, target, session)
    case 5:
      _ = try session.insert(.link(target), intoSet: place(key, Self.set))
      nodes[key]!.set.insert(target)
    case 6: try changeMap(key, target, session)
    case 7, 8: try setAny(key, target, session)
    case 9: try changeAnyList(key, target, session)
    case 10:
      let count = nodes[key]!.owned.count
      if count < 2, random.below(3) == 0 {
        try session.insert(.link(target), at: count, in: place(key, Self.owned))
        nodes[key]!.owned.append(target)
      }
    default:
      _ = try session.remove(.link(target), fromSet: place(key, Self.set))
      nodes[key]!.set.remove(target)
    }
  }

  private mutating func setOne(
    _ key: ObjectKey, _ target: ObjectKey?, _ session: WriteSession
  ) throws {
    try session.set(Self.one, at: key, in: Self.node, to: target.map { .link($0) } ?? .null)
    nodes[key]!.one = target
  }

  private mutating func changeList(
    _ key: ObjectKey, _ target: ObjectKey, _ session: WriteSession
  ) throws {
    let count = nodes[key]!.list.count
    let place = place(key, Self.list)
    switch random.below(4) {
    case 0 where count > 0:
      let first = random.below(count)
      let end = first + 1 + random.below(count - first)
      try session.remove(first..<end, in: place)
      nodes[key]!.list.removeSubrange(first..<end)
    case 1 where count > 0:
      let index = random.below(count)
      try session.set(.link(target), at: index, in: place)
      nodes[key]!.list[index] = target
    default:
      let index = random.below(count + 1)
      let added = (0..<random.pick([1, 3, 60])).map { _ in target }
      try session.insert(added.map { .link($0) }, at: index, in: place)
      nodes[key]!.list.insert(contentsOf: added, at: index)
    }
  }

  private mutating func changeMap(
    _ key: ObjectKey, _ target: ObjectKey, _ session: WriteSession
  ) throws {
    let name = random.pick(["a", "b", "c"])
    if random.below(4) == 0 {
      _ = try session.removeValue(forKey: name, fromMap: place(key, Self.map))
      nodes[key]!.map[name] = nil
    } else {
      try session.set(.link(target), forKey: name, inMap: place(key, Self.map))
      nodes[key]!.map[name] = .some(target)
    }
  }

  private mutating func setAny(
    _ key: ObjectKey, _ target: ObjectKey, _ session: WriteSession
  ) throws {
    let value: Value
    nodes[key]!.anyIsList = false
    switch random.below(3) {
    case 0:
      value = .int(7)
      nodes[key]!.any = nil
    case 1:
      value = .object(Self.node, target)
      nodes[key]!.any = [target]
    default:
      let place = place(key, Self.any)
      let id = try session.makeNested(.list, in: place)
      try session.insert(
        [.object(Self.node, target), .object(Self.node, target)], at: 0, in: place.nested(id))
      value = .list(id)
      nodes[key]!.any = [target, target]
      nodes[key]!.anyIsList = true
    }
    try session.set(Self.any, at: key, in: Self.node, to: value)
  }

  private mutating func changeAnyList(
    _ key: ObjectKey, _ target: ObjectKey, _ session: WriteSession
  ) throws {
    let count = nodes[key]!.anyList.count
    let place = place(key, Self.anyList)
    if count > 3 {
      try session.removeAll(in: place)
      nodes[key]!.anyList = []
    } else {
      try session.insert(.object(Self.node, target), at: count, in: place)
      nodes[key]!.anyList.append(target)
    }
  }

  private mutating func delete(_ keys: [ObjectKey], _ session: WriteSession) throws {
    var gone: Set<ObjectKey> = []
    var pending = keys
    while let next = pending.popLast() {
      if gone.insert(next).inserted { pending += nodes[next]!.owned }
    }
    try session.delete(keys, in: Self.node)
    for key in gone { nodes[key] = nil }
    for key in nodes.keys {
      var node = nodes[key]!
      if let one = node.one, gone.contains(one) { node.one = nil }
      node.list.removeAll { gone.contains($0) }
      node.set.subtract(gone)
      node.map = node.map.mapValues { value in value.flatMap { gone.contains($0) ? nil : $0 } }
      node.owned.removeAll { gone.contains($0) }
      node.anyList = node.anyList.map { value in value.flatMap { gone.contains($0) ? nil : $0 } }
      if let any = node.any {
        node.any = any.map { value in value.flatMap { gone.contains($0) ? nil : $0 } }
        if !node.anyIsList, node.any == [nil] { node.any = nil }
      }
      nodes[key] = node
    }
  }

  // MARK: - Checking

  /// Every origin of every object, through every column, as often as it links.
  private func check(_ origins: (ObjectRef, ColumnID) throws -> [ObjectKey]) throws {
    let columns: [(ColumnID, (Node) -> [ObjectKey])] = [
      (Self.one, { $0.one.map { [$0] } ?? [] }), (Self.list, { $0.list }),
      (Self.set, { Array($0.set) }), (Self.map, { $0.map.values.compactMap { $0 } }),
      (Self.any, { ($0.any ?? []).compactMap { $0 } }),
      (Self.anyList, { $0.anyList.compactMap { $0 } }), (Self.owned, { $0.owned }),
    ]
    for (column, targets) in columns {
      var expected: [ObjectKey: [ObjectKey]] = [:]
      for key in nodes.keys.sorted() {
        for target in targets(nodes[key]!) { expected[target, default: []].append(key) }
      }
      for key in nodes.keys {
        let found = try origins(ObjectRef(classID: Self.node, key: key), column)
        #expect(found == expected[key] ?? [], "column \(column.rawValue) of \(key.rawValue)")
      }
    }
  }

  private func keys(_ reader: SnapshotReader) throws -> [ObjectKey] {
    var keys: [ObjectKey] = []
    try reader.forEachCluster(in: Self.node) { found throws(StorageError) in
      for slot in 0..<found.image.rowCount { keys.append(found.image.key(at: slot)) }
      return true
    }
    return keys
  }

  private func compare(_ reader: SnapshotReader) throws {
    #expect(try keys(reader) == nodes.keys.sorted())
    for key in nodes.keys { #expect(try read(key, reader) == nodes[key]) }
  }

  private func read(_ key: ObjectKey, _ reader: SnapshotReader) throws -> Node {
    func elements(_ place: SequencePlace) throws -> [ObjectKey?] {
      guard let sequence = try reader.sequence(at: place) else { return [] }
      var found: [ObjectKey?] = []
      try sequence.forEach(in: 0..<sequence.count) { value throws(StorageError) in
        switch value {
        case .link(let key), .object(_, let key): found.append(key)
        default: found.append(nil)
        }
        return true
      }
      return found
    }
    var node = Node()
    if case .link(let one)? = try reader.value(of: Self.one, at: key, in: Self.node) {
      node.one = one
    }
    node.list = try elements(place(key, Self.list)).compactMap { $0 }
    node.set = Set(try elements(place(key, Self.set)).compactMap { $0 })
    node.owned = try elements(place(key, Self.owned)).compactMap { $0 }
    node.anyList = try elements(place(key, Self.anyList))
    for (index, value) in try elements(place(key, Self.map)).enumerated() {
      node.map[try reader.sequence(at: place(key, Self.map))!.key(at: index)] = .some(value)
    }
    switch try reader.value(of: Self.any, at: key, in: Self.node) {
    case .object(_, let target)?: node.any = [target]
    case .list(let id)?:
      node.any = try elements(place(key, Self.any).nested(id))
      node.anyIsList = true
    default: break
    }
    return node
  }
}
