import TarnStore

/// The batches of a cursor, one after another, for `for try await`; see
/// ``ChangeCursor/batches(of:limit:)``.
///
/// A loop waits for commits of any process. If the last batch was not acknowledged, the loop waits
/// for the next commit or acknowledgement, and then returns the same changes again, merged with new
/// ones. It ends when the task is cancelled and when the cursor is closed.
///
/// Threading: any task may iterate, on any actor; batches are made outside of it.
public struct ChangeBatches: AsyncSequence, Sendable {
  let cursor: ChangeCursor
  let request: ChangeCursor.Request

  /// Creates an iterator. Use only one at a time for a cursor.
  public func makeAsyncIterator() -> Iterator { Iterator(FeedFollower(cursor, request)) }

  /// Returns one batch after another.
  public struct Iterator: AsyncIteratorProtocol {
    private let follower: FeedFollower

    init(_ follower: FeedFollower) { self.follower = follower }

    /// The next batch, as soon as the cursor has one; nil at the end.
    ///
    /// - Parameter actor: the calling code's actor.
    /// - Throws: `Realm.Error` like ``ChangeCursor/next(limit:)``.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(Realm.Error) -> ChangeBatch? {
      try await follower.next()
    }
  }
}

@available(*, unavailable, message: "make a loop of its own in each task")
extension ChangeBatches.Iterator: Sendable {}

/// Produces the batches of a cursor for one loop.
final class FeedFollower: Sendable {
  private struct State {
    var registration: (id: Int, commits: FeedRegistration)?
    /// The range of versions of the batch returned last.
    var told: ToldRange?
  }

  private let cursor: ChangeCursor
  private let request: ChangeCursor.Request
  private let signal = FeedSignal()
  private let state = Lock(State())

  init(_ cursor: ChangeCursor, _ request: ChangeCursor.Request) {
    self.cursor = cursor
    self.request = request
  }

  deinit {
    if let registration = state.withLock({ $0.registration.take() }) {
      cursor.unfollow(registration.id)
      registration.commits.end()
    }
  }

  nonisolated(nonsending) func next() async throws(Realm.Error) -> ChangeBatch? {
    try begin()
    while !cursor.isClosed, !Task.isCancelled {
      let made = await FeedWork.run { [cursor, request] () throws(Realm.Error) in
        try cursor.isClosed ? nil : cursor.batch(request)
      }
      switch made {
      case .success(let batch?) where note(batch): return batch
      case .success: await signal.wait()
      case .failure(let error):
        if cursor.isClosed { return nil }
        throw error
      }
    }
    return nil
  }

  private func begin() throws(Realm.Error) {
    if cursor.isClosed || state.withLock({ $0.registration != nil }) { return }
    let registration = try cursor.follow { [signal] in signal.wake() }
    state.withLock { $0.registration = registration }
  }

  /// Records a batch as returned. False if it equals the last one, which was not acknowledged, and
  /// so is not returned again.
  private func note(_ batch: ChangeBatch) -> Bool {
    let range = ToldRange(batch)
    return state.withLock { state in
      if state.told == range { return false }
      state.told = range
      return true
    }
  }
}

/// The range of versions in a batch.
struct ToldRange: Equatable, Sendable {
  private let from: FeedPlace
  private let to: FeedPlace
  private let fullResync: FullResyncReason?

  init(_ batch: ChangeBatch) {
    from = batch.start
    to = batch.end
    fullResync = batch.fullResync
  }
}

extension ChangeCursor {
  /// The batches from the acknowledged position on, including future commits; see
  /// ``ChangeBatches``.
  ///
  /// ```swift
  /// for try await batch in cursor.batches() {
  ///   try apply(batch)
  ///   try await batch.acknowledge()
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - types: the classes to report; none for all that the cursor selects. An acknowledgement
  ///     counts for all classes, whether they were reported or not.
  ///   - limit: the maximum number of commits to merge into one batch.
  public func batches(of types: Object.Type..., limit: BatchLimit = .none) -> ChangeBatches {
    ChangeBatches(cursor: self, request: request(types, limit))
  }

  func request(_ types: [Object.Type], _ limit: BatchLimit) -> Request {
    var request = Request(limit: limit)
    if !types.isEmpty { request.classes = Set(types.map { ClassReflection.name(of: $0) }) }
    return request
  }
}
