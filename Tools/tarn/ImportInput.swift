import Foundation
import TarnStore
import TarnText
import ToolSupport

/// One property of a record.
typealias ImportField = (name: String, value: RawValue)

/// One record: an object to import.
struct ImportRecord {
  var fields: [ImportField]
}

/// The formats that can be imported.
enum ImportFormat: String {
  case csv, jsonl, debian

  /// The format of a file by its extension; nil if that is unknown.
  init?(path: String) {
    if path == DebianStatusReader.defaultPath {
      self = .debian
      return
    }
    switch path.splitASCII(".").last.map({ $0.lowercased() }) {
    case "csv": self = .csv
    case "jsonl", "ndjson", "json": self = .jsonl
    default: return nil
    }
  }
}

/// Calls `body` with each record in order, or with the error in its place, and its line number.
typealias RecordSource = (_ body: (InputItem<ImportRecord>) throws -> Void) throws -> Void

/// A file of records that can be read several times: first for the types, then for the values. A
/// pipe is copied to an unnamed temporary file first, unless it is read only once.
struct ImportInput {
  private let path: String
  private let format: ImportFormat

  /// - Parameter isReadOnce: true if only one of the methods is called, once.
  init(_ path: String, _ format: ImportFormat, isReadOnce: Bool = false) throws {
    self.format = format
    let name = path == "-" ? "standard input" : path
    let isFile = path != "-" && Self.kind(path) == S_IFREG
    self.path = isFile || isReadOnce ? path : try Self.spooled(path, name)
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
    let lines = try LineReader.open(path)
    var progress = ProgressBar(label, total: lines.totalBytes ?? 0)
    let (names, next) = try reader(lines)
    header(names)
    while let item = try next() {
      try body(item)
      progress.update(lines.consumedBytes)
    }
  }

  /// The columns that the input names before its records, and a reader of the records.
  func records() throws -> (header: [String], next: Next) { try reader(LineReader.open(path)) }

  private func reader(_ lines: LineReader) throws -> (header: [String], next: Next) {
    switch format {
    case .csv:
      let csv = try CSVReader(lines)
      return (
        csv.header,
        {
          try csv.next()?.map { fields in
            ImportRecord(fields: zip(csv.header, fields).map { ($0, .text($1)) })
          }
        }
      )
    case .jsonl:
      func record(_ members: [JSONMember]) -> ImportRecord {
        ImportRecord(fields: members.map { ($0.name, .json($0.value)) })
      }
      if try lines.firstByte() == UInt8(ascii: "[") {
        let array = JSONArrayReader(lines)
        return ([], { try array.next()?.map(record) })
      }
      let jsonl = JSONLinesReader(lines)
      return ([], { try jsonl.next()?.map(record) })
    case .debian:
      let debian = DebianStatusReader(lines)
      return ([], { try debian.next()?.map { $0.importRecord } })
    }
  }

  /// Copies a file that can be read only once.
  private static func spooled(_ path: String, _ name: String) throws -> String {
    let input = path == "-" ? STDIN_FILENO : path.withPath { open($0, O_RDONLY | O_CLOEXEC) }
    guard input >= 0 else { throw ToolError("cannot read", path, errno: errno) }
    let copy = try UnnamedFile.make()
    let output = OutputPipe(descriptor: copy, name: "the copy of \(name)")
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
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
