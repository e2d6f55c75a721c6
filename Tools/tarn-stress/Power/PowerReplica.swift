import Foundation
import TarnStore
import ToolSupport

/// The records that a synchronized file has of its server, written with commits and between them by
/// the functions that TarnSync uses. There is no server: this program does not link its library.
struct PowerReplica {
  /// As in TarnSync: short records of objects, long ones of their contents, the session's state.
  private static let (objects, contents): (UInt8, UInt8) = (1, 130)
  private static let state = ReplicaKey(128, ClassID(0), 0)

  private let workload: PowerWorkload

  init(_ workload: PowerWorkload) { self.workload = workload }

  func run() throws {
    try workload.begin()
    var options = Store.Options()
    options.classes = DamageStore.classes
    let store = try StoreRegistry.open(workload.path, options)
    try workload.acknowledge()
    let cursor = try store.openCursor(CursorRequest("sync", level: .oldValues))
    try workload.acknowledge()
    var random = workload.random
    var filler = DamageFiller(random)
    for number in 0..<workload.steps {
      try DamageStore.write(store) { try filler.addThings(number * 2..<number * 2 + 2, $0) }
      try workload.acknowledge()
      try DamageStore.write(store) { session in
        try filler.change(session, isLarge: false)
        cursor.own(session)
        session.replicaRecords = records(number, &random)
      }
      try workload.acknowledge()
      let place = FeedPlace(try store.newestSnapshot().head)
      try cursor.keep(records(number, &random), acknowledging: number % 3 == 0 ? place : nil)
      try workload.acknowledge()
    }
    cursor.release()
  }

  private func records(_ number: Int, _ random: inout StressRandom) -> ReplicaRecords {
    var records = ReplicaRecords()
    func bytes(_ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: $0 &* number) }
    }
    func key(_ kind: UInt8, _ number: Int) -> ReplicaKey {
      ReplicaKey(kind, ClassID(0), Int64(number))
    }
    // A download has so many.
    let first = random.below(10) * 1000
    for object in 0..<(number % 6 == 5 ? 600 : 20) {
      records.append(key(Self.objects, first + object), bytes(30 + object % 20))
    }
    for _ in 0..<4 {
      let isDeleted = random.chance(30)
      records.set(
        key(Self.contents, random.below(8)), isDeleted ? nil : bytes(random.below(20_000)))
      records.set(key(Self.objects, 20_000 + random.below(100)), isDeleted ? nil : bytes(40))
    }
    records.set(Self.state, bytes(200 + number))
    return records
  }
}
