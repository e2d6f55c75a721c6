import Foundation
import RealmFileWriter
import RealmFiles
import RealmFixtures
import TestSupport
import Testing

/// Files that nobody's library writes: they must not end the process, nor keep it busy or take its
/// memory out of proportion to their size.
@Suite struct HostileRealmTests {
  /// A file that is changed in place.
  private struct Victim {
    let path: String
    let key: [UInt8]?
    private let original: [UInt8]
    private let handle: FileHandle
    private(set) var errors = 0
    var byteCount: Int { original.count }

    init(_ fixture: RealmFixture, in folder: TemporaryFolder) throws {
      original = try fixture.bytes
      key = fixture.key
      path = try folder.file(fixture.name, original)
      handle = try #require(FileHandle(forUpdatingAtPath: path))
    }

    /// Reads everything with other bytes at a place, and puts the former ones back.
    mutating func read(with bytes: [UInt8], at offset: Int) throws {
      try write(bytes, offset)
      do {
        _ = try RealmDump.lines(of: RealmFile(path, key: key), all: true)
      } catch {
        errors += 1
      }
      try write(Array(original[offset..<offset + bytes.count]), offset)
    }

    mutating func read(turning bit: Int, of offset: Int) throws {
      try read(with: [original[offset] ^ 1 << UInt8(bit)], at: offset)
    }

    private func write(_ bytes: [UInt8], _ offset: Int) throws {
      try handle.seek(toOffset: UInt64(offset))
      try handle.write(contentsOf: Data(bytes))
    }
  }

  @Test func everyBitOfASmallFileCanTurn() throws {
    let folder = TemporaryFolder()
    var victim = try Victim(.named("tiny"), in: folder)
    for offset in 0..<1024 {
      for bit in Seeds.inTurn([0, 1, 2, 3, 4, 5, 6, 7], at: offset) {
        try victim.read(turning: bit, of: offset)
      }
    }
    // Most of the bytes are those of the structure, or of space that is not in use.
    #expect(victim.errors > 50)
  }

  @Test(arguments: ["collections", "mixed", "links", "embedded", "enumerated", "upgraded22"])
  func randomBytesCanChange(_ name: String) throws {
    let folder = TemporaryFolder()
    var victim = try Victim(.named(name), in: folder)
    var random = SeededRandom(seed: 1)
    for _ in 0..<Seeds.rounds(1000, few: name == "collections" ? 20 : 100) {
      let offset = random.below(victim.byteCount)
      if random.chance(50) {
        try victim.read(turning: random.below(8), of: offset)
      } else {
        try victim.read(with: [random.pick([0, 1, 0x7f, 0x80, 0xff])], at: offset)
      }
    }
    #expect(victim.errors > 0)
  }

  @Test func everyBitOfThePageInFrontOfEncryptedOnesCanTurn() throws {
    let folder = TemporaryFolder()
    var victim = try Victim(.named("encrypted"), in: folder)
    for offset in 0..<Seeds.rounds(4096, few: 64) {
      for bit in 0..<8 { try victim.read(turning: bit, of: offset) }
    }
    #expect(victim.errors >= 8 * 32)
  }

