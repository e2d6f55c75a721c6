import Dispatch
import TarnStore

/// Wakes the followers of a file's cursors, as far as possible only those that a commit concerns.
///
/// A follower is woken at each commit until a request of its cursor finds nothing. Then it rests:
/// the router reads the record of each commit once for all resting followers, and wakes those that
/// may have something to report. These no longer rest, until they find nothing again.
///
/// There is one for each store that has followers. Threading: any. Records are read on its queue.
final class FeedRouter: Sendable {
  fileprivate struct Follower {
    let wake: @Sendable () -> Void
    /// The versions without news after the position at which it rests, or was woken.
    var quiet: QuietVersions?
    /// `State.bytes` when it began to rest; nil if it is woken at each commit.
    var restedAt: Int?
    /// The selection that is filed.
    var filed: Selection?
    /// Has the cursor's position in the file; nil if it serves several consumers in turn.
    var keeper: (any FeedKeeper)?
    /// How often in a row the first commit after it began to rest concerned it.
    var shortRests = 0
    /// How many requests in a row have found nothing.
    var emptyRequests = 0

    /// Whether it stays awake: a commit that concerns it would be read twice, once to find that
    /// out.
    mutating func staysAwake() -> Bool {
      emptyRequests += 1
      if shortRests < FeedRouter.fewShortRests { return false }
      if emptyRequests < FeedRouter.fewEmptyRequests { return true }
      shortRests = 0
      return false
    }
  }

  /// What a cursor reports.
  struct Selection: Sendable {
    let parts: [FeedPart]
    /// The epoch of the schema to which these are bound.
    let epoch: UInt64
    let limit: BatchLimit
    let isOfCommits: Bool
    let readsOldValues: Bool

    func isFiled(as other: Selection?) -> Bool {
      epoch == other?.epoch && isOfCommits == other?.isOfCommits
    }
  }

  fileprivate struct Edit {
    let number: Int
    /// Nil to remove it.
    let selection: Selection?
    var cursor: UInt32 = 0
  }

  /// Where a follower rests.
  fileprivate struct Place: Comparable {
    let version: Version
    let number: Int

    static func < (a: Place, b: Place) -> Bool {
      a.version == b.version ? a.number < b.number : a.version < b.version
    }
  }

  fileprivate struct State {
    var registration: StoreRegistration?
    var lastNumber = 0
    var followers: [Int: Follower] = [:]
    /// Those that are woken at each commit.
    var awake: [Int: @Sendable () -> Void] = [:]
    /// Those that rest, the one with the oldest position first.
    var resting: [Place] = []
    /// Positions are compared with the file from here on.
    var compared = 0
    var edits: [Edit] = []
    var isScheduled = false
    /// The version up to which it is known which resting followers have news.
    var routed: FeedPlace?
    /// The bytes of all records read.
    var bytes = 0
  }

  private struct Weak {
    weak var router: FeedRouter?
  }

  private static let routers = Lock(ofProcess: [ObjectIdentifier: Weak]())
  /// At one commit, at most one in so many is woken because its position is old.
  private static let dueShare = 64
  /// A follower that so many commits in a row concern stays awake, until so many requests in a row
  /// find nothing.
  fileprivate static let fewShortRests = 2
  fileprivate static let fewEmptyRequests = 8
  /// So many positions are compared with the file at one commit.
  private static let comparedAtCommit = 4

  private let store: Store
  private let queue = DispatchQueue(label: "tarn-feed")
  private let state = Lock(State())
  private let routes = Lock(FeedRoutes())

  /// The router of a store.
  ///
  /// - Throws: `.limitExceeded` if the process has no thread or descriptor left for its watcher.
  static func of(_ store: Store) throws(StorageError) -> FeedRouter {
    let key = ObjectIdentifier(store)
    if let known = routers.withLock({ $0[key]?.router }) { return known }
    let made = FeedRouter(store)
    let registration = try store.follow(usesWatcher: true) { [weak made] in made?.hasCommit() }
    made.state.withLock { $0.registration = registration }
    return routers.withLock { routers in
      if let known = routers[key]?.router { return known }
      routers[key] = Weak(router: made)
      return made
    }
  }

  private init(_ store: Store) { self.store = store }

  deinit {
    Self.routers.withLock { [key = ObjectIdentifier(store)] routers in
      if routers[key]?.router == nil { routers[key] = nil }
    }
  }

  // MARK: - Followers

  /// - Parameter wake: is called on any thread.
  func add(_ wake: @escaping @Sendable () -> Void) -> Int {
    state.withLock { state in
      state.lastNumber += 1
      state.followers[state.lastNumber] = Follower(wake: wake)
      state.awake[state.lastNumber] = wake
      return state.lastNumber
    }
  }

