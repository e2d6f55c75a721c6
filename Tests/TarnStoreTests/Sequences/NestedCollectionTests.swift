import TestSupport
import Testing

@testable import TarnStore

/// Lists and maps within values of any type, within each other.
@Suite struct NestedCollectionTests {
  private static let things = ClassID(0)
  private static let value = ColumnID(0)
  private static let list = ColumnID(1)
  private static let map = ColumnID(2)
  private static let classes = [
    ClassDefinition(
      name: "Thing",
      properties: [
        .init(name: "value", type: .any, isOptional: true),
        .init(name: "list", type: .any, collection: .list, isOptional: true),
        .init(name: "map", type: .any, collection: .map, isOptional: true),
      ])
  ]

  indirect enum Tree: Equatable {
    case leaf(Value)
    case list([Tree])
    case map([String: Tree])
  }

  private let file = TemporaryStore()
  private let store: Store
  private let key: ObjectKey
  init() throws {
    store = try file.open(Self.classes)
    key = try store.write { try $0.create([:], in: Self.things) }
  }

  private func place(_ column: ColumnID) -> SequencePlace {
    SequencePlace(classID: Self.things, key: key, column: column)
  }

  // MARK: - Trees

  private func random(_ random: inout SeededRandom, depth: Int) -> Tree {
    let count = random.chance(5) ? random.below(400) : random.below(5)
    switch random.below(depth == 0 ? 1 : 3) {
    case 1: return .list((0..<count).map { _ in self.random(&random, depth: depth - 1) })
    case 2:
      let keys = Set(
        (0..<count).map { "\($0)" + String(repeating: "k", count: random.below(90) * 3) })
      return .map(
        Dictionary(
          uniqueKeysWithValues: keys.sorted().map { ($0, self.random(&random, depth: depth - 1)) }))
    default:
      return .leaf(
        random.chance(5)
          ? .string(String(repeating: "s", count: random.below(6_000)))
          : random.pick([.int(Int64(random.below(1_000))), .null, .bool(true), .double(0.5)]))
    }
  }

  /// A value to be put there; `fill` puts its elements in.
  private func make(
    _ tree: Tree, _ session: WriteSession, _ place: SequencePlace
  ) throws -> (value: Value, fill: () throws -> Void) {
    switch tree {
    case .leaf(let value): return (value, {})
    case .list(let elements):
      let id = try session.makeNested(.list, in: place)
      let inner = place.nested(id)
      return (
        .list(id),
        {
          for (index, element) in elements.enumerated() {
            let made = try make(element, session, inner)
            try session.insert(made.value, at: index, in: inner)
            try made.fill()
          }
        }
      )
    case .map(let elements):
      let id = try session.makeNested(.map, in: place)
      let inner = place.nested(id)
      return (
        .map(id),
        {
          for (key, element) in elements.sorted(by: { $0.key > $1.key }) {
            let made = try make(element, session, inner)
            try session.set(made.value, forKey: key, inMap: inner)
            try made.fill()
          }
        }
      )
    }
  }

  private func tree(
    _ value: Value, _ place: SequencePlace, _ find: (SequencePlace) throws -> SequenceReading?
  ) throws -> Tree {
    switch value {
    case .list(let id):
      let sequence = try #require(try find(place.nested(id)))
      return .list(
        try (0..<sequence.count).map { try tree(sequence.value(at: $0), place, find) })
    case .map(let id):
      let sequence = try #require(try find(place.nested(id)))
      var entries: [String: Tree] = [:]
      for index in 0..<sequence.count {
        entries[try sequence.key(at: index)] = try tree(sequence.value(at: index), place, find)
      }
      #expect(entries.count == sequence.count)
      return .map(entries)
    default: return .leaf(value)
    }
  }

  private func check(_ wanted: [Tree], _ reader: SnapshotReader) throws {
    let sequence = try #require(try reader.sequence(at: place(Self.list)))
    let found = try (0..<sequence.count).map {
      try tree(sequence.value(at: $0), place(Self.list)) { try reader.sequence(at: $0) }
    }
    #expect(found == wanted)
    #expect(SequenceCheck(reader).problems == [])
  }

