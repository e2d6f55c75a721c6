/// Finds the selections of cursors that commits concern, without visiting the others. The
/// selections are numbers here.
///
/// A class with a condition is filed under the values that the condition accepts, if it can be
/// found by these. The others are found by every change of a class that their report depends on.
/// A selection that is found may have nothing to report; one that is not found has nothing.
///
/// Only for consumers that have received nothing of the commits (`QuietVersions`). Confined to one
/// thread at a time.
package final class FeedRoutes {
  private struct Filing {
    let epoch: UInt64
    let cursor: UInt32
    let isOfCommits: Bool
    var routed: [(classID: ClassID, concerning: Set<ClassID>, read: Set<ClassID>)] = []
    var asked: Set<ClassID> = []

    var dependentOn: Set<ClassID> { routed.reduce(asked) { $0.union($1.concerning) } }
  }

  /// The filed selections of one class.
  private struct Routed {
    let router: Router
    var count = 0
    /// Classes whose changes may concern them, and how many they concern.
    var concerning: [ClassID: Int] = [:]
    /// Classes whose old values show what matched before, and for how many.
    var read: [ClassID: Int] = [:]
  }

  private var filings: [Int: Filing] = [:]
  private var routed: [ClassID: Routed] = [:]
  private var asked: [ClassID: Set<Int>] = [:]
  /// Selections of consumers that get commits one by one or in small groups. What several commits
  /// have changed and changed back is news to these.
  private var ofCommits: [ClassID: Set<Int>] = [:]
  /// By the numbers of their cursors.
  private var owners: [UInt32: Set<Int>] = [:]
  /// The schema for which they are filed.
  private var epoch: UInt64 = 0

  /// If more rows than this changed, and more than some for each selection, all of the class are
  /// found.
  private static let mostRows = 256
  private static let rowsPerSelection = 4

  package init() {}

  package var isEmpty: Bool { filings.isEmpty }

  // MARK: - Filing

  /// Files a selection under a number, instead of one that was filed before.
  ///
  /// - Parameters:
  ///   - parts: the selection at a schema.
  ///   - epoch: the epoch of that schema.
  ///   - cursor: the number of the cursor, whose own commits concern it.
  ///   - readsOldValues: whether the consumer is told what matched before. Otherwise each object
  ///     that changed counts.
  ///   - isOfCommits: whether a batch for the consumer may have fewer commits than there are.
  package func file(
    _ parts: [FeedPart], _ epoch: UInt64, of cursor: UInt32, readsOldValues: Bool,
    isOfCommits: Bool, as number: Int
  ) {
    remove(number)
    if filings.isEmpty { self.epoch = epoch }
    var filing = Filing(epoch: epoch, cursor: cursor, isOfCommits: isOfCommits)
    for part in parts {
      if readsOldValues, let route = part.route {
        insert(route, of: part, number)
        filing.routed.append((part.classID, part.dependentOn, part.testedClasses))
      } else {
        filing.asked.formUnion(part.dependentOn)
      }
    }
    for id in filing.asked { asked[id, default: []].insert(number) }
    if isOfCommits {
      for id in filing.dependentOn { ofCommits[id, default: []].insert(number) }
    }
    owners[cursor, default: []].insert(number)
    filings[number] = filing
  }

  private func insert(_ route: Route, of part: FeedPart, _ number: Int) {
    var own = routed[part.classID] ?? Routed(router: Router(part.classID))
    own.router.insert(route, number)
    own.count += 1
    for id in part.dependentOn { own.concerning[id, default: 0] += 1 }
    for id in part.testedClasses { own.read[id, default: 0] += 1 }
    routed[part.classID] = own
  }

  /// Removes a selection, if it is filed.
  package func remove(_ number: Int) {
    guard let filing = filings.removeValue(forKey: number) else { return }
    for (id, concerning, read) in filing.routed {
      guard var own = routed[id] else { continue }
      own.router.remove(number)
      own.count -= 1
      for id in concerning { own.concerning.lower(id) }
      for id in read { own.read.lower(id) }
      routed[id] = own.count > 0 ? own : nil
    }
    for id in filing.asked { asked.remove(number, at: id) }
    if filing.isOfCommits {
      for id in filing.dependentOn { ofCommits.remove(number, at: id) }
    }
    owners.remove(number, at: filing.cursor)
  }

  // MARK: - Finding

  /// The selections that the commits after a place concern, and the bytes of their records; nil if
  /// all have to be asked: after a migration, in another history, or if a record is missing.
  ///
  /// Selections of another schema are removed, and have to be filed again.
  package func concerned(
    after place: FeedPlace, in snapshot: Snapshot
  ) throws(StorageError) -> (numbers: Set<Int>, bytes: Int)? {
    let head = snapshot.head
    if snapshot.schema.epoch != epoch {
      epoch = snapshot.schema.epoch
      for (number, filing) in filings where filing.epoch != epoch { remove(number) }
      return nil
    }
    guard place.historyID == head.historyID, place.version < head.version else { return nil }
    do throws(StorageError) {
      var range = FeedRange(after: place.version, commitID: place.commitID)
      try range.extend(upTo: head.version, tellsAllDeaths: true, in: snapshot)
      if range.to < head.version { return nil }
      return (try concerned(by: range, in: snapshot), range.bytes)
    } catch {
      guard error.code == .corrupted else { throw error }
      return nil
    }
  }

  private func concerned(
    by range: FeedRange, in snapshot: Snapshot
  ) throws(StorageError) -> Set<Int> {
    var found: Set<Int> = []
    for number in range.owners {
      if let own = owners[number] { found.formUnion(own) }
    }
    for change in range.changes.classes {
      if let all = asked[change.id] { found.formUnion(all) }
    }
    if range.commits > 1, !ofCommits.isEmpty {
      // The deaths have the classes of objects that were added and deleted.
      for id in range.changes.classes.map(\.id) + range.deaths.keys {
        if let all = ofCommits[id] { found.formUnion(all) }
      }
    }
    var past: PastRows?
    for own in routed.values {
      let changes = range.changes.classes.filter { own.concerning[$0.id] != nil }
      if changes.isEmpty { continue }
      let rowCount = changes.reduce(0) { $0 + $1.keyCount }
      var isRouted = false
      if rowCount <= max(Self.mostRows, Self.rowsPerSelection * own.count),
        !changes.contains(where: \.isCleared)
      {
        if past == nil { past = try Self.past(of: range, in: snapshot) }
        if let past { isRouted = try Self.find(own, by: range, past, &found) }
      }
      if !isRouted { found.formUnion(own.router.numbers) }
    }
    return found
  }

  private static func past(
    of range: FeedRange, in snapshot: Snapshot
  ) throws(StorageError) -> PastRows {
    PastRows(
      try SnapshotReader(snapshot),
      try RecordedPast(after: range.from, upTo: range.to, in: snapshot.transaction))
  }

  /// - Returns: false if all selections of the class have to be asked: without all old values,
  ///   objects count that did not match before.
  private static func find(
    _ own: Routed, by range: FeedRange, _ past: PastRows, _ found: inout Set<Int>
  ) throws(StorageError) -> Bool {
    guard own.read.keys.allSatisfy({ past.images.level(of: $0) == .oldValues }) else {
      return false
    }
    let move = LiveMove(range.changes, from: .recorded(past), to: Rows(past.reader))
    var numbers: Set<Int> = []
    let most = max(mostRows, rowsPerSelection * own.count)
    guard
      try own.router.findConcerned(by: move, atMost: most, { numbers.formUnion($0) })
    else { return false }
    found.formUnion(numbers)
    return true
  }
}

extension FeedPart {
  /// The classes whose changes its report depends on.
  fileprivate var dependentOn: Set<ClassID> { concerningClasses.union(ownClasses) }

  /// The values under which it is filed; nil if it has to be asked. Changes of embedded objects are
  /// changes of their owner, which a router does not know.
  fileprivate var route: Route? {
    guard !query.isUnfiltered, ownClasses == [classID], let route = Route(query) else { return nil }
    return scope.map { route.looking(as: $0) } ?? route
  }
}

extension [ClassID: Int] {
  fileprivate mutating func lower(_ id: ClassID) {
    let count = (self[id] ?? 0) - 1
    self[id] = count > 0 ? count : nil
  }
}

extension Dictionary where Value == Set<Int> {
  fileprivate mutating func remove(_ number: Int, at key: Key) {
    self[key]?.remove(number)
    if self[key]?.isEmpty == true { self[key] = nil }
  }
}
