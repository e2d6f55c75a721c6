import TarnStore
import ToolSupport

/// `tarn accept`: lets a file be used again that the end of the machine may have damaged, if it is
/// not damaged.
struct AcceptCommand {
  private let path: String

  init(_ arguments: ParsedArguments) throws {
    path = arguments.required("FILE")
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    guard let size = StoreAccess.fileSize(path) else { throw ToolError(notFound: path) }
    guard size > 0 else { throw ToolError("\(path): the file is empty") }
    var options = Store.Options()
    options.createsStore = false
    options.adoptsClasses = false
    options.acceptsUncertain = true
    let store = try StoreRegistry.open(path, options)
    let version = try store.newestSnapshot().version.rawValue
    let what = store.environment.isUncertain ? "sound" : "in use or closed in order"
    try output.write("\(printable(path)): \(what), at version \(version)\n")
    return .success
  }
}
