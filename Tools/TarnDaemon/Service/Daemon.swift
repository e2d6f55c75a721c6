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
    /// Watches that a reload ends, while others of their names are about to begin.
    var leaving: [WatchRunner] = []
    var syncs: [SyncRunner] = []
    /// Requests that are held until something is done, and not answered yet.
    var heldRequests = 0
    /// Whether the service manager waits for the end of a reload.
    var isReloading = false
    var hasStopped = false
    var note: RunNote?
  }

  /// Everything has ended by then, or is given up: the process ends within 5 s.
  private static let stopTime = DispatchTimeInterval.milliseconds(4_500)
  /// A file that cannot be opened until then, or a watch that cannot end, holds up nothing else.
  private static let patience = DispatchTimeInterval.seconds(3)
  /// The same at the start: a watch from the newest version misses the commits before it begins.
  private static let startPatience = DispatchTimeInterval.seconds(5)

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
  private let endpoint: HTTPEndpoint
  /// The settings that it was started with.
  private let first: DaemonSettings

  /// - Throws: `ToolError` with all that is wrong in the configuration.
  package init(_ configuration: ConfigurationFiles, _ log: DaemonLog) throws {
    self.configuration = configuration
    self.log = log
    let settings = try configuration.settings()
    context = try DaemonContext(settings, log)
    state = Lock(State(settings: settings))
    first = settings
    endpoint = HTTPEndpoint(context.handedOver)
  }

  /// Starts every watch, and then says that it is ready: commits from now on are delivered. A file
  /// that is held up begins later.
  ///
  /// - Returns: the names of the watches that wait for a file; nil if none does.
  package func start() throws -> String? {
    let settings = state.withLock { $0.settings }
    for warning in context.handedOver.warnings(settings) { log.write(.warning, warning) }
    try endpoint.prepare(settings, self)
    makeNote()
    let beginning = DispatchGroup()
    for watch in settings.watches { try add(watch, beginning) }
    for sync in settings.syncs { add(sync, beginning) }
    files.onLook { [weak self] in self?.tick() }
    let late = wait(for: beginning, Self.startPatience)
    if hasStopped { return nil }
    // Requests wait until then: they would find no watch.
    try endpoint.change()
    ServiceNotice.ready(status)
    return late
  }

  /// Whether it ends, perhaps before it has started.
  package var hasStopped: Bool { state.withLock { $0.hasStopped } }

  /// Opens no more stores and lets all deliveries end: `start` returns soon. Never waits.
  package func stopSoon() {
    let watches = state.withLock { state in
      state.hasStopped = true
      return state.watches
    }
    files.closeSoon()
    for watch in watches { watch.stopSoon() }
  }

  private func makeNote() {
    guard let folder = context.stateFolder else { return }
    do {
      let made = try RunNote(in: folder, name: context.instance, of: configuration)
      state.withLock { $0.note = made }
      writeNote()
    } catch {
      log.write(.warning, "other commands may not find the daemon: \(error)")
    }
  }

  /// Notes where the daemon is asked now.
  private func writeNote() {
    let (settings, note) = state.withLock { ($0.settings, $0.note) }
    var http = settings.http
    if http == nil, case .path(let path)? = context.handedOver.unnamed(in: settings).first?.address
    {
      http = HTTPSettings(address: .socket(path, mode: 0))
    }
    note?.write(http, settings.listens.union(context.handedOver.listens))
  }

  private func add(_ watch: WatchSettings, _ group: DispatchGroup) throws {
    let runner = WatchRunner(watch, files, context)
    try runner.start(in: group)
    let isLate = state.withLock { state in
      state.watches.append(runner)
      return state.hasStopped
    }
    if isLate { runner.stopSoon() }
  }

  private func add(_ sync: SyncSettings, _ group: DispatchGroup) {
    let runner = SyncRunner(sync, files, log, synced)
    runner.start(in: group)
    state.withLock { $0.syncs.append(runner) }
  }

  /// Waits until files have begun, but not for those that are held up.
  ///
  /// - Returns: the names of the watches that wait for one; nil if none does.
  @discardableResult
  private func wait(
    for beginning: DispatchGroup, _ patience: DispatchTimeInterval = Daemon.patience
  ) -> String? {
    guard beginning.wait(timeout: .now() + patience) == .timedOut, !hasStopped else { return nil }
    let late = state.withLock { $0.watches }.filter { $0.goOn() }.map { "'\($0.settings.name)'" }
    let names = late.prefix(3).joined(separator: ", ")
    let text = late.count > 3 ? "\(names) and \(late.count - 3) others" : names
    let owner = late.isEmpty ? "" : " of \(text)"
    log.write(.notice, "goes on, although a file\(owner) is held up: it begins when it can")
    return late.isEmpty ? nil : text
  }

  private var status: String {
    let (watches, files) = (state.withLock { $0.watches.count }, self.files.files)
    let open = files.count { $0.file != nil }
    return "\(watches) \(watches == 1 ? "watch" : "watches"), \(open) of \(files.count) files open"
  }

  // MARK: - The loop

  /// Runs again and again on the queue that looks for files: if it stands still, so does the
  /// watchdog.
  private func tick() {
    for watch in state.withLock({ $0.watches }) {
      for hub in watch.hubs.values { hub.tidy() }
    }
    for (_, file, _) in files.files {
      _ = file?.store.probeHead()
      file?.store.warnOfPins()
    }
    for sync in state.withLock({ $0.syncs }) { sync.retry() }
    ServiceNotice.alive(status)
  }

  /// Reads the configuration again; watches that did not change go on untouched.
  package func reload() {
    reloads.sync {
      _ = try? readAgain()
      finishReload()
    }
  }

  /// - Returns: the keys that are not active.
  /// - Throws: what is wrong in the configuration; the former one goes on then.
  private func readAgain() throws -> [String] {
    state.withLock { $0.isReloading = true }
    ServiceNotice.reloading()
    for watch in state.withLock({ $0.watches }) { watch.reopenFiles() }
    let settings: DaemonSettings
    do {
      settings = try configuration.settings()
      let shared = configuration.sharedFiles(of: settings)
      if !shared.isEmpty {
        throw ToolError(shared.map(\.description).joined(separator: "\n"))
      }
      try check(settings)
      try endpoint.prepare(settings, self)
    } catch {
      for problem in "\(error)".splitASCII("\n") { log.write(.error, String(problem)) }
      log.write(.error, "the configuration was not loaded; the former one goes on")
      throw error
    }
    apply(settings)
    state.withLock { $0.settings = settings }
    let pending =
      (settings.instance == first.instance ? [] : ["name"])
      + (settings.stateFolder == first.stateFolder ? [] : ["state"])
    if !pending.isEmpty { log.write(.warning, Self.pending(pending)) }
    log.write(.notice, "loaded the configuration: \(status)")
    return pending
  }

  /// Says that keys are not active.
  static func pending(_ keys: [String]) -> String {
    keys.map { "'\($0)'" }.joined(separator: " and ")
      + (keys.count == 1 ? " takes" : " take") + " effect at the next start"
  }

  /// - Throws: `ToolError` with what would not work of that which does not run yet.
  private func check(_ settings: DaemonSettings) throws {
    let running = state.withLock { $0.settings }
    let found = ConfigurationCheck(
      settings: settings, context: context, side: .daemon(running: running)
    ).findings()
    let problems = found.filter { $0.kind == .problem }
    guard problems.isEmpty else {
      throw ToolError(problems.map(\.description).joined(separator: "\n"))
    }
    for finding in found {
      log.write(finding.kind == .warning ? .warning : .notice, "\(finding)")
    }
  }

  private func apply(_ settings: DaemonSettings) {
    context.positions?.use(settings)
    context.commands.resize(to: settings.commandsMax)
    let beginning = DispatchGroup()
    apply(settings.syncs, beginning)
    endWatches(besides: settings.watches)
    let kept = state.withLock { $0.watches.map(\.settings) }
    for watch in settings.watches where !kept.contains(watch) {
      do {
        try add(watch, beginning)
      } catch {
        log.write(.error, "\(error)", [("TARN_WATCH", watch.name)])
      }
    }
    state.withLock { $0.leaving = [] }
    wait(for: beginning)
  }

  private func apply(_ wanted: [SyncSettings], _ beginning: DispatchGroup) {
    let (ended, kept) = state.withLock { state in
      let ended = state.syncs.filter { !wanted.contains($0.settings) }
      state.syncs.removeAll { one in ended.contains { $0 === one } }
      return (ended, state.syncs)
    }
    end(ended.map { sync in { @Sendable in sync.stop() } })
    for sync in wanted where !kept.contains(where: { $0.settings == sync }) {
      add(sync, beginning)
    }
    for sync in kept { sync.hurry() }
  }

  private func endWatches(besides wanted: [WatchSettings]) {
    let ended = state.withLock { state in
      let ended = state.watches.filter { !wanted.contains($0.settings) }
      state.watches.removeAll { watch in ended.contains { $0 === watch } }
      state.leaving = ended.filter { one in wanted.contains { $0.name == one.settings.name } }
      return ended
    }
    let renamed = Set(wanted.compactMap(\.formerName))
    end(
      ended.map { watch in
        let name = watch.settings.name
        let sinks = Set(watch.settings.sinks.map(\.name))
        let next = wanted.filter { $0.name == name }.flatMap(\.sinks).map(\.name)
        let gone = renamed.contains(name) ? [] : sinks.subtracting(next)
        return { [self] in
          watch.stop()
          // If that took long, another reload may have brought them back.
          let present = state.withLock { $0.watches }.map(\.settings)
            .filter { $0.name == name }.flatMap(\.sinks).map(\.name)
          watch.deleteCursors(ofSinks: gone.subtracting(present))
        }
      })
  }

  /// Ends what a configuration has no more, all at the same time. What a writer holds up ends
  /// later: whoever takes its cursors tries again until then.
  private func end(_ bodies: [@Sendable () -> Void]) {
    if AtOnce.run(bodies, within: Self.patience) { return }
    log.write(.notice, "goes on, although a file is held up: its former watches end when they can")
  }

  /// Replaces the server if the configuration names another address, but not before the present
  /// server has answered all requests that it holds; and then says that the daemon is ready.
  private func finishReload() {
    if endpoint.isToChange {
      if state.withLock({ $0.heldRequests > 0 || $0.hasStopped }) { return }
      do {
        try endpoint.change()
      } catch {
        log.write(.error, "\(error)")
      }
    }
    writeNote()
    let isReloading = state.withLock { state in
      defer { state.isReloading = false }
      return state.isReloading
    }
    if isReloading { ServiceNotice.ready(status) }
  }

  /// Ends everything; acknowledged positions are durable when this returns, unless another
  /// process's writer holds a file up for longer than a daemon may take: those batches are
  /// delivered again.
  package func stop() {
    ServiceNotice.stopping()
    files.onLook(nil)
    // All deliveries end at the same time.
    stopSoon()
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
    AtOnce.run(
      syncs.map { sync in { @Sendable in sync.stop() } }
        + watches.map { watch in { @Sendable in watch.stop() } })
    endpoint.stop()
    state.withLock { $0.note.take() }?.end()
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
        let pending = try readAgain()
        request.finish(
          pending.isEmpty
            ? HTTPAnswer(200, "\(status)\n")
            : HTTPAnswer(202, "\(status)\n\(Self.pending(pending))\n"))
      } catch {
        request.finish(HTTPAnswer(422, "\(error)\n"))
      }
      if !endpoint.isToChange { finishReload() }
    }
  }

  func isAnswered() {
    state.withLock { $0.heldRequests -= 1 }
    reloads.async { self.finishReload() }
  }

  func events(
    _ watch: String, from position: String?, _ connection: OpaquePointer
  ) -> Result<EventClient, HTTPAnswer> {
    // One that leaves ends the stream, and the client comes back: other answers than a stream let
    // browsers give up.
    let runner = state.withLock { state in
      (state.watches + state.leaving).first { $0.settings.name == watch && $0.eventHub != nil }
    }
    guard let (hub, settings) = runner?.eventHub else {
      return .failure(HTTPAnswer(404, "there is no watch '\(watch)' with a sink of events\n"))
    }
    if let refusal = DescriptorReserve.refusal(ofClient: log, watch) {
      return .failure(HTTPAnswer(503, refusal + "\n"))
    }
    do {
      let point =
        try position.map { try Subscription.point($0, hub) } ?? FeedPoint(for: hub.selection)
      guard hub.admit(of: settings.clientsMax) else {
        return .failure(HTTPAnswer(503, "there are \(settings.clientsMax) clients already\n"))
      }
      return .success(EventClient(connection, hub, settings, at: point))
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
