package import TarnStore

/// The changes of a file that its server does not have, without a connection: `tarn sync unsent`.
package struct UnsentReport {
  /// A waiting commit.
  package struct Commit {
    /// The version that it made.
    package let version: UInt64
    /// Its time, in microseconds since 1970.
    package let time: Int64
    package let objects: [Changed]
  }

  /// A waiting object.
  package struct Changed {
    package let className: String
    /// Nil if it is no longer known.
    package let primaryKey: Value?
  }

  /// The changes of a class outside of commits: joined changes, and objects that the file had
  /// before its first exchange or that the server has lost.
  package struct Joined {
    package let className: String
    package let count: Int
    /// The keys of the first objects.
    package let first: [Value]
    /// Whether some of them were commits that were joined.
    package let isJoined: Bool
    /// Why the server refuses them; nil if they wait for another reason.
    package let stuck: StuckClass?
  }

  /// The maximum number of keys per class.
  private static let keysMax = 10
  /// The maximum number of commits.
  private static let commitsMax = 1_000

  package private(set) var joined: [Joined] = []
  package private(set) var commits: [Commit] = []
  /// Whether there are more commits than these.
  package private(set) var isCut = false

  /// - Parameter names: the classes that a program expects to be exchanged.
  /// - Returns: nil for a file that is not a replica.
  /// - Throws: `StorageError` for a damaged file.
  package static func of(
    _ store: Store, expecting names: [String] = []
  ) throws(StorageError) -> UnsentReport? {
    guard let unsent = try UnsentCount(store, expecting: names) else { return nil }
    let (snapshot, state, classes) = (unsent.snapshot, unsent.state, unsent.allClasses)
    let reader = try SnapshotReader(snapshot)
    var report = UnsentReport()
    let stuck = try StuckClasses.read(in: snapshot)
    let older = try StuckClasses.read(StuckClasses.olderKey, in: snapshot)
    let cursor = try store.cursors().first { $0.record.name == Replica.cursorName }
    let number = cursor?.number ?? 0
    for one in classes {
      report.joined +=
        try joined(
          of: one, state, stuck[one.name] ?? older[one.name], number, reader,
          lacksObjects: state.hasUploads || unsent.isUnknown(one)
        )
        .map { [$0] } ?? []
    }
    try report.addCommits(state, classes, without: number, reader)
    return report
  }

  private static func joined(
    of one: ClassSchema, _ state: ReplicaState, _ stuck: StuckClass?, _ number: UInt32,
    _ reader: SnapshotReader, lacksObjects: Bool
  ) throws(StorageError) -> Joined? {
    let changes = JoinedChanges(reader.snapshot)
    var keys = state.joinedTime == 0 ? KeySet() : try changes.keys(in: one.id)
    let isJoined = !keys.isEmpty
    if lacksObjects {
      let unsent = try UnsentChanges(after: state, without: number, in: reader.snapshot)
      keys.formUnion(KeySet(try unsent.lacking(in: one.id, reader)))
    }
    guard !keys.isEmpty || stuck != nil else { return nil }
    var first: [Value] = []
    for key in keys.prefix(keysMax) {
      let known = try reader.primaryKey(of: key, in: one)
      let deleted = try changes[one.id, key]
      if let value = known ?? deleted?.primaryKey(of: key, in: one) { first.append(value) }
    }
    return Joined(
      className: one.name, count: keys.count, first: first, isJoined: isJoined, stuck: stuck)
  }

  private mutating func addCommits(
    _ state: ReplicaState, _ classes: [ClassSchema], without number: UInt32,
    _ reader: SnapshotReader
  ) throws(StorageError) {
    let snapshot = reader.snapshot
    var place = state.done
    while place.version < snapshot.version {
      if commits.count == Self.commitsMax {
        isCut = true
        return
      }
      let next = Version(place.version.rawValue + 1)
      let unsent = try UnsentChanges(after: place, through: next, without: number, in: snapshot)
      var objects: [Changed] = []
      for one in classes {
        for key in try unsent.keys(in: one.id) {
          let known = try reader.primaryKey(of: key, in: one)
          objects.append(
            Changed(
              className: one.name, primaryKey: known ?? unsent.primaryKey(ofDeleted: key, in: one)))
        }
      }
      if !objects.isEmpty {
        commits.append(Commit(version: next.rawValue, time: unsent.time, objects: objects))
      }
      place.version = next
    }
  }
}

extension SnapshotReader {
  /// The primary key of an object; nil if it was deleted.
  fileprivate func primaryKey(
    of key: ObjectKey, in one: ClassSchema
  ) throws(StorageError) -> Value? {
    guard try row(key, in: one.id) != nil else { return nil }
    if one.keyIsPrimary { return .int(key.rawValue) }
    guard let column = one.primaryKey else { return nil }
    return try value(of: column, at: key, in: one.id)
  }
}
