import CDaemon
import Dispatch
import Foundation
import Tarn
import TarnStore
import ToolSupport

/// The daemon: runs the watches of a configuration until it is stopped.
package final class Daemon: HTTPServer.Routes {
  private struct State {
    var settings: DaemonSettings
    var watches: [WatchRunner] = []
    var syncs: [SyncRunner] = []
    var servers: [HTTPServer] = []
    /// What the servers serve.
    var served: Doors?
    /// Requests that are held until something is done, and not answered yet.
    var heldRequests = 0
    var hasStopped = false
  }

  /// The addresses for HTTP: the configuration's, and those of the service manager.
  private struct Doors: Equatable {
    let http: HTTPSettings?
    let handedOver: [ListeningSocket]

    static func == (a: Doors, b: Doors) -> Bool {
      a.http == b.http && a.handedOver.map(\.descriptor) == b.handedOver.map(\.descriptor)
    }
  }

  /// Everything has ended by then, or is given up: the process ends within 5 s.
  private static let stopTime = DispatchTimeInterval.milliseconds(4_500)

  private let configuration: ConfigurationFiles
  private let context: DaemonContext
  private let log: DaemonLog
  private let files = FileTable()
  private let synced = SyncedPaths()
  private let began = ContinuousClock.now
  private let state: Lock<State>
  /// Where the configuration is read again, one time after another.
  private let reloads = DispatchQueue(label: "tarn-reload")
  /// Where sinks are paused, tried and so on.
  private let controls = DispatchQueue(label: "tarn-control", attributes: .concurrent)
  private let controlling = DispatchGroup()

  /// - Throws: `ToolError` with all that is wrong in the configuration.
  package init(_ configuration: ConfigurationFiles, _ log: DaemonLog) throws {
    self.configuration = configuration
    self.log = log
    let settings = try configuration.settings()
    context = try DaemonContext(settings, log)
    state = Lock(State(settings: settings))
  }

  /// Starts every watch, and then says that it is ready.
  package func start() throws {
    let settings = state.withLock { $0.settings }
    for watch in settings.watches { try add(watch) }
    for sync in settings.syncs { add(sync) }
    for warning in context.handedOver.warnings(settings) { log.write(.warning, warning) }
    try serve(doors(settings))
    files.onLook { [weak self] in self?.tick() }
    ServiceNotice.ready(status)
  }

  private func add(_ watch: WatchSettings) throws {
    let runner = WatchRunner(watch, files, context)
    try runner.start()
    state.withLock { $0.watches.append(runner) }
  }

  private func add(_ sync: SyncSettings) {
    let runner = SyncRunner(sync, files, log, synced)
    runner.start()
    state.withLock { $0.syncs.append(runner) }
  }

  private func doors(_ settings: DaemonSettings) -> Doors {
    Doors(http: settings.http, handedOver: context.handedOver.unnamed(in: settings))
  }

  private func serve(_ wanted: Doors) throws {
    state.withLock { $0.served = wanted }
    for listener in wanted.handedOver {
      try serve(HTTPSettings(address: .socket("", mode: 0)), listener)
    }
    guard let settings = wanted.http else { return }
    if let listener = context.handedOver.socket(at: settings.address) {
      return try serve(settings, listener)
    }
    switch settings.address {
    case .socket(let path, let mode):
      try serve(settings, ListeningSocket(at: path, mode: mode))
    case .port(let host, let port): try serve(settings, ListeningSocket(host: host, port: port))
    }
  }

  private func serve(_ settings: HTTPSettings, _ listener: ListeningSocket) throws {
    let server = try HTTPServer(settings, listener, self)
    try server.start()
    state.withLock { $0.servers.append(server) }
  }

  private var status: String {
    let (watches, files) = (state.withLock { $0.watches.count }, self.files.files)
    let open = files.count { $0.file != nil }
    return "\(watches) watches, \(open) of \(files.count) files open"
  }

  // MARK: - The loop

  /// Runs again and again on the queue that looks for files: if it stands still, so does the
  /// watchdog.
  private func tick() {
    for watch in state.withLock({ $0.watches }) {
      for hub in watch.hubs.values { hub.tidy() }
    }
    for (_, file, _) in files.files { _ = file?.store.probeHead() }
    for sync in state.withLock({ $0.syncs }) { sync.retry() }
    ServiceNotice.alive(status)
  }

  /// Reads the configuration again; watches that did not change go on untouched.
  package func reload() {
    reloads.sync {
      try? readAgain()
      replaceServer()
    }
  }

  /// - Throws: what is wrong in the configuration; the former one goes on then.
  private func readAgain() throws {
    ServiceNotice.reloading()
    defer { ServiceNotice.ready(status) }
    for watch in state.withLock({ $0.watches }) { watch.reopenFiles() }
    let settings: DaemonSettings
    do {
      settings = try configuration.settings()
      let shared = configuration.sharedFiles(of: settings)
      if !shared.isEmpty {
        throw ToolError(shared.map(\.description).joined(separator: "\n"))
      }
    } catch {
      for problem in "\(error)".splitASCII("\n") { log.write(.error, String(problem)) }
      log.write(.error, "the configuration was not loaded; the former one goes on")
      throw error
    }
    let former = state.withLock { $0.settings }
    if settings.instance != former.instance || settings.stateFolder != former.stateFolder {
      log.write(.warning, "'name' and 'state' change at the next start only")
    }
    apply(settings)
    state.withLock { $0.settings = settings }
    log.write(.notice, "loaded the configuration: \(status)")
  }

  private func apply(_ settings: DaemonSettings) {
    context.positions?.use(settings)
    let endedSyncs = state.withLock { state in
      let ended = state.syncs.filter { !settings.syncs.contains($0.settings) }
      state.syncs.removeAll { one in ended.contains { $0 === one } }
      return ended
    }
    for sync in endedSyncs { sync.stop() }
    let keptSyncs = state.withLock { $0.syncs }
    for sync in settings.syncs where !keptSyncs.contains(where: { $0.settings == sync }) {
      add(sync)
    }
    for sync in keptSyncs { sync.hurry() }
    let running = state.withLock { $0.watches }
    let ended = running.filter { !settings.watches.contains($0.settings) }
    state.withLock { state in
      state.watches.removeAll { watch in ended.contains { $0 === watch } }
    }
    for watch in ended { watch.stop() }
    let renamed = Set(settings.watches.compactMap(\.formerName))
    for watch in ended where !renamed.contains(watch.settings.name) {
      let successor = settings.watches.first { $0.name == watch.settings.name }
      let gone = Set(watch.settings.sinks.map(\.name))
        .subtracting(successor?.sinks.map(\.name) ?? [])
      watch.deleteCursors(ofSinks: gone)
    }
    let kept = state.withLock { $0.watches.map(\.settings) }
    for watch in settings.watches where !kept.contains(watch) {
      do {
        try add(watch)
      } catch {
        log.write(.error, "\(error)", [("TARN_WATCH", watch.name)])
      }
    }
  }

  /// Replaces the server if the configuration names another address, but not before the present
  /// server has answered all requests that it holds.
  private func replaceServer() {
    let (settings, served, isBusy) = state.withLock {
      ($0.settings, $0.served, $0.heldRequests > 0 || $0.hasStopped)
    }
    let wanted = doors(settings)
    guard wanted != served, !isBusy else { return }
    for server in takeServers() { server.stop() }
    do {
      try serve(wanted)
    } catch {
      log.write(.error, "\(error)")
    }
  }

  private func takeServers() -> [HTTPServer] {
    state.withLock { state in
      defer { state.servers = [] }
      return state.servers
    }
  }

  /// Ends everything; acknowledged positions are durable when this returns, unless another
  /// process's writer holds a file up for longer than a daemon may take: those batches are
  /// delivered again.
  package func stop() {
    ServiceNotice.stopping()
    files.onLook(nil)
    let watches = state.withLock { state in
      state.hasStopped = true
      return state.watches
    }
    // All deliveries end at the same time.
    for watch in watches { watch.stopSoon() }
    let ended = DispatchSemaphore(value: 0)
    DispatchQueue(label: "tarn-stop").async { [self] in
      stopAll()
      ended.signal()
    }
    guard ended.wait(timeout: .now() + Self.stopTime) == .timedOut else { return }
    log.write(.warning, "ends, although a file is held up: its last batches are sent again")
  }

  private func stopAll() {
    // One that runs is done first.
    reloads.sync {}
    controlling.wait()
    let (watches, syncs) = state.withLock { ($0.watches, $0.syncs) }
    for watch in watches { watch.stopSoon() }
    DispatchQueue.concurrentPerform(iterations: syncs.count + watches.count) { index in
      if index < syncs.count { syncs[index].stop() } else { watches[index - syncs.count].stop() }
    }
    for server in takeServers() { server.stop() }
  }

  // MARK: - HTTP

  func answer(_ path: String) -> HTTPAnswer {
    switch path {
    case "/health":
      let report = report()
      return HTTPAnswer(report.isHealthy ? 200 : 503, report.isHealthy ? "ok\n" : "failing\n")
    case "/metrics":
      return HTTPAnswer(
        200, Metrics.text(report()), ["Content-Type": "text/plain; version=0.0.4; charset=utf-8"])
    case "/status": return HTTPAnswer(200, report().json, ["Content-Type": "application/json"])
    default:
      return HTTPAnswer(404, "there are /health, /metrics, /status and /watches/NAME/events\n")
    }
  }

  func control(_ address: SinkAddress, in path: String?, _ request: HeldRequest) {
    let (watch, isLate) = state.withLock { state in
      state.heldRequests += 1
      return (state.watches.first { $0.settings.name == address.watch }, state.hasStopped)
    }
    // Test deliveries run beside each other.
    controls.async(group: controlling) {
      let answer =
        isLate
        ? HTTPAnswer(503, "the daemon ends\n")
        : watch?.control(address.action, address.sink, in: path)
          ?? HTTPAnswer(404, "there is no watch '\(address.watch)'\n")
      request.finish(answer)
    }
  }

  func reload(_ request: HeldRequest) {
    let isLate = state.withLock { state in
      state.heldRequests += 1
      return state.hasStopped
    }
    if isLate { return request.finish(HTTPAnswer(503, "the daemon ends\n")) }
    reloads.async { [self] in
      do {
        try readAgain()
        request.finish(HTTPAnswer(200, "\(status)\n"))
      } catch {
        request.finish(HTTPAnswer(422, "\(error)\n"))
      }
    }
  }

  func isAnswered() {
    state.withLock { $0.heldRequests -= 1 }
    reloads.async { self.replaceServer() }
  }

  func events(
    _ watch: String, from position: String?, _ connection: OpaquePointer
  ) -> Result<EventClient, HTTPAnswer> {
    let runner = state.withLock { state in
      state.watches.first { $0.settings.name == watch && $0.eventHub != nil }
    }
    guard let (hub, settings) = runner?.eventHub else {
      return .failure(HTTPAnswer(404, "there is no watch '\(watch)' with a sink of events\n"))
    }
    guard hub.subscriberCount < settings.clientsMax else {
      return .failure(HTTPAnswer(503, "there are \(settings.clientsMax) clients already\n"))
    }
    do {
      let positions = try position.map { try Subscription.positions($0, hub) } ?? [:]
      return .success(EventClient(connection, hub, settings, at: positions))
    } catch {
      return .failure(HTTPAnswer(400, "\(error)\n"))
    }
  }

  private func report() -> StatusReport {
    let all = files.files
    let newest = Dictionary(
      uniqueKeysWithValues: all.map { ($0.path, $0.file?.store.newestKnownVersion.rawValue ?? 0) })
    let lags = Dictionary(uniqueKeysWithValues: all.map { ($0.path, $0.file?.lags ?? [:]) })
    let statuses = state.withLock { $0.watches }.flatMap(\.statuses)
    return StatusReport(
      instance: context.instance,
      sinks: statuses.map {
        StatusReport.sink(
          $0, newest: newest[$0.path] ?? 0,
          bytesBehind: lags[$0.path]?[context.cursorName($0.watch, $0.sink)])
      }
      .sorted { ($0.watch, $0.sink, $0.path) < ($1.watch, $1.sink, $1.path) },
      syncs: SyncStatus.merged(state.withLock { $0.syncs }.flatMap(\.statuses)),
      files: all.map { StatusReport.file($0.path, $0.file, $0.reason) },
      secondsUp: Double((ContinuousClock.now - began).components.seconds))
  }
}
