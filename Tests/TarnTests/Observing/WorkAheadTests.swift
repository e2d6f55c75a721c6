import Foundation
import Testing

@testable import Tarn
@testable import TarnStore

/// Large steps and first evaluations, which a worker computes before the turn that needs them.
struct WorkAheadTests {
  /// A file of cats 0..<40, aged ten times their ids, with a writer and an instance whose observer
  /// has been told of the cats older than 200. Its turns follow one cat by themselves.
  private struct Watched {
    let shelter: Shelter
    let writer: Instance
    let home: Instance
    let recorder: CatRecorder

    init() throws {
      shelter = try Shelter()
      writer = try shelter.open(cats: 40)
      home = try shelter.open()
      home.realm.useWorker(rows: 10)
      recorder = CatRecorder(home.cats.where { $0.age > 200 }.sorted(by: \.age))
      home.settle()
      try #require(recorder.calls == ["initial 19"])
    }

    /// Adds cats between the watched ones.
    func addMany(_ ids: Range<Int>) throws {
      try writer.write { for id in ids { writer.realm.add(Cat(id, age: 305)) } }
    }

    /// The home has asked the worker for the way to a commit that adds cats; the worker is held.
    func holdUpAnAddition(_ ids: Range<Int> = 100..<120) throws -> HeldWorker {
      let held = home.realm.holdWorker()
      try addMany(ids)
      home.pump()
      try #require(held.waitUntilHeld())
      return held
    }

    func checkMirror() {
      writer.realm.refresh()
      #expect(recorder.problems == [])
      #expect(recorder.mirror == writer.cats.where { $0.age > 200 }.sorted(by: \.age).map(\.id))
    }
  }

  @Test func aLargeCommitIsShownWhenTheWorkerIsDone() throws {
    let watched = try Watched()
    let held = try watched.holdUpAnAddition()
    watched.home.pump()
    #expect(watched.home.cats.count == 40)
    #expect(watched.recorder.calls.count == 1)
    watched.home.realm.goOn(held)
    watched.home.settle()
    #expect(watched.home.cats.count == 60)
    let added = Array(10...29)
    #expect(watched.recorder.calls == ["initial 19", "-[] +\(added) ~[]"])
    watched.checkMirror()
  }

  @Test func thousandsOfRowsComeAndGo() throws {
    let watched = try Watched()
    try watched.addMany(1_000..<2_500)
    watched.home.settle()
    try watched.writer.write {
      watched.writer.realm.delete(watched.writer.cats.where { $0.id > 1_200 })
    }
    watched.home.settle()
    #expect(watched.recorder.calls.count == 3)
    watched.checkMirror()
  }

