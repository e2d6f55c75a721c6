import Dispatch
import Foundation
import TarnStore
import TarnText
import ToolSupport

/// Runs one watch: a `SinkRunner` for each sink that consumes and each file, a hub for each sink
/// that serves clients.
final class WatchRunner: FileTable.Listener {
  private struct State {
    var runners: [String: [SinkRunner]] = [:]
    var files: [String: OpenFile] = [:]
    var listening: [SocketSink] = []
    /// The sinks of test deliveries that are running.
    var tried: [any Sink] = []
    /// The files that were there when the watch began.
    var firstPaths: Set<String> = []
    var hasBegun = false
    /// Whether the daemon says that it is ready, and did not wait for the watch.
    var isLate = false
    var hasStopped = false
  }

  let settings: WatchSettings
  /// The hubs, by the names of their sinks.
  let hubs: [String: FeedHub]
  private let context: DaemonContext
  private let files: FileTable
  private let state = Lock(State())
  /// Entered by the files that were there first, until their cursors and hubs stand.
  private let beginning = DispatchGroup()

  init(_ settings: WatchSettings, _ files: FileTable, _ context: DaemonContext) {
    self.settings = settings
    self.files = files
    self.context = context
    var hubs: [String: FeedHub] = [:]
    for sink in settings.sinks where sink.servesClients {
      hubs[sink.name] = FeedHub(settings, sink: sink.name, context)
    }
    self.hubs = hubs
  }

  var statuses: [SinkStatus] {
    state.withLock { $0.runners.values.flatMap { $0.map(\.status) } }
      + hubs.values.flatMap(\.statuses)
  }

  /// The hub of the sink whose events HTTP clients get.
  var eventHub: (hub: FeedHub, settings: EventSettings)? {
    for sink in settings.sinks {
      if case .events(let events) = sink.kind, let hub = hubs[sink.name] { return (hub, events) }
    }
    return nil
  }

  /// Begins with the files that are there. Never waits for them.
  ///
  /// - Parameter group: is entered until the cursors of these files stand: the commits after that
  ///   are delivered.
  /// - Throws: `ToolError` if a socket cannot be made.
  func start(in group: DispatchGroup) throws {
    for sink in settings.sinks {
      guard case .socket(let socket) = sink.kind, let hub = hubs[sink.name] else { continue }
      let listener =
        try context.handedOver.socket(at: socket.path)
        ?? ListeningSocket(at: socket.path, mode: socket.mode)
      let made = SocketSink(socket, hub, listener, context.log)
      state.withLock { $0.listening.append(made) }
    }
    let first = FileTable.paths(of: settings.file).filter { FileFacts.at($0) != nil }
    state.withLock { $0.firstPaths = Set(first) }
    group.enter()
    let listeners: [any FileTable.Listener] =
      [self] + hubs.values.map { $0 as any FileTable.Listener }
    for listener in listeners {
      beginning.enter()
      files.add(settings.file, listener).notify(queue: .global()) { [beginning] in
        beginning.leave()
      }
    }
    beginning.notify(queue: .global()) { [self] in
      markBeginning()
      group.leave()
    }
  }

  /// The daemon goes on, without the watch if that has not begun: it begins when it can, and says
  /// so.
  ///
  /// - Returns: whether it has not.
  func goOn() -> Bool {
    state.withLock { state in
      state.isLate = !state.hasBegun
      return state.isLate
    }
  }

  /// Notes durably that the files that were there first have begun: files and classes that come
  /// from now on are new.
  private func markBeginning() {
    let (hasStopped, isLate) = state.withLock { state in
      state.hasBegun = true
      return (state.hasStopped, state.isLate)
    }
    if hasStopped { return }
    if isLate {
      context.log.write(.notice, "the watch stands now", [("TARN_WATCH", settings.name)])
    }
    guard let positions = context.positions else {
      if !settings.sinks.allSatisfy(\.servesClients) { noteMissingFolder() }
      return
    }
    for sink in settings.sinks where !sink.servesClients {
      do {
        try positions.begin(settings.name, sink.name)
      } catch {
        context.log.write(.warning, "\(error)", [("TARN_WATCH", settings.name)])
      }
    }
  }

  private func noteMissingFolder() {
    var text =
      "without a state folder, a file that 'cp' has copied continues at the position of its "
      + "original"
    if settings.start == .newest {
      text += ", and 'start: newest' also holds for files and classes that appear later"
    }
    context.log.write(.notice, text, [("TARN_WATCH", settings.name)])
  }

  /// Whether what came into being after the watch's beginning counts in a file.
  private func hasBegun(_ sink: String, in path: String) -> Bool {
    guard let positions = context.positions else { return false }
    return !state.withLock { $0.firstPaths.contains(path) }
      || positions.hasBegun(settings.name, sink)
  }

  /// Lets all deliveries end soon. Never waits.
  func stopSoon() {
    let (tried, runners) = state.withLock { state in
      state.hasStopped = true
      return (state.tried, state.runners.values.flatMap { $0 })
    }
    for sink in tried { sink.stop() }
    for runner in runners { runner.stopSoon() }
  }

