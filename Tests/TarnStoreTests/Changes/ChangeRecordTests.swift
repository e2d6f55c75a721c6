import TarnStore
import TestSupport
import Testing

@Suite("Change records as bytes")
struct ChangeRecordTests {
  private let meta = ChangeRecord.Meta(
    historyID: Bytes16(high: 1, low: 2), commitID: 3, transactionID: 4, schemaEpoch: 5)

  private func expectRoundTrip(_ changes: ChangeSet, _ note: CommitNote? = nil) throws {
    var meta = meta
    meta.note = note
    let pieces = try ChangeRecord.encode(changes, &meta)
    if let note {
      let byteCount = pieces.reduce(0) { $0 + $1.bytes.count }
      #expect(meta.note?.logBytes == note.logBytes + UInt64(byteCount))
    }
    #expect(pieces.allSatisfy { $0.bytes.count <= ChangeRecord.chunkBytesMax })
    #expect(
      zip(pieces, pieces.dropFirst()).allSatisfy {
        ($0.classField, $0.chunk) < ($1.classField, $1.chunk)
      })
    let (header, decoded) = try pieces.decoded(version: changes.to)
    #expect(decoded == changes)
    #expect(header.meta == meta)
    for (summary, entry) in zip(header.classes, changes.classes) {
      #expect(summary.insertedCount == entry.inserted.count)
      #expect(summary.deletedCount == entry.deleted.count)
      #expect(summary.touchedColumns == entry.touchedColumns)
      #expect(summary.hasBackTouched == !entry.backTouched.isEmpty)
    }
  }

  private func randomSet(_ random: inout SeededRandom) -> KeySet {
    let base = [0, 1_000_000, Int64.min, Int64.max - 5000, -3000].randomElement(using: &random)!
    let count = [1, 3, 40, 900].randomElement(using: &random)!
    var keys: [ObjectKey] = []
    for _ in 0..<count {
      keys.append(ObjectKey(base + Int64.random(in: 0..<5000, using: &random)))
    }
    if Bool.random(using: &random) { keys += [ObjectKey(.min), ObjectKey(.max)] }
    return KeySet(keys)
  }

  private func randomChanges(_ random: inout SeededRandom) -> ChangeSet {
    var changes = ChangeSet(from: Version(8), to: Version(9))
    changes.schemaChanged = Bool.random(using: &random)
    let classCount = [0, 1, 2, 3, 90].randomElement(using: &random)!
    for id in 0..<classCount where Bool.random(using: &random) {
      var entry = ClassChanges(id: ClassID(UInt32(id * id)))
      let isBig = classCount < 10
      func keys() -> KeySet { isBig ? randomSet(&random) : KeySet(ObjectKey(Int64(id))) }
      if Bool.random(using: &random) { entry.inserted = keys() }
      entry.isCleared = Int.random(in: 0..<5, using: &random) == 0
      if !entry.isCleared && Bool.random(using: &random) { entry.deleted = keys() }
      for column in [0, 1, 7, 63, 400] where Bool.random(using: &random) {
        entry.touched.append(.init(column: ColumnID(UInt16(column)), keys: keys()))
      }
      for column in [0, 70] where Bool.random(using: &random) {
        entry.backTouched.append(
          .init(origin: ClassID(7), column: ColumnID(UInt16(column)), keys: keys()))
      }
      if !entry.isEmpty { changes.classes.append(entry) }
    }
    return changes
  }

  @Test("come back as they were", arguments: Seeds.of(0..<300 as Range<UInt64>))
  func roundTrips(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let changes = randomChanges(&random)
    try expectRoundTrip(changes)
    let origin = String(repeating: "x", count: random.below(65))
    let cursors = (0..<random.below(17)).map { UInt32($0 * 7) }
    let note = CommitNote(
      time: -5, stamp: 77, age: 12, logBytes: 1_000_000, cursors: cursors, origin: origin)
    try expectRoundTrip(changes, note)
  }

  @Test("of commits with a note are read by libraries that skip it", arguments: 0..<40)
  func notesAreSkipped(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let changes = randomChanges(&random)
    var meta = meta
    meta.note = CommitNote(time: 1, stamp: 2, age: 3, logBytes: 4, cursors: [5], origin: "mark")
    var pieces = try ChangeRecord.encode(changes, meta)
    // The note's kind becomes one that nobody knows, with the bit of those that may be skipped.
    let mark = Array("mark".utf8)
    let bytes = pieces[0].bytes
    let end = try #require(
      bytes.indices.first { bytes[$0...].starts(with: mark) })
    let start = end - 3 - 4 * 8 - 1 - 4
    #expect(bytes[start] == 0x81)
    pieces[0].bytes[start] = 0x9f
    pieces[0].reseal(version: changes.to)
    let (header, decoded) = try pieces.decoded(version: changes.to)
    #expect(decoded == changes)
    #expect(header.meta.note == nil)
    // A record whose sections are all in one value has none before its first class.
    #expect(!header.isWhole || !changes.classes.isEmpty)
  }

  @Test("of one changed object are one short value")
  func oneObjectIsOneValue() throws {
    var entry = ClassChanges(id: ClassID(4))
    entry.touched = [.init(column: ColumnID(2), keys: KeySet(ObjectKey(123_456)))]
    let changes = ChangeSet(from: Version(1), to: Version(2), classes: [entry])
    let pieces = try ChangeRecord.encode(changes, meta)
    #expect(pieces.count == 1)
    #expect(pieces[0].bytes.count < 100)
    try expectRoundTrip(changes)
  }

  @Test("of keys all over the place take about a byte and a half a key, of runs nothing")
  func sizes() throws {
    var random = SeededRandom(seed: 1)
    var entry = ClassChanges(id: ClassID(0))
    let keys = (0..<100_000).map { _ in ObjectKey(Int64.random(in: 0..<1_000_000, using: &random)) }
    entry.touched = [.init(column: ColumnID(0), keys: KeySet(keys))]
    var changes = ChangeSet(from: Version(1), to: Version(2), classes: [entry])
    let scattered = try ChangeRecord.encode(changes, meta).reduce(0) { $0 + $1.bytes.count }
    #expect(scattered < 150_000)
    try expectRoundTrip(changes)
    let halves = (0..<64_000).filter { _ in Bool.random(using: &random) }
    changes.classes[0].touched[0].keys = KeySet(halves.map { ObjectKey(Int64($0)) })
    let dense = try ChangeRecord.encode(changes, meta).reduce(0) { $0 + $1.bytes.count }
    #expect(dense < 64_000 / 128 * 17 * 11 / 10)
    try expectRoundTrip(changes)
    changes.classes[0].inserted = KeySet(ObjectKey(2_000_000)...ObjectKey(900_000_000))
    changes.classes[0].touched = []
    #expect(try ChangeRecord.encode(changes, meta).count == 1)
    try expectRoundTrip(changes)
  }

  @Test("with any byte changed, cut off or misplaced are reported as damaged", arguments: 0..<40)
  func damageIsReported(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let changes = randomChanges(&random)
    let pieces = try ChangeRecord.encode(changes, meta)
    for _ in 0..<60 {
      var damaged = pieces
      let victim = Int.random(in: 0..<pieces.count, using: &random)
      let byte = Int.random(in: 0..<pieces[victim].bytes.count, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: damaged[victim].bytes[byte] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 1: damaged[victim].bytes.removeLast(pieces[victim].bytes.count - byte)
      case 2: damaged.remove(at: victim)
      default:
        let other = Int.random(in: 0..<pieces.count, using: &random)
        if other == victim { continue }
        damaged[victim].bytes = pieces[other].bytes
      }
      #expect {
        _ = try damaged.decoded(version: Version(9))
      } throws: { error in
        (error as? StorageError)?.code == .corrupted
      }
    }
    #expect(StorageError.code { try pieces.decoded(version: Version(10)) } == .corrupted)
  }

  @Test(
    "with nonsense under a right checksum never trap", arguments: Seeds.of(0..<300 as Range<UInt64>)
  )
  func nonsenseNeverTraps(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let changes = randomChanges(&random)
    let pieces = try ChangeRecord.encode(changes, meta)
    for _ in 0..<100 {
      var damaged = pieces
      let victim = Int.random(in: 0..<min(3, pieces.count), using: &random)
      for _ in 0..<Int.random(in: 1..<4, using: &random) {
        let byte = Int.random(in: 4..<pieces[victim].bytes.count, using: &random)
        damaged[victim].bytes[byte] = [0, 1, 0x7F, 0x80, 0xFF, 3, 4].randomElement(using: &random)!
      }
      damaged[victim].reseal(version: Version(9))
      do {
        _ = try damaged.decoded(version: Version(9))
      } catch let error as StorageError {
        #expect(error.code == .corrupted || error.code == .newerFormat)
      }
    }
  }
}
