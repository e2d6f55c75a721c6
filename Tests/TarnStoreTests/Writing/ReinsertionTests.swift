import TestSupport
import Testing

@testable import TarnStore

/// Objects whose keys are their primary keys, deleted and added again in one write.
@Suite struct ReinsertionTests {
  private static let rows = 200
  private static let definition = ClassDefinition(
    name: "Thing",
    properties: [
      ClassDefinition.Property(name: "id", type: .int, isPrimaryKey: true),
      ClassDefinition.Property(name: "text", type: .string),
    ])
  private let id = ClassID(0)
  private let temporary = TemporaryStore()

  private func filled() throws -> Store {
    let store = try temporary.open([Self.definition])
    try store.write { session in
      for number in 0..<Self.rows { try add(number, session) }
    }
    return store
  }

  private func add(_ number: Int, _ session: WriteSession) throws {
    // Long enough for several clusters.
    let text = String(repeating: "x", count: 150) + "\(number)"
    try session.create(
      [ColumnID(0): .int(Int64(number)), ColumnID(1): .string(text)], in: id)
  }

  private func check(_ store: Store, has numbers: [Int]) throws {
    let reader = try SnapshotReader(store.newestSnapshot())
    var keys: [ObjectKey] = []
    try reader.forEachCluster(in: id) { found throws(StorageError) in
      for slot in 0..<found.image.rowCount { keys.append(found.image.key(at: slot)) }
      return true
    }
    #expect(keys.map(\.rawValue) == numbers.map(Int64.init))
    for number in numbers {
      #expect(try reader.row(ObjectKey(Int64(number)), in: id) != nil, "\(number)")
    }
  }

  @Test func `all deleted one by one and added again ascending are found`() throws {
    let store = try filled()
    try store.write { session in
      for number in 0..<Self.rows { try session.delete(ObjectKey(Int64(number)), in: id) }
      for number in 0..<Self.rows {
        try add(number, session)
        #expect(try session.location(of: ObjectKey(Int64(number)), in: id) != nil, "\(number)")
      }
    }
    try check(store, has: Array(0..<Self.rows))
  }

  @Test func `what lies before an emptied last cluster is found after a small key came`() throws {
    let store = try filled()
    try store.write { session in
      try session.delete(ObjectKey(3), in: id)
      for number in 100..<Self.rows { try session.delete(ObjectKey(Int64(number)), in: id) }
      try add(3, session)
      for number in 0..<100 {
        #expect(try session.find(primaryKey: .int(Int64(number)), in: id) != nil, "\(number)")
      }
      try add(150, session)
    }
    try check(store, has: Array(0..<100) + [150])
  }
}
