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
      .init(name: "notes", type: .link, collection: .list, target: "Note"),
      .init(name: "spot", type: .link, isOptional: true, target: "Spot"),
      .init(name: "spots", type: .link, collection: .list, target: "Spot"),
      .init(name: "any", type: .any, isOptional: true),
      .init(name: "mixes", type: .any, collection: .list, isOptional: true),
      .init(name: "noteSet", type: .link, collection: .set, target: "Note"),
      .init(name: "things", type: .link, collection: .list, target: "Thing"),
    ])
  /// Embedded in boxes.
  static let spot = ClassDefinition(
    name: "Spot",
    properties: [
      .init(name: "city", type: .string), .init(name: "rank", type: .int),
      .init(name: "note", type: .link, isOptional: true, target: "Note"),
      .init(name: "facts", type: .int, collection: .map),
    ], isEmbedded: true)
  static let spotID = ClassID(3)

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
    if random.chance(50) {
      return try "box \(number) " + changeParts(key, session, &random)
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

  /// Changes links, embedded objects and the mixed value.
  private static func changeParts(
    _ key: ObjectKey, _ session: WriteSession, _ random: inout SeededRandom
  ) throws -> String {
    switch random.below(14) {
    case 12, 13: return try "things " + changeThings(key, session, &random)
    case 8, 9: return try "mixes " + changeMixes(key, session, &random)
    case 10, 11:
      guard let note = try note(session, &random) else { return "has no such note" }
      let place = place(key, 9)
      if random.chance(70) {
        try session.insert(.link(note), intoSet: place)
        return "puts note \(note.rawValue) into its set"
      }
      try session.remove(.link(note), fromSet: place)
      return "takes note \(note.rawValue) from its set"
    case 0, 1:
      let place = place(key, 4)
      let count = try session.sequence(at: place)?.count ?? 0
      if count > 0, random.chance(40) {
        let position = random.below(count)
        try session.remove(position..<position + 1, in: place)
        return "unlinks at \(position)"
      }
      guard let note = try note(session, &random) else { return "links to nothing" }
      let position = random.below(count + 1)
      try session.insert(.link(note), at: position, in: place)
      return "links at \(position) to note \(note.rawValue)"
    case 2:
      let spot = random.chance(30) ? nil : try makeSpot(session, &random)
      try session.set(ColumnID(5), at: key, in: id, to: spot.map { .link($0) } ?? .null)
      return "gets \(spot == nil ? "no" : "another") spot"
    case 3:
      guard case .link(let spot)? = try session.value(of: ColumnID(5), at: key, in: id) else {
        return "has no spot"
      }
      return try "spot " + changeSpot(spot, session, &random)
    case 4, 5:
      let place = place(key, 6)
      let count = try session.sequence(at: place)?.count ?? 0
      if count > 0, random.chance(30) {
        let position = random.below(count)
        try session.remove(position..<position + 1, in: place)
        return "loses spot \(position)"
      }
      if count > 0, random.chance(60) {
        let position = random.below(count)
        guard case .link(let spot)? = try session.sequence(at: place)?.value(at: position) else {
          return "has no such spot"
        }
        return try "spot \(position) " + changeSpot(spot, session, &random)
      }
      let position = random.below(count + 1)
      try session.insert(.link(makeSpot(session, &random)), at: position, in: place)
      return "gets a spot at \(position)"
    default:
      let json = try mixed(session, &random)
      let writer = LocalWriter(session: session)
      let place = place(key, 7)
      let copy = try writer.copy(json, session.schema[id][ColumnID(7)])
      _ = try writer.set(copy, at: place)
      return "gets \(JSONText.text(json))"
    }
  }

  /// Changes the list of mixed values.
  private static func changeMixes(
    _ key: ObjectKey, _ session: WriteSession, _ random: inout SeededRandom
  ) throws -> String {
    let place = place(key, 8)
    let count = try session.sequence(at: place)?.count ?? 0
    if count > 0, random.chance(30) {
      let position = random.below(count)
      try session.remove(position..<position + 1, in: place)
      return "remove at \(position)"
    }
    let note = random.chance(70) ? try note(session, &random) : nil
    let value = note.map { Value.object(ClassID(1), $0) } ?? unique(&random)
    if count > 0, random.chance(30) {
      let position = random.below(count)
      try session.set(value, at: position, in: place)
      return "set at \(position): \(value)"
    }
    let position = random.below(count + 1)
    try session.insert(value, at: position, in: place)
    return "insert at \(position): \(value)"
  }

  /// Changes the list of links to objects with integer keys.
  private static func changeThings(
    _ key: ObjectKey, _ session: WriteSession, _ random: inout SeededRandom
  ) throws -> String {
    let place = place(key, 10)
    let count = try session.sequence(at: place)?.count ?? 0
    if count > 0, random.chance(30) {
      let position = random.below(count)
      try session.remove(position..<position + 1, in: place)
      return "remove at \(position)"
    }
    let number = Value.int(Int64(random.below(6)))
    guard let thing = try session.find(primaryKey: number, in: ClassID(0)) else {
      return "have no \(number)"
    }
    let position = random.below(count + 1)
    try session.insert(.link(thing), at: position, in: place)
    return "insert at \(position): \(number)"
  }

  private static func note(
    _ session: WriteSession, _ random: inout SeededRandom
  ) throws -> ObjectKey? {
    try session.find(primaryKey: .string("n\(random.below(4))"), in: ClassID(1))
  }

  private static func makeSpot(
    _ session: WriteSession, _ random: inout SeededRandom
  ) throws -> ObjectKey {
    var values = [
      ColumnID(0): Value.string("city \(random.below(100))"),
      ColumnID(1): .int(Int64(random.below(100))),
    ]
    if let note = try note(session, &random) { values[ColumnID(2)] = .link(note) }
    return try session.create(values, in: spotID)
  }

  private static func changeSpot(
    _ spot: ObjectKey, _ session: WriteSession, _ random: inout SeededRandom
  ) throws -> String {
    switch random.below(5) {
    case 3, 4:
      let facts = SequencePlace(classID: spotID, key: spot, column: ColumnID(3))
      let name = "k\(random.below(4))"
      if random.chance(40) {
        try session.removeValue(forKey: name, fromMap: facts)
        return "loses \(name)"
      }
      try session.set(.int(Int64(random.below(100))), forKey: name, inMap: facts)
      return "gets \(name)"
    case 0:
      let city = "city \(random.below(100))"
      try session.set(ColumnID(0), at: spot, in: spotID, to: .string(city))
      return "is in \(city)"
    case 1:
      let rank = Int64(random.below(100))
      try session.set(ColumnID(1), at: spot, in: spotID, to: .int(rank))
      return "has rank \(rank)"
    default:
      let note = try note(session, &random)
      try session.set(ColumnID(2), at: spot, in: spotID, to: note.map { .link($0) } ?? .null)
      return "links to \(note.map { "\($0.rawValue)" } ?? "nothing")"
    }
  }

  private static func mixed(
    _ session: WriteSession, _ random: inout SeededRandom
  ) throws -> JSONValue {
    let number = JSONValue.integer(Int64(random.below(100)))
    switch random.below(6) {
    case 0: return .null
    case 1: return .array([number, .string("a\u{1}"), .bool(true)])
    case 2:
      let name = "k\(random.below(3))"
      return .object([JSONMember(name, number), JSONMember("list", .array([number]))])
    case 3: return .double(0.5)
    case 4: return MixedJSON.link(to: "Note", .string("n\(random.below(4))"))
    default: return number
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
      let rest = try (4...10 as ClosedRange<UInt16>).map { try json(place(key, $0), reader) }
      boxes["Box \(key.rawValue)"] = object(
        .array(parts[0].values.map { ValueText.json($0) }),
        .array(parts[1].values.map { ValueText.json($0) }), .object(scores), rest)
    }
    return boxes
  }

  /// Links, embedded objects and the mixed value as a server has them.
  private static func json(_ place: SequencePlace, _ reader: SnapshotReader) throws -> JSONValue {
    let rows = PastRows(reader, RecordedPast(at: reader.snapshot.version))
    let items = try LocalItems(rows: rows).elements(of: place).items.map(\.json)
    switch reader.schema[id][place.column].collection {
    case .list: return .array(items)
    case .set: return ItemCoder.set(items)
    case .none, .map: return items.first ?? .null
    }
  }

  /// The same of a server.
  ///
  /// - Parameter chosen: the objects that a file is to have; nil for all.
  static func all(
    _ connection: ServerConnection, _ chosen: Set<String>? = nil
  ) throws -> [String: FileReplica.Object] {
    var boxes: [String: FileReplica.Object] = [:]
    let notes = try Set(connection.rows("SELECT _id FROM \"Note\"").compactMap { $0[0] })
    let rows = try connection.rows(
      """
      SELECT _id, items, tags, scores, notes, spot, spots, "any", mixes, "noteSet", things
      FROM "Box"
      """)
    let things = try Set(connection.rows("SELECT _id FROM \"Thing\"").compactMap { $0[0] })
      .filter { chosen?.contains("Thing \($0)") != false }
    for row in rows {
      let json = try row[1...].map { try JSONScanner.value(in: $0 ?? "null") }
      boxes["Box \(row[0] ?? "")"] = object(
        json[0], json[1], json[2],
        [
          links(json[3], notes), spot(json[4], notes), spots(json[5], notes), any(json[6], notes),
          mixes(json[7], notes), set(links(json[8], notes)), links(json[9], things),
        ])
    }
    return boxes
  }

  private static func links(_ json: JSONValue, _ notes: Set<String>) -> JSONValue {
    guard case .array(let items) = json else { return json }
    return .array(
      items.filter { item in
        switch item {
        case .string(let name): notes.contains(name)
        case .integer(let number): notes.contains("\(number)")
        default: true
        }
      })
  }

  private static func mixes(_ json: JSONValue, _ notes: Set<String>) -> JSONValue {
    guard case .array(let items) = json else { return json }
    return .array(items.map { any($0, notes) })
  }

  private static func set(_ json: JSONValue) -> JSONValue {
    guard case .array(let items) = json else { return json }
    return ItemCoder.set(items)
  }

  private static func spots(_ json: JSONValue, _ notes: Set<String>) -> JSONValue {
    guard case .array(let items) = json else { return json }
    return .array(items.map { spot($0, notes) })
  }

  private static func spot(_ json: JSONValue, _ notes: Set<String>) -> JSONValue {
    guard case .object(let members) = json else { return json }
    return ItemCoder.sorted(
      members.map { member in
        guard member.name == "note", case .string(let name) = member.value,
          !notes.contains(name)
        else { return member }
        return JSONMember(member.name, .null)
      })
  }

  private static func any(_ json: JSONValue, _ notes: Set<String>) -> JSONValue {
    guard case .object(let members) = json else { return json }
    if json["$type"] == .string("link") {
      guard case .string(let name)? = json["value"], notes.contains(name) else { return .null }
      return MixedJSON.link(to: "Note", .string(name))
    }
    return ItemCoder.sorted(members)
  }

  private static func object(
    _ items: JSONValue, _ tags: JSONValue, _ scores: JSONValue, _ rest: [JSONValue]
  ) -> FileReplica.Object {
    var texts: [String] = []
    if case .array(let list) = tags { texts = list.map(JSONText.text).sorted() }
    if case .object(let members) = scores {
      texts += members.map { "\($0.name): \(JSONText.text($0.value))" }.sorted()
    }
    return FileReplica.Object(
      a: 0,
      rest: JSONText.text(items) + " " + texts.joined(separator: " ")
        + rest.map { " " + JSONText.text($0) }.joined())
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
