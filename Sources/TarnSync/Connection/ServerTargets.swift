import TarnStore

/// The single addresses of a server, which are tried one after another: libpq abandons a connection
/// attempt only as a whole.
struct ServerTargets {
  /// libpq's parameters for one address.
  typealias Target = [String: String]

  private let parameters: [String: String]

  init(_ address: ServerAddress) { parameters = address.parameters }

  /// - Parameters:
  ///   - tried: receives one target after another, until it returns true.
  ///   - failed: receives the reason why a name has no addresses.
  func tryEach(
    _ wait: SocketWait, within time: Duration, _ tried: (Target) -> Bool,
    failed: (String) -> Void
  ) {
    for target in hosts {
      guard let host = target["host"], target["hostaddr"] == nil, Self.isName(host) else {
        if tried(target) { return }
        continue
      }
      let end = time > .zero ? ContinuousClock.now + time : nil
      switch HostLookup.addresses(of: host, wait, until: end) {
      case nil: if tried(target) { return }
      case .failure(let failure)?: failed(failure.message)
      case .success(let addresses)?:
        for address in addresses where tried(target.merging(["hostaddr": address]) { $1 }) {
          return
        }
      }
    }
  }

  private static func isName(_ host: String) -> Bool {
    guard let first = host.utf8.first else { return false }
    // A folder of sockets, or one without a name in the file system.
    return first != UInt8(ascii: "/") && first != UInt8(ascii: "@")
  }

  /// One target for each host of the list, with its port.
  private var hosts: [Target] {
    func list(_ keyword: String) -> [String] {
      guard let text = parameters[keyword], !text.isEmpty else { return [] }
      return text.splitASCII(",", omittingEmpty: false).map(String.init)
    }
    let (names, addresses, ports) = (list("host"), list("hostaddr"), list("port"))
    let count = max(names.count, addresses.count)
    let isConsistent =
      [0, count].contains(names.count) && [0, count].contains(addresses.count)
      && [0, 1, count].contains(ports.count)
    // libpq reports the problem.
    guard count > 0, isConsistent else { return [parameters] }
    return (0..<count).map { place in
      var target = parameters
      target["host"] = names.isEmpty ? nil : names[place]
      target["hostaddr"] = addresses.isEmpty || addresses[place].isEmpty ? nil : addresses[place]
      target["port"] = ports.isEmpty ? nil : ports[ports.count == 1 ? 0 : place]
      return target
    }
  }
}
