import TestSupport
import Testing

@testable import TarnStore

@Suite("Scripts in change records")
struct SequenceRecordTests {
  private let meta = ChangeRecord.Meta(
    historyID: Bytes16(high: 1, low: 2), commitID: 3, transactionID: 4, schemaEpoch: 5)

  private func encoded(_ changes: ChangeSet) throws -> [ChangeRecord.Piece] {
    let pieces = try ChangeRecord.encode(changes, meta)
    #expect(pieces.allSatisfy { $0.bytes.count <= ChangeRecord.chunkBytesMax })
    return pieces
  }

  private func expectRoundTrip(_ changes: ChangeSet) throws {
    let decoded = try encoded(changes).decoded(version: changes.to).1
    // Not by #expect, which would print both.
    let isSame = decoded == changes
    #expect(isSame)
  }

  /// Changes of one class: one script of each kind, and its column touched.
  private func changes(_ sequences: [SequenceChange]) -> ChangeSet {
    var entry = ClassChanges(id: ClassID(6))
    entry.sequences = sequences.sorted { $0.name < $1.name }
    for change in entry.sequences {
      if entry.touched.last?.column != change.name.column {
        entry.touched.append(.init(column: change.name.column, keys: KeySet()))
      }
      entry.touched[entry.touched.count - 1].keys.formUnion(KeySet(change.name.key))
    }
    return ChangeSet(from: Version(8), to: Version(9), classes: [entry])
  }

  private func randomName(_ random: inout SeededRandom) -> SequenceName {
    SequenceName(
      column: ColumnID(random.pick([0, 1, 63, 400, .max])),
      key: ObjectKey(random.pick([0, 1, 77, -5, .min, .max])),
      nested: random.chance(50) ? nil : CollectionID(random.pick([0, 1, 900, .max - 1])))
  }

  private func randomChanges(_ random: inout SeededRandom) -> ChangeSet {
    var sequences: [SequenceName: EditScript] = [:]
    let largest = random.pick([2, 20, 120, 1500])
    for _ in 0..<random.pick([1, 2, 6, 20]) {
      let script: EditScript
      switch random.below(5) {
      case 0:
        let most = EditScript.countMax
        script = .replacingAll(
          oldCount: random.pick([0, 5, most]), newCount: random.pick([1, most]))
      case 1: script = .replacingAll(oldCount: 1 + random.below(1000), newCount: 0)
      default:
        script = .random(
          runs: 1 + random.below(largest), modified: random.pick([0, 10, 100]), &random)
      }
      if !script.isIdentity { sequences[randomName(&random)] = script }
    }
    return changes(sequences.map { SequenceChange(name: $0.key, script: $0.value) })
  }

  @Test("come back as they were", arguments: Seeds.of(0..<200 as Range<UInt64>))
  func roundTrips(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    try expectRoundTrip(randomChanges(&random))
  }

  @Test("come back whatever else there is, and however much room it leaves")
  func anyRoomLeft() throws {
    var random = SeededRandom(seed: 1)
    let script = EditScript.random(runs: 90, modified: 60, &random)
    for count in 0..<700 {
      var set = changes([SequenceChange(name: randomName(&random), script: script)])
      let keys = (0..<count).map { ObjectKey(Int64($0 * 300)) }
      set.classes[0].deleted = KeySet(keys)
      try expectRoundTrip(set)
    }
  }

