import Foundation
import TarnStore
import ToolSupport

/// `tarn copy`: an independent or exact copy of one version.
struct CopyCommand {
  private let path: String
  private let destination: String
  private let isExact: Bool
  private let replaces: Bool

  init(_ arguments: ParsedArguments) throws {
    path = arguments.required("FILE")
    destination = arguments.required("DEST")
    isExact = arguments.has("exact")
    replaces = arguments.has("replace")
    guard destination != "-" || !replaces else {
      throw UsageError("--replace needs a file as DEST")
    }
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    guard destination != "-" else {
      try writeBytes(output)
      return .success
    }
    let report = try CopiedStore(path, isExact ? .exact : .independent).write(
      to: destination, replacing: replaces)
    try output.write(CopiedStore.sentence(report, destination))
    return .success
  }

  private func writeBytes(_ output: OutputPipe) throws {
    if Terminal.standardOutput.isTerminal {
      throw UsageError("standard output is a terminal, and a store is not text: use a pipe")
    }
    let file = try UnnamedFile.make()
    defer { close(file) }
    // The reader of the pipe must not keep the version in the store.
    let report = try CopiedStore(path, isExact ? .exact : .independent).fill(file)
    var piece = [UInt8](repeating: 0, count: 1 << 20)
    var offset = 0
    while offset < report.byteCount {
      let count = piece.withUnsafeMutableBytes {
        pread(file, $0.baseAddress, $0.count, off_t(offset))
      }
      guard count > 0 else { throw ToolError("cannot read", "a file again", errno: errno) }
      try output.write(Array(piece.prefix(count)))
      offset += count
    }
  }
}

/// The newest version of a store on its way into another file, with a progress bar. Holds the store
/// as long as it lives.
struct CopiedStore {
  private let copy: StoreCopy
  /// That of the store.
  let head: HeadRecord

  /// - Parameter deltas: differences that lead back to the version to copy, its own first.
  init(_ path: String, _ kind: StoreCopy.Kind, through deltas: [String] = []) throws {
    let snapshot = try StoreAccess.openExisting(path).newestSnapshot()
    head = snapshot.head
    copy = StoreCopy(snapshot, kind, through: deltas)
  }

  func write(to destination: String, replacing replaces: Bool) throws -> StoreCopy.Report {
    var bar = ProgressBar("Copying", total: Int64(copy.entryCount))
    return try copy.write(to: destination, replacing: replaces) { bar.update(Int64($0.entries)) }
  }

  func fill(_ descriptor: Int32) throws -> StoreCopy.Report {
    var bar = ProgressBar("Copying", total: Int64(copy.entryCount))
    return try copy.fill(descriptor, path: "standard output") { bar.update(Int64($0.entries)) }
  }

  static func sentence(_ report: StoreCopy.Report, _ destination: String) -> String {
    var text =
      "\(printable(destination)): version \(report.version.rawValue), \(sizeText(report.byteCount))"
    if report.growth > 0 {
      text += "; the file grew by \(sizeText(report.growth)) meanwhile"
    }
    return text + "\n"
  }
}
