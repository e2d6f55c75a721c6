import TarnStore

/// Objects that the server no longer sends: they were deleted, or no subscription or policy allows
/// the replica to have them.
struct Departures {
  private static let operation = "ask for the fate of objects"
  private static let most = 1_000

  private let replicator: Replicator
  private let one: ReplicaClass

  init(_ replicator: Replicator, _ one: ReplicaClass) {
    self.replicator = replicator
    self.one = one
  }

  /// Of objects with unsent changes, the incarnations of those that were deleted. Objects that only
  /// leave the subscriptions, or that a policy hides, stay until the server has answered.
  func gone(_ objects: [(key: ObjectKey, incarnation: Int64)]) throws -> Set<Int64> {
    if objects.isEmpty { return [] }
    let replica = replicator.replica
    let snapshot = try replica.store.newestSnapshot()
    let unsent = try UnsentChanges(
      after: replica.state, without: replica.cursor.number, in: snapshot)
    let entries = ReplicaObjects(snapshot)
    var asked: [(key: ObjectKey, incarnation: Int64)] = []
    for object in objects {
      let void = try entries[one.id, object.key]?.void ?? 0
      let pending = try unsent.pending(of: object.key, in: one.id, after: void)
      if !pending.isEmpty { asked.append(object) }
    }
    let fates = try fates(asked, snapshot)
    return Set(asked.map(\.incarnation).filter { fates[$0] != .hidden })
  }

  /// The fates of objects, by incarnation.
  func fates(
    _ objects: [(key: ObjectKey, incarnation: Int64)], _ snapshot: Snapshot
  ) throws -> [Int64: ServerFate] {
    let reader = try SnapshotReader(snapshot)
    var fates: [Int64: ServerFate] = [:]
    for start in stride(from: 0, to: objects.count, by: Self.most) {
      var asked: [(key: Value, incarnation: Int64)] = []
      for (key, incarnation) in objects[start..<min(start + Self.most, objects.count)] {
        let isKey = one.described.keyIsPrimary
        guard
          let primaryKey = isKey
            ? .int(key.rawValue) : try reader.value(of: one.exchange.key.id, at: key, in: one.id)
        else { continue }
        asked.append((primaryKey, incarnation))
      }
      let some = try ServerFate.of(asked, one.exchange, replicator.connection, for: Self.operation)
      fates.merge(some) { $1 }
    }
    return fates
  }
}
