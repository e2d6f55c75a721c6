internal import Dispatch

/// A commit on the store's own thread, while its instance continues.
///
/// The whole LMDB transaction runs there, in the usual order: pages, their sync, then the header. A
/// weaker order would not do: a commit without its own sync may be torn by a power cut, and would
/// destroy the one before as well. So the commit is visible only when it is durable, except in its
/// own instance, which continues to read through the write.
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

  /// Its outcome; nil until it has ended.
  package var outcome: Outcome? { state.withLock { $0.outcome } }

  /// Waits until the commit is durable.
  package func wait() -> Outcome {
    while true {
      if let outcome { return outcome }
      done.wait()
      done.signal()
    }
  }

  func waitUntilFilled() { filled.wait() }

  /// The write lock is released when this returns.
  ///
  /// - Parameter decided: called before that, with whether it was committed.
  func run(_ store: Store, _ session: WriteSession, decided: (Bool) -> Void) {
    let outcome: Outcome
    var token = state.withLock { $0.token.take() }
    do throws(StorageError) {
      outcome = .success(
        try store.commit(session, &token, whenFilled: { filled.signal() }) { decided(true) })
    } catch {
      if error.code != .committed { decided(false) }
      outcome = .failure(error)
    }
    token.take()?.release()
    state.withLock { $0.outcome = outcome }
    // In case the commit failed before it was filled.
    filled.signal()
    done.signal()
  }
}

extension Store {
  /// Commits a write on the store's own thread. It returns as soon as the write was passed to LMDB
  /// and the session may be read again, which takes as long as a commit that is not synced. The
  /// session must not be changed afterwards.
  ///
  /// `decided` is called on that thread as soon as the outcome is known. When the commit is durable
  /// or has failed, the write lock is released and others are notified; then `whenDone` is called
  /// on that thread.
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
