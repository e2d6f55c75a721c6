import TestSupport
import Testing

@testable import TarnStore

/// A damaged file in which lists within values lie in each other: whatever goes through them ends.
struct NestedCircleTests {
  private static let things = ClassID(0)
  private static let value = ColumnID(0)
  private static let targets = ClassID(1)
  private static let classes = [
    ClassDefinition(name: "Thing", properties: [.init(name: "value", type: .any)]),
    ClassDefinition(name: "Target", properties: [.init(name: "n", type: .int)]),
  ]

  private let file = TemporaryStore()
  private let store: Store
  private let key: ObjectKey
  private let target: ObjectKey
  private let outer: CollectionID

  init() throws {
    store = try file.open(Self.classes)
    (key, target, outer) = try store.write { session in
      let target = try session.create([:], in: Self.targets)
      let key = try session.create([:], in: Self.things)
      let place = SequencePlace(classID: Self.things, key: key, column: Self.value)
      let outer = try session.makeNested(.list, in: place)
      let inner = try session.makeNested(.list, in: place.nested(outer))
      try session.set(Self.value, at: key, in: Self.things, to: .list(outer))
      let link = Value.object(Self.targets, target)
      try session.insert([link, .list(inner)], at: 0, in: place.nested(outer))
      try session.insert([link], at: 0, in: place.nested(outer).nested(inner))
      return (key, target, outer)
    }
    let reader = try SnapshotReader(store.newestSnapshot())
    let place = SequencePlace(classID: Self.things, key: key, column: Self.value)
    let value = try reader.sequence(at: place.nested(outer))?.value(at: 1)
    let inner = try #require(value?.collection)
    let elements = SequenceElements(
      keys: [],
      values: [.value(.object(Self.targets, target)), .value(.list(outer))])
    let cell = try #require(CollectionCell.encode(elements, limit: 1_000))
    let record = NestedRecord.encode(.list, cell)
    try store.environment.write { transaction throws(StorageError) in
      try TreeKey.nested(inner).withBytes { name throws(StorageError) in
        try withBytes(of: record) { bytes throws(StorageError) in
          try transaction.put(bytes, forKey: name)
        }
      }
    }
  }

  private var place: SequencePlace {
    SequencePlace(classID: Self.things, key: key, column: Self.value)
  }

  /// The file as it is now.
  private func reader() throws -> SnapshotReader {
    let known = try store.newestSnapshot()
    return try SnapshotReader(
      Snapshot(
        transaction: store.environment.beginRead(), head: known.head, schema: known.schema))
  }

  @Test func readingEndsWithAnError() throws {
    let reader = try reader()
    var place = place.nested(outer)
    let error = #expect(throws: StorageError.self) {
      while true {
        let sequence = try #require(try reader.sequence(at: place))
        guard case .list(let next) = try sequence.value(at: 1) else { return }
        place = place.nested(next)
      }
    }
    #expect(error?.code == .corrupted)
    #expect(error?.detail.contains("over 100 deep, or contain themselves") == true)
  }

  @Test func theCheckTellsOfIt() throws {
    let reader = try reader()
    let problems = SequenceCheck(reader).problems
    #expect(problems.contains { $0.contains("shares a collection within a value") }, "\(problems)")
    let column = Self.classes.isEmpty ? nil : reader.schema[Self.things][Self.value]
    let links = try reader.links(from: try #require(column), at: key, in: Self.things)
    #expect(links.count == 1)
  }

  @Test func theValueCanBeReplacedAndTheObjectDeleted() throws {
    for deletes in [false, true] {
      let session = WriteSession(try reader()) {}
      if deletes {
        try session.delete(key, in: Self.things)
        #expect(try session.rowCount(of: Self.things) == 0)
      } else {
        try session.set(Self.value, at: key, in: Self.things, to: .int(1))
        #expect(try session.value(of: Self.value, at: key, in: Self.things) == .int(1))
      }
    }
  }

  @Test func whatItLinksToCanBeDeleted() throws {
    let session = WriteSession(try reader()) {}
    try session.delete(target, in: Self.targets)
    #expect(try session.rowCount(of: Self.targets) == 0)
    #expect(try session.sequence(at: place.nested(outer))?.value(at: 0) == .null)
  }

  @Test func copyingEndsWithAnError() throws {
    let reader = try reader()
    let error = #expect(throws: StorageError.self) {
      _ = try CopiedValue(.list(outer)) { id throws(StorageError) in
        try reader.nestedSequence(id)?.parts()
      }
    }
    #expect(error?.code == .corrupted)
  }

  /// Twice on each of a hundred levels is more than anybody could copy.
  @Test func copyingTwoOfOneEndsWithAnError() throws {
    let error = #expect(throws: StorageError.self) {
      _ = try CopiedValue(.list(CollectionID(1))) { id throws(StorageError) in
        let next = Value.list(CollectionID(id.rawValue + 1))
        return SequenceParts(values: id.rawValue < 90 ? [next, next] : [])
      }
    }
    #expect(error?.detail.contains("referenced twice") == true)
  }

  @Test func noneIsMadeDeeperThanTheyMayLie() throws {
    let error = #expect(throws: StorageError.self) {
      try store.write { session in
        let key = try session.create([:], in: Self.things)
        var place = SequencePlace(classID: Self.things, key: key, column: Self.value)
        var isFirst = true
        while true {
          let id = try session.makeNested(.list, in: place)
          if isFirst {
            try session.set(Self.value, at: key, in: Self.things, to: .list(id))
          } else {
            try session.insert(.list(id), at: 0, in: place)
          }
          isFirst = false
          place = place.nested(id)
        }
      }
    }
    #expect(error?.code == .invalidInput)
    #expect(error?.detail == "Lists and maps within values may be up to 100 deep.")
  }
}
