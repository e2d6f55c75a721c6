import TestSupport
import Testing

@testable import TarnStore

@Suite struct RetentionPolicyTests {
  private func limits(_ random: inout SeededRandom) -> RetentionLimits {
    func number() -> UInt64? { random.chance(50) ? UInt64(random.below(6)) : nil }
    return RetentionLimits(age: number(), versions: number(), bytes: number())
  }

  private func policy(_ random: inout SeededRandom) -> RetentionPolicy {
    var all: [RetentionLimits] = []
    for _ in 0..<random.below(4) { all.append(limits(&random)) }
    return RetentionPolicy(all, keepsOldValues: random.chance(30))
  }

  private func note(age: Int, bytes: Int) -> CommitNote {
    CommitNote(time: 0, stamp: 1, age: UInt64(age), logBytes: UInt64(bytes))
  }

  @Test(arguments: Seeds.of(1...40))
  func aUnionKeepsWhatEitherKeeps(seed: Int) {
    var random = SeededRandom(seed: UInt64(seed))
    let (a, b) = (policy(&random), policy(&random))
    let both = a.union(b)
    #expect(both == b.union(a))
    #expect(both.union(a) == both)
    let isEmpty = a.isEmpty && b.isEmpty
    #expect(both.isEmpty == isEmpty)
    let now = (version: Version(8), note: Optional(note(age: 8, bytes: 8)))
    for version in 1...8 {
      for (age, bytes) in [(version, 8), (8, version), (version, version)] {
        let note = note(age: age, bytes: bytes)
        let version = Version(UInt64(version))
        let expected = a.keeps(version, note, now: now) || b.keeps(version, note, now: now)
        #expect(both.keeps(version, note, now: now) == expected)
      }
    }
  }

  @Test(arguments: Seeds.of(1...40))
  func settingsAreReadBack(seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    let settings = FeedSettings(changes: 7, nextNumber: 3, retention: policy(&random))
    let bytes = settings.encoded()
    let read = try bytes.withUnsafeBytes { bytes throws(StorageError) in
      try FeedSettings(decoding: bytes)
    }
    #expect(read == settings)
    // A library that knows one set of limits reads what it can.
    #expect(bytes[0] == (settings.retention.limits.count > 1 ? 2 : 1))
    for index in bytes.indices {
      var damaged = bytes
      damaged[index] ^= UInt8(1 + random.below(255))
      #expect(throws: StorageError.self) {
        try damaged.withUnsafeBytes { bytes throws(StorageError) in
          try FeedSettings(decoding: bytes)
        }
      }
    }
  }

  @Test func tooManyLimitsAreRefused() throws {
    let file = TemporaryStore()
    let store = try file.open([])
    func one(_ number: UInt64) -> RetentionPolicy {
      RetentionPolicy(RetentionLimits(age: number, versions: 100 - number))
    }
    for number in 1...8 { try store.raiseRetention(to: one(UInt64(number))) }
    #expect(try store.retention().limits.count == 8)
    #expect(StorageError.code { try store.raiseRetention(to: one(9)) } == .limitExceeded)
    try store.raiseRetention(to: RetentionPolicy(RetentionLimits(age: 10, versions: 100)))
    #expect(try store.retention().limits.count == 1)
  }
}
