internal import Glibc
import TarnStore

/// The hosts of an address.
struct ServerPlace {
  /// libpq's parameters that name them.
  let names: [String: String]
  private let isKnown: Bool

  /// - Parameters:
  ///   - parameters: libpq's parameters, including those of the environment and the service file.
  ///   - isKnown: whether these could be read.
  init(_ parameters: [String: String], isKnown: Bool = true) {
    names = parameters.filter { ["host", "hostaddr", "port"].contains($0.key) }
    self.isKnown = isKnown
  }

  /// Whether all of them are Unix sockets or the loopback interface, so that no other machine can
  /// impersonate the server.
  var isLocal: Bool {
    func list(_ keyword: String) -> [String] {
      (names[keyword] ?? "").splitASCII(",", omittingEmpty: false).map(String.init)
    }
    let (hosts, addresses) = (list("host"), list("hostaddr"))
    return isKnown
      && (0..<max(hosts.count, addresses.count)).allSatisfy { place in
        let host = place < hosts.count ? hosts[place] : ""
        let address = place < addresses.count ? addresses[place] : ""
        return Self.isLocal(address.isEmpty ? host : address)
      }
  }

  /// - Parameter host: without one libpq uses a Unix socket. A name is looked up, whatever it looks
  ///   like, except that of the machine itself.
  private static func isLocal(_ host: String) -> Bool {
    if host.isEmpty || host == "localhost" { return true }
    if host.beginsWithBytes(of: "/") || host.beginsWithBytes(of: "@") { return true }
    var bytes = [UInt8](repeating: 0, count: 16)
    if unsafe inet_pton(AF_INET, host, &bytes) == 1 { return bytes[0] == 127 }
    guard unsafe inet_pton(AF_INET6, host, &bytes) == 1 else { return false }
    return bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1
  }
}