  /// Ends all deliveries; what is acknowledged is durable when this returns.
  func stop() {
    stopSoon()
    // Clients and their sockets do not wait for files that are held up.
    let listening = state.withLock { state in
      defer { state.listening = [] }
      return state.listening
    }
    for socket in listening { socket.stop() }
    for hub in hubs.values { hub.stop() }
    for hub in hubs.values { files.remove(hub) }
    files.remove(self)
    let runners = state.withLock { state in
      defer { state.runners = [:] }
      return state.runners.values.flatMap { $0 }
    }
    for runner in runners { runner.stopSoon() }
    AtOnce.run(runners.map { runner in { @Sendable in runner.stop() } })
  }

  // MARK: - Control

  /// Does what an operator asks for. Waits for the disk, and for a test delivery.
  ///
  /// - Parameter path: one of the watch's files; nil for all.
  func control(_ action: SinkAction, _ name: String, in path: String?) -> HTTPAnswer {
    guard let sink = settings.sinks.first(where: { $0.name == name }) else {
      return HTTPAnswer(404, "the watch '\(settings.name)' has no sink '\(name)'\n")
    }
    guard !sink.servesClients else {
      return HTTPAnswer(
        409, "'\(name)' serves clients, each of which goes on where it wants: it cannot \(action)\n"
      )
    }
    let runners = runners(in: path).filter { $0.status.sink == name }
    switch action {
    case .try:
      if path != nil { return HTTPAnswer(400, "a test delivery has no changes of a file\n") }
      return tryOut(sink)
    case .pause, .resume:
      if path != nil { return HTTPAnswer(400, "a sink is paused for all files\n") }
      return pause(action == .pause, name, runners)
    case .skip, .resend:
      if runners.isEmpty { return HTTPAnswer(404, "the watch has no such file open\n") }
      return ask(runners) { try action == .skip ? $0.skip() : $0.resend() }
    }
  }

  /// - Parameter path: one of the watch's files, by any of its names; nil for all.
  private func runners(in path: String?) -> [SinkRunner] {
    let (all, files) = state.withLock { ($0.runners, $0.files) }
    guard let path else { return all.values.flatMap { $0 } }
    if let runners = all[path] { return runners }
    guard path.beginsWithBytes(of: "/"), let found = FileFacts.at(path)?.identity else { return [] }
    return all.filter { files[$0.key]?.identity == found }.values.flatMap { $0 }
  }

  private func ask(
    _ runners: [SinkRunner], _ action: (SinkRunner) throws -> Void
  ) -> HTTPAnswer {
    do {
      for runner in runners { try action(runner) }
    } catch {
      return HTTPAnswer(500, "\(error)\n")
    }
    let isKept = runners.allSatisfy(\.asked.areDurable)
    return HTTPAnswer(
      200,
      "asked for: 'tarn daemon status' shows when it is done\n"
        + (isKept ? "" : "it is forgotten if the daemon ends before, which has no state folder\n"))
  }

  private func pause(_ isPaused: Bool, _ name: String, _ runners: [SinkRunner]) -> HTTPAnswer {
    do {
      try context.pauses.set(settings.name, name, isPaused)
    } catch {
      return HTTPAnswer(500, "\(error)\n")
    }
    for runner in runners { runner.pause(isPaused) }
    context.log.write(
      .notice, isPaused ? "paused, as it was asked to" : "resumed, as it was asked to",
      [("TARN_WATCH", settings.name), ("TARN_SINK", name)])
    guard isPaused else { return HTTPAnswer(200, "resumed\n") }
    return HTTPAnswer(
      200,
      context.pauses.isDurable
        ? "paused until it is resumed\n"
        : "paused until it is resumed or the daemon ends, which has no state folder\n")
  }

  private func tryOut(_ sink: SinkSettings) -> HTTPAnswer {
    let made = self.sink(sink, SinkStatus(settings.name, sink.name, settings.file))
    let isLate = state.withLock { state in
      state.tried.append(made)
      return state.hasStopped
    }
    defer { state.withLock { $0.tried.removeAll { $0 === made } } }
    if isLate { made.stop() }
    let line = JSONText.text(
      .object([
        JSONMember("watch", .string(settings.name)), JSONMember("file", .string(settings.file)),
        JSONMember("class", .string(settings.classNames)), JSONMember("test", .bool(true)),
      ]))
    do throws(DeliveryFailure) {
      return HTTPAnswer(200, try made.tryOut(Array("\(line)\n".utf8), of: settings) + "\n")
    } catch {
      let answer = error.refusal.map { $0.answer.isEmpty ? "" : ": \($0.answer)" } ?? ""
      return HTTPAnswer(502, "\(error)\(answer)\n")
    }
  }

  func reopenFiles() {
    for runner in state.withLock({ $0.runners.values.flatMap { $0 } }) { runner.reopen() }
  }

