import Foundation
import TarnStore
import TarnText
import ToolSupport

/// One property of a record.
typealias ImportField = (name: String, value: GivenValue)

/// One record: an object to import.
struct ImportRecord {
  var fields: [ImportField]

  /// The field with several objects, if there is one: perhaps these were meant.
  var onlyList: (name: String, count: Int)? {
    let lists = fields.compactMap { field -> (name: String, count: Int)? in
      guard case .json(.array(let items)) = field.value, items.count > 1,
        items.allSatisfy({ if case .object = $0 { true } else { false } })
      else { return nil }
      return (field.name, items.count)
    }
    return lists.count == 1 ? lists[0] : nil
  }
}

/// The formats that can be imported.
enum ImportFormat: String {
  case csv, tsv, jsonl, debian

  /// The format of a file by its extension, before one for a compression; nil if that is unknown.
  init?(path: String) {
    if path == DebianStatusReader.defaultPath {
      self = .debian
      return
    }
    switch Compression.name(unpacking: path).splitASCII(".").last.map({ $0.lowercased() }) {
    case "csv": self = .csv
    case "tsv", "tab": self = .tsv
    case "jsonl", "ndjson", "json", "geojson", "geojsonl", "geojsons": self = .jsonl
    default: return nil
    }
  }

  /// The format that `--format` calls by that name.
  init?(name: String) { self.init(rawValue: name == "json" ? "jsonl" : name) }
}

/// How an input is written.
struct ImportLayout {
  var format: ImportFormat
  /// The field separator of CSV; nil to detect it.
  var separator: UInt8?
  /// The names of the members that lead to an array of objects.
  var path: [String] = []
}

/// Calls `body` with each record in order, or with the error in its place, and its line number.
typealias RecordSource = (_ body: (InputItem<ImportRecord>) throws -> Void) throws -> Void

/// A file of records that can be read several times: first for the types, then for the values. A
/// pipe is copied to an unnamed temporary file first, unless it is read only once.
struct ImportInput {
  private let path: String
  let name: String
  private let layout: ImportLayout
  private let isReadOnce: Bool

  /// - Parameter isReadOnce: true if only one of the methods is called, once.
  init(_ path: String, _ layout: ImportLayout, isReadOnce: Bool = false) throws {
    self.layout = layout
    self.isReadOnce = isReadOnce
    name = path == "-" ? "standard input" : path
    if isReadOnce {
      self.path = path
      return
    }
    let isFile = path != "-" && Self.kind(path) == S_IFREG
    self.path = try Self.unpacked(isFile ? path : Self.spooled(path, name), name)
  }

  /// A copy of a file that is compressed; the file itself if it is not.
  static func unpacked(_ path: String, _ name: String) throws -> String {
    let input = path.withPath { open($0, O_RDONLY | O_CLOEXEC) }
    // The error is reported when it is read.
    guard input >= 0 else { return path }
    defer { close(input) }
    guard let compression = Compression.of(descriptor: input) else { return path }
    let copy = try UnnamedFile.make()
    try compression.unpack(input, to: copy, name)
    return "/proc/self/fd/\(copy)"
  }

  /// Whether the file can be read only once, such as a pipe.
  static func isPipe(_ path: String) -> Bool {
    [S_IFIFO, S_IFSOCK, S_IFCHR].contains(kind(path))
  }

  private static func kind(_ path: String) -> mode_t {
    var status = stat()
    let result = path == "-" ? fstat(STDIN_FILENO, &status) : path.withPath { stat($0, &status) }
    return result == 0 ? status.st_mode & S_IFMT : 0
  }

  /// Returns the next record, as it arrives; nil at the end.
  typealias Next = () throws -> InputItem<ImportRecord>?

  /// Reads all records and shows progress.
  ///
  /// - Parameter header: called first, with the columns that the input names before its records.
  func forEach(
    _ label: String, header: ([String]) -> Void = { _ in },
    _ body: (InputItem<ImportRecord>) throws -> Void
  ) throws {
    let lines = try LineReader.open(path, name)
    var progress = ProgressBar(label, total: lines.totalBytes ?? 0)
    let (names, next) = try reader(lines)
    header(names)
    while let item = try next() {
      try Interruption.check()
      try body(item)
      progress.update(lines.consumedBytes)
    }
  }

  /// The columns that the input names before its records, and a reader of the records.
  func records() throws -> (header: [String], next: Next) {
    try reader(LineReader.open(path, name))
  }