  @Test("of few runs stay in one value, of any number of them")
  func smallOnes() throws {
    for runs in 1..<130 {
      var builder = EditScript.Builder(oldCount: EditScript.countMax)
      for run in 0..<runs {
        let first = EditScript.countMax - 3 * run - 2
        builder.append(old: first, isModified: run % 2 == 0)
        if run % 5 == 0 { builder.appendFresh(1) }
      }
      let name = SequenceName(
        column: ColumnID(.max), key: ObjectKey(.min), nested: CollectionID(.max - 1))
      let set = changes([SequenceChange(name: name, script: builder.finish())])
      try expectRoundTrip(set)
      if runs < 40 { #expect(try encoded(set).count == 1) }
    }
  }

  @Test("of one edit take a few bytes")
  func oneEdit() throws {
    var builder = EditScript.Builder(oldCount: 1_000_000)
    builder.appendOld(0..<500_000)
    builder.appendFresh()
    builder.appendOld(500_000..<1_000_000)
    let name = SequenceName(column: ColumnID(2), key: ObjectKey(123_456))
    let set = changes([SequenceChange(name: name, script: builder.finish())])
    let pieces = try encoded(set)
    try #require(pieces.count == 1)
    #expect(pieces[0].bytes.count < 130)
    try expectRoundTrip(set)
  }

  @Test("of many runs take many values, of too many are limited")
  func largeOnes() throws {
    var random = SeededRandom(seed: 3)
    let name = SequenceName(column: ColumnID(0), key: ObjectKey(1))
    let large = changes([
      SequenceChange(name: name, script: .random(runs: 20_000, modified: 40, &random)),
      SequenceChange(
        name: SequenceName(column: ColumnID(0), key: ObjectKey(2)),
        script: .random(runs: 30_000, modified: 1, &random)),
    ])
    #expect(try encoded(large).count > 30)
    try expectRoundTrip(large)

    let script = EditScript.random(runs: 100_000, modified: 40, &random)
    let pieces = try encoded(changes([SequenceChange(name: name, script: script)]))
    #expect(pieces.reduce(0) { $0 + $1.bytes.count } < 300)
    let decoded = try pieces.decoded(version: Version(9)).1
    #expect(decoded[ClassID(6)]?.script(of: name) == script.limited)
  }

  @Test("with every other element set take about a bit an element")
  func manyModified() throws {
    var random = SeededRandom(seed: 4)
    var builder = EditScript.Builder(oldCount: 200_000)
    for position in 0..<200_000 { builder.append(old: position, isModified: random.chance(50)) }
    let name = SequenceName(column: ColumnID(0), key: ObjectKey(1))
    let set = changes([SequenceChange(name: name, script: builder.finish())])
    #expect(try encoded(set).reduce(0) { $0 + $1.bytes.count } < 200_000 / 8 * 12 / 10)
    try expectRoundTrip(set)
  }

  @Test("with any byte changed are reported as damaged", arguments: 0..<20)
  func damageIsReported(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let pieces = try encoded(randomChanges(&random))
    for _ in 0..<40 {
      var damaged = pieces
      let victim = random.below(pieces.count)
      let byte = random.below(pieces[victim].bytes.count)
      damaged[victim].bytes[byte] ^= 1 << UInt8(random.below(8))
      #expect {
        _ = try damaged.decoded(version: Version(9))
      } throws: {
        ($0 as? StorageError)?.code == .corrupted
      }
    }
  }

  @Test(
    "with nonsense under a right checksum never trap, nor when merged",
    arguments: Seeds.of(0..<150 as Range<UInt64>))
  func nonsenseNeverTraps(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let changes = randomChanges(&random)
    let pieces = try encoded(changes)
    for _ in 0..<60 {
      var damaged = pieces
      let victim = random.below(min(3, pieces.count))
      for _ in 0..<1 + random.below(3) {
        let byte = 4 + random.below(pieces[victim].bytes.count - 4)
        damaged[victim].bytes[byte] =
          random.chance(40)
          ? UInt8(truncatingIfNeeded: random.next())
          : random.pick([0, 1, 2, 5, 7, 16, 0x7F, 0x80, 0xFF])
      }
      damaged[victim].reseal(version: Version(9))
      do {
        var decoded = try damaged.decoded(version: Version(9)).1
        decoded.from = changes.to
        decoded.to = changes.to.next
        _ = changes.merging(decoded)
      } catch let error as StorageError {
        #expect(error.code == .corrupted || error.code == .newerFormat)
      }
    }
  }
}
