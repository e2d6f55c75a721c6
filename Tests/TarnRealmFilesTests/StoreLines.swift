import RealmFiles
import TarnStore

@testable import TarnRealmFiles

/// All objects of a store, or of a Realm file, as lines that can be compared: embedded objects and
/// nested collections in place, and links as the primary key of their target, or its number in the
/// order of its class.
enum ObjectLines {
  static func text(_ value: Value) -> String {
    switch value {
    case .double(let number): "double \(number.bitPattern)"
    case .float(let number): "float \(number.bitPattern)"
    case .data(let bytes): "data \(bytes)"
    case .decimal(let number): "decimal \(number.high) \(number.low)"
    case .date(let date): "date \(date.seconds) \(date.nanoseconds)"
    case .string(let text): "string \(Array(text.utf8))"
    default: "\(value)"
    }
  }

  static func text(ofList items: [String], isSet: Bool) -> String {
    "[" + (isSet ? items.sorted() : items).joined(separator: ", ") + "]"
  }

  static func text(ofMap pairs: [(key: String, text: String)]) -> String {
    let texts = pairs.map { "\(Array($0.key.utf8)): \($0.text)" }
    return "{" + texts.sorted().joined(separator: ", ") + "}"
  }
}

/// The objects of a store.
struct StoreLines {
  private let session: WriteSession
  private let schema: SchemaView

  init(_ store: Store) throws {
    session = WriteSession(try SnapshotReader(store.newestSnapshot())) {}
    schema = session.schema
  }

  func all() throws -> [String] {
    var lines: [String] = []
    for described in schema.schema.classes where !described.isEmbedded {
      var found: [String] = []
      for key in try keys(of: described.id) {
        found.append("\(described.name) \(try text(of: key, in: described))")
      }
      lines += described.primaryKey == nil ? found : found.sorted()
    }
    return lines
  }

  func keys(of id: ClassID) throws -> [ObjectKey] {
    var keys: [ObjectKey] = []
    try session.forEachImage(in: id) { image in
      for slot in 0..<image.rowCount { keys.append(image.key(at: slot)) }
      return true
    }
    return keys
  }

  private func text(of key: ObjectKey, in described: ClassSchema) throws -> String {
    var parts: [String] = []
    for column in described.columns.sorted(by: { $0.name < $1.name }) {
      let place = SequencePlace(classID: described.id, key: key, column: column.id)
      let text =
        column.collection == .none
        ? try text(session.value(of: column.id, at: key, in: described.id) ?? .null, column, place)
        : try text(column, place, column.collection)
      parts.append("\(column.name): \(text)")
    }
    return "(" + parts.joined(separator: ", ") + ")"
  }

  private func text(
    _ value: Value, _ column: ColumnSchema, _ place: SequencePlace
  ) throws -> String {
    switch value {
    case .link(let key): return try link(key, in: column.target!)
    case .object(let id, let key): return try link(key, in: id)
    case .list(let id): return try text(column, place.nested(id), .list)
    case .map(let id): return try text(column, place.nested(id), .map)
    default: return ObjectLines.text(value)
    }
  }

  private func link(_ key: ObjectKey, in id: ClassID) throws -> String {
    let target = schema[id]
    if target.isEmbedded { return try text(of: key, in: target) }
    guard let primary = target.primaryKey else { return "\(target.name) \(key.rawValue)" }
    let value = try session.value(of: primary, at: key, in: id)
    return "\(target.name) \(value.map(ObjectLines.text) ?? "missing")"
  }

  private func text(
    _ column: ColumnSchema, _ place: SequencePlace, _ kind: CollectionKind
  ) throws -> String {
    guard let sequence = try session.sequence(at: place) else { return kind == .map ? "{}" : "[]" }
    var texts: [String] = []
    for index in 0..<sequence.count {
      texts.append(try text(sequence.value(at: index), column, place))
    }
    guard kind == .map else { return ObjectLines.text(ofList: texts, isSet: kind == .set) }
    return ObjectLines.text(
      ofMap: try texts.enumerated().map { (try sequence.key(at: $0.offset), $0.element) })
  }
}

/// The objects of a Realm file, read apart from the import.
struct RealmLines {
  private let file: RealmFile
  private var lookups: [Int: RealmLookup] = [:]

  init(_ file: RealmFile) {
    self.file = file
    for table in file.classes { lookups[table.index] = RealmLookup(file, table) }
  }

  func all() throws -> [String] {
    file.beginWalk()
    var lines: [String] = []
    for table in file.classes where table.kind == .top {
      var found: [String] = []
      var objects = try RealmObjects(file, table)
      while let cluster = try objects.next() {
        for row in 0..<cluster.count {
          found.append("\(table.className!) \(try text(cluster, row, table))")
        }
      }
      lines += table.primaryKey == nil ? found : found.sorted()
    }
    return lines
  }

  private func text(
    _ cluster: RealmCluster, _ row: Int, _ table: RealmTable
  ) throws -> String {
    var parts: [String] = []
    let columns = table.columns.enumerated().sorted { $0.element.name < $1.element.name }
    for (position, column) in columns {
      let text = try text(cluster.value(position, row), isSet: column.collection == .set)
      parts.append("\(column.name): \(text)")
    }
    return "(" + parts.joined(separator: ", ") + ")"
  }

  private func text(_ value: RealmValue, isSet: Bool = false) throws -> String {
    switch value {
    case .link(let table, let key): return try link(table, key)
    case .list(let items):
      let kept = isSet ? Self.distinct(items) : items
      return ObjectLines.text(ofList: try kept.map { try text($0) }, isSet: isSet)
    case .dictionary(let entries):
      return ObjectLines.text(ofMap: try entries.map { ($0.key, try text($0.value)) })
    default: return ObjectLines.text(value.plain!)
    }
  }

  /// The elements without those that a store takes as equal to an earlier one.
  private static func distinct(_ items: [RealmValue]) -> [RealmValue] {
    var met: [Value] = []
    return items.filter { item in
      guard let value = item.plain else { return true }
      if met.contains(where: { SequenceOrder.compare($0, value) == 0 }) { return false }
      met.append(value)
      return true
    }
  }

  private func link(_ index: Int, _ key: Int64) throws -> String {
    let table = file.tables[index]!
    let lookup = lookups[index]!
    let (cluster, row) = try lookup.find(key)!
    if table.kind == .embedded { return try text(cluster, row, table) }
    guard let primary = table.primaryKey else {
      return "\(table.className!) \(try lookup.position(key)!)"
    }
    return "\(table.className!) \(try text(cluster.value(primary, row)))"
  }
}
