internal import Dispatch

/// A commit that is made on the store's own thread, while its instance goes on.
///
/// The whole of LMDB's transaction runs there, as any other does: pages first, their sync, then the
/// header. Nothing weaker would do. A commit without its own sync may be torn by a power cut, and
/// would take the one before with it. So nobody sees it before it is on the disk, but for its own
/// instance, which goes on to look through the write.
///
/// Threading: any thread.
package final class BackgroundCommit: Sendable {
  package typealias Outcome = Result<(Snapshot, ChangeSet), StorageError>

  private struct State: ~Copyable {
    var token: GateToken?
    var outcome: Outcome?
  }

  private let state: Lock<State>
  private let filled = DispatchSemaphore(value: 0)
  private let done = DispatchSemaphore(value: 0)

  init(_ token: consuming GateToken) {
    state = Lock(State(token: token, outcome: nil))
  }

  /// How it ended; nil while it is on its way.
  package var outcome: Outcome? { state.withLock { $0.outcome } }

  /// Waits for the disk.
  package func wait() -> Outcome {
    while true {
      if let outcome { return outcome }
      done.wait()
      done.signal()
    }
  }

  func waitUntilFilled() { filled.wait() }

  /// The gate is free when this returns.
  ///
  /// - Parameter decided: called before that, with whether it was committed.
  func run(_ store: Store, _ session: WriteSession, decided: (Bool) -> Void) {
    let outcome: Outcome
    do throws(StorageError) {
      outcome = .success(try store.commit(session) { filled.signal() })
    } catch {
      outcome = .failure(error)
    }
    if case .success = outcome { decided(true) } else { decided(false) }
    var token = state.withLock { $0.token.take() }
    if case .success(let (snapshot, _)) = outcome, let token = token.take() {
      store.announce(snapshot.version, token)
    }
    token.take()?.release()
    state.withLock { $0.outcome = outcome }
    // For one that failed before.
    filled.signal()
    done.signal()
  }
}

extension Store {
  /// Commits a write on the store's own thread. It returns as soon as everything of the write was
  /// handed over and the session may be read again, which takes as long as the commit takes without
  /// the disk. Nobody may change the session any more.
  ///
  /// `decided` is called, on that thread, as soon as it is known whether it was committed. Then the
  /// gate is released and others are told when the commit is on the disk, or has failed; then
  /// `whenDone` is called, on that thread.
  package func commitInBackground(
    _ session: WriteSession, _ token: consuming GateToken,
    decided: @escaping @Sendable (Bool) -> Void = { _ in },
    whenDone: @escaping @Sendable () -> Void
  ) -> BackgroundCommit {
    let commit = BackgroundCommit(token)
    nonisolated(unsafe) let session = session  // because: the caller waits until it was read
    commitThread.run { [self] in
      unsafe commit.run(self, session, decided: decided)
      whenDone()
    }
    commit.waitUntilFilled()
    return commit
  }
}