  @Test func aSmallCommitMeanwhileIsMovedToAfterwards() throws {
    let watched = try Watched()
    let held = try watched.holdUpAnAddition()
    try watched.writer.write { watched.writer.cat(39)?.age = 201 }
    watched.home.pump()
    #expect(watched.recorder.calls.count == 1)
    watched.home.realm.goOn(held)
    watched.home.settle()
    let added = Array(10...29)
    #expect(
      watched.recorder.calls == ["initial 19", "-[] +\(added) ~[]", "-[38] +[0] ~[]"])
    watched.checkMirror()
  }

  @Test func largeCommitsMeanwhileAreMerged() throws {
    let watched = try Watched()
    let held = try watched.holdUpAnAddition()
    for first in [200, 220, 240] { try watched.addMany(first..<first + 20) }
    watched.home.pump()
    watched.home.realm.goOn(held)
    watched.home.settle()
    #expect(watched.recorder.calls.count == 3)
    watched.checkMirror()
  }

  @Test func theFirstEvaluationOfManyRows() throws {
    let watched = try Watched()
    let home = watched.home
    try watched.writer.write { watched.writer.realm.add(Home("a")) }
    home.settle()
    let held = home.realm.holdWorker()
    let first = CatRecorder(home.cats.sorted(by: \.name))
    home.pump()
    try #require(held.waitUntilHeld())
    // A small step and another observer's first call do not wait for it.
    try watched.writer.write { watched.writer.cat(39)?.name = "" }
    let homes = home.realm.objects(Home.self)
    var counts: [Int] = []
    let token = homes.observe { if case .initial(let homes) = $0 { counts.append(homes.count) } }
    home.pump()
    #expect(counts == [1])
    #expect(watched.recorder.calls == ["initial 19", "-[] +[] ~[18]"])
    #expect(first.calls == [])
    home.realm.goOn(held)
    home.settle()
    #expect(counts == [1])
    #expect(first.calls == ["initial 40"])
    #expect(first.mirror.first == 39)
    try watched.writer.write { watched.writer.cat(0)?.name = "" }
    home.settle()
    #expect(first.calls == ["initial 40", "-[1] +[0] ~[]"])
    #expect(first.problems == [])
    watched.checkMirror()
    token.invalidate()
  }

  @Test func aLargeStepAfterAFirstEvaluationThatIsUnderWay() throws {
    let watched = try Watched()
    let held = watched.home.realm.holdWorker()
    let first = CatRecorder(watched.home.cats.sorted(by: \.name))
    watched.home.pump()
    try #require(held.waitUntilHeld())
    try watched.addMany(100..<120)
    watched.home.pump()
    watched.home.realm.goOn(held)
    watched.home.settle()
    #expect(first.calls.first == "initial 40")
    #expect(first.calls.count == 2)
    #expect(first.mirror == watched.writer.cats.sorted(by: \.name).map(\.id))
    watched.checkMirror()
  }

  @Test func manySmallStepsDuringAFirstEvaluation() throws {
    let watched = try Watched()
    let held = watched.home.realm.holdWorker()
    let first = CatRecorder(watched.home.cats.sorted(by: \.name))
    watched.home.pump()
    try #require(held.waitUntilHeld())
    // More than an instance remembers, and more than a turn follows: a second piece of work.
    for id in 0..<40 {
      try watched.writer.write { watched.writer.cat(id)?.name = "\(97 * id % 40)" }
      watched.home.pump()
    }
    #expect(watched.recorder.calls.count == 20)
    watched.home.realm.goOn(held)
    watched.home.settle()
    #expect(first.calls == ["initial 40"])
    #expect(first.mirror == watched.writer.cats.sorted(by: \.name).map(\.id))
    watched.checkMirror()
  }

  @Test func refreshComputesByItself() throws {
    let watched = try Watched()
    let held = try watched.holdUpAnAddition()
    let first = CatRecorder(watched.home.cats.sorted(by: \.name))
    watched.home.pump()
    #expect(first.calls == [])
    #expect(watched.home.realm.refresh())
    #expect(watched.recorder.calls.count == 2)
    #expect(first.calls == ["initial 60"])
    watched.checkMirror()
    // The work has come to nothing; a step that needs a worker waits until it has ended.
    try watched.addMany(200..<220)
    watched.home.pump()
    #expect(watched.recorder.calls.count == 2)
    watched.home.realm.goOn(held)
    watched.home.settle()
    #expect(watched.recorder.calls.count == 3)
    #expect(first.calls.count == 2)
    watched.checkMirror()
  }

  @Test func aWriteComputesByItself() throws {
    let watched = try Watched()
    let held = try watched.holdUpAnAddition()
    try watched.home.write {
      #expect(watched.recorder.calls.count == 2)
      watched.checkMirror()
      watched.home.cat(100)?.age = 9
    }
    watched.home.realm.goOn(held)
    watched.home.settle()
    #expect(watched.recorder.calls.count == 3)
    #expect(watched.recorder.calls.last == "-[10] +[] ~[]")
    watched.checkMirror()
  }

  @Test func withAutorefreshSwitchedOffMeanwhileNothingMoves() throws {
    let watched = try Watched()
    let held = try watched.holdUpAnAddition()
    watched.home.realm.autorefresh = false
    watched.home.realm.goOn(held)
    watched.home.settle()
    #expect(watched.home.cats.count == 40)
    watched.home.realm.autorefresh = true
    watched.home.settle()
    #expect(watched.recorder.calls.count == 2)
    watched.checkMirror()
  }

  @Test func aTokenIsInvalidatedMeanwhile() throws {
    let watched = try Watched()
    let other = CatRecorder(watched.home.cats.sorted(by: \.name))
    watched.home.settle()
    let held = try watched.holdUpAnAddition()
    watched.recorder.token?.invalidate()
    watched.home.realm.goOn(held)
    watched.home.settle()
    #expect(watched.recorder.calls.count == 1)
    #expect(other.calls.count == 2)
    #expect(other.problems == [])
  }

  @Test func anInstanceIsLetGoOfMeanwhile() throws {
    let shelter = try Shelter()
    let writer = try shelter.open(cats: 40)
    var home: Instance? = try shelter.open()
    home?.realm.useWorker(rows: 10)
    var recorder: CatRecorder? = CatRecorder(home!.cats)
    home?.settle()
    let held = try #require(home?.realm.holdWorker())
    try writer.write { writer.realm.delete(writer.cats) }
    home?.pump()
    try #require(held.waitUntilHeld())
    weak let core = home?.realm.core
    weak let work = home?.realm.core.advancer.workAhead?.work
    let calls = try #require(recorder?.calls)
    recorder = nil
    home = nil
    #expect(core == nil)
    #expect(work != nil)
    try writer.add(1)
    let store = writer.realm.core.store
    #expect(store.activeVersionCount() == 2)
    held.release()
    // Nothing tells that it is gone. The version goes last: weak references are nil before that.
    let limit = ContinuousClock.now + .seconds(300)
    while store.activeVersionCount() > 1, ContinuousClock.now < limit { sched_yield() }
    #expect(store.activeVersionCount() == 1)
    #expect(work == nil)
    #expect(calls == ["initial 40"])
  }

  @Test func aFailureOnTheWorkerIsToldAsOneInTheTurn() throws {
    let shelter = try Shelter()
    let home = try shelter.open(cats: 3)
    home.realm.useWorker(rows: 10, commits: 0)
    let recorder = CatRecorder(home.cats)
    home.settle()
    let store = home.realm.core.store
    let version = try commitAndLetGo(shelter)
    try store.environment.write { transaction throws(StorageError) in
      try TreeKey.changeHeader(version).withBytes { key throws(StorageError) in
        #expect(try transaction.delete(key))
      }
    }
    home.settle()
    #expect(recorder.calls.count == 2)
    #expect(recorder.calls.last?.hasPrefix("error") == true)
    #expect(home.cats.count == 3)
  }

  /// A commit of an instance that is gone afterwards, and its snapshot with it.
  private func commitAndLetGo(_ shelter: Shelter) throws -> Version {
    let writer = try shelter.open()
    try writer.add(7)
    return try #require(writer.realm.core.shownVersion)
  }

  @Test func longRecordsAreMergedByTheWorker() throws {
    let watched = try Watched()
    watched.home.realm.core.advancer.workLimits.recordBytes = 0
    let held = watched.home.realm.holdWorker()
    try watched.writer.write { watched.writer.cat(39)?.age = 201 }
    watched.home.pump()
    try #require(held.waitUntilHeld())
    #expect(watched.recorder.calls.count == 1)
    watched.home.realm.goOn(held)
    watched.home.settle()
    #expect(watched.recorder.calls == ["initial 19", "-[18] +[0] ~[]"])
    watched.checkMirror()
  }

  @Test func aManualSchedulerComputesInItsTurn() throws {
    let shelter = try Shelter()
    let writer = try shelter.open(cats: 40)
    let home = try shelter.open()
    home.realm.core.advancer.workLimits.rows = 0
    let recorder = CatRecorder(home.cats)
    home.scheduler.pump()
    #expect(recorder.calls == ["initial 40"])
    try writer.write { writer.realm.delete(writer.cats) }
    home.scheduler.pump()
    #expect(recorder.calls.count == 2)
    #expect(recorder.mirror == [])
    #expect(!home.realm.isAtWork)
  }
}
