import Foundation
import TestSupport

@testable import TarnStore

/// A store with something of every kind of key: long values, large lists, indexes, cursors with
/// change records, and the state of a replica.
struct CopiedStores {
  let store: Store
  let cursor: HeldCursor

  static let classes = [
    ClassDefinition(
      name: "Crate",
      properties: [
        .init(name: "name", type: .string, isIndexed: true),
        .init(name: "load", type: .int, collection: .list),
      ])
  ]

  init(_ folder: TemporaryStore, objects: Int = 300) throws {
    store = try folder.open(Self.classes)
    cursor = try store.openCursor(CursorRequest("indexer"))
    for round in 0..<3 { try Self.add(objects / 3, store, round) }
    try Self.remove(store)
  }

  static func add(_ count: Int, _ store: Store, _ round: Int = 0) throws {
    try store.write { session in
      for number in 0..<count {
        let long = String(repeating: "x", count: number % 10 == 0 ? 9_000 : 20)
        let key = try session.create(
          [ColumnID(0): .string("\(round) \(number) \(long)")], in: ClassID(0))
        let place = SequencePlace(classID: ClassID(0), key: key, column: ColumnID(1))
        for element in 0..<(number == 0 ? 2_000 : 3) {
          try session.insert(.int(Int64(element)), at: element, in: place)
        }
      }
    }
  }

  /// So that the file has free pages.
  private static func remove(_ store: Store) throws {
    try store.write { session in
      for number in 0..<50 { try session.delete(ObjectKey(Int64(2 * number)), in: ClassID(0)) }
    }
  }
}

extension Store {
  /// The bytes under every key.
  func entries() throws -> [[UInt8]: [UInt8]] {
    let transaction = try environment.beginRead()
    defer { transaction.end() }
    var cursor = try Cursor(transaction)
    var all: [[UInt8]: [UInt8]] = [:]
    while try cursor.next() { all[Array(cursor.key)] = Array(cursor.value) }
    return all
  }
}

extension [[UInt8]: [UInt8]] {
  /// Those that every copy has, without the head.
  var ofObjects: Self {
    filter { key, _ in key[0] < TreeKey.Tag.change.rawValue && key[0] != 0x60 }
  }

  /// How many keys have the tag.
  func count(_ tag: TreeKey.Tag) -> Int { keys.count { $0[0] == tag.rawValue } }
}
