import TarnStore
import TarnText
import TestSupport

@testable import TarnSync

/// A file whose class has a property of each kind, with an exchange, for tests in which SQL writes
/// what no property can hold.
final class OddReplica: TestReplica {
  static let classes = [
    ClassDefinition(
      name: "Odd",
      properties: [
        .init(name: "_id", type: .objectID, isIndexed: true, isPrimaryKey: true),
        .init(name: "count", type: .int), .init(name: "flag", type: .bool),
        .init(name: "text", type: .string, isOptional: true), .init(name: "bytes", type: .data),
        .init(name: "date", type: .date, isOptional: true), .init(name: "float", type: .float),
        .init(name: "double", type: .double), .init(name: "uuid", type: .uuid),
        .init(name: "price", type: .decimal), .init(name: "tax", type: .decimal, isOptional: true),
        .init(name: "badge", type: .objectID, isOptional: true),
        .init(name: "owner", type: .objectID),
        .init(name: "friend", type: .link, isOptional: true, target: "Odd"),
        .init(name: "counts", type: .int, collection: .list),
        .init(name: "prices", type: .decimal, collection: .list),
        .init(name: "doubles", type: .double, collection: .set),
        .init(name: "names", type: .string, collection: .map, isOptional: true),
        .init(name: "badges", type: .objectID, collection: .list),
        .init(name: "friends", type: .link, collection: .list, target: "Odd"),
        .init(name: "spot", type: .link, isOptional: true, target: "Patch"),
        .init(name: "spots", type: .link, collection: .list, target: "Patch"),
        .init(name: "places", type: .link, collection: .map, isOptional: true, target: "Patch"),
        .init(name: "any", type: .any, isOptional: true),
        .init(name: "anys", type: .any, collection: .list, isOptional: true),
        .init(name: "table", type: .any, collection: .map, isOptional: true),
        .init(name: "mixes", type: .any, collection: .set, isOptional: true),
        .init(name: "ids", type: .uuid, collection: .list),
        .init(name: "dates", type: .date, collection: .map, isOptional: true),
        .init(name: "flags", type: .bool, collection: .set),
        .init(name: "datas", type: .data, collection: .list, isOptional: true),
        .init(name: "floats", type: .float, collection: .list),
      ]),
    ClassDefinition(
      name: "Patch",
      properties: [
        .init(name: "city", type: .string), .init(name: "price", type: .decimal, isOptional: true),
        .init(name: "badge", type: .objectID, isOptional: true),
        .init(name: "any", type: .any, isOptional: true),
        .init(name: "names", type: .string, collection: .map, isOptional: true),
        .init(name: "counts", type: .int, collection: .list),
      ], isEmbedded: true),
  ]

  /// A server with the class and without its checks, as earlier versions made it, and a login.
  static func server() throws -> (PostgresDatabase, String) {
    try server(
      classes,
      """
      DO $do$ DECLARE name text; BEGIN
        FOR name IN SELECT conname FROM pg_constraint
          WHERE conrelid = '"Odd"'::regclass AND contype = 'c'
        LOOP EXECUTE format('ALTER TABLE "Odd" DROP CONSTRAINT %I', name); END LOOP;
      END $do$
      """)
  }

  init(_ path: String, _ connect: @escaping () throws -> ServerConnection) throws {
    try super.init(path, Self.classes, exchanging: ["Odd"], connect)
  }

  var leftOut: [LeftOutValue] {
    get throws { try ReplicaReport.of(store)?.leftOut ?? [] }
  }

  // MARK: - Objects

  static func id(_ number: Int) -> Value {
    .objectID(Bytes12(high: 0, low: UInt32(number)))
  }

  /// A key as SQL writes it.
  static func key(_ number: Int) -> String {
    let digits = String(number, radix: 16)
    return "'\\x" + String(repeating: "0", count: 24 - digits.count) + digits + "'"
  }

  /// All objects as JSON, by the numbers of their keys; by the digits of others.
  func objects() throws -> [String: JSONValue] {
    let reader = try SnapshotReader(store.newestSnapshot())
    let rows = PastRows(reader, RecordedPast(at: reader.snapshot.version))
    let described = reader.schema[ClassID(0)]
    var objects: [String: JSONValue] = [:]
    var keys: [ObjectKey] = []
    try reader.forEachCluster(in: described.id) { cluster throws(StorageError) in
      for slot in 0..<cluster.image.rowCount { keys.append(cluster.image.key(at: slot)) }
      return true
    }
    for key in keys {
      var members: [JSONMember] = []
      for column in described.columns {
        let place = SequencePlace(classID: described.id, key: key, column: column.id)
        let found = try LocalItems(rows: rows).elements(of: place)
        let values = found.items.map(\.json)
        let value: JSONValue =
          switch column.collection {
          case .none: values.first ?? .null
          case .list: .array(values)
          case .set: ItemCoder.set(values)
          case .map: .object(zip(found.keys, values).map { JSONMember($0, $1) })
          }
        members.append(JSONMember(column.name, value))
      }
      let id = try reader.value(of: ColumnID(0), at: key, in: described.id)
      guard case .objectID(let bytes)? = id else { continue }
      let name = bytes.high == 0 ? "\(bytes.low)" : bytes.hexadecimal
      objects[name] = .object(members)
    }
    return objects
  }

  /// A property of an object as JSON; nil if the object is not here.
  func shown(_ number: Int, _ property: String) throws -> String? {
    try objects()["\(number)"].flatMap { $0[property] }.map { JSONText.text($0) }
  }

  func create(_ number: Int) throws {
    try commit { try $0.create([ColumnID(0): Self.id(number)], in: ClassID(0)) }
  }

  /// Writes a property of an object, if it is here.
  func change(
    _ number: Int, _ property: String,
    _ body: (WriteSession, SequencePlace) throws -> Void
  ) throws {
    let described = try store.newestSnapshot().schema.schema.classes[0]
    try commit { session in
      guard let key = try session.find(primaryKey: Self.id(number), in: described.id),
        let column = described.named(property)
      else { return }
      try body(session, SequencePlace(classID: described.id, key: key, column: column.id))
    }
  }

  func set(_ number: Int, _ property: String, _ value: Value) throws {
    try change(number, property) { session, place in
      try session.set(place.column, at: place.key, in: place.classID, to: value)
    }
  }
}
