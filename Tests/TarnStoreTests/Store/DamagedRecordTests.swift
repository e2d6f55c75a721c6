import CTarn
import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// Records whose checksums are right and which no writer of ours would write.
@Suite struct DamagedRecordTests {
  private let folder = TemporaryStore()
  private static let classes = [
    ClassDefinition(
      name: "Crate",
      properties: [
        .init(name: "any", type: .any), .init(name: "anys", type: .any, collection: .list),
        .init(name: "links", type: .link, collection: .list, target: "Crate"),
        .init(name: "label", type: .string, isIndexed: true),
      ])
  ]
  private let crates = ClassID(0)
  private let any = ColumnID(0)

  private func place(_ column: UInt16, _ key: ObjectKey) -> SequencePlace {
    SequencePlace(classID: crates, key: key, column: ColumnID(column))
  }

  /// The file as it is now: the store would answer with the state before the damage.
  private func reader(_ store: Store) throws -> SnapshotReader {
    let known = try store.newestSnapshot()
    return try SnapshotReader(
      Snapshot(
        transaction: try store.environment.beginRead(), head: known.head, schema: known.schema))
  }

  /// Replaces what lies under a key.
  private func change(
    _ store: Store, _ key: TreeKey, _ body: (inout [UInt8]) -> Void
  ) throws {
    let name = key.withBytes { Array($0) }
    var value = try #require(try store.environment.get(name))
    body(&value)
    try store.environment.put([name: value])
  }

  private func expectDamage<R>(_ body: () throws -> R) {
    #expect { _ = try body() } throws: { ($0 as? StorageError)?.code == .corrupted }
  }

  @Test func `a cluster without rows is damage where it is met`() throws {
    let store = try folder.open(Self.classes)
    let key = try store.write { try $0.create([:], in: crates) }
    let empty = ClusterImage.empty.bytes.map { $0 }
    try change(store, .cluster(crates, first: .smallest)) { $0 = empty }
    let reader = try reader(store)
    expectDamage { try reader.row(key, in: crates) }
    expectDamage { try reader.forEachCluster(in: crates) { _ in true } }
    expectDamage { try store.write { try $0.create([:], in: crates) } }
  }

  @Test func `an object of an unknown class is damage where it is met`() throws {
    let store = try folder.open(Self.classes)
    let key = try store.write { session in
      let key = try session.create([:], in: crates)
      // The same bytes as those of an object of class 77 with key 5, as far as they are written.
      try session.set(any, at: key, in: crates, to: .object(crates, ObjectKey(5)))
      try session.insert([.object(crates, ObjectKey(5))], at: 0, in: place(1, key))
      return key
    }
    try change(store, .cluster(crates, first: .smallest)) { bytes in
      var found = 0
      for at in bytes.indices.dropLast(3) where Array(bytes[at..<at + 3]) == [13, 0, 10] {
        bytes[at + 1] = 77
        found += 1
      }
      #expect(found == 2)
      seal(&bytes)
    }
    let reader = try reader(store)
    expectDamage { try reader.value(of: any, at: key, in: crates) }
    expectDamage { try reader.sequence(at: place(1, key))?.value(at: 0) }
    expectDamage { try reader.links(from: reader.schema[crates][ColumnID(1)], at: key, in: crates) }
    let session = WriteSession(reader) {}
    expectDamage { try session.value(of: any, at: key, in: crates) }
    expectDamage { try session.sequence(at: place(1, key))?.value(at: 0) }
    expectDamage { try session.delete(key, in: crates) }
    #expect(SequenceCheck(reader).problems.filter { $0.contains("class number 77") }.count == 2)
  }

  private func seal(_ cluster: inout [UInt8]) {
    let sum = cluster.withUnsafeBytes {
      tarn_crc32c($0.baseAddress! + ClusterFormat.checkedFrom, $0.count - ClusterFormat.checkedFrom)
    }
    for index in 0..<4 { cluster[8 + index] = UInt8(truncatingIfNeeded: sum >> UInt32(8 * index)) }
  }

  @Test(arguments: [0, 1, UInt64.max, 1 << 62, 1_000_000_000])
  func `an impossible count of links is damage`(_ count: UInt64) throws {
    let store = try folder.open(Self.classes)
    let (owner, target) = try store.write { session in
      let target = try session.create([:], in: crates)
      let owner = try session.create([:], in: crates)
      try session.insert([.link(target), .link(target)], at: 0, in: place(2, owner))
      return (owner, target)
    }
    let link = ObjectRef(classID: crates, key: target)
    let name = LinkName(classID: crates, column: ColumnID(2), owner: owner, target: link)
    try change(store, .linkCount(name)) { bytes in
      for index in 0..<8 { bytes[index] = UInt8(truncatingIfNeeded: count >> UInt64(8 * index)) }
    }
    let reader = try reader(store)
    expectDamage { try reader.origins(of: link, in: crates, through: ColumnID(2)) }
    expectDamage {
      try WriteSession(reader) {}.origins(of: link, in: crates, through: ColumnID(2))
    }
  }

