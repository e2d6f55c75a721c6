import Foundation
import ToolSupport

/// The running daemon's HTTP door, as `tarn daemon status` and `reload` see it.
struct DaemonDoor {
  private let settings: HTTPSettings

  /// The configuration may have got an error since the daemon read it: until that is mended, an
  /// operator needs to see and stop the sinks that run.
  ///
  /// - Throws: `ToolError` if the daemon has no door, or if a wrong configuration does not show it.
  init(_ configuration: ConfigurationFiles) throws {
    let (read, problems) = configuration.read()
    let noted = NotedDaemon(configuration, read)
    guard problems.isEmpty || noted != nil || read.http != nil else {
      throw ToolError(
        problems.map { "\($0)\n" }.joined()
          + "so the daemon that runs cannot be found: mend that, or give --config a file with the "
          + "key 'http' alone")
    }
    try self.init(configuration, read, noted)
  }

  /// - Parameter noted: the daemon that runs, whose address the configuration need not have.
  init(
    _ configuration: ConfigurationFiles, _ read: DaemonSettings, _ noted: NotedDaemon?
  ) throws {
    let standard = DaemonCommand.socket
    if let http = noted?.http {
      settings = http
    } else if let noted {
      throw ToolError(
        "the daemon, process \(noted.process), has no HTTP endpoint, so that it cannot be asked: "
          + "give the key 'http', and reload")
    } else if let http = read.http {
      settings = http
    } else if FileManager.default.fileExists(atPath: standard) {
      settings = HTTPSettings(address: .socket(standard, mode: 0o600))
    } else {
      throw ToolError("\(configuration.path) has no key 'http', so that the daemon cannot be asked")
    }
  }

  /// - Parameter body: nil for GET.
  /// - Throws: `ToolError` if the daemon does not answer.
  func ask(
    _ path: String, body: [UInt8]? = nil, timeout: Duration = .seconds(10)
  ) throws -> HTTPClient.Answer {
    var request = HTTPClient.Request(
      url: "http://localhost\(path)", body: body, timeout: timeout, isDirect: true)
    switch settings.address {
    case .socket(let socket, _): request.socketPath = socket
    case .port(let host, let port):
      request.url = "http://\(host):\(port)\(path)"
      if let token = try settings.readToken() {
        request.headers = ["Authorization: Bearer \(token)"]
      }
    }
    do {
      return try HTTPClient().perform(request, keeping: 64 << 20)
    } catch {
      throw ToolError("the daemon does not answer at \(place): \(reason(error))")
    }
  }

  private var place: String {
    switch settings.address {
    case .socket(let path, _): path
    case .port(let host, let port): "\(host):\(port)"
    }
  }

  /// For a socket, libcurl's text would name a host and a port.
  private func reason(_ error: any Error) -> String {
    guard case .socket(let path, _) = settings.address else { return "\(error)" }
    switch ListeningSocket.listener(at: path) {
    case .nobody where PathRights.kind(of: path) == nil: return "there is no such socket"
    case .nobody: return "no process listens there"
    case .unknown: return "\(PathRights.who) cannot connect to it"
    case .somebody: return "\(error)"
    }
  }
}