  // MARK: - Tests

  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func `values within values agree with a tree`(_ seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var model: [Tree] = []
    for _ in 0..<8 {
      var draft = model
      let isCancelled = random.chance(20)
      let session = try WriteSession(SnapshotReader(store.newestSnapshot())) {}
      for _ in 0..<6 {
        let tree = self.random(&random, depth: 3)
        if random.chance(40) && !draft.isEmpty {
          let index = random.below(draft.count)
          if random.chance(30) {
            try session.remove(index..<index + 1, in: place(Self.list))
            draft.remove(at: index)
          } else {
            let made = try make(tree, session, place(Self.list))
            try session.set(made.value, at: index, in: place(Self.list))
            try made.fill()
            draft[index] = tree
          }
        } else if let index = draft.firstIndex(where: { if case .list = $0 { true } else { false } }
        ),
          case .list(var elements) = draft[index], random.chance(40)
        {
          // An edit of one that is in the file already, or was made by this very write.
          let outer = try #require(try session.sequence(at: place(Self.list)))
          guard case .list(let id) = try outer.value(at: index) else { continue }
          let inner = place(Self.list).nested(id)
          if !elements.isEmpty {
            try session.remove(0..<1, in: inner)
            elements.removeFirst()
          }
          let made = try make(tree, session, inner)
          try session.insert(made.value, at: elements.count, in: inner)
          try made.fill()
          draft[index] = .list(elements + [tree])
        } else {
          let index = random.below(draft.count + 1)
          let made = try make(tree, session, place(Self.list))
          try session.insert(made.value, at: index, in: place(Self.list))
          try made.fill()
          draft.insert(tree, at: index)
        }
        try session.checkInvariants()
      }
      if isCancelled { continue }
      let sequence = try #require(try session.sequence(at: place(Self.list)))
      let found = try (0..<sequence.count).map {
        try tree(sequence.value(at: $0), place(Self.list)) { try session.sequence(at: $0) }
      }
      #expect(found == draft)
      _ = try store.commit(session)
      model = draft
      try check(model, SnapshotReader(store.newestSnapshot()))
    }
    try leaveNothing(random.chance(50))
  }

  /// Deletes the object in one way or the other.
  private func leaveNothing(_ clears: Bool) throws {
    try store.write { session in
      if clears {
        try session.clear(Self.things)
      } else {
        try session.delete(key, in: Self.things)
      }
    }
    let reader = try SnapshotReader(store.newestSnapshot())
    #expect(SequenceCheck(reader).problems == [])
    #expect(try reader.sequence(at: place(Self.list)) == nil)
    #expect(try entries(reader) == 0)
  }

  /// Keys in the file that belong to collections.
  private func entries(_ reader: SnapshotReader) throws -> Int {
    var cursor = try Cursor(reader.snapshot.transaction)
    var count = 0
    while try cursor.next() {
      if let first = cursor.key.first, (0x50...0x5f).contains(first) { count += 1 }
    }
    return count
  }

  @Test func aValueOfAnyTypeOwnsItsCollection() throws {
    let deep = Tree.map(["a": .list([.leaf(.int(1)), .list([])]), "b": .leaf(.string("x"))])
    try store.write { session in
      let made = try make(deep, session, place(Self.value))
      try session.set(Self.value, at: key, in: Self.things, to: made.value)
      try made.fill()
    }
    var reader = try SnapshotReader(store.newestSnapshot())
    let value = try #require(try reader.value(of: Self.value, at: key, in: Self.things))
    #expect(try tree(value, place(Self.value)) { try reader.sequence(at: $0) } == deep)
    #expect(SequenceCheck(reader).problems == [])
    #expect(try entries(reader) == 3)
    // Setting the same value keeps it, another drops it.
    try store.write { try $0.set(Self.value, at: key, in: Self.things, to: value) }
    try store.write { try $0.set(Self.value, at: key, in: Self.things, to: .int(1)) }
    reader = try SnapshotReader(store.newestSnapshot())
    #expect(try entries(reader) == 0)
    guard case .map(let id) = value else { return }
    #expect(try reader.sequence(at: place(Self.value).nested(id)) == nil)
  }

  @Test func whatNoValueHoldsIsNotWritten() throws {
    try store.write { session in
      let id = try session.makeNested(.list, in: place(Self.list))
      try session.insert(.int(1), at: 0, in: place(Self.list).nested(id))
    }
    #expect(try entries(SnapshotReader(store.newestSnapshot())) == 0)
  }

  @Test func anObjectUnderTheKeyOfADeletedOneStartsEmpty() throws {
    try store.write { try $0.insert((0..<500).map { .int($0) }, at: 0, in: place(Self.list)) }
    try store.write { session in
      try session.removeAll(in: place(Self.list))
      try session.insert(.int(7), at: 0, in: place(Self.list))
    }
    let reader = try SnapshotReader(store.newestSnapshot())
    #expect(try reader.sequence(at: place(Self.list))?.value(at: 0) == .int(7))
    #expect(try entries(reader) == 0)
    try leaveNothing(false)
  }
}
