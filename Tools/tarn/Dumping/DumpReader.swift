import TarnStore
import TarnText
import ToolSupport

/// Reads the lines of a dump. Errors name the line.
final class DumpReader {
  private let lines: LineReader

  var name: String { lines.name }
  var lineNumber: Int { lines.lineNumber }
  var totalBytes: Int64 { lines.totalBytes ?? 0 }
  var consumedBytes: Int64 { lines.consumedBytes }

  /// Opens a file, which may be compressed; `-` is standard input.
  init(_ path: String) throws {
    let isFile = path != "-" && !ImportInput.isPipe(path)
    lines = try LineReader.open(isFile ? ImportInput.unpacked(path, path) : path, path)
    try TextEncoding.check(lines.head(lines: 1, bytes: 8).bytes, lines.name)
  }

  /// The next line; nil at the end.
  func next() throws -> JSONValue? {
    guard let line = try lines.next() else { return nil }
    do throws(JSONError) {
      return try JSONScanner.exactValue(in: line)
    } catch {
      throw self.error("\(error)")
    }
  }

  func error(_ reason: String) -> ToolError {
    ToolError("\(name), line \(max(1, lineNumber)): \(reason)")
  }

  /// The classes and the schema version, from the first line.
  func header() throws -> (classes: [ClassDefinition], schemaVersion: UInt64) {
    guard let line = try next(), case .integer(let format)? = line["dump"] else {
      throw error("this is not the beginning of a text that 'tarn dump' has written")
    }
    guard format == DumpText.format else {
      throw error(
        "the dump has format \(format), and this version of tarn reads format \(DumpText.format)")
    }
    guard let version = line["schemaVersion"].flatMap(Self.unsigned) else {
      throw error("\"schemaVersion\" is missing, or not a whole number from 0")
    }
    do {
      let classes = try SchemaJSON.classes(line["classes"] ?? .null)
      let plan = SchemaPlan(stored: StoreSchema(), wanted: classes)
      if let problem = plan.differences.first ?? plan.schema.inconsistency {
        throw error(problem)
      }
      return (classes, version)
    } catch let problem as SchemaJSONError {
      throw error(problem.message)
    }
  }

  private static func unsigned(_ json: JSONValue) -> UInt64? {
    switch json {
    case .integer(let number): UInt64(exactly: number)
    case .whole(let text): UInt64(text)
    default: nil
    }
  }
}
