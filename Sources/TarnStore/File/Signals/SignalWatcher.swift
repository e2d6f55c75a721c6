internal import CTarn
internal import Glibc

/// Notices commits of other processes: one thread and one inotify descriptor for all files that
/// this process has open. The thread starts with the first registration and ends with the last.
///
/// It never trusts an event. An event, an overflow of the queue, and the end of the wait lead to
/// the same check: has the counter changed? After a close, after the wait, and always while
/// polling, it also reads the data's head record, because a writer may have died before it raised
/// the counter. So no commit is missed: the worst case is a wait of `lookEveryNanoseconds`.
///
///     the queue overflows              every file is checked, head records included
///     no inotify instance, no watch    the file is polled every few milliseconds; tried again
///     the signal file is deleted       the same, permanently
///     the data or its lock is          reported once; no more checks
///     the process is forked            the child has no thread; it gets its own watcher
///
/// Each fallback is logged once per file.
///
/// Threading: any thread. `onChange` and `probeHead` are called on the watcher's thread, outside
/// its locks, and should return soon: other files wait.
package final class SignalWatcher: Sendable {
  /// How often a file is checked, even without events.
  package static let lookEveryNanoseconds: UInt64 = 250_000_000
  /// The same for a file whose commits cause no events.
  package static let pollEveryNanoseconds: UInt64 = 4_000_000

  /// This process's watcher.
  package static var shared: SignalWatcher {
    current.withLock { current in
      if current.forkCount != tarn_fork_count() { current = SignalWatcher() }
      return current
    }
  }
  private static let current = Lock(SignalWatcher())

  private let forkCount = tarn_fork_count()
  private let state = Lock(State())

  private struct State {
    var entries: [Int: Entry] = [:]
    var lastID = 0
    /// Its life is the thread's; nil while none runs, or with no instance left.
    var inotify: WaitDescriptor?
    var waker: Waker?
    var nextLook: UInt64 = 0
  }

  private struct Entry {
    let watched: WatchedFile
    /// inotify's number; the same for two registrations of one file.
    var watch: Int32?
  }

  init() {}

  /// Calls `onChange` from now on whenever there may be a version newer than `seen`, the version
  /// that the caller knows; at once, if there is one already. It may be called without need.
  ///
  /// - Parameter isGone: true if the data's files are no longer at their paths; reported only once.
  ///   Errors: `.limitExceeded` if the watcher's thread or descriptor cannot be created.
  ///
  /// - Returns: a registration that ends the observation when it is released. Later changes are not
  ///   reported; a call for an earlier one may still be running.
  package func add(
    _ file: SignalFile, seen: UInt64, probeHead: @escaping @Sendable () -> UInt64?,
    isGone: @escaping @Sendable () -> Bool = { false }, onChange: @escaping @Sendable () -> Void
  ) throws(StorageError) -> SignalRegistration {
    let observer = WatchedFile.Observer(
      probeHead: probeHead, isGone: isGone, onChange: onChange)
    let watched = WatchedFile(file: file, seen: seen, observer: observer)
    let id = try state.withLock { state throws(StorageError) in
      if state.waker == nil { state.waker = try start(file.path) }
      state.lastID += 1
      state.entries[state.lastID] = Entry(watched: watched)
      state.waker?.wake()
      return state.lastID
    }
    return SignalRegistration(watcher: self, id: id)
  }

  func remove(_ id: Int) {
    if forkCount != tarn_fork_count() { return }
    // Released outside the lock: it may hold the last reference to any object.
    let entry = state.withLock { state in
      let entry = state.entries.removeValue(forKey: id)
      if let watch = entry?.watch, !state.entries.values.contains(where: { $0.watch == watch }) {
        state.inotify?.remove(watch)
      }
      state.waker?.wake()
      return entry
    }
    entry?.watched.cancel()
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
    while let round = prepare() {
      poll(round, waker)
      waker.drain()
      for (watched, probing) in due(round) {
        if probing { watched.checkIntact() }
        watched.look(probing: probing || watched.isPolled)
      }
    }
  }

  private struct Round {
    let inotify: WaitDescriptor?
    let timeout: UInt64
  }

  /// Adds watches for new files; nil, and the thread ends, when there is nothing to watch.
  private func prepare() -> Round? {
    let (round, failed) = state.withLock { state -> (Round?, [(WatchedFile, StorageError)]) in
      if state.entries.isEmpty {
        state.inotify = nil
        state.waker = nil
        return (nil, [])
      }
      var lack: StorageError?
      if state.inotify == nil {
        do throws(StorageError) { state.inotify = try WaitDescriptor() } catch { lack = error }
      }
      var failed: [(WatchedFile, StorageError)] = []
      for (id, entry) in state.entries where entry.watch == nil && !entry.watched.isEnded {
        do throws(StorageError) {
          if let lack { throw lack }
          state.entries[id]?.watch = try state.inotify?.add(entry.watched.file)
          entry.watched.endFallback()
        } catch {
          failed.append((entry.watched, error))
        }
      }
      let now = GateWord.now()
      let isPolling = !failed.isEmpty || state.entries.values.contains { $0.watched.isPolled }
      let rest = state.nextLook > now ? state.nextLook - now : 0
      return (
        Round(
          inotify: state.inotify, timeout: isPolling ? min(rest, Self.pollEveryNanoseconds) : rest),
        failed
      )
    }
    for (watched, error) in failed { watched.fallBack(.noWatch(error.detail)) }
    return round
  }

  private func poll(_ round: Round, _ waker: Waker) {
    var set = [
      pollfd(fd: waker.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: round.inotify?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    // Rounded up: a wait of less than a millisecond would spin.
    let milliseconds = Int32((round.timeout + 999_999) / 1_000_000)
    BackgroundThread.rest { _ = unsafe Glibc.poll(&set, 2, milliseconds) }
  }

  /// The files to check now, and whether to check the data's head record as well.
  private func due(_ round: Round) -> [(WatchedFile, Bool)] {
    var arrived: [Int32: WaitDescriptor.Arrivals] = [:]
    round.inotify?.drain { watch, arrivals in
      arrived[watch, default: []].formUnion(arrivals)
    }
    return state.withLock { state in
      let now = GateWord.now()
      let isTime = now >= state.nextLook
      if isTime { state.nextLook = now + Self.lookEveryNanoseconds }
      let overflow = arrived[-1] ?? []
      return state.entries.values.map { entry in
        let arrivals = overflow.union(entry.watch.flatMap { arrived[$0] } ?? [])
        return (entry.watched, isTime || arrivals.callsForProbe)
      }
    }
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
