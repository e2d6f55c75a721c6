public import Dispatch
import TarnStore

extension ChangeCursor {
  /// Calls `block` with one batch after another, from the acknowledged position on, including
  /// future commits. Each call begins after the one before has returned.
  ///
  /// After a call without an acknowledgement, the next call waits for the next commit or for the
  /// acknowledgement of the batch.
  ///
  /// - Parameters:
  ///   - queue: where to call `block`; nil for a private queue. Batches are made on another queue.
  ///   - types: the classes to report; none for all that the cursor selects.
  ///   - limit: the maximum number of commits to merge into one batch.
  ///   - block: receives a batch, or the error that ends the observation.
  /// - Returns: a token; keep it for as long as you want to observe.
  public func observe(
    on queue: DispatchQueue? = nil, of types: Object.Type..., limit: BatchLimit = .none,
    _ block: @escaping @Sendable (Result<ChangeBatch, any Error>) -> Void
  ) -> NotificationToken {
    let state = ObservationState(.elsewhere)
    let observation = FeedObservation(self, request(types, limit), state, queue, block)
    observation.begin()
    return NotificationToken(state, observation)
  }
}

/// An observation of a cursor with a block.
///
/// Threading: batches are made on its own queue; `block` is called on its queue.
private final class FeedObservation: TokenHost {
  private let cursor: ChangeCursor
  private let request: ChangeCursor.Request
  private let observation: ObservationState
  private let worker = DispatchQueue(label: "tarn-cursor")
  private let queue: DispatchQueue
  private let block: @Sendable (Result<ChangeBatch, any Error>) -> Void
  private let progress = Lock(Progress())

  private struct Progress {
    var registration: (id: Int, commits: FeedRegistration)?
    /// A look is scheduled or running; more news then cause another one.
    var isBusy = false
    var hasNews = false
    var told: ToldRange?
  }

  init(
    _ cursor: ChangeCursor, _ request: ChangeCursor.Request, _ observation: ObservationState,
    _ queue: DispatchQueue?, _ block: @escaping @Sendable (Result<ChangeBatch, any Error>) -> Void
  ) {
    self.cursor = cursor
    self.request = request
    self.observation = observation
    self.queue = queue ?? DispatchQueue(label: "tarn-cursor-observer")
    self.block = block
  }

  /// The token may be invalidated anywhere.
  var isCurrent: Bool { true }

  func unlink(_ state: ObservationState) { unregister() }

  private func unregister() {
    guard let registration = progress.withLock({ $0.registration.take() }) else { return }
    cursor.unfollow(registration.id)
    registration.commits.end()
  }

  func begin() {
    do throws(Realm.Error) {
      let registration = try cursor.follow { [weak self] in self?.look() }
      progress.withLock { $0.registration = registration }
      look()
    } catch {
      fail(error)
    }
  }

  /// Looks for a new batch, because there may be one.
  private func look() {
    let isFirst = progress.withLock { progress in
      progress.hasNews = true
      defer { progress.isBusy = true }
      return !progress.isBusy
    }
    if isFirst { worker.async { self.work() } }
  }

  private func work() {
    progress.withLock { $0.hasNews = false }
    guard observation.isActive, !cursor.isClosed else { return }
    do throws(Realm.Error) {
      if let batch = try cursor.batch(request), isNews(batch) {
        queue.async {
          if self.observation.isActive { self.block(.success(batch)) }
          self.worker.async { self.work() }
        }
      } else {
        rest()
      }
    } catch {
      if !cursor.isClosed { fail(error) }
    }
  }

  private func rest() {
    let isAgain = progress.withLock { progress in
      progress.isBusy = progress.hasNews
      return progress.hasNews
    }
    if isAgain { worker.async { self.work() } }
  }

  private func isNews(_ batch: ChangeBatch) -> Bool {
    let range = ToldRange(batch)
    return progress.withLock { progress in
      if progress.told == range { return false }
      progress.told = range
      return true
    }
  }

  private func fail(_ error: Realm.Error) {
    unregister()
    queue.async {
      if self.observation.end() { self.block(.failure(error)) }
    }
  }
}
