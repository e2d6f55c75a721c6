package import TarnSync

/// A file with its session, as values: what was downloaded, and the commits that this does not
/// have.
package struct SimulatedReplica {
  package typealias Row = ObjectRow<Int>
  package typealias Change = ObjectChange

  package struct Commit {
    var version: Int
    var id: UInt64
    var time: Int64
    var changes: [(key: Int, change: Change)]
  }

  private(set) var id: UInt64
  private(set) var number: UInt32 = 0
  private var identity = -1
  private var position = -1
  private(set) var base: [Int: Row] = [:]
  /// What programs see.
  package private(set) var shown: [Int: Row] = [:]
  package private(set) var unsent: [Commit] = []
  /// Commits that were acknowledged of late, which a failover may have lost.
  private var grace: [Commit] = []
  private var acknowledged: (version: Int, commit: UInt64) = (0, 0)
  private var version = 0
  private var clock: Int64 = 0
  /// How far its clock is from the server's.
  private let skew: Int64
  /// How many commits a push has at most, after refusals.
  private var run = Int.max
  /// How many commits were refused.
  private(set) var refused: [Commit] = []

  init(id: UInt64, skew: Int64) {
    self.id = id
    self.skew = skew
  }

  // MARK: - Local commits

  /// Commits changes, each made of what is shown then.
  mutating func commit(
    _ id: UInt64, at serverClock: Int64,
    _ make: (SimulatedReplica, Stamp) -> [(key: Int, change: Change)]
  ) {
    clock = max(clock + 1, serverClock + skew)
    version += 1
    let changes = make(self, Stamp(clock, by: number))
    guard !changes.isEmpty else { return }
    unsent.append(Commit(version: version, id: id, time: clock, changes: changes))
    replay()
  }

  var nextVersion: UInt64 { UInt64(version) }
  /// By which the elements that it inserts are known.
  var author: UInt32 { UInt32(truncatingIfNeeded: id) }

  /// Brings the unsent commits onto what was downloaded.
  private mutating func replay(_ lost: [Int: Row] = [:]) {
    let keys = Set(unsent.flatMap { $0.changes.map(\.key) })
    var objects = Dictionary(
      uniqueKeysWithValues: keys.map { key in
        (key, ObjectReplay(on: base[key], lost: lost[key], replica: number, author: author))
      })
    for index in unsent.indices {
      let time = unsent[index].time
      unsent[index].changes = unsent[index].changes.compactMap { key, change in
        objects[key]!.apply(change, time: time).map { (key, $0) }
      }
    }
    shown = base
    for (key, object) in objects { shown[key] = object.row }
  }

  // MARK: - The session

  /// - Parameter newID: the id if this one turns out to be another file's.
  mutating func pull(_ server: inout some Peer, newID: UInt64) throws {
    try server.register(id)
    var answer = try server.pull(id, since: position)
    if !recognizes(answer.known, answer.identity == identity) {
      // The file was copied or put back: it goes on as a replica of its own.
      id = newID
      try server.register(id)
      (identity, position, grace) = (-1, -1, [])
      acknowledged = (0, 0)
    }
    if answer.identity != identity || answer.known.id != id {
      // Another server, or the first time: go over everything.
      answer = try server.pull(id, since: -1)
    }
    number = answer.known.number
    acknowledge(answer.known)
    var lost: [Int: Row] = [:]
    let (rows, gone) = (answer.rows, answer.gone)
    if answer.identity == identity {
      base = base.filter { !gone.contains($0.value.incarnation) }
      base.merge(rows) { $1 }
    } else {
      lost = base.filter { key, row in
        rows[key]?.incarnation != row.incarnation && !gone.contains(row.incarnation)
      }
      base = rows
    }
    (identity, position) = (answer.identity, answer.position)
    let latest = base.values.flatMap { $0.values.values.map(\.stamp.time) }.max() ?? 0
    clock = max(clock, min(latest, server.clock + SimulatedServer.cap))
    replay(lost)
  }

  /// Whether what the server has of this replica is ours.
  private func recognizes(_ known: Known, _ isSame: Bool) -> Bool {
    let pair = (known.version, known.commit)
    if pair == acknowledged { return true }
    if unsent.contains(where: { ($0.version, $0.id) == pair }) { return true }
    // A server that was restored may be behind.
    return !isSame && (pair == (0, 0) || grace.contains { ($0.version, $0.id) == pair })
  }

  private mutating func acknowledge(_ known: Known) {
    if known.version < acknowledged.version {
      let again = grace.filter { $0.version > known.version }
      grace.removeAll { $0.version > known.version }
      unsent = again + unsent
    }
    let taken = unsent.prefix { $0.version <= known.version }
    unsent.removeFirst(taken.count)
    grace += taken
    acknowledged = (known.version, known.commit)
  }

  /// Sends a run of commits.
  ///
  /// - Parameter isLost: whether the answer does not arrive.
  mutating func push(_ server: inout some Peer, isLost: Bool) throws {
    let sent = unsent.prefix(run)
    guard let last = sent.last else { return }
    var after = self
    after.unsent = Array(sent)
    after.replay()
    let answer = try server.push(
      Known(id: id, number: number), to: identity,
      Sent(first: acknowledged, last: (last.version, last.id)),
      Self.operations(from: base, to: after.shown))
    if isLost { return }
    switch answer {
    case .taken: run = .max
    case .mergeFirst, .otherVersion: break
    case .refused:
      guard sent.count == 1 else {
        run = max(1, sent.count / 2)
        return
      }
      run = .max
      refused.append(unsent.removeFirst())
      replay()
    }
  }

  /// The net difference of a run of commits.
  private static func operations(
    from base: [Int: Row], to shown: [Int: Row]
  ) -> [(key: Int, PeerOperation)] {
    var operations: [(key: Int, PeerOperation)] = []
    for key in Set(base.keys).union(shown.keys).sorted() {
      let (old, new) = (base[key], shown[key])
      if let old, let new, old.incarnation == new.incarnation {
        let changed = new.values.filter { old.values[$0.key] != $0.value }
        if changed.isEmpty { continue }
        operations.append(
          (
            key,
            .update(
              incarnation: old.incarnation,
              changed.reduce(into: [:]) { $0[$1.key] = ($1.value, old.values[$1.key]?.stamp) })
          ))
        continue
      }
      if let old { operations.append((key, .delete(incarnation: old.incarnation))) }
      if let new { operations.append((key, .insert(new))) }
    }
    return operations
  }
}