  func remove(_ number: Int) {
    // Released outside of the lock.
    let former = state.withLock { state in
      state.rouse(number)
      state.awake[number] = nil
      let former = state.followers.removeValue(forKey: number)
      if former?.filed != nil { state.edits.append(Edit(number: number, selection: nil)) }
      return former
    }
    if former != nil { schedule() }
  }

  /// Notes that a request has found nothing, so that the follower rests.
  func rest(
    _ number: Int, _ quiet: QuietVersions, _ selection: Selection, _ keeper: any FeedKeeper
  ) {
    let isNew = state.withLock { state -> Bool in
      guard let known = state.followers[number] else { return false }
      let isFiled = selection.isFiled(as: known.filed)
      let isSame = isFiled && selection.limit == known.filed?.limit
      if known.restedAt != nil, let from = known.quiet?.from, isSame,
        from.historyID == quiet.from.historyID, from.version <= quiet.from.version
      {
        return false
      }
      let isFirst = state.resting.isEmpty
      state.rouse(number)
      guard var follower = state.followers[number] else { return false }
      follower.quiet = nil
      defer { state.followers[number] = follower }
      if follower.staysAwake() {
        if isSame { follower.quiet = quiet }
        return false
      }
      if isFirst {
        state.routed = quiet.last
      } else if let routed = state.routed {
        // A commit that this request has not seen wakes it again.
        guard routed.historyID == quiet.last.historyID, routed.version <= quiet.last.version else {
          return false
        }
      }
      if !isFiled {
        state.edits.append(Edit(number: number, selection: selection, cursor: keeper.number))
      }
      follower.quiet = quiet
      follower.restedAt = state.bytes
      follower.filed = selection
      follower.keeper = keeper.notesDeliveries ? keeper : nil
      let place = Place(version: quiet.from.version, number: number)
      state.resting.insert(place, at: state.resting.partitioningIndex { $0 >= place })
      state.awake[number] = nil
      return !isFiled
    }
    if isNew { schedule() }
  }

  /// Ends the rest of a follower, because a request has found something.
  func rouse(_ number: Int) {
    let wake = state.withLock { state in
      defer {
        state.followers[number]?.quiet = nil
        state.followers[number]?.emptyRequests = 0
      }
      return state.rouse(number)
    }
    wake?()
  }

  /// The versions without news after the position at which a follower rests or was woken; nil if
  /// that is not known.
  func quiet(of number: Int) -> ChangeCursor.Quiet? {
    state.withLock { state in
      guard let follower = state.followers[number], let filed = follower.filed,
        let quiet = state.quiet(follower, upTo: state.routed)
      else { return nil }
      return ChangeCursor.Quiet(epoch: filed.epoch, limit: filed.limit, versions: quiet)
    }
  }

  /// The last version of which it is known that it has no news for a resting follower; nil if it
  /// does not rest.
  func restsThrough(_ number: Int) -> Version? {
    state.withLock { state in
      guard let follower = state.followers[number], follower.restedAt != nil else { return nil }
      return state.quiet(follower, upTo: state.routed)?.last.version
    }
  }

  // MARK: - Commits

  private func hasCommit() {
    let awake = state.withLock { Array($0.awake.values) }
    schedule()
    for wake in awake { wake() }
  }

  private func schedule() {
    let isFirst = state.withLock { state in
      if state.isScheduled || state.resting.isEmpty && state.edits.isEmpty { return false }
      state.isScheduled = true
      return true
    }
    if isFirst { queue.async { [weak self] in self?.route() } }
  }

  /// Waits until all commits until now are routed. For tests.
  func settle() {
    schedule()
    queue.sync {}
  }

  private func route() {
    let (start, edits) = state.withLock { state in
      state.isScheduled = false
      defer { state.edits = [] }
      return (state.resting.isEmpty ? nil : state.routed, state.edits)
    }
    let snapshot = start == nil ? nil : try? store.newestSnapshot()
    let head = snapshot.map { FeedPlace($0.head) }
    let isNewer = start != nil && head != start
    let found = routes.withLock { routes -> (numbers: Set<Int>, bytes: Int)? in
      for edit in edits { routes.apply(edit.number, edit.selection, of: edit.cursor) }
      guard isNewer, let start, let snapshot else { return nil }
      // The cursors report the error.
      return try? routes.concerned(after: start, in: snapshot)
    }
    guard isNewer, let start else { return }
    let changed = snapshot.map { changedPositions(in: $0) } ?? []
    let (wakes, isOutdated) = state.withLock { state -> ([@Sendable () -> Void], Bool) in
      // All of them began to rest meanwhile.
      guard state.routed == start else { return ([], true) }
      var numbers: [Int] = Array(found?.numbers ?? Set(state.resting.map(\.number))) + changed
      if let head {
        // They were not filed yet.
        for edit in state.edits where state.misses(edit.number, before: head.version) {
          numbers.append(edit.number)
        }
      }
      for number in found?.numbers ?? [] { state.countShortRest(of: number, before: start) }
      var wakes = numbers.compactMap { state.rouse($0, upTo: start) }
      state.routed = head ?? start
      state.bytes += found?.bytes ?? 0
      for _ in 0...state.resting.count / Self.dueShare {
        guard let wake = state.rouseIfDue() else { break }
        wakes.append(wake)
      }
      return (wakes, false)
    }
    if isOutdated { return schedule() }
    for wake in wakes { wake() }
  }