  @Test func aFileCanBeCutAnywhere() throws {
    let folder = TemporaryFolder()
    let bytes = try RealmFixture.named("tiny").bytes
    for size in 0..<1024 {
      let path = try folder.file("cut.realm", Array(bytes[..<size]))
      #expect(throws: RealmFileError.self) {
        try RealmDump.lines(of: RealmFile(path), all: true)
      }
    }
  }

  @Test func aReferenceCanLeadAnywhere() throws {
    let folder = TemporaryFolder()
    var victim = try Victim(.named("links"), in: folder)
    // The array of tables, whose references have 16 bits.
    let bytes = try RealmFixture.named("links").bytes
    var header = [UInt8](repeating: 0x41, count: 4)
    header.append(0x45)
    let place = try #require(
      (24..<bytes.count - 8).first { $0 % 8 == 0 && bytes[$0..<$0 + 5].elementsEqual(header) })
    for ref in stride(from: 0, to: victim.byteCount, by: Seeds.rounds(8, few: 64)) {
      try victim.read(with: [UInt8(ref & 0xff), UInt8(ref >> 8)], at: place + 8)
    }
    #expect(victim.errors > 0)
  }

  @Test func noiseBehindAGoodHeaderIsRefused() throws {
    let folder = TemporaryFolder()
    for seed in 0..<100 {
      var random = SeededRandom(seed: UInt64(seed))
      var bytes = random.bytes(4096)
      let header: [UInt8] = [24, 0, 0, 0, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 8)
      bytes.replaceSubrange(0..<24, with: header + Array("T-DB".utf8) + [24, 24, 0, 0])
      let path = try folder.file("noise.realm", bytes)
      #expect(throws: RealmFileError.self) {
        try RealmDump.lines(of: RealmFile(path), all: true)
      }
    }
  }

  // MARK: - Sharing

  private func error(
    of file: [UInt8], _ position: SourceLocation = #_sourceLocation
  ) throws -> RealmFileError {
    let folder = TemporaryFolder()
    let path = try folder.file("hostile.realm", file)
    return try #require(throws: RealmFileError.self, sourceLocation: position) {
      try RealmDump.lines(of: RealmFile(path), all: true)
    }
  }

  /// Each level multiplies the number of objects by a thousand.
  @Test func aTreeThatRefersToOneClusterAgainAndAgainIsRefused() throws {
    var writer = RealmFileWriter()
    let values = writer.numbers([Int64](repeating: 0, count: 256))
    var ref = writer.cluster(count: 256, [values])
    var count = 256
    for depth in 1...5 {
      let children = (0..<1000).map { (offset: Int64($0) << Int64(8 * depth), ref: ref) }
      count *= 1000
      ref = writer.node(depth: depth, count: count, children)
    }
    let column = RealmFileWriter.Column("a", type: 0, place: 0)
    let table = writer.table([column], root: ref, key: 0)
    let top = writer.group([("class_A", table)])
    let error = try error(of: writer.file(top: top))
    #expect(error.code == .damaged)
  }

  /// Each of many objects has the same list.
  @Test func aListOfManyOwnersIsRefused() throws {
    var writer = RealmFileWriter()
    let leaves = (0..<20).map { _ in writer.numbers([Int64](repeating: 1, count: 1000)) }
    let list = writer.refs(
      [.number(1000)] + leaves.map { .ref($0) } + [.number(20_000)], isInner: true)
    let lists = writer.refs([RealmFileWriter.Slot](repeating: .ref(list), count: 256))
    let root = writer.cluster(count: 256, [lists])
    let column = RealmFileWriter.Column("a", type: 0, attributes: 32, place: 0)
    let table = writer.table([column], root: root, key: 0)
    let top = writer.group([("class_A", table)])
    #expect(
      try error(of: writer.file(top: top)).detail == "parts of the file have several owners")
  }

  @Test func aListThatContainsItselfIsRefused() throws {
    var writer = RealmFileWriter()
    // The list is the next array but three.
    let codes = writer.numbers([20 | 4 << 5])
    let refs = writer.bytes.count
    _ = writer.refs([.ref(refs + 16)])
    let leaf = writer.refs([.ref(codes), .empty, .empty, .empty, .ref(refs), .empty])
    #expect(leaf == refs + 16)
    let root = writer.cluster(count: 1, [leaf])
    let column = RealmFileWriter.Column("a", type: 6, attributes: 16, place: 0)
    let table = writer.table([column], root: root, key: 0)
    let top = writer.group([("class_A", table)])
    #expect(
      try error(of: writer.file(top: top)).detail == "lists are nested more than 100 deep")
  }

  @Test func aLeafOfMillionsOfZerosIsRefused() throws {
    var writer = RealmFileWriter()
    let leaf = writer.numbers([Int64](repeating: 0, count: 0xff_ffff))
    let root = writer.cluster(count: 0xff_ffff, [leaf])
    let table = writer.table(
      [RealmFileWriter.Column("a", type: 0, place: 0)], root: root, key: 0)
    let top = writer.group([("class_A", table)])
    #expect(
      try error(of: writer.file(top: top)).detail == "a cluster has 16777215 objects")
  }
}
