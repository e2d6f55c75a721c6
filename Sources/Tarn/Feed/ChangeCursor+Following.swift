import TarnStore

extension ChangeCursor {
  /// Calls `body`, on any thread, when there may be more to report, until `unfollow`.
  func follow(
    _ body: @escaping @Sendable () -> Void
  ) throws(Realm.Error) -> (id: Int, commits: FeedRegistration) {
    let commits = try followCommits(body)
    let id = state.withLock { state in
      state.lastFollower += 1
      state.followers[state.lastFollower] = body
      return state.lastFollower
    }
    return (id, commits)
  }

  func unfollow(_ id: Int) { state.withLock { _ = $0.followers.removeValue(forKey: id) } }

  /// Calls `body`, on any thread, when a commit may have something to report: at each commit until
  /// a request for a batch finds nothing, and then at the next one that may concern the selection.
  package func followCommits(
    _ body: @escaping @Sendable () -> Void
  ) throws(Realm.Error) -> FeedRegistration {
    try checkOpen()
    let router = try publicly { () throws(StorageError) in try FeedRouter.of(store) }
    let number = router.add(body)
    state.withLock { state in
      state.waiting = (router, (state.waiting?.numbers ?? []) + [number])
    }
    return FeedRegistration(self, router, number)
  }

  func leave(_ number: Int) {
    let former = state.withLock { state -> FeedRouter? in
      guard let waiting = state.waiting else { return nil }
      let numbers = waiting.numbers.filter { $0 != number }
      state.waiting = numbers.isEmpty ? nil : (waiting.router, numbers)
      return waiting.router
    }
    withExtendedLifetime(former) {}
  }

  /// A request has found nothing in any class: the next commit that concerns the selection wakes
  /// those who wait.
  func rest(
    _ request: Request, _ quiet: QuietVersions, _ bound: BoundSelection, _ epoch: UInt64
  ) {
    guard let waiting = state.withLock({ $0.waiting }) else { return }
    // Of several, others may have another limit.
    let selection = FeedRouter.Selection(
      parts: bound.parts, epoch: epoch, limit: request.limit,
      isOfCommits: request.limit != .none || waiting.numbers.count > 1,
      readsOldValues: level >= .deletedObjects)
    for number in waiting.numbers { waiting.router.rest(number, quiet, selection, keeper) }
  }

  /// A request has found something, and another version of it may come with each commit.
  func rouse() {
    guard let waiting = state.withLock({ $0.waiting }) else { return }
    for number in waiting.numbers { waiting.router.rouse(number) }
  }
}
