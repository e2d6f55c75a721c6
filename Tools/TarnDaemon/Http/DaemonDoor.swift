import Foundation
import ToolSupport

/// The running daemon's HTTP door, as `tarn daemon status` and `reload` see it.
struct DaemonDoor {
  private let settings: HTTPSettings

  /// - Throws: `ToolError` if the configuration is wrong, or has no door.
  init(_ configuration: ConfigurationFiles) throws {
    let read = try configuration.settings()
    let standard = DaemonCommand.socket
    if let http = read.http {
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
      throw ToolError("the daemon does not answer: \(error)")
    }
  }
}
