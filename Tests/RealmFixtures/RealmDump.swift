import Foundation
package import RealmFiles

/// A file as JSON Lines: one line for the file, one for each class, one for each object. Bits of
/// floating-point numbers, ids and bytes are exact, so that two dumps can be compared as text.
package struct RealmDump {
  private let file: RealmFile
  private let tables: [RealmTable]
  /// The keys of the objects that link to an object, by the table and column of the links.
  private var origins: [Target: [Origin: [Int64]]] = [:]
  private var lines: [String] = []

  private struct Target: Hashable {
    let table: Int
    let key: Int64
  }

  private struct Origin: Hashable {
    let table: Int
    let column: Int
  }

  /// - Parameter all: tables that are no classes as well.
  package static func lines(
    of file: RealmFile, all: Bool = false
  ) throws(RealmFileError) -> [String] {
    var dump = RealmDump(
      file: file, tables: file.tables.compactMap { $0 }.filter { all || $0.className != nil })
    try dump.write()
    return dump.lines
  }

  private init(file: RealmFile, tables: [RealmTable]) {
    self.file = file
    self.tables = tables
  }

  private mutating func write() throws(RealmFileError) {
    file.beginWalk()
    let version = try file.schemaVersion().map { "\(Int64(bitPattern: $0))" } ?? "null"
    lines.append(#"{"file":{"format":\#(file.format),"schemaVersion":\#(version)}}"#)
    for table in tables { lines.append(Self.line(of: table, in: file)) }
    for table in tables { try collectLinks(table) }
    file.beginWalk()
    for table in tables where table.kind != .asymmetric { try writeObjects(table) }
  }

  // MARK: - Classes

  private static func name(of index: Int, in file: RealmFile) -> String {
    file.tables[index].map { $0.className ?? $0.name } ?? ""
  }

  private static func line(of table: RealmTable, in file: RealmFile) -> String {
    let kind =
      switch table.kind {
      case .top: "top"
      case .embedded: "embedded"
      case .asymmetric: "asymmetric"
      }
    let key = table.primaryKey.map { quoted(table.columns[$0].name) } ?? "null"
    let properties = table.columns.map { property($0, in: file) }.joined(separator: ",")
    return #"{"class":\#(quoted(table.className ?? table.name)),"kind":"\#(kind)","#
      + #""primaryKey":\#(key),"properties":[\#(properties)]}"#
  }

  private static func property(_ column: RealmColumn, in file: RealmFile) -> String {
    let type =
      switch column.type {
      case .int: "int"
      case .bool: "bool"
      case .string: "string"
      case .binary: "binary"
      case .mixed: "mixed"
      case .date: "timestamp"
      case .float: "float"
      case .double: "double"
      case .decimal: "decimal"
      case .link: "link"
      case .objectID: "objectId"
      case .typedLink: "typedLink"
      case .uuid: "uuid"
      }
    let collection =
      switch column.collection {
      case .none: "null"
      case .list: #""list""#
      case .set: #""set""#
      case .dictionary: #""dictionary""#
      }
    let index =
      switch column.index {
      case .none: "false"
      case .values: "true"
      case .fullText: #""fulltext""#
      }
    let target = column.target.map { quoted(name(of: $0, in: file)) } ?? "null"
    return #"{"name":\#(quoted(column.name)),"type":"\#(type)","collection":\#(collection),"#
      + #""nullable":\#(column.isNullable),"indexed":\#(index),"target":\#(target)}"#
  }

  // MARK: - Objects

  private mutating func collectLinks(_ table: RealmTable) throws(RealmFileError) {
    let columns = table.columns.indices.filter { column in
      [.link, .mixed, .typedLink].contains(table.columns[column].type)
    }
    guard !columns.isEmpty, table.kind != .asymmetric else { return }
    var objects = try RealmObjects(file, table)
    while let cluster = try objects.next() {
      for column in columns {
        let origin = Origin(table: table.index, column: table.columns[column].key)
        for row in 0..<cluster.count {
          collectLinks(try cluster.value(column, row), from: try cluster.key(row), origin)
        }
      }
    }
  }

  private mutating func collectLinks(_ value: RealmValue, from key: Int64, _ origin: Origin) {
    switch value {
    case .link(let table, let target):
      origins[Target(table: table, key: target), default: [:]][origin, default: []].append(key)
    case .list(let items): for item in items { collectLinks(item, from: key, origin) }
    case .dictionary(let entries):
      for entry in entries { collectLinks(entry.value, from: key, origin) }
    default: return
    }
  }

  private mutating func writeObjects(_ table: RealmTable) throws(RealmFileError) {
    let name = Self.quoted(table.className ?? table.name)
    let titles = table.columns.map { Self.quoted($0.name) + ":" }
    var objects = try RealmObjects(file, table)
    while let cluster = try objects.next() {
      for row in 0..<cluster.count {
        let key = try cluster.key(row)
        var line = #"{"object":\#(name),"key":\#(key),"values":{"#
        for column in table.columns.indices {
          if column > 0 { line += "," }
          line += titles[column]
          write(
            try cluster.value(column, row), isSet: table.columns[column].collection == .set,
            &line)
        }
        line += "}" + backlinks(of: key, in: table) + "}"
        lines.append(line)
      }
    }
  }

  private func backlinks(of key: Int64, in table: RealmTable) -> String {
    guard let found = origins[Target(table: table.index, key: key)] else { return "" }
    var parts: [String] = []
    for backlink in table.backlinks {
      guard let keys = found[Origin(table: backlink.origin, column: backlink.column)],
        let origin = file.tables[backlink.origin],
        let column = origin.columns.first(where: { $0.key == backlink.column })
      else { continue }
      let name = "\(origin.className ?? origin.name).\(column.name)"
      let list = keys.sorted().map { "\($0)" }.joined(separator: ",")
      parts.append("\(Self.quoted(name)):[\(list)]")
    }
    return parts.isEmpty ? "" : #","backlinks":{\#(parts.joined(separator: ","))}"#
  }

  // MARK: - Values

  private func write(_ value: RealmValue, isSet: Bool = false, _ line: inout String) {
    switch value {
    case .null: line += "null"
    case .int(let number): line += "\(number)"
    case .bool(let isTrue): line += isTrue ? "true" : "false"
    case .string(let text): line += Self.quoted(text)
    case .float(let number):
      line += #"{"$float":"\#(Self.hex(UInt64(number.bitPattern), 8))"}"#
    case .double(let number): line += #"{"$double":"\#(Self.hex(number.bitPattern, 16))"}"#
    case .binary(let bytes): line += #"{"$binary":"\#(Self.base64(bytes))"}"#
    case .date(let seconds, let nanoseconds):
      line += #"{"$date":[\#(seconds),\#(nanoseconds)]}"#
    case .decimal(let number): line += #"{"$decimal":"\#(Self.text(of: number))"}"#
    case .objectID(let high, let low):
      line += #"{"$oid":"\#(Self.hex(high, 16))\#(Self.hex(UInt64(low), 8))"}"#
    case .uuid(let high, let low): line += #"{"$uuid":"\#(Self.uuid(high, low))"}"#
    case .link(let table, let key):
      line += #"{"$link":[\#(Self.quoted(Self.name(of: table, in: file))),\#(key)]}"#
    case .list(let items): write(items, isSet, &line)
    case .dictionary(let entries):
      line += #"{"$dict":{"#
      let sorted = entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
      for (index, entry) in sorted.enumerated() {
        line += (index > 0 ? "," : "") + Self.quoted(entry.key) + ":"
        write(entry.value, &line)
      }
      line += "}}"
    }
  }

  private func write(_ items: [RealmValue], _ isSet: Bool, _ line: inout String) {
    guard isSet else {
      line += "["
      for (index, item) in items.enumerated() {
        if index > 0 { line += "," }
        write(item, &line)
      }
      line += "]"
      return
    }
    var texts: [String] = []
    for item in items {
      var text = ""
      write(item, &text)
      texts.append(text)
    }
    texts.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    line += #"{"$set":[\#(texts.joined(separator: ","))]}"#
  }

  /// Sign, coefficient, E and exponent, as stored.
  package static func text(of number: RealmDecimal) -> String {
    let sign = number.high >> 63 == 1 ? "-" : ""
    switch number.high >> 58 & 31 {
    case 31: return "NaN"
    case 30: return sign + "Inf"
    default: break
    }
    let exponent = Int(number.high >> 49 & 0x3fff) - 6176
    let coefficient = UInt128(number.high & (1 << 49 - 1)) << 64 | UInt128(number.low)
    return "\(sign)\(coefficient)E\(exponent)"
  }

  private static func hex(_ number: UInt64, _ digits: Int) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: digits - text.utf8.count) + text
  }

  private static func uuid(_ high: UInt64, _ low: UInt64) -> String {
    let digits = Array((hex(high, 16) + hex(low, 16)).utf8)
    let parts = [digits[0..<8], digits[8..<12], digits[12..<16], digits[16..<20], digits[20...]]
    return parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "-")
  }

  private static func base64(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString()
  }

  private static func quoted(_ text: String) -> String {
    var quoted: [UInt8] = [0x22]
    for byte in text.utf8 {
      switch byte {
      case 0x22, 0x5c: quoted += [0x5c, byte]
      case 0..<0x20, 0x7f: quoted += Array("\\u00\(hex(UInt64(byte), 2))".utf8)
      default: quoted.append(byte)
      }
    }
    return String(decoding: quoted + [0x22], as: UTF8.self)
  }
}
