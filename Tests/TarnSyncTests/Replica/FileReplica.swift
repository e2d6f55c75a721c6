import Foundation
import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// A file with things, notes and boxes, whose connection can lose an answer.
final class FileReplica: TestReplica {
  /// Whether the answer to the next push is lost.
  var losesAnswer = false

  static let classes = [
    ClassDefinition(
      name: "Thing",
      properties: [
        .init(name: "_id", type: .int, isPrimaryKey: true), .init(name: "a", type: .int),
        .init(name: "b", type: .int, isOptional: true),
        .init(name: "note", type: .link, isOptional: true, target: "Note"),
      ]),
    ClassDefinition(
      name: "Note",
      properties: [
        .init(name: "_id", type: .string, isIndexed: true, isPrimaryKey: true),
        .init(name: "a", type: .int), .init(name: "text", type: .string, isOptional: true),
      ]),
    FileBox.definition, FileBox.spot,
  ]
  static let names = ["Box", "Note", "Thing"]

  /// A server with the classes, which refuses some numbers, and a login.
  static func server() throws -> (PostgresDatabase, String) {
    try server(classes, "ALTER TABLE \"Thing\" ADD CHECK (a % 13 <> 0)")
  }

  struct LostAnswer: Error {}

  init(
    _ path: String, classes: [String] = names, _ connect: @escaping () throws -> ServerConnection
  ) throws {
    try super.init(path, Self.classes, exchanging: classes, connect)
  }

  override func prepare(_ replicator: Replicator) {
    replicator.answered = { [unowned self] in
      if losesAnswer {
        losesAnswer = false
        throw LostAnswer()
      }
    }
  }

  /// Joins the unsent commits.
  ///
  /// - Parameter bytes: how large their records may be.
  /// - Returns: whether they were larger.
  func join(above bytes: Int = 0) throws -> Bool { try UnsentJoin.run(replica, above: bytes) }

  /// Lets the next commit be two seconds later than the last one, so that it is sent by itself.
  ///
  /// - Parameter time: in microseconds.
  func pause(by time: UInt64 = 2_000_000) {
    let last = try? withExtendedLifetime(store.newestSnapshot()) { snapshot in
      try ChangeLog.header(of: snapshot.version, in: snapshot.transaction)?.meta.note?.stamp
    }
    let now = UInt64(Date().timeIntervalSince1970 * 1e6)
    store.raiseStamp(atLeast: max(last ?? 0, now) + time)
  }

  // MARK: - The objects

  struct Object: Hashable {
    var a: Int64
    var rest: String?
    /// The key of the note that a thing links to.
    var note: String?
  }

  /// All objects, by class and primary key.
  func objects() throws -> [String: Object] {
    let reader = try SnapshotReader(store.newestSnapshot())
    var objects: [String: Object] = [:]
    for described in reader.schema.schema.classes {
      guard let key = described.primaryKey, described.name != "Box" else {
        continue
      }
      try reader.forEachCluster(in: described.id) { cluster throws(StorageError) in
        for slot in 0..<cluster.image.rowCount {
          let row = cluster.image.key(at: slot)
          func value(_ column: ColumnID) throws(StorageError) -> Value {
            try reader.value(of: column, at: row, in: described.id) ?? .null
          }
          let name = described.keyIsPrimary ? "\(row.rawValue)" : "\(try value(key))"
          guard case .int(let a) = try value(ColumnID(1)) else { trap("a number") }
          var object = Object(
            a: a, rest: try value(ColumnID(2)) == .null ? nil : "\(try value(ColumnID(2)))")
          if described.columns.count > 3, case .link(let note) = try value(ColumnID(3)) {
            let found = try reader.value(of: ColumnID(0), at: note, in: ClassID(1))
            object.note = "\(found ?? .null)"
          }
          objects["\(described.name) \(name)"] = object
        }
        return true
      }
    }
    objects.merge(try FileBox.all(in: reader)) { $1 }
    return objects
  }

