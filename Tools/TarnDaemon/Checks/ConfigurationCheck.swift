import Foundation
import TarnStore
import TarnText
import ToolSupport

/// What is wrong with a configuration beyond its text: looks at everything that a daemon would
/// open, and writes nothing.
struct ConfigurationCheck {
  /// Where it runs.
  enum Side {
    /// In the daemon that is to run the configuration, and runs another one.
    case daemon(running: DaemonSettings)
    /// In another process, which may not open stores for writing.
    case outside(RunningDaemon)
  }

  let settings: DaemonSettings
  let context: DaemonContext
  let side: Side
  /// Whether a store that no process has open may be opened, which makes files beside it.
  var makesCompanions = true
  /// Whether the daemon may be given a state folder that is not known here.
  var mayHaveState = false

  /// All findings. In a daemon those of parts that run as they are would be no news, and must not
  /// keep others from changing.
  func findings() -> [Finding] {
    var all = state() + endpoint()
    let watches = settings.watches.filter { running?.watches.contains($0) != true }
    if all.allSatisfy({ $0.place != "state" }) { all += positions(watches) }
    for watch in watches {
      all += StoreCheck(self).findings(watch)
      for sink in watch.sinks { all += SinkCheck(self, watch, sink).findings() }
    }
    for sync in settings.syncs where running?.syncs.contains(sync) != true {
      all += StoreCheck(self).findings(sync)
    }
    if running == nil { all += StoreCheck(self).forgottenCursors() }
    return all
  }

  private var running: DaemonSettings? {
    if case .daemon(let running) = side { running } else { nil }
  }

  // MARK: - The daemon itself

  private func state() -> [Finding] {
    guard let folder = settings.stateFolder, folder != running?.stateFolder else { return [] }
    return PathRights.faultOfFolders(folder).map { [.problem("state", $0)] } ?? []
  }

  /// The reasons why positions of watches cannot be kept: files of another user, for example.
  private func positions(_ watches: [WatchSettings]) -> [Finding] {
    guard let positions = context.positions else { return [] }
    let faults = watches.flatMap { watch in
      watch.sinks.filter { !$0.servesClients }.compactMap { positions.fault(watch.name, $0.name) }
    }
    return Set(faults).sorted().map { .problem("state", $0) }
  }

  private func endpoint() -> [Finding] {
    guard let http = settings.http, http != running?.http else { return [] }
    var found: [Finding] = []
    if let fault = fault(of: http.token) {
      found.append(Finding(kind: fault.kind, place: "http.token", message: fault.message))
    } else {
      do {
        _ = try http.readToken()
      } catch  where isKnownHere(http.token) {
        found.append(.problem("http.token", "\(error)"))
      } catch {}
    }
    if context.handedOver.socket(at: http.address) != nil { return found }
    switch http.address {
    case .socket(let path, _): found += socket(path, "http.listen")
    case .port(let host, let port):
      guard let fault = ListeningSocket.fault(host: host, port: port) else { break }
      found += taken(port, of: host, fault)
    }
    return found
  }

  /// Why a secret cannot be read; nil if it can.
  func fault(of source: SecretSource?) -> (kind: Finding.Kind, message: String)? {
    guard let source else { return nil }
    if case .file(let path) = source, let fault = PathRights.faultOfReading(path) {
      return (.problem, fault)
    }
    do throws(ToolError) {
      _ = try source.read()
      return nil
    } catch {
      return (isKnownHere(source) ? .problem : .note, "\(error)")
    }
  }

  /// Whether a secret is where this process can look: the environment and the credentials of a unit
  /// are known in the daemon only.
  private func isKnownHere(_ source: SecretSource?) -> Bool {
    if case .file? = source { true } else { running != nil }
  }

  /// The problem with a port that another process has.
  private func taken(_ port: Int, of host: String, _ fault: String) -> [Finding] {
    switch side {
    case .daemon(let running):
      return running.http?.address == .port(host: host, port)
        ? [] : [.problem("http.listen", fault)]
    case .outside(let daemon):
      if daemon.mayListen(at: "\(host):\(port)") || daemon.mayListen(at: ":\(port)") { return [] }
      return daemon.isKnown
        ? [.problem("http.listen", fault)]
        : [.note("http.listen", "\(fault): it must be the daemon of this configuration")]
    }
  }

  /// What stands against listening at a path.
  func socket(_ path: String, _ place: String) -> [Finding] {
    if context.handedOver.socket(at: path) != nil { return [] }
    if PathRights.isLink(path) {
      return [
        .problem(place, "\(path) is a link, at which no socket can be made; give its target's path")
      ]
    }
    switch PathRights.kind(of: path) {
    case nil: return PathRights.faultOfMaking(path).map { [.problem(place, $0)] } ?? []
    case S_IFSOCK?: break
    default: return [.problem(place, "\(path) is not a socket; remove it or give another path")]
    }
    switch ListeningSocket.listener(at: path) {
    case .nobody: return PathRights.faultOfMaking(path).map { [.problem(place, $0)] } ?? []
    case .unknown: return [.note(place, "\(PathRights.who) may not see who listens at \(path)")]
    case .somebody: break
    }
    switch side {
    case .daemon(let running):
      return running.sockets.contains(path)
        ? [] : [.problem(place, "another process listens at \(path)")]
    case .outside(let daemon):
      if daemon.mayListen(at: path) { return [] }
      let text = "another process listens at \(path)"
      // The unit's socket is the service manager's while the daemon does not run.
      return daemon.isKnown && path != DaemonCommand.socket
        ? [.problem(place, text)]
        : [.note(place, "\(text): it must be the daemon of this configuration")]
    }
  }
}

extension DaemonSettings {
  /// The paths of all sockets that a daemon with these settings listens at.
  var sockets: Set<String> {
    var paths: Set<String> = []
    if case .socket(let path, _)? = http?.address { paths.insert(path) }
    for sink in watches.flatMap(\.sinks) {
      if case .socket(let socket) = sink.kind { paths.insert(socket.path) }
    }
    return paths
  }

  /// All places where such a daemon listens.
  var listens: Set<String> {
    guard case .port(let host, let port)? = http?.address else { return sockets }
    return sockets.union(["\(host):\(port)"])
  }
}
