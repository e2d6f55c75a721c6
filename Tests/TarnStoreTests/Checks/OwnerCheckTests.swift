import TestSupport
import Testing

@testable import TarnStore

/// Embedded objects with two owners, or none, are found in a file.
struct OwnerCheckTests {
  private static let part = ClassID(0)
  private static let parent = ClassID(1)
  private static let inner = ColumnID(0)
  private static let child = ColumnID(0)
  private static let parts = ColumnID(1)
  private static let named = ColumnID(2)
  private static let classes = [
    ClassDefinition(
      name: "Part",
      properties: [.init(name: "inner", type: .link, isOptional: true, target: "Part")],
      isEmbedded: true),
    ClassDefinition(
      name: "Parent",
      properties: [
        .init(name: "child", type: .link, isOptional: true, target: "Part"),
        .init(name: "parts", type: .link, collection: .list, target: "Part"),
        .init(name: "named", type: .link, collection: .map, isOptional: true, target: "Part"),
      ]),
  ]

  let file = TemporaryStore()
  let store: Store
  init() throws { store = try file.open(Self.classes) }

  private func problems() throws -> [String] {
    OwnerCheck(try SnapshotReader(store.newestSnapshot())).problems
  }

  @Test func aSoundFileHasNoProblems() throws {
    try store.write { session in
      let owner = try session.create([:], in: Self.parent)
      for column in [Self.parts, Self.named] {
        let place = SequencePlace(classID: Self.parent, key: owner, column: column)
        let part = try session.create([:], in: Self.part)
        if column == Self.parts {
          try session.insert(.link(part), at: 0, in: place)
        } else {
          try session.set(.link(part), forKey: "a", inMap: place)
          try session.set(.null, forKey: "b", inMap: place)
        }
        let inner = try session.create([:], in: Self.part)
        try session.set(Self.inner, at: part, in: Self.part, to: .link(inner))
      }
    }
    #expect(try problems() == [])
  }

  @Test func anObjectWithTwoOwners() throws {
    try store.write { session in
      let part = try session.create([:], in: Self.part)
      // What makes rows takes nothing away from others.
      try session.create([Self.child: .link(part)], in: Self.parent)
      try session.create([Self.child: .link(part)], in: Self.parent)
    }
    #expect(
      try problems() == [
        "object 0 of class Part is embedded and has 2 incoming links, one of them in object 0 "
          + "of class Parent"
      ])
  }

  @Test func anObjectThatIsTwiceInAList() throws {
    try store.write { session in
      let part = try session.create([:], in: Self.part)
      let owner = try session.create([:], in: Self.parent)
      let place = SequencePlace(classID: Self.parent, key: owner, column: Self.parts)
      let list = try #require(try session.sequence(at: place))
      try session.replaceElements(0..<0, with: [.link(part), .link(part)], in: list)
    }
    #expect(
      try problems() == [
        "object 0 of class Part is embedded and has 2 incoming links, one of them in object 0 "
          + "of class Parent"
      ])
    #expect(SequenceCheck(try SnapshotReader(store.newestSnapshot())).problems == [])
    // Moving it makes it one again.
    try store.write { session in
      let place = SequencePlace(classID: Self.parent, key: ObjectKey(0), column: Self.parts)
      try session.replace(0..<1, with: [.link(ObjectKey(0))], in: place)
    }
    #expect(try problems() == [])
  }

  @Test func anObjectOfNobody() throws {
    try store.write { _ = try $0.create([:], in: Self.part) }
    #expect(try problems() == ["object 0 of class Part is embedded and has no owner"])
  }

  @Test func objectsThatBelongToEachOther() throws {
    try store.write { session in
      let first = try session.create([:], in: Self.part)
      let second = try session.create([Self.inner: .link(first)], in: Self.part)
      let row = try #require(try session.edit(first, in: Self.part))
      row.cluster.set(Self.inner, row.slot, .link(second))
      try session.insertIndexEntry(.link(second), of: Self.inner, at: first, in: Self.part)
    }
    #expect(
      try problems() == [
        "object 0 of class Part is embedded in an object that it owns",
        "object 1 of class Part is embedded in an object that it owns",
      ])
  }
}