  /// Deletes the cursors of sinks that are gone, after `stop`.
  func deleteCursors(ofSinks names: Set<String>) {
    defer { for name in names { context.positions?.end(settings.name, name) } }
    for file in state.withLock({ Array($0.files.values) }) {
      for name in names {
        context.positions?.remove(settings.name, name, file.path)
        guard file.isWritable else { continue }
        do {
          try file.store.deleteCursor(context.cursorName(settings.name, name))
        } catch  where error.code != .notFound {
          context.log.write(
            .warning, "cannot delete the cursor of the sink '\(name)': \(error)",
            [("TARN_WATCH", settings.name), ("TARN_FILE", file.path)])
        } catch {}
      }
    }
  }

  // MARK: - Files

  func begin(_ file: OpenFile) {
    let isLate = state.withLock { state in
      if !state.hasStopped { state.files[file.path] = file }
      return state.hasStopped
    }
    if isLate { return }
    takeOverCursors(of: file)
    if !file.isWritable {
      context.log.write(
        .warning,
        "\(file.path) cannot be written: positions are in the state folder, and hold only as long "
          + "as the file keeps change records anyway",
        [("TARN_WATCH", settings.name), ("TARN_FILE", file.path)])
    }
    if !file.isWritable, let doubt = file.filterDoubt(settings) {
      context.log.write(
        .warning, doubt, [("TARN_WATCH", settings.name), ("TARN_FILE", file.path)])
    }
    let cursors = (try? file.store.cursors())?.map(\.record) ?? []
    let runners = settings.sinks.filter { !$0.servesClients }.map { sink in
      let runner = runner(sink, file, cursors)
      if context.pauses.isPaused(settings.name, sink.name) { runner.pause(true) }
      return runner
    }
    let hasStopped = state.withLock { state in
      state.runners[file.path] = runners
      return state.hasStopped
    }
    for runner in runners {
      if hasStopped { runner.stopSoon() }
      beginning.enter()
      runner.start { [beginning] in beginning.leave() }
    }
  }

  private func runner(
    _ sink: SinkSettings, _ file: OpenFile, _ cursors: [CursorRecord]
  ) -> SinkRunner {
    let status = SinkStatus(settings.name, sink.name, file.path)
    let cursor = context.cursorName(settings.name, sink.name)
    var positions: PositionFile?
    do {
      let opened = try context.positions?.open(
        settings.name, sink.name, file.path, cursors, cursor: cursor)
      positions = opened?.file
      switch opened?.origin {
      case .copied(let original)?:
        context.log.write(.notice, "the file is a copy of \(original)", of: status)
      case .moved(let former)?:
        context.log.write(.notice, "the file was delivered as \(former) before", of: status)
      case .alone?, nil: break
      }
    } catch {
      context.log.write(.warning, "\(error)", of: status)
    }
    let receiver = self.sink(sink, status)
    var letters: DeadLetters?
    if let wanted = sink.deadLetters, let refusable = receiver as? any RefusableSink {
      letters = DeadLetters(wanted, refusable, context.outputs, status, context.log)
    }
    return SinkRunner(
      settings, receiver, letters, file, cursorName: cursor, positions: positions,
      isLater: { [weak self] in self?.hasBegun(sink.name, in: file.path) ?? true },
      status, context.log)
  }

  private func sink(_ sink: SinkSettings, _ status: SinkStatus) -> any Sink {
    switch sink.kind {
    case .exec(let settings): ExecSink(settings, context.commands, status, context.log)
    case .webhook(let settings): WebhookSink(settings, context.requests)
    case .file(let settings): FileSink(settings, context.outputs)
    case .socket, .events: preconditionFailure("a hub serves the clients of '\(sink.name)'")
    }
  }

  /// Gives the cursors of the watch's former name to it, and those of earlier versions the names
  /// that they have now. A sink whose cursor is in doubt says so itself.
  private func takeOverCursors(of file: OpenFile) {
    guard file.isWritable else { return }
    for sink in settings.sinks {
      let new = context.cursorName(settings.name, sink.name)
      try? file.takeOverCursor(new)
      guard let former = settings.formerName else { continue }
      let old = context.cursorName(former, sink.name)
      do {
        try file.takeOverCursor(old)
        guard try file.cursorRecord(old) != nil, try file.cursorRecord(new) == nil else { continue }
        try file.store.renameCursor(old, to: new)
        try context.positions?.move(former, sink.name, file.path, to: settings.name)
      } catch {
        context.log.write(.warning, "cannot take over the cursor '\(old)': \(error)")
      }
    }
  }

  func end(_ path: String) {
    let runners = state.withLock { state in
      state.files[path] = nil
      return state.runners.removeValue(forKey: path) ?? []
    }
    for runner in runners {
      runner.stop()
      context.log.write(.notice, "the file was replaced, moved or deleted", of: runner.status)
    }
  }

  func isWaiting(for path: String, _ reason: String) {
    context.log.write(.notice, "waiting for \(path): \(reason)", [("TARN_WATCH", settings.name)])
  }
}

extension SinkSettings {
  /// Whether a hub serves it.
  var servesClients: Bool {
    switch kind {
    case .socket, .events: true
    case .exec, .file, .webhook: false
    }
  }
}
