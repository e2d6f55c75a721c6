import TarnStore
import ToolSupport

/// `tarn flush`: waits until all commits are on the disk.
struct FlushCommand {
  private let path: String

  init(_ arguments: ParsedArguments) throws {
    path = arguments.required("FILE")
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    let store = try StoreAccess.openExisting(path, verifying: false)
    let version = try store.newestSnapshot().version.rawValue
    try store.flush()
    let until = store.isDurable ? "" : ", until the next commit"
    try output.write("\(printable(path)): version \(version) is on the disk\(until)\n")
    return .success
  }
}
