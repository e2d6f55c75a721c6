internal import CTarn
internal import Glibc
internal import Synchronization

/// Notices commits of other processes: one thread for all files that this process has open, which
/// sleeps on one inotify descriptor. The thread starts with the first registration and ends some
/// time after the last, so that a program that opens files one after the other starts one thread.
///
/// It never trusts an event. An event, an overflow of the queue, and the end of the wait lead to
/// the same check: has the counter changed? One process also reads the data's head record, because
/// a writer may have died or been stopped before it raised the counter (`Lookout`). So no commit is
/// missed: the worst case is a wait of `Lookout.lookEveryNanoseconds`.
///
///     the queue overflows              every file is checked, head records included
///     no inotify instance, no watch    the thread sleeps on the files' bells; tried again
///     neither inotify nor bells        the file is polled, less often while nothing happens
///     the signal file is deleted       the data is polled in the same way, permanently
///     the data or its lock is          reported once; no more checks
///     the process is forked            the child has no thread; it gets its own watcher
///
/// Bells need Linux 5.16, and there can be 127 files. Polling is logged once per file.
///
/// Threading: any thread. `onChange` and `probeHead` are called on the watcher's thread, outside
/// its locks, and should return soon: other files wait.
package final class SignalWatcher: Sendable {
  /// How often a file is checked whose commits cause no events, while there are some.
  package static let pollEveryNanoseconds: UInt64 = 4_000_000
  /// The same while there are none.
  package static let pollAtLeastNanoseconds: UInt64 = 100_000_000

  /// This process's watcher.
  package static var shared: SignalWatcher {
    current.withLock { current in
      if current.forkCount != tarn_fork_count() { current = SignalWatcher() }
      return current
    }
  }
  private static let current = Lock(ofProcess: SignalWatcher())

  /// How to wait for commits, if the system allows it.
  enum Means { case inotify, bells, polling }

  private let forkCount = tarn_fork_count()
  private let means: Means
  private let state: Lock<State>
  /// How often the thread has waited. For tests, as is `waker`.
  let turns = Atomic(0)
  /// What wakes the thread; nil while none runs.
  var waker: Waker? { state.withLock { $0.waker } }

  private struct State {
    var entries: [Int: Entry] = [:]
    var lastID = 0
    /// Its life is the thread's; nil while none runs, or with no instance left.
    var inotify: WaitDescriptor?
    var waker: Waker?
    /// When the thread ends if nothing is registered until then.
    var end: UInt64 = 0
    /// When to ask for watches that were refused again.
    var nextWatches: UInt64 = 0
    /// The kernel has no way to wait for bells.
    var lacksBells = false
  }

  /// How often refused watches are asked for.
  private static let watchesEveryNanoseconds: UInt64 = 30_000_000_000
  /// How long the thread waits for another registration after the last.
  private static let lingersNanoseconds: UInt64 = 1_000_000_000

  private struct Entry {
    let watched: WatchedFile
    /// inotify's number; the same for two registrations of one file.
    var watch: Int32?
    /// Why it has none.
    var refusal: StorageError?
    /// When to ask whether this process looks after the file.
    var nextAsk: UInt64 = 0

    var mustPoll: Bool { watched.isPolled || watch == nil && !watched.isEnded }
  }

  init(_ means: Means = .inotify) {
    self.means = means
    state = Lock(State(lacksBells: means == .polling))
  }

  /// Calls `onChange` from now on whenever there may be a version newer than `seen`, the version
  /// that the caller knows; at once, if there is one already. It may be called without need.
  ///
  /// - Parameter probeHead: the version in the data's head record; nil for an observer that looks
  ///   at it itself, so that this registration does not look after the file for other processes.
  /// - Parameter isGone: true if the data's files are no longer at their paths; reported only once.
  ///   Errors: `.limitExceeded` if the watcher's thread or descriptor cannot be created.
  ///
  /// - Returns: a registration that ends the observation when it is released. Later changes are not
  ///   reported; a call for an earlier one may still be running.
  package func add(
    _ file: SignalFile, seen: UInt64, probeHead: (@Sendable () -> UInt64?)?,
    isGone: @escaping @Sendable () -> Bool = { false }, onChange: @escaping @Sendable () -> Void
  ) throws(StorageError) -> SignalRegistration {
    let observer = WatchedFile.Observer(
      probeHead: probeHead, isGone: isGone, onChange: onChange)
    let watched = WatchedFile(file: file, seen: seen, observer: observer)
    let (id, waker) = try state.withLock { state throws(StorageError) in
      if state.waker == nil { state.waker = try start(file.path) }
      state.lastID += 1
      file.lookout.begin()
      state.entries[state.lastID] = Entry(watched: watched, nextAsk: probeHead == nil ? .max : 0)
      state.nextWatches = 0
      return (state.lastID, state.waker)
    }
    // Not inside, where the thread would at once wait for the lock.
    waker?.wake()
    return SignalRegistration(watcher: self, id: id)
  }

  func remove(_ id: Int) {
    if forkCount != tarn_fork_count() { return }
    // Released outside the lock: it may hold the last reference to any object.
    let (entry, waker) = state.withLock { state -> (Entry?, Waker?) in
      // Removed before, and the thread knows.
      guard let entry = state.entries.removeValue(forKey: id) else { return (nil, nil) }
      if let watch = entry.watch, !state.entries.values.contains(where: { $0.watch == watch }) {
        state.inotify?.remove(watch)
      }
      if state.entries.isEmpty { state.end = GateWord.now() + Self.lingersNanoseconds }
      return (entry, state.waker)
    }
    waker?.wake()
    guard let watched = entry?.watched else { return }
    watched.cancel()
    watched.file.lookout.end(watched.file)
  }

  /// The thread waits for the caller's lock before it looks for files.
  private func start(_ path: String) throws(StorageError) -> Waker {
    let waker = try Waker()
    guard BackgroundThread.start("tarn-watcher", { self.run(waker) }) else {
      throw StorageError(noThreadFor: "observe", path: path)
    }
    return waker
  }

  private func run(_ waker: Waker) {
    while true {
      // Before the files: a new one rings it after it was added.
      let knock = unsafe waker.bell
      guard let round = prepare() else { return }
      let events =
        round.sleepsOnBells ? unsafe sleepOnBells(round, knock) : poll(round, waker)
      turns.add(1, ordering: .relaxed)
      check(round, events)
    }
  }

  private struct Round {
    let inotify: WaitDescriptor?
    let files: [WatchedFile]
    /// Whether it waits for bells, and not for inotify: some file has no watch.
    let sleepsOnBells: Bool
    /// When to check the files, whatever happens.
    let limit: UInt64
  }

  /// Adds watches for new files; nil, and the thread ends, when there is nothing to watch.
  private func prepare() -> Round? {
    let now = GateWord.now()
    let (round, refused) = state.withLock { state -> (Round?, [Entry]) in
      if state.entries.isEmpty {
        if now < state.end {
          let round = Round(
            inotify: state.inotify, files: [], sleepsOnBells: false, limit: state.end)
          return (round, [])
        }
        state.inotify = nil
        state.waker = nil
        return (nil, [])
      }
      if now >= state.nextWatches { addWatches(&state, now) }
      let entries = state.entries.values
      let refused = entries.filter { $0.watch == nil && !$0.watched.isEnded }
      let usesBells =
        !refused.isEmpty && !state.lacksBells && entries.count < Int(tarn_bells_max)
      if usesBells { for entry in refused { entry.watched.endFallback() } }
      var limit = entries.reduce(UInt64.max) { min($0, $1.nextAsk) }
      for entry in usesBells ? entries.filter(\.watched.isLost) : entries.filter(\.mustPoll) {
        limit = min(limit, now + entry.watched.pollAfterNanoseconds)
      }
      let round = Round(
        inotify: state.inotify, files: entries.map(\.watched), sleepsOnBells: usesBells,
        limit: limit)
      return (round, usesBells ? [] : refused)
    }
    for entry in refused { entry.watched.fallBack(.noWatch(entry.refusal?.detail ?? "")) }
    return round
  }

  private func addWatches(_ state: inout State, _ now: UInt64) {
    state.nextWatches = .max
    guard means == .inotify else { return }
    var lack: StorageError?
    if state.inotify == nil {
      do throws(StorageError) { state.inotify = try WaitDescriptor() } catch { lack = error }
    }
    for (id, entry) in state.entries where entry.watch == nil && !entry.watched.isEnded {
      do throws(StorageError) {
        if let lack { throw lack }
        state.entries[id]?.watch = try state.inotify?.add(entry.watched.file)
        entry.watched.endFallback()
      } catch {
        state.entries[id]?.refusal = error
        state.nextWatches = now + Self.watchesEveryNanoseconds
      }
    }
  }

  /// - Returns: the inotify descriptor, if it has events.
  private func poll(_ round: Round, _ waker: Waker) -> WaitDescriptor? {
    var set = [
      pollfd(fd: waker.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: round.inotify?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    let now = GateWord.now()
    let rest = round.limit > now ? round.limit - now : 0
    // Rounded up: a wait of less than a millisecond would spin.
    let milliseconds =
      round.limit == .max ? -1 : Int32(clamping: (rest + 999_999) / 1_000_000)
    BackgroundThread.rest { _ = unsafe Glibc.poll(&set, 2, milliseconds) }
    // By what `poll` says and not by the bell, which is rung after the descriptor was written to.
    if set[0].revents != 0 { waker.drain() }
    return set[1].revents == 0 ? nil : round.inotify
  }

  /// - Returns: the inotify descriptor, which may have events of files that are watched.
  private func sleepOnBells(_ round: Round, _ knock: tarn_bell) -> WaitDescriptor? {
    for watched in round.files { watched.file.sleepers(1) }
    defer { for watched in round.files { watched.file.sleepers(-1) } }
    let rings = round.files.map(\.file.bell)
    // What was announced before its bell was read rings no more.
    if round.files.contains(where: \.hasNews) { return round.inotify }
    var bells = unsafe [knock]
    for (watched, seen) in zip(round.files, rings) {
      unsafe bells.append(
        tarn_bell(word: watched.file.base + SignalLayout.bellAt, seen: seen))
    }
    let limit = min(round.limit, GateWord.now() + 86_400_000_000_000)
    var isSupported = true
    BackgroundThread.rest {
      isSupported = unsafe tarn_futex_wait_any(bells, Int32(bells.count), limit)
    }
    if !isSupported { state.withLock { $0.lacksBells = true } }
    for (watched, seen) in zip(round.files, rings) where watched.file.bell != seen {
      watched.file.passBellOn()
    }
    return round.inotify
  }

  /// Checks every file, whatever woke the thread.
  private func check(_ round: Round, _ events: WaitDescriptor?) {
    var arrived: [Int32: WaitDescriptor.Arrivals] = [:]
    events?.drain { watch, arrivals in
      arrived[watch, default: []].formUnion(arrivals)
    }
    let overflow = arrived[-1] ?? []
    let entries = state.withLock { $0.entries }
    let now = GateWord.now()
    for (id, entry) in entries {
      let arrivals = overflow.union(entry.watch.flatMap { arrived[$0] } ?? [])
      let again = check(entry, arrivals, now)
      if again != entry.nextAsk { state.withLock { $0.entries[id]?.nextAsk = again } }
    }
  }

  /// - Returns: when to ask whether this process looks after the file.
  private func check(
    _ entry: Entry, _ arrivals: WaitDescriptor.Arrivals, _ now: UInt64
  ) -> UInt64 {
    let (watched, file) = (entry.watched, entry.watched.file)
    if watched.isEnded { return .max }
    let hasMoved = watched.lookAtCounter()
    // A writer of an older version of this library rings no bell.
    let hasRung = watched.takeBell()
    if hasMoved, !hasRung, file.lookout.hasDuty { file.ring() }
    let isAlarmed = watched.takeAlarm() || arrivals.contains(.lost)
    var (looks, again) = (false, entry.nextAsk)
    if watched.canProbe, isAlarmed || arrivals.contains(.closed) || now >= entry.nextAsk {
      (looks, again) = file.lookout.ask(file, now: now, isClosed: arrivals.contains(.closed))
    }
    if looks || isAlarmed || watched.isLost {
      let isNews = watched.checkIntact()
      if isNews, looks || file.lookout.hasDuty { file.alarm() }
      watched.look(probing: true)
    }
    return again
  }
}

/// The observation of one file; ends when it is released or cancelled.
package final class SignalRegistration: Sendable {
  private let watcher: SignalWatcher
  private let id: Int

  init(watcher: SignalWatcher, id: Int) {
    self.watcher = watcher
    self.id = id
  }

  package func cancel() { watcher.remove(id) }

  deinit { watcher.remove(id) }
}
