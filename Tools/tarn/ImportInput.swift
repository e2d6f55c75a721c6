import Foundation
import ToolSupport

/// One property as the input has it.
typealias ImportField = (name: String, value: RawValue)

/// One object as the input has it.
struct ImportRecord {
  var fields: [ImportField]
}

/// The formats that can be imported.
enum ImportFormat: String {
  case csv, jsonl, debian

  /// By the file's name; nil if that tells nothing.
  init?(path: String) {
    if path == DebianStatusReader.defaultPath {
      self = .debian
      return
    }
    switch path.split(separator: ".").last.map({ $0.lowercased() }) {
    case "csv": self = .csv
    case "jsonl", "ndjson", "json": self = .jsonl
    default: return nil
    }
  }
}

/// A file of records that can be read several times: first for the types, then for the values. A
/// pipe is copied to a file without a name for that.
struct ImportInput {
  private let path: String
  private let name: String
  private let format: ImportFormat

  init(_ path: String, _ format: ImportFormat) throws {
    self.format = format
    var status = stat()
    let isFile = path != "-" && stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    name = path == "-" ? "standard input" : path
    self.path = isFile ? path : try Self.spooled(path, name)
  }

  /// Reads all records. `body` gets each record or why there is none, with its line and the share
  /// of bytes read.
  func forEach(
    _ label: String, _ body: (InputItem<ImportRecord>) throws -> Void
  ) throws {
    let lines = try LineReader.open(path)
    var progress = ProgressBar(label, total: lines.totalBytes ?? 0)
    let next = try reader(lines)
    while let item = try next() {
      try body(item)
      progress.update(lines.consumedBytes)
    }
  }

  private func reader(_ lines: LineReader) throws -> () throws -> InputItem<ImportRecord>? {
    switch format {
    case .csv:
      let csv = try CSVReader(lines)
      return {
        try csv.next()?.map { fields in
          ImportRecord(fields: zip(csv.header, fields).map { ($0, .text($1)) })
        }
      }
    case .jsonl:
      let jsonl = JSONLinesReader(lines)
      return {
        try jsonl.next()?.map { members in
          ImportRecord(fields: members.map { ($0.name, .json($0.value)) })
        }
      }
    case .debian:
      let debian = DebianStatusReader(lines)
      return { try debian.next()?.map { $0.importRecord } }
    }
  }

  /// Copies what can be read only once.
  private static func spooled(_ path: String, _ name: String) throws -> String {
    let input = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
    guard input >= 0 else { throw ToolError("cannot read", path, errno: errno) }
    var template = Array((NSTemporaryDirectory() + "/tarn-import-XXXXXX").utf8CString)
    let copy = mkstemp(&template)
    guard copy >= 0 else { throw ToolError("cannot make a file in", "/tmp", errno: errno) }
    unlink(template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) })
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
    // Stays open as long as this process lives; the path opens it anew from the start.
    return "/proc/self/fd/\(copy)"
  }
}

extension InputItem {
  /// The item with another form of the record.
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
