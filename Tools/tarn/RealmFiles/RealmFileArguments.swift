import Foundation
import TarnStore
import ToolSupport

/// Whether a command is about a Realm file. `tarn-import` reads those, so that only it needs
/// libcrypto.
struct RealmFileArguments {
  static let program = "tarn-import"
  private static let formatName = "realm"

  let source: String
  private let destination: String?
  private let key: String?

  /// `tarn import` with a Realm file, before or after the store; nil for other inputs.
  init?(importing arguments: ParsedArguments) throws {
    let paths = [arguments.required("FILE")] + arguments.positionals("INPUT")
    let isSaid = arguments.value("format") == Self.formatName
    // A new store may have such a name, too.
    let byName = !arguments.has("class")
    guard isSaid || paths.contains(where: { Self.isRealmFile($0, byName: byName) }) else {
      return nil
    }
    guard paths.count == 2 else {
      throw UsageError("a Realm file is imported alone: give it and the new store")
    }
    let others = [
      "class", "delimiter", "records", "types", "defaults", "nullable", "update", "round",
      "on-error", "batch", "timeout",
    ]
    if let option = others.first(where: arguments.has) {
      throw UsageError("--\(option) does not go with a Realm file, which is copied as it is")
    }
    let isFirst =
      Self.isRealmFile(paths[0], byName: byName) || isSaid && PathTarget.isTaken(paths[0])
    let store = paths[isFirst ? 1 : 0]
    (source, destination) = (paths[isFirst ? 0 : 1], store)
    key = arguments.value("key")
    guard !PathTarget.isTaken(store) else {
      throw ToolError(
        "\(store): there is a file already; a Realm file is imported into a new one")
    }
  }

  /// `tarn schema` of a Realm file; nil for a store.
  init?(describing arguments: ParsedArguments) {
    source = arguments.required("FILE")
    destination = nil
    key = arguments.value("key")
    guard key != nil || Self.isRealmFile(source, byName: true) else { return nil }
  }

  /// The arguments of `tarn-import`.
  var words: [String] {
    [destination == nil ? "schema" : "import"] + (key.map { ["--key", $0] } ?? [])
      + ["--", source] + (destination.map { [$0] } ?? [])
  }

  /// Whether a file is one by its bytes; or by its name, such as an encrypted one, if it is no
  /// store. A pipe is not opened: the program that writes to it would take that for the
  /// reader, and fail as soon as it is closed again.
  private static func isRealmFile(_ path: String, byName: Bool) -> Bool {
    let isNamed = byName && path.endsWithBytes(of: ".realm")
    var status = stat()
    guard path.withPath({ stat($0, &status) }) == 0, status.st_mode & S_IFMT == S_IFREG else {
      return isNamed
    }
    var start = [UInt8](repeating: 0, count: 20)
    let file = path.withPath { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
    guard file >= 0 else { return isNamed }
    defer { close(file) }
    guard pread(file, &start, start.count, 0) == start.count else { return isNamed }
    if start[16...].elementsEqual("T-DB".utf8) { return true }
    // The number that begins LMDB's header.
    return isNamed && !start[16...].elementsEqual([0xde, 0xc0, 0xef, 0xbe])
  }
}