  /// Some resting followers whose cursors are not as they were: they were deleted, or the file has
  /// not kept their records. Each of them is looked at after some commits.
  private func changedPositions(in snapshot: Snapshot) -> [Int] {
    let some = state.withLock { state -> [(Int, FeedPlace, any FeedKeeper)] in
      let count = min(Self.comparedAtCommit, state.resting.count)
      let start = state.compared
      state.compared = start &+ count
      return (0..<count).compactMap { index in
        let number = state.resting[(start &+ index) % state.resting.count].number
        guard let follower = state.followers[number], let quiet = follower.quiet,
          let keeper = follower.keeper
        else { return nil }
        return (number, quiet.from, keeper)
      }
    }
    return some.compactMap { number, place, keeper in
      let known = try? keeper.state(in: snapshot)
      return known?.acknowledged == place && known?.reason == nil ? nil : number
    }
  }
}

extension FeedRouter.State {
  /// A resting follower is concerned by the commits that are being routed.
  fileprivate mutating func countShortRest(of number: Int, before start: FeedPlace) {
    guard let follower = followers[number], follower.restedAt != nil, let quiet = follower.quiet
    else { return }
    // The commit of its own acknowledgement may be between.
    let isShort = start.version.rawValue <= quiet.last.version.rawValue + 1
    followers[number]?.shortRests = isShort ? follower.shortRests + 1 : 0
  }

  /// The versions without news for a follower, up to a place if it rests.
  fileprivate func quiet(
    _ follower: FeedRouter.Follower, upTo end: FeedPlace?
  ) -> QuietVersions? {
    guard var quiet = follower.quiet, let restedAt = follower.restedAt, let end else {
      return follower.quiet
    }
    quiet.extend(to: end, bytes: bytes - restedAt)
    return quiet
  }

  /// Ends the rest of a follower.
  ///
  /// - Parameter end: the last version that has no news for it; nil if it does not matter.
  /// - Returns: what wakes it; nil if it did not rest.
  @discardableResult
  fileprivate mutating func rouse(
    _ number: Int, upTo end: FeedPlace? = nil
  ) -> (@Sendable () -> Void)? {
    guard var follower = followers[number], follower.restedAt != nil, let quiet = follower.quiet
    else { return nil }
    follower.quiet = self.quiet(follower, upTo: end)
    follower.restedAt = nil
    followers[number] = follower
    awake[number] = follower.wake
    let place = FeedRouter.Place(version: quiet.from.version, number: number)
    let index = resting.partitioningIndex { $0 >= place }
    if index < resting.count, resting[index] == place { resting.remove(at: index) }
    return follower.wake
  }

  /// Wakes the follower with the oldest position if so much has passed since then that it has to
  /// acknowledge it, so that records can be removed.
  fileprivate mutating func rouseIfDue() -> (@Sendable () -> Void)? {
    guard let first = resting.first?.number, let follower = followers[first],
      let quiet = quiet(follower, upTo: routed),
      quiet.commits >= ChangeCursor.emptyCommits || quiet.bytes >= ChangeCursor.emptyBytes
    else { return nil }
    return rouse(first, upTo: routed)
  }

  /// Whether a resting follower has not seen all before a version.
  fileprivate func misses(_ number: Int, before version: Version) -> Bool {
    guard let follower = followers[number], follower.restedAt != nil, let quiet = follower.quiet
    else { return false }
    return quiet.last.version < version
  }
}

extension FeedRoutes {
  fileprivate func apply(
    _ number: Int, _ selection: FeedRouter.Selection?, of cursor: UInt32
  ) {
    guard let selection else { return remove(number) }
    file(
      selection.parts, selection.epoch, of: cursor, readsOldValues: selection.readsOldValues,
      isOfCommits: selection.isOfCommits, as: number)
  }
}

/// The registration of a cursor's follower; ends with `end()` or when it is released.
package final class FeedRegistration: Sendable {
  private let cursor: ChangeCursor
  private let router: FeedRouter
  private let number: Int

  init(_ cursor: ChangeCursor, _ router: FeedRouter, _ number: Int) {
    self.cursor = cursor
    self.router = router
    self.number = number
  }

  deinit { end() }

  package func end() {
    cursor.leave(number)
    router.remove(number)
  }

  /// The version up to which commits have no news for the follower; nil if it looks for itself.
  package var restsThrough: UInt64? { router.restsThrough(number)?.rawValue }
}
