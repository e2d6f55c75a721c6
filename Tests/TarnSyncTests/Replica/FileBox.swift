import TarnStore
import TarnText
import TestSupport

@testable import TarnSync

/// Objects with lists, sets and maps in the files of tests.
enum FileBox {
  static let id = ClassID(2)
  static let definition = ClassDefinition(
    name: "Box",
    properties: [
      .init(name: "_id", type: .int, isPrimaryKey: true),
      .init(name: "items", type: .int, collection: .list),
      .init(name: "tags", type: .string, collection: .set),
      .init(name: "scores", type: .int, collection: .map, isOptional: true),
    ])

  static func place(_ key: ObjectKey, _ column: UInt16) -> SequencePlace {
    SequencePlace(classID: id, key: key, column: ColumnID(column))
  }

  // MARK: - Changing

  /// A random change of the box with that number. No two elements of a list are equal.
  static func change(
    _ number: Int, _ session: WriteSession, _ random: inout SeededRandom
  ) throws -> String {
    let primaryKey = Value.int(Int64(number))
    guard let key = try session.find(primaryKey: primaryKey, in: id) else {
      let key = try session.create([ColumnID(0): primaryKey], in: id)
      let items = try (0..<random.below(4)).map { _ in
        try insert(session, key, &random)
      }
      return "creates box \(number): \(items)"
    }
    switch random.below(12) {
    case 0:
      try session.delete(key, in: id)
      return "deletes box \(number)"
    case 1, 2:
      let tag = "t\(random.below(6))"
      if random.chance(50) {
        try session.insert(.string(tag), intoSet: place(key, 2))
        return "puts \(tag) into box \(number)"
      }
      try session.remove(.string(tag), fromSet: place(key, 2))
      return "takes \(tag) from box \(number)"
    case 3, 4:
      let name = "k\(random.below(4))"
      if random.chance(70) {
        let value: Value = random.chance(20) ? .null : .int(Int64(random.below(100)))
        try session.set(value, forKey: name, inMap: place(key, 3))
        return "sets \(name) of box \(number): \(value)"
      }
      try session.removeValue(forKey: name, fromMap: place(key, 3))
      return "removes \(name) of box \(number)"
    default: return try "box \(number) " + changeList(key, session, &random)
    }
  }

  private static func changeList(
    _ key: ObjectKey, _ session: WriteSession, _ random: inout SeededRandom
  ) throws -> String {
    let place = place(key, 1)
    let count = try session.sequence(at: place)?.count ?? 0
    guard count > 0, random.chance(60) else {
      return try "inserts \(insert(session, key, &random))"
    }
    let position = random.below(count)
    switch random.below(3) {
    case 0:
      try session.remove(position..<position + 1, in: place)
      return "removes at \(position)"
    case 1:
      let target = random.below(count)
      try session.move(from: position, to: target, in: place)
      return "moves \(position) to \(target)"
    default:
      let value = unique(&random)
      try session.set(value, at: position, in: place)
      return "sets at \(position): \(value)"
    }
  }

  private static func insert(
    _ session: WriteSession, _ key: ObjectKey, _ random: inout SeededRandom
  ) throws -> String {
    let count = try session.sequence(at: place(key, 1))?.count ?? 0
    let (value, position) = (unique(&random), random.below(count + 1))
    try session.insert(value, at: position, in: place(key, 1))
    return "\(value) at \(position)"
  }

  private static func unique(_ random: inout SeededRandom) -> Value {
    .int(Int64(random.next() >> 20))
  }

  // MARK: - Reading

  /// All boxes of a file, with their contents as JSON.
  static func all(in reader: SnapshotReader) throws -> [String: FileReplica.Object] {
    var boxes: [String: FileReplica.Object] = [:]
    var keys: [ObjectKey] = []
    try reader.forEachCluster(in: id) { cluster throws(StorageError) in
      for slot in 0..<cluster.image.rowCount { keys.append(cluster.image.key(at: slot)) }
      return true
    }
    for key in keys {
      let parts = try (1...3 as ClosedRange<UInt16>).map { column in
        try reader.sequence(at: place(key, column))?.parts() ?? SequenceParts()
      }
      let scores = zip(parts[2].keys, parts[2].values).map {
        JSONMember($0, ValueText.json($1))
      }
      boxes["Box \(key.rawValue)"] = object(
        .array(parts[0].values.map { ValueText.json($0) }),
        .array(parts[1].values.map { ValueText.json($0) }), .object(scores))
    }
    return boxes
  }

  /// The same of a server.
  static func all(_ connection: ServerConnection) throws -> [String: FileReplica.Object] {
    var boxes: [String: FileReplica.Object] = [:]
    for row in try connection.rows("SELECT _id, items, tags, scores FROM \"Box\"") {
      let json = try row[1...].map { try JSONScanner.value(in: $0 ?? "") }
      boxes["Box \(row[0] ?? "")"] = object(json[0], json[1], json[2])
    }
    return boxes
  }

  private static func object(
    _ items: JSONValue, _ tags: JSONValue, _ scores: JSONValue
  ) -> FileReplica.Object {
    var texts: [String] = []
    if case .array(let list) = tags { texts = list.map(JSONText.text).sorted() }
    if case .object(let members) = scores {
      texts += members.map { "\($0.name): \(JSONText.text($0.value))" }.sorted()
    }
    return FileReplica.Object(
      a: 0, rest: JSONText.text(items) + " " + texts.joined(separator: " "))
  }

  /// The lists of a file that have an element twice.
  static func repeated(in objects: [String: FileReplica.Object]) -> [String] {
    objects.compactMap { name, object in
      guard name.hasPrefix("Box"), let list = object.rest?.split(separator: "]").first else {
        return nil
      }
      let items = list.dropFirst().split(separator: ",")
      return Set(items).count == items.count ? nil : "\(name) \(object.rest ?? "")"
    }
  }
}
