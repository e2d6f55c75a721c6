import Foundation
import RealmFiles
import RealmFixtures
import TestSupport
import Testing

/// Files with one change, each of which breaks another rule of the format.
@Suite struct DamagedRealmTests {
  /// A change of a file.
  struct Damage: Sendable, CustomStringConvertible {
    let name: String
    /// From the end if it is negative.
    let offset: Int
    let bytes: [UInt8]
    /// The size to which the file is cut; negative: so many bytes less.
    var size: Int?
    var code = RealmFileError.Code.damaged
    var description: String { "\(name) \(offset) \(bytes) \(size ?? 0)" }

    init(
      _ name: String, _ offset: Int, _ bytes: [UInt8], _ code: RealmFileError.Code = .damaged
    ) {
      (self.name, self.offset, self.bytes, self.code) = (name, offset, bytes, code)
    }

    init(_ name: String, cut size: Int, _ code: RealmFileError.Code = .damaged) {
      (self.name, self.size, self.code) = (name, size, code)
      (offset, bytes) = (0, [])
    }

    func apply(to original: [UInt8]) -> [UInt8] {
      var all = original
      if let size { all = Array(all.prefix(size < 0 ? all.count + size : size)) }
      let start = offset < 0 ? all.count + offset : offset
      all.replaceSubrange(start..<start + bytes.count, with: bytes)
      return all
    }
  }

  static let refused: [Damage] = [
    Damage("tiny", cut: 0, .notRealmFile), Damage("tiny", cut: 23, .notRealmFile),
    Damage("tiny", cut: 24), Damage("tiny", cut: 0x3c0), Damage("tiny", cut: 0x3c8),
    Damage("tiny", 0x10, [0x58], .notRealmFile),
    Damage("tiny", 0x14, [0x19], .tooNew), Damage("tiny", 0x14, [0x09], .tooOld),
    Damage("tiny", 0x14, [0x00]),
    Damage("tiny", 0, [0xc1]), Damage("tiny", 0, [0xc4]), Damage("tiny", 0, [0, 0x10]),
    Damage("tiny", 0, [0xf8] + [UInt8](repeating: 0xff, count: 7)),
    Damage("tiny", 0, [8, 0]), Damage("tiny", 0, [UInt8](repeating: 0xff, count: 8)),
    Damage("tiny", 0x3c4, [0x5e]), Damage("tiny", 0x3c4, [0x06]),
    Damage("tiny", 0x3c5, [0xff, 0xff, 0xff]), Damage("tiny", 0x3c5, [0, 0, 4]),
    Damage("tiny", 0x3cc, [0xc0, 0x03]), Damage("tiny", 0x3c8, [0x19]),
    Damage("tiny", 0x3d0, [0x01, 0xf0, 0xff, 0x7f]), Damage("tiny", 0x342, [0x38, 0x03]),
    Damage("tiny", 0x1f, [0x01]), Damage("tiny", 0x2f, [0x10]), Damage("tiny", 0x2bf, [0x80]),
    Damage("tiny", 0x2af, [0x02]), Damage("tiny", 0x308, [0xff, 0x7f]),
    Damage("tiny", 0x30a, [0x00, 0x03]), Damage("tiny", 0x304, [0xc5]),
    Damage("tiny", 0x30a, [0, 0]), Damage("tiny", 0x130, [0xff, 0xff]),
    Damage("tiny", 0x12a, [0x3f]), Damage("tiny", 0xff, [0x02]), Damage("tiny", 0xef, [0x01]),
    Damage("tiny", 0x2ac, [0x0f]),
    Damage("streaming", -8, [0]), Damage("streaming", -16, [0xff, 0xff]),
    Damage("streaming", cut: -8),
    Damage("encrypted", 0x1000, [0], .wrongKey), Damage("encrypted", 0, [0, 0, 0, 0]),
    Damage("encrypted", cut: 4096), Damage("encrypted", cut: 8191),
  ]

  private func read(_ bytes: [UInt8], key: [UInt8]? = nil) throws -> [String] {
    let folder = TemporaryFolder()
    return try RealmDump.lines(
      of: RealmFile(folder.file("x.realm", bytes), key: key), all: true)
  }

  @Test(arguments: refused)
  func aDamagedFileIsRefused(_ damage: Damage) throws {
    let fixture = RealmFixture.named(damage.name)
    let error = try #require(throws: RealmFileError.self) {
      try read(damage.apply(to: fixture.bytes), key: fixture.key)
    }
    #expect(error.code == damage.code, "\(error)")
  }

  /// The version before: it has the class without objects, or its space was used again.
  @Test func anOldVersionIsReadOrRefused() throws {
    var bytes = try RealmFixture.named("tiny").bytes
    bytes[0x17] = 1
    let lines = try? read(bytes)
    #expect((lines?.count ?? 0) <= 4)
  }

  /// All numbers of an array without width are 0: nothing tells that there were others.
  @Test func aWidthOfZeroMeansZeros() throws {
    var bytes = try RealmFixture.named("tiny").bytes
    bytes[0x2e4] = 0
    let objects = try read(bytes).filter { $0.hasPrefix(#"{"object":"Dog""#) }
    #expect(objects.count == 3)
    #expect(objects.allSatisfy { $0.contains(#""age":0"#) })
  }

  @Test func theKeyMustFit() throws {
    let fixture = RealmFixture.named("encrypted")
    let key = try #require(fixture.key)
    for index in [0, 63] {
      var wrong = key
      wrong[index] ^= 1
      let error = #expect(throws: RealmFileError.self) { try RealmFile(fixture.path, key: wrong) }
      #expect(error?.code == .wrongKey)
    }
    let short = #expect(throws: RealmFileError.self) {
      try RealmFile(fixture.path, key: Array(key.dropLast()))
    }
    #expect(short?.detail == "the key must have 64 bytes, and this one has 63")
    let missing = #expect(throws: RealmFileError.self) { try RealmFile(fixture.path) }
    #expect(missing?.code == .notRealmFile)
    #expect(missing?.detail.contains("encrypted") == true)
    let needless = #expect(throws: RealmFileError.self) {
      try RealmFile(RealmFixture.named("tiny").path, key: key)
    }
    #expect(needless?.code == .wrongKey)
  }

  @Test func whatIsNotAFileIsRefused() {
    let folder = TemporaryFolder()
    let missing = #expect(throws: RealmFileError.self) { try RealmFile(folder.file("none")) }
    #expect(missing?.code == .unreadable)
    let directory = #expect(throws: RealmFileError.self) { try RealmFile(folder.path) }
    #expect(directory?.code == .notRealmFile)
  }

  /// The message leads to the damage.
  @Test func anErrorNamesThePlace() throws {
    var bytes = try RealmFixture.named("tiny").bytes
    bytes[0x2bf] = 0x80
    let error = #expect(throws: RealmFileError.self) { try read(bytes) }
    #expect(
      error?.description
        == "the file is damaged: a text has a negative length (class 'Dog', property 'name'), "
        + "at offset 680")
  }
}
