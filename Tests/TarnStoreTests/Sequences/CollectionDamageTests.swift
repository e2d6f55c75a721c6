import TestSupport
import Testing

@testable import TarnStore

/// Damaged bytes of lists, sets and maps are reported and never followed out of their pages.
@Suite struct CollectionDamageTests {
  private static let things = ClassID(0)
  private static let columns = (0..<4).map { ColumnID(UInt16($0)) }
  private static let classes = [
    ClassDefinition(
      name: "Thing",
      properties: [
        .init(name: "numbers", type: .int, collection: .list),
        .init(name: "texts", type: .string, collection: .set, isOptional: true),
        .init(name: "values", type: .any, collection: .map, isOptional: true),
        .init(name: "dates", type: .date, collection: .list, isOptional: true),
      ])
  ]

  private func place(_ key: ObjectKey, _ column: ColumnID) -> SequencePlace {
    SequencePlace(classID: Self.things, key: key, column: column)
  }

  private func fill(_ store: Store, count: Int) throws -> ObjectKey {
    try store.write { session in
      let key = try session.create([:], in: Self.things)
      let numbers = (0..<count).map { Value.int(Int64($0 * 7)) }
      try session.insert(numbers, at: 0, in: place(key, Self.columns[0]))
      for number in 0..<count {
        let text = String(repeating: "t", count: number % 50 == 3 ? 300 : 4) + "\(number)"
        try session.insert(.string(text), intoSet: place(key, Self.columns[1]))
        let values = place(key, Self.columns[2])
        try session.set(.string(text), forKey: "\(number)", inMap: values)
      }
      let dates = (0..<count).map { number in
        number % 5 == 0 ? Value.null : .date(Timestamp(seconds: Int64(number), nanoseconds: 5))
      }
      try session.insert(dates, at: 0, in: place(key, Self.columns[3]))
      let nested = try session.makeNested(.list, in: place(key, Self.columns[2]))
      try session.set(.list(nested), forKey: "nested", inMap: place(key, Self.columns[2]))
      try session.insert(
        (0..<count).map { .int(Int64($0)) }, at: 0, in: place(key, Self.columns[2]).nested(nested))
      return key
    }
  }

  /// The file as it is now: the store would answer with the state before the damage.
  private func look(_ store: Store) throws -> Snapshot {
    let known = try store.newestSnapshot()
    return Snapshot(
      transaction: try store.environment.beginRead(), head: known.head, schema: known.schema)
  }

  /// Reads everything, and edits.
  private func use(_ store: Store, _ key: ObjectKey) throws {
    let snapshot = try look(store)
    for column in Self.columns {
      let place = place(key, column)
      report {
        guard let sequence = try SnapshotReader(snapshot).sequence(at: place) else { return }
        let end = min(sequence.count, 3_000)
        report { try sequence.forEach(in: 0..<end) { _ in true } }
        for index in stride(from: 0, to: end, by: 37) {
          report { _ = try sequence.value(at: index) }
          if column == Self.columns[2] { report { _ = try sequence.key(at: index) } }
        }
        if column == Self.columns[1] { report { _ = try sequence.find(.string("t12")) } }
      }
      report {
        let session = try WriteSession(SnapshotReader(snapshot)) {}
        guard let count = try session.sequence(at: place)?.count, count > 0 else { return }
        report { try session.remove(count / 2..<count / 2 + 1, in: place) }
        report { try session.removeAll(in: place) }
        report { try session.delete(key, in: Self.things) }
      }
    }
    _ = SequenceCheck(try SnapshotReader(snapshot))
  }

  /// Damage may come to light or not, but not as anything else.
  private func report(_ body: () throws -> Void) {
    do {
      try body()
    } catch let error as StorageError {
      let codes: [StorageError.Code] = [.corrupted, .newerFormat, .invalidInput]
      #expect(codes.contains(error.code), "\(error)")
    } catch {
      Issue.record(error)
    }
  }

  @Test(arguments: [8, 700], [1, 2, 3] as [UInt64])
  func `a changed byte is an error or nothing`(_ count: Int, _ seed: UInt64) throws {
    let temporary = TemporaryStore()
    let store = try temporary.open(Self.classes)
    let key = try fill(store, count: count)
    #expect(SequenceCheck(try SnapshotReader(store.newestSnapshot())).problems == [])
    var random = SeededRandom(seed: seed)
    var positions: [[UInt8]] = []
    let tags: [TreeKey.Tag] = [.cluster, .sequencePage, .sequenceRowCounts, .longElement, .nested]
    try SnapshotReader(look(store)).withCursor { cursor throws(StorageError) in
      while try cursor.next() {
        if let tag = TreeKey.tag(of: cursor.key), tags.contains(tag) {
          positions.append(Array(cursor.key))
        }
      }
    }
    for _ in 0..<60 {
      let name = random.pick(positions)
      let before = try bytes(name, store)
      var damaged = before
      switch random.below(4) {
      case 0: damaged[random.below(damaged.count)] = UInt8(truncatingIfNeeded: random.next())
      case 1: damaged[random.below(min(32, damaged.count))] ^= 1 << UInt8(random.below(8))
      case 2: damaged.removeLast(1 + random.below(damaged.count - 1))
      default: damaged = []
      }
      try put(damaged.isEmpty ? nil : damaged, name, store)
      try use(store, key)
      if mustBeNoticed(name, before, damaged) { #expect(try !noticed(store).isEmpty) }
      try put(before, name, store)
    }
    #expect(SequenceCheck(try SnapshotReader(look(store))).problems == [])
  }

  /// A long element may have no checksum, and the beginning of a cluster's image has none.
  private func mustBeNoticed(_ name: [UInt8], _ before: [UInt8], _ damaged: [UInt8]) -> Bool {
    let tag = name.withUnsafeBytes { TreeKey.tag(of: $0) }
    if before == damaged || tag == .cluster { return false }
    if tag == .longElement, before.count == Pieces.sumByteCount, damaged.isEmpty { return false }
    if before.count != damaged.count { return true }
    return tag != .sequencePage || before[..<12] == damaged[..<12]
  }

  /// What a check of the file finds.
  private func noticed(_ store: Store) throws -> [String] {
    SequenceCheck(try SnapshotReader(look(store))).problems
  }

  private func bytes(_ name: [UInt8], _ store: Store) throws -> [UInt8] {
    let transaction = try store.environment.beginRead()
    defer { transaction.end() }
    return try name.withUnsafeBytes { try Array(#require(try transaction.value(forKey: $0))) }
  }

  private func put(_ bytes: [UInt8]?, _ name: [UInt8], _ store: Store) throws {
    try store.environment.write { transaction throws(StorageError) in
      try withBytes(of: name) { name throws(StorageError) in
        guard let bytes else {
          _ = try transaction.delete(name)
          return
        }
        try withBytes(of: bytes) { bytes throws(StorageError) in
          try transaction.put(bytes, forKey: name)
        }
      }
    }
  }
}