  private func reader(_ lines: LineReader) throws -> (header: [String], next: Next) {
    try TextEncoding.check(lines.head(lines: 1, bytes: 8).bytes, name)
    switch layout.format {
    case .csv, .tsv:
      let csv = try CSVReader(lines, dialect(lines))
      return (
        csv.header,
        {
          try csv.next()?.map { fields in
            ImportRecord(fields: zip(csv.header, fields).map { ($0, .text($1)) })
          }
        }
      )
    case .jsonl:
      var path = layout.path
      // Of a pipe only the first line, since more may come late.
      let count = isReadOnce ? 1 : 100
      if path.isEmpty, try GeoJSON.isCollection(lines.head(lines: count, bytes: 1 << 12).bytes) {
        path = GeoJSON.pathOfFeatures
      }
      if try !path.isEmpty || lines.firstByte() == UInt8(ascii: "[") {
        let array = JSONArrayReader(lines, at: path)
        return ([], { try array.next()?.importItem })
      }
      let jsonl = JSONLinesReader(lines)
      return ([], { try jsonl.next()?.importItem })
    case .debian:
      let debian = DebianStatusReader(lines)
      return ([], { try debian.next()?.map { $0.importRecord } })
    }
  }

  private func dialect(_ lines: LineReader) throws -> CSVDialect {
    if let separator = layout.separator { return CSVDialect(separator: separator) }
    if layout.format == .tsv { return CSVDialect(separator: 0x09) }
    // Of a pipe only the header, since more may come late.
    let head = try lines.head(lines: isReadOnce ? 1 : 40)
    return try CSVDialect(of: head.bytes, isWhole: head.isWhole, name)
  }

  /// Copies a file that can be read only once.
  private static func spooled(_ path: String, _ name: String) throws -> String {
    let input = try path == "-" ? STDIN_FILENO : InputDescriptor.open(path)
    let copy = try UnnamedFile.make()
    let output = OutputPipe(descriptor: copy, name: "the copy of \(name)")
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      try Interruption.wait(toRead: input)
      let count = read(input, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw ToolError("cannot read", name, errno: errno) }
      if count == 0 { break }
      try output.write(Array(buffer[..<count]))
    }
    try output.flush()
    // The descriptor stays open until this process exits; opening the path reads from the start.
    return "/proc/self/fd/\(copy)"
  }
}

extension InputItem {
  /// The item with its record transformed.
  func map<Other>(_ body: (Record) -> Other) -> InputItem<Other> {
    switch self {
    case .record(let record, let line): .record(body(record), line: line)
    case .bad(let reason, let line): .bad(reason, line: line)
    }
  }
}

extension InputItem<[JSONMember]> {
  /// The object as a record; a bad line if its members cannot be columns.
  var importItem: InputItem<ImportRecord> {
    switch self {
    case .bad(let reason, let line): return .bad(reason, line: line)
    case .record(let members, let line):
      let members = GeoJSON.flattened(members)
      if let fault = members.faultAsProperties { return .bad(fault, line: line) }
      return .record(ImportRecord(fields: members.map { ($0.name, .json($0.value)) }), line: line)
    }
  }
}

extension DebianPackage {
  /// The columns of a package, and their types.
  static let columns: [ColumnReading] = [
    ColumnReading(name: "name", type: .string, isOptional: false),
    ColumnReading(name: "version", type: .string, isOptional: false),
    ColumnReading(name: "architecture", type: .string, isOptional: false),
    ColumnReading(name: "installedSize", type: .int, isOptional: true),
    ColumnReading(name: "section", type: .string, isOptional: true),
    ColumnReading(name: "priority", type: .string, isOptional: true),
    ColumnReading(name: "maintainer", type: .string, isOptional: true),
    ColumnReading(name: "source", type: .string, isOptional: true),
    ColumnReading(name: "description", type: .string, isOptional: true),
    ColumnReading(name: "depends", type: .string, isOptional: false),
    ColumnReading(name: "status", type: .string, isOptional: false),
    ColumnReading(name: "isEssential", type: .bool, isOptional: false),
  ]

  var importRecord: ImportRecord {
    ImportRecord(fields: [
      ("name", .text(name)), ("version", .text(version)), ("architecture", .text(architecture)),
      ("installedSize", .json(installedSizeKiB.map { .integer(Int64($0)) } ?? .null)),
      ("section", .text(section)), ("priority", .text(priority)),
      ("maintainer", .text(maintainer)), ("source", .text(source)),
      ("description", .text(summary)),
      ("depends", .text(depends.joined(separator: ", "))), ("status", .text(status)),
      ("isEssential", .json(.bool(isEssential))),
    ])
  }
}
