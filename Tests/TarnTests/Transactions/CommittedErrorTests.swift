import Foundation
import TestSupport
import Testing

@testable import Tarn
@testable import TarnStore

/// Writes that are committed, although their instance cannot read the new version: all read
/// transactions are in use.
@Suite(
  .enabled(
    if: Sanitizer.active != .thread,
    "looking who has all read transactions takes longer there than the pause between two looks")
)
struct CommittedErrorTests {
  private func expectCommitted(_ error: Realm.Error?) {
    #expect(error?.code == .committed)
    #expect(error?.isCommitted == true)
    #expect(error?.message.contains("do not repeat it") == true, "\(error?.message ?? "")")
    #expect(error?.message.contains("read transactions") == true, "\(error?.message ?? "")")
  }

  /// - Parameter write: adds cat 1 in one write, and returns how that failed.
  private func expectItIsThere(
    _ durability: Realm.Configuration.Durability, _ write: (Instance) -> Realm.Error?
  ) throws {
    let shelter = try Shelter(durability)
    let (a, b) = (try shelter.open(), try shelter.open())
    let (mine, others) = (CatRecorder(a.cats), CatRecorder(b.cats))
    a.pump()
    b.pump()
    let taken = try AllReaders.take(
      of: shelter.configuration.fileURL!.path, durability == .full ? .full : .relaxed)
    expectCommitted(write(a))
    // It shows the version before, and can be used.
    #expect(!a.realm.isInWriteTransaction)
    #expect(!a.realm.refresh())
    #expect(a.cats.isEmpty)
    b.pump()
    #expect(others.calls.count == 1)
    for transaction in taken { transaction.end() }
    // The others are woken as by every commit.
    while others.calls.count < 2, b.scheduler.wait(timeout: 20) { b.pump() }
    #expect(others.calls == ["initial 0", "-[] +[0] ~[]"])
    while mine.calls.count < 2, a.scheduler.wait(timeout: 20) { a.pump() }
    #expect(mine.calls == ["initial 0", "-[] +[0] ~[]"])
    try a.add(2)
    #expect(a.cats.map(\.id).sorted() == [1, 2])
  }

  @Test func aWriteSaysSo() throws {
    try expectItIsThere(.relaxed) { a in
      #expect(throws: Realm.Error.self) { try a.add(1) }
    }
  }

  @Test(arguments: [Realm.Configuration.Durability.full, .relaxed])
  func anAsynchronousWriteSaysSo(_ durability: Realm.Configuration.Durability) throws {
    try expectItIsThere(durability) { a in
      var outcome: (any Error)??
      a.realm.writeAsync {
        a.realm.add(Cat(1))
      } onComplete: {
        outcome = $0
      }
      while outcome == nil, a.scheduler.wait(timeout: 20) { a.pump() }
      return outcome as? Realm.Error
    }
  }

  @Test func otherErrorsSayThatNothingWasWritten() {
    for code in Realm.Error.Code.allCases where ![.committed, .outcomeUnknown].contains(code) {
      #expect(Realm.Error(code).isCommitted == false)
    }
    #expect(Realm.Error.outcomeUnknown.isCommitted == nil)
  }
}
