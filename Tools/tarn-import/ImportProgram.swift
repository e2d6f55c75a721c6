import Foundation
import RealmFiles
import TarnRealmFiles
import TarnStore
import TarnText
import ToolSupport

/// The part of `tarn import` and `tarn schema` that reads Realm files.
enum ImportProgram {
  private static let key = OptionSpec.value(
    "key", "FILE", "the key of an encrypted file: 64 bytes, or 128 hexadecimal digits")
  private static let source = PositionalSpec("SOURCE", "the Realm file")

  private static let parser = CommandLineParser(
    program: "tarn-import", version: "\(ToolVersion.text) (LMDB \(Environment.engineVersion))",
    summary: "Reads Realm files for 'tarn import' and 'tarn schema'.",
    commands: [
      CommandSpec(
        "import", "Makes a store of a Realm file.",
        positionals: [source, PositionalSpec("STORE", "the store; it must not exist")],
        options: [key]),
      CommandSpec(
        "schema", "Prints the classes of a Realm file as JSON.", positionals: [source],
        options: [key]),
    ])

  static func run() -> Int32 {
    StandardDescriptors.fill()
    SignalTrap.setUp()
    let arguments = parser.parseOrExit()
    let output = OutputPipe()
    let source = arguments.required("SOURCE")
    do {
      let key = try arguments.value("key").map(keyBytes)
      if arguments.command == "schema" {
        try output.write(schema(source, key) + "\n")
      } else {
        try output.write(imported(source, into: arguments.required("STORE"), key, output))
      }
      try output.flush()
      return ExitCode.success.rawValue
    } catch let failure as OutputPipe.Failure {
      guard let reason = failure.message else { return ExitCode.success.rawValue }
      complain(reason)
    } catch let error as RealmFileError {
      complain("\(source): \(error)")
    } catch {
      complain("\(error)")
    }
    return ExitCode.failure.rawValue
  }

  private static func complain(_ message: String) {
    // If this fails, there is nowhere to report it.
    let line = "tarn: \(printableLines(message))\n"
    try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
  }

  /// The key in a file: as its bytes, or as hexadecimal digits.
  private static func keyBytes(_ path: String) throws -> [UInt8] {
    let lines = try LineReader.open(path)
    var bytes: [UInt8] = []
    while bytes.count <= 1024, let piece = try lines.piece() { bytes += piece }
    if bytes.count == 64 { return bytes }
    let text = String(decoding: bytes, as: UTF8.self).trimmingASCII(lineEnds: true)
    let digits = Array(text.utf8)
    let found = stride(from: 0, to: digits.count - 1, by: 2).compactMap { index in
      UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16)
    }
    guard digits.count == 128, found.count == 64 else {
      throw ToolError("\(path): a key has 64 bytes, or 128 hexadecimal digits")
    }
    return found
  }

  private static func schema(_ source: String, _ key: [UInt8]?) throws -> String {
    let definitions = try RealmImport.classes(of: source, key: key).definitions
    let schema = SchemaPlan(stored: StoreSchema(), wanted: definitions).schema
    return JSONText.text(SchemaJSON.json(schema.classes, schema))
  }

  /// Runs an import, and returns what to print.
  private static func imported(
    _ source: String, into store: String, _ key: [UInt8]?, _ output: OutputPipe
  ) throws -> String {
    let realmImport = try RealmImport(source, into: store, key: key)
    let remains = realmImport.remains
    let trap = Interruption.watchSignals(output.cancel)
    defer {
      Interruption.unwatch()
      withExtendedLifetime(trap) {}
    }
    Interruption.beforeEnd {
      remains.remove()
      complain("ended by a signal; nothing was imported")
      _exit(ExitCode.failure.rawValue)
    }
    var bar: ProgressBar?
    let report = try realmImport.run { progress in
      if bar == nil { bar = ProgressBar("Importing", total: Int64(progress.objectCount)) }
      bar?.update(Int64(progress.objects))
    }
    for note in report.notes { complain(note) }
    return "\(printable(store)): \(counted(report.classCount, "class", "classes")), "
      + "\(counted(report.objectCount, "object", "objects"))\n"
  }

  private static func counted(_ count: Int, _ one: String, _ several: String) -> String {
    "\(count) \(count == 1 ? one : several)"
  }
}
