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
    try output.write("\(printable(path)): \(Self.state(store)), at version \(version)\n")
    return .success
  }

  private static func state(_ store: Store) -> String {
    if store.isDurable { return "not to be accepted, because its commits are synced" }
    return switch store.environment.lastUse {
    case .uncertain: "sound"
    case .continuing: "in use, so no page is missing"
    case .killed: "not closed by its last process, but the system has all of its pages"
    case .ended: "closed in order"
    }
  }
}