  @Test func `a damaged change record is pruned, and none of a version that readers need`() throws {
    let store = try folder.open(Self.classes)
    func versions() throws -> [Version] {
      var found: [Version] = []
      let snapshot = try store.newestSnapshot()
      defer { withExtendedLifetime(snapshot) {} }
      var cursor = try Cursor(snapshot.transaction)
      var isThere = try TreeKey.changeHeader(.zero).withBytes { try cursor.seek(atOrAfter: $0) }
      while isThere, let parsed = TreeKey.parseChange(cursor.key) {
        found.append(parsed.version)
        isThere = try cursor.next()
      }
      return found
    }
    func prune(through transaction: UInt64, before end: Version) throws {
      try store.environment.write { write throws(StorageError) in
        _ = try ChangeLog.prune(through: transaction, before: end, most: .max, in: write)
      }
    }
    let held = try store.newestSnapshot()
    for _ in 0..<6 { try store.write { _ = try $0.create([:], in: crates) } }
    let all = try versions()
    #expect(all.count >= 6)
    try change(store, .changeHeader(all[0])) { $0[20] ^= 1 }
    let header = try store.environment.write { write throws(StorageError) in
      try ChangeLog.header(of: all[3], in: write)
    }
    let third = try #require(header?.meta.transactionID)
    try prune(through: third - 1, before: Version(.max))
    #expect(try versions() == Array(all[3...]))
    try prune(through: .max, before: all[5])
    #expect(try versions() == Array(all[5...]))
    withExtendedLifetime(held) {}
  }

  @Test func `counters at their end are damage or an error, and never overflow`() throws {
    func counted(_ change: (inout HeadRecord) -> Void) throws {
      var head = HeadRecord(historyID: .random(), commitID: 1)
      change(&head)
      let bytes = head.withEncoded { Array($0) }
      _ = try withBytes(bytes) { bytes throws(StorageError) in try HeadRecord(decoding: bytes) }
    }
    try counted { $0.version = Version(1 << 61) }
    expectDamage { try counted { $0.version = Version(.max) } }
    expectDamage { try counted { $0.schemaEpoch = .max } }
    expectDamage { try counted { $0.nextCollectionID = CollectionID(.max) } }
    expectDamage { try counted { $0.nextCollectionID = CollectionID(0) } }

    func classRecord(_ change: (inout ClassRecord) -> Void) throws -> [UInt8] {
      var record = ClassRecord()
      change(&record)
      let bytes = record.withEncoded { Array($0) }
      _ = try withBytes(bytes) { bytes throws(StorageError) in try ClassRecord(decoding: bytes) }
      return bytes
    }
    expectDamage { try classRecord { $0.rowCount = .max } }
    expectDamage { try classRecord { $0.nextKey = ObjectKey(-1) } }
    let store = try folder.open(Self.classes)
    let last = try classRecord { $0.nextKey = .largest }
    try store.environment.put([TreeKey.classRecord(crates).withBytes { Array($0) }: last])
    #expect { try store.write { try $0.create([:], in: crates) } } throws: { error in
      (error as? StorageError)?.code == .limitExceeded
    }
  }

  @Test(arguments: [151, 4247])
  func `a transaction that cannot be is an error of opening`(_ offset: Int) throws {
    do { _ = try folder.open(Self.classes) }
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.path)))
    bytes[offset] = 0xff
    try Data(bytes).write(to: URL(fileURLWithPath: folder.path))
    expectDamage { try folder.open(Self.classes) }
  }

  /// LMDB would go wherever these pages lead, and end the program.
  @Test(arguments: [true, false], [0, 10, 12, 14, 16, 128])
  func `damage on the way to the head record is an error of opening`(
    _ isFree: Bool, _ offset: Int
  ) throws {
    do {
      let store = try folder.open(Self.classes)
      for _ in 0..<3 {
        _ = try store.write { session in
          for _ in 0..<500 { try session.create([ColumnID(3): .string("label")], in: crates) }
        }
      }
    }
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.path)))
    let header = bytes[144..<152].lexicographicallyPrecedes(bytes[4240..<4248]) ? 4096 : 0
    let root = header + (isFree ? 80 : 128)
    let page = Int(bytes[root]) | Int(bytes[root + 1]) << 8
    if offset == 128 {
      for position in page * 4096..<page * 4096 + 4096 { bytes[position] = 0 }
    } else {
      bytes[page * 4096 + offset] ^= 0x81
    }
    try Data(bytes).write(to: URL(fileURLWithPath: folder.path))
    expectDamage { try folder.open(Self.classes) }
  }
}
