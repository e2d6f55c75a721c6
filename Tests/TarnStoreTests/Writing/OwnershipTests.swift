import TestSupport
import Testing

@testable import TarnStore

/// What goes with an object that is deleted, and what becomes of links to it.
struct OwnershipTests {
  static let part = ClassID(0)
  static let parent = ClassID(1)
  static let node = ClassID(2)
  static let child = ColumnID(0)
  static let anything = ColumnID(1)
  static let next = ColumnID(0)
  static let classes = [
    ClassDefinition(
      name: "Part", properties: [.init(name: "size", type: .int)], isEmbedded: true),
    ClassDefinition(
      name: "Parent",
      properties: [
        .init(name: "child", type: .link, isOptional: true, target: "Part"),
        .init(name: "anything", type: .any),
      ]),
    ClassDefinition(
      name: "Node",
      properties: [
        .init(
          name: "next", type: .link, isOptional: true, target: "Node", deleteRule: .cascade)
      ]),
  ]

  let file = TemporaryStore()
  let store: Store
  init() throws { store = try file.open(Self.classes) }

  private func write<R>(_ body: (WriteSession) throws -> R) throws -> (R, ChangeSet) {
    let session = WriteSession(try SnapshotReader(store.newestSnapshot())) {}
    let result = try body(session)
    return (result, try store.commit(session).1)
  }

  private func value(_ column: ColumnID, _ key: ObjectKey, _ id: ClassID) throws -> Value? {
    try SnapshotReader(store.newestSnapshot()).value(of: column, at: key, in: id)
  }

  private func count(_ id: ClassID) throws -> Int {
    try SnapshotReader(store.newestSnapshot()).record(of: id).rowCount
  }

  private func makeParent(_ session: WriteSession) throws -> (parent: ObjectKey, part: ObjectKey) {
    let part = try session.create([:], in: Self.part)
    return (try session.create([Self.child: .link(part)], in: Self.parent), part)
  }

  @Test func anEmbeddedObjectGoesWithItsParent() throws {
    let (made, _) = try write { try makeParent($0) }
    let (_, changes) = try write { try $0.delete(made.parent, in: Self.parent) }
    #expect(try count(Self.part) == 0)
    #expect(changes[Self.part]?.deleted.contains(made.part) == true)
  }

  @Test func anEmbeddedObjectGoesWhenAnotherReplacesIt() throws {
    let (made, _) = try write { try makeParent($0) }
    let (other, _) = try write { session in
      let other = try session.create([:], in: Self.part)
      try session.set(Self.child, at: made.parent, in: Self.parent, to: .link(other))
      return other
    }
    #expect(try value(Self.child, made.parent, Self.parent) == .link(other))
    #expect(try value(ColumnID(0), made.part, Self.part) == nil)
    _ = try write { try $0.set(Self.child, at: made.parent, in: Self.parent, to: .null) }
    #expect(try count(Self.part) == 0)
  }

  @Test func anEmbeddedObjectMovesToAnotherParent() throws {
    let (made, _) = try write { try makeParent($0) }
    let (second, changes) = try write { session in
      let second = try session.create([:], in: Self.parent)
      try session.set(Self.child, at: second, in: Self.parent, to: .link(made.part))
      return second
    }
    #expect(try value(Self.child, made.parent, Self.parent) == .null)
    #expect(try value(Self.child, second, Self.parent) == .link(made.part))
    #expect(try count(Self.part) == 1)
    #expect(changes[Self.parent]?.touchedKeys(in: Self.child).contains(made.parent) == true)
    _ = try write { try $0.delete(made.parent, in: Self.parent) }
    #expect(try count(Self.part) == 1)
  }

  @Test func clearingAClassTakesWhatItsObjectsOwn() throws {
    _ = try write { session in for _ in 0..<200 { _ = try makeParent(session) } }
    _ = try write { try $0.clear(Self.parent) }
    #expect(try count(Self.part) == 0)
  }

  @Test func aLongChainIsDeletedAtOnce() throws {
    let length = 20_000
    let (first, _) = try write { session in
      var next = Value.null
      for _ in 0..<length { next = .link(try session.create([Self.next: next], in: Self.node)) }
      return next
    }
    guard case .link(let key) = first else { return }
    let (_, changes) = try write { try $0.delete(key, in: Self.node) }
    #expect(try count(Self.node) == 0)
    #expect(changes[Self.node]?.deleted.count == length)
  }

  @Test func aRingIsDeletedAtOnce() throws {
    let (key, _) = try write { session in
      let first = try session.create([:], in: Self.node)
      let second = try session.create([Self.next: .link(first)], in: Self.node)
      try session.set(Self.next, at: first, in: Self.node, to: .link(second))
      return first
    }
    _ = try write { try $0.delete(key, in: Self.node) }
    #expect(try count(Self.node) == 0)
  }

  @Test func aValueOfAnyTypeForgetsADeletedObject() throws {
    let (keys, _) = try write { session in
      let node = try session.create([:], in: Self.node)
      let one = try session.create([Self.anything: .object(Self.node, node)], in: Self.parent)
      let two = try session.create([Self.anything: .int(5)], in: Self.parent)
      try session.set(Self.anything, at: two, in: Self.parent, to: .object(Self.node, node))
      return (node: node, parents: [one, two])
    }
    let target = ObjectRef(classID: Self.node, key: keys.node)
    let reader = try SnapshotReader(store.newestSnapshot())
    #expect(
      try reader.origins(of: target, in: Self.parent, through: Self.anything) == keys.parents)
    let (_, changes) = try write { try $0.delete(keys.node, in: Self.node) }
    for key in keys.parents {
      #expect(try value(Self.anything, key, Self.parent) == .null)
      #expect(changes[Self.parent]?.touchedKeys(in: Self.anything).contains(key) == true)
    }
  }

  @Test func aValueOfAnyTypeForgetsAClearedClass() throws {
    let (keys, _) = try write { session in
      let node = try session.create([:], in: Self.node)
      return [
        try session.create([Self.anything: .object(Self.node, node)], in: Self.parent),
        try session.create([Self.anything: .string("stays")], in: Self.parent),
      ]
    }
    _ = try write { try $0.clear(Self.node) }
    #expect(try value(Self.anything, keys[0], Self.parent) == .null)
    #expect(try value(Self.anything, keys[1], Self.parent) == .string("stays"))
  }
}
