/// This process's listeners for commits: instances on schedulers that have turns. Commits of this
/// process are reported directly, and those of others by the watcher's thread, which runs only
/// while a listener needs it.
final class StoreListeners: Sendable {
  private struct State {
    var lastID = 0
    var listeners: [Int: @Sendable () -> Void] = [:]
    /// The same for the next commit; nil after a change.
    var all: [@Sendable () -> Void]?
    var watching: Set<Int> = []
    var registration: SignalRegistration?
  }

  private let state = Lock(State())

  func add(_ listener: @escaping @Sendable () -> Void) -> Int {
    state.withLock { state in
      state.lastID += 1
      state.listeners[state.lastID] = listener
      state.all = nil
      return state.lastID
    }
  }

  func remove(_ id: Int) {
    let ended = state.withLock { state -> SignalRegistration? in
      state.listeners[id] = nil
      state.all = nil
      state.watching.remove(id)
      return state.watching.isEmpty ? state.registration.take() : nil
    }
    ended?.cancel()
  }

  /// Also notifies a listener of other processes' commits; `register` starts that for the store.
  ///
  /// Errors: those of `register`; the listener is then called only for this process's commits.
  func watch(
    _ id: Int, _ register: () throws(StorageError) -> SignalRegistration
  ) throws(StorageError) {
    let isFirst = state.withLock { state in
      state.watching.insert(id)
      return state.registration == nil
    }
    guard isFirst else { return }
    let registration: SignalRegistration
    do throws(StorageError) {
      registration = try register()
    } catch {
      state.withLock { _ = $0.watching.remove(id) }
      throw error
    }
    let surplus = state.withLock { state -> SignalRegistration? in
      guard state.registration == nil, !state.watching.isEmpty else { return registration }
      state.registration = registration
      return nil
    }
    surplus?.cancel()
  }

  func tell() {
    let all = state.withLock { state in
      let all = state.all ?? Array(state.listeners.values)
      state.all = all
      return all
    }
    for listener in all { listener() }
  }

  func end() {
    state.withLock { $0.registration.take() }?.cancel()
  }
}

/// A listener's registration; ends with `end()` or when it is released.
package final class StoreRegistration: Sendable {
  private let store: Store
  private let id: Int

  init(_ store: Store, _ id: Int) {
    self.store = store
    self.id = id
  }

  deinit { end() }
  package func end() { store.listeners.remove(id) }
}

extension Store {
  /// Calls `onChange`, on any thread, whenever there may be a newer version.
  ///
  /// - Parameter usesWatcher: false for a caller that watches other processes' commits itself
  ///   (through a wait descriptor) and needs only this process's.
  ///
  /// Errors: `.limitExceeded` if the process has no thread or descriptor left for its watcher.
  package func follow(
    usesWatcher: Bool, _ onChange: @escaping @Sendable () -> Void
  ) throws(StorageError) -> StoreRegistration {
    let id = listeners.add(onChange)
    // Ends the registration if the following fails.
    let registration = StoreRegistration(self, id)
    // No other process can commit to a store that only this process has.
    if usesWatcher, isShared {
      try listeners.watch(id) { () throws(StorageError) in
        // Weak: a store that only the watcher follows must be able to close.
        try SignalWatcher.shared.add(signal, seen: signal.version) { [weak self] in
          self?.probeHead()?.rawValue
        } isGone: { [weak self] in
          self?.isLost() ?? true
        } onChange: { [weak self] in
          self?.listeners.tell()
        }
      }
    }
    return registration
  }
}
