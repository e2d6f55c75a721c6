import TestSupport
import Testing

@testable import TarnStore

@Suite("Notes of commits")
struct CommitNoteTests {
  private static let second: Int64 = 1_000_000
  private static let hour: Int64 = 3_600_000_000

  /// What the note of the next commit says, by the wall clocks of both.
  struct Step: CustomTestStringConvertible {
    let last: Int64
    let next: Int64
    let age: UInt64
    var testDescription: String { "from \(last) to \(next)" }
  }

  @Test(
    "the age grows by the time since the last commit, by an hour at most, and never shrinks",
    arguments: [
      Step(last: 1000 * second, next: 1002 * second, age: 2_000_000),
      Step(last: 1000 * second, next: 1000 * second, age: 0),
      Step(last: 1000 * second, next: 900 * second, age: 0),
      Step(last: 1000 * second, next: 1000 * second + hour, age: 3_600_000_000),
      Step(last: 1000 * second, next: 9_000_000 * second, age: 3_600_000_000),
      Step(last: -10 * second, next: -5 * second, age: 0),
      Step(last: -10 * second, next: 3 * second, age: 3_000_000),
      Step(last: .min, next: .max, age: 3_600_000_000),
      Step(last: .max, next: .min, age: 0),
    ])
  func age(of step: Step) {
    let last = CommitNote(time: step.last, stamp: 7, age: 100, logBytes: 50)
    let next = CommitNote(after: last, at: step.next, cursors: [], origin: "")
    #expect(next.age == 100 + step.age)
    #expect(next.time == step.next)
    #expect(next.logBytes == 50)
  }

  @Test("the age follows a known time, whatever the wall clock shows", arguments: [0, 90, 7_200])
  func ageOfKnownTime(seconds: UInt64) {
    let last = CommitNote(time: 1000 * Self.second, stamp: 7, age: 100, logBytes: 50)
    for time in [Int64.min, 900 * Self.second, 9_000_000 * Self.second] {
      let elapsed = seconds * 1_000_000
      let next = CommitNote(after: last, at: time, elapsed: elapsed, cursors: [], origin: "")
      #expect(next.age == 100 + elapsed)
    }
    #expect(CommitNote(after: nil, at: 5, elapsed: 9, cursors: [], origin: "").age == 0)
  }

  @Test("stamps follow the clock, and rise when it does not")
  func stamps() {
    let last = CommitNote(time: 5000, stamp: 5000, age: 0, logBytes: 0)
    func stamp(_ time: Int64, atLeast floor: UInt64 = 0) -> UInt64 {
      CommitNote(after: last, at: time, cursors: [], origin: "", stampAtLeast: floor).stamp
    }
    #expect(stamp(6000) == 6000)
    #expect(stamp(5000) == 5001)
    #expect(stamp(10) == 5001)
    #expect(stamp(-10) == 5001)
    #expect(stamp(6000, atLeast: 9000) == 9000)
    #expect(CommitNote(after: nil, at: 77, cursors: [], origin: "").stamp == 77)
  }

  @Test("names of programs are cut at the end of a character")
  func names() {
    func origin(_ name: String) -> String {
      CommitNote(after: nil, at: 0, cursors: [], origin: name).origin
    }
    #expect(origin("tarn[12]") == "tarn[12]")
    #expect(origin(String(repeating: "a", count: 70)) == String(repeating: "a", count: 64))
    #expect(origin(String(repeating: "é", count: 40)) == String(repeating: "é", count: 32))
    #expect(origin("a" + String(repeating: "é", count: 40)).utf8.count == 63)
  }

  // MARK: - In the file

  private static let dogs = ClassDefinition(
    name: "Dog", properties: [.init(name: "age", type: .int)])

  private func note(_ store: Store, _ snapshot: Snapshot) throws -> CommitNote {
    let header = try ChangeLog.header(of: snapshot.version, in: snapshot.transaction)
    return try #require(header?.meta.note)
  }

  @Test("each commit adds the bytes of its record, and another process goes on from the file")
  func chain() throws {
    let file = TemporaryStore()
    var opened: Store? = try file.open([Self.dogs])
    var bytes: UInt64 = 0
    var last: CommitNote?
    for round in 0..<6 {
      // A store that was opened again knows no notes, as another process.
      if round.isMultiple(of: 2) {
        opened = nil
        opened = try file.open([Self.dogs])
      }
      let store = try #require(opened)
      try store.write { session in
        session.origin = "round \(round)"
        session.cursorsOfCommit = round == 3 ? [9, 4] : []
        if round > 0 { _ = try session.create([:], in: ClassID(0)) }
      }
      let newest = try store.newestSnapshot()
      let found = try note(store, newest)
      let record = try #require(try store.retainedVersions().last)
      bytes += UInt64(record.byteCount)
      #expect(found.logBytes == bytes)
      #expect(found.origin == "round \(round)")
      #expect(found.cursors == (round == 3 ? [4, 9] : []))
      if let last { #expect(found.stamp > last.stamp) }
      last = found
    }
  }

  @Test("a write belongs to sixteen cursors at most")
  func cursorsOfACommit() throws {
    let file = TemporaryStore()
    let store = try file.open([Self.dogs])
    let before = try store.newestSnapshot().version
    let error = #expect(throws: StorageError.self) {
      try store.write { $0.cursorsOfCommit = Array(1...17) }
    }
    #expect(error?.code == .limitExceeded)
    #expect(try store.newestSnapshot().version == before)
  }
}