  /// A random change of the object with that number.
  ///
  /// - Returns: what it was.
  func change(
    _ number: Int, _ session: WriteSession, _ random: inout SeededRandom
  ) throws -> String {
    if random.chance(40) { return try FileBox.change(number, session, &random) }
    let id = ClassID(UInt32(random.below(2)))
    let key: Value = id == ClassID(0) ? .int(Int64(number)) : .string("n\(number)")
    let a = Value.int(Int64(random.below(1_000)))
    let rest: Value =
      random.chance(20)
      ? .null : id == ClassID(0) ? .int(Int64(random.below(9))) : .string("t\(random.below(99))")
    guard let object = try session.find(primaryKey: key, in: id) else {
      try session.create([ColumnID(0): key, ColumnID(1): a, ColumnID(2): rest], in: id)
      return "creates \(key): \(a), \(rest)"
    }
    if id == ClassID(0), random.chance(30) {
      let note = try session.find(primaryKey: .string("n\(random.below(4))"), in: ClassID(1))
      try session.set(ColumnID(3), at: object, in: id, to: note.map { .link($0) } ?? .null)
      return "links \(key) to \(note.map { "\($0)" } ?? "nothing")"
    }
    switch random.below(5) {
    case 0:
      try session.delete(object, in: id)
      return "deletes \(key)"
    case 1, 2:
      try session.set(ColumnID(1), at: object, in: id, to: a)
      return "writes \(key).a: \(a)"
    default:
      try session.set(ColumnID(2), at: object, in: id, to: rest)
      return "writes \(key).rest: \(rest)"
    }
  }

  /// Deletes the object with that number, if it is there, or creates it.
  ///
  /// - Returns: what it was.
  func turnOver(
    _ number: Int, _ name: String, _ random: inout SeededRandom
  ) throws -> String {
    var story = ""
    try commit { session in
      let id = try #require(session.schema.schema.named(name)).id
      let key: Value = name == "Note" ? .string("n\(number)") : .int(Int64(number))
      if let object = try session.find(primaryKey: key, in: id) {
        try session.delete(object, in: id)
        story = "deletes \(name) \(key)"
      } else if name == "Box" {
        story = try FileBox.change(number, session, &random)
      } else {
        try session.create([ColumnID(0): key, ColumnID(1): .int(Int64(random.below(9)))], in: id)
        story = "creates \(name) \(key)"
      }
    }
    return story
  }

  // MARK: - One change

  func create(_ name: String, _ key: Value, a: Int, note: String? = nil) throws {
    try commit { session in
      let id = ClassID(name == "Thing" ? 0 : 1)
      var values = [ColumnID(0): key, ColumnID(1): .int(Int64(a))]
      if let note, let found = try session.find(primaryKey: .string(note), in: ClassID(1)) {
        values[ColumnID(3)] = .link(found)
      }
      try session.create(values, in: id)
    }
  }

  func set(_ name: String, _ key: Value, _ column: Int, _ value: Value) throws {
    try commit { session in
      let id = ClassID(name == "Thing" ? 0 : 1)
      guard let found = try session.find(primaryKey: key, in: id) else { return }
      try session.set(ColumnID(UInt16(column)), at: found, in: id, to: value)
    }
  }

  func delete(_ name: String, _ key: Value) throws {
    try commit { session in
      let id = ClassID(name == "Thing" ? 0 : 1)
      guard let found = try session.find(primaryKey: key, in: id) else { return }
      try session.delete(found, in: id)
    }
  }

  /// Subscribes to the objects that filters choose, and to no others.
  func subscribe(_ queries: [String: [String]]) throws {
    let snapshot = try store.newestSnapshot()
    var subscriptions: [Subscription] = []
    for (name, filters) in queries {
      let described = try #require(snapshot.schema.schema.named(name))
      for filter in filters {
        subscriptions.append(
          try Subscription(
            name: nil, to: described, where: PredicateParser.parse(filter, []).predicate,
            in: snapshot, time: 0))
      }
    }
    try store.editSubscriptions { set in
      set.subscriptions = subscriptions
      set.renew()
      return true
    }
  }

  /// The keys of the server's rows that the file is to have, as `objects()` names them; nil for
  /// all.
  func subscribedKeys(_ server: ServerConnection) throws -> Set<String>? {
    guard let set = try SubscriptionSet.read(in: store.newestSnapshot()) else { return nil }
    var keys: Set<String> = []
    for one in set.subscriptions {
      let rows = try server.rows("SELECT _id FROM \"\(one.className)\" WHERE \(one.sql)")
      for row in rows {
        let key = row[0] ?? ""
        keys.insert("\(one.className) \(one.className == "Note" ? "\(Value.string(key))" : key)")
      }
    }
    return keys
  }
}
