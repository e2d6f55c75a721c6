import Foundation
import TestSupport
import Testing

@testable import Tarn

private let durabilities: [Realm.Configuration.Durability] = [.full, .relaxed]

/// Writes that nobody waits for.
struct AsyncWriteTests {
  @Test(
    "a block runs in a later turn, and its completion after the commit",
    arguments: durabilities)
  func aBlockRunsInALaterTurnAndItsCompletionAfterTheCommit(
    _ durability: Realm.Configuration.Durability
  ) throws {
    let a = try Shelter(durability).open()
    var log: [String] = []
    a.realm.writeAsync {
      log.append("block \(a.realm.isInWriteTransaction)")
      a.realm.add(Cat(1))
    } onComplete: { error in
      log.append("complete \(error == nil) \(a.realm.isInWriteTransaction) \(a.cats.count)")
    }
    #expect(log == [])
    #expect(a.realm.isPerformingAsynchronousWriteOperations)
    a.finish()
    #expect(log == ["block true", "complete true false 1"])
    #expect(!a.realm.isPerformingAsynchronousWriteOperations)
  }

  @Test("blocks run in order, after ordinary writes", arguments: durabilities)
  func blocksRunInOrderAndWritesOfTheProgramGoFirst(
    _ durability: Realm.Configuration.Durability
  ) throws {
    let a = try Shelter(durability).open()
    var log: [String] = []
    func add(_ id: Int) {
      a.realm.writeAsync {
        log.append("block \(id)")
        a.realm.add(Cat(id))
        if id < 10 { add(id + 10) }
      } onComplete: { _ in
        log.append("done \(id)")
      }
    }
    add(1)
    add(2)
    try a.write {
      log.append("write")
      add(3)
      a.pump()
      log.append("end")
    }
    a.finish()
    let blocks = log.filter { !$0.hasPrefix("done") }
    #expect(
      blocks == ["write", "end"] + [1, 2, 3, 11, 12, 13].map { "block \($0)" })
    #expect(
      log.filter { $0.hasPrefix("done") } == [1, 2, 3, 11, 12, 13].map { "done \($0)" })
    #expect(a.cats.map(\.id) == [1, 2, 3, 11, 12, 13])
  }

  @Test("a block may be queued in an observer callback", arguments: durabilities)
  func aBlockMayBeQueuedInACallback(_ durability: Realm.Configuration.Durability) throws {
    let a = try Shelter(durability).open()
    var told: [Int] = []
    let token = a.cats.observe { change in
      if case .update(let cats, _, _, _) = change {
        told.append(cats.count)
        if cats.count < 3 { cats.realm!.writeAsync { a.realm.add(Cat(cats.count)) } }
      }
    }
    a.pump()
    a.realm.writeAsync { a.realm.add(Cat(0)) }
    a.finish()
    #expect(told == [1, 2, 3])
    // Its result may be ignored, also in a callback that the begin of a write calls.
    let b = try Instance(a.realm.configuration)
    try b.add(50)
    try a.write { #expect(told.last == 4) }
    a.realm.writeAsync { a.realm.add(Cat(60)) }
    a.finish()
    #expect(told.last == 5)
    token.invalidate()
  }

  @Test("a block that does not commit is rolled back", arguments: durabilities)
  func aBlockThatDoesNotCommitIsRolledBack(_ durability: Realm.Configuration.Durability) throws {
    let a = try Shelter(durability).open()
    var log: [String] = []
    a.realm.beginAsyncWrite { a.realm.add(Cat(1)) }
    a.realm.beginAsyncWrite {
      a.realm.add(Cat(2))
      a.realm.commitAsyncWrite { error in log.append("2 \(error == nil)") }
      log.append("shown \(a.cats.count) \(a.realm.isInWriteTransaction)")
    }
    a.realm.beginAsyncWrite {
      a.realm.add(Cat(3))
      try! a.realm.commitWrite()
    }
    a.finish()
    #expect(log == ["shown 1 false", "2 true"])
    #expect(a.cats.map(\.id) == [2, 3])
  }

  @Test("a block may commit or cancel its write", arguments: durabilities)
  func aBlockMayEndItsWrite(_ durability: Realm.Configuration.Durability) throws {
    let a = try Shelter(durability).open()
    var log: [String] = []
    a.realm.writeAsync {
      a.realm.add(Cat(1))
      a.realm.cancelWrite()
    } onComplete: {
      log.append("1 \($0 == nil)")
    }
    a.realm.writeAsync {
      a.realm.add(Cat(2))
      try! a.realm.commitWrite()
    } onComplete: {
      log.append("2 \($0 == nil)")
    }
    a.realm.writeAsync {
      a.realm.cancelWrite()
      a.realm.beginWrite()
      a.realm.add(Cat(3))
    } onComplete: {
      log.append("3 \($0 == nil)")
    }
    a.finish()
    #expect(log == ["1 true", "2 true", "3 true"])
    #expect(a.cats.map(\.id) == [2, 3])
  }

  @Test("cancelling removes a block that has not begun", arguments: durabilities)
  func cancellingTakesOutWhatHasNotBegun(_ durability: Realm.Configuration.Durability) throws {
    let a = try Shelter(durability).open()
    var log: [String] = []
    func queue(_ id: Int) -> AsyncTransactionId {
      a.realm.writeAsync {
        log.append("block \(id)")
        a.realm.add(Cat(id))
      } onComplete: { _ in
        log.append("done \(id)")
      }
    }
    let ids = (0..<4).map(queue)
    try a.realm.cancelAsyncWrite(ids[0])
    try a.realm.cancelAsyncWrite(ids[2])
    a.finish()
    #expect(log == ["block 1", "done 1", "block 3", "done 3"])
    // One that has run.
    try a.realm.cancelAsyncWrite(ids[1])
    // A commit: the data stays.
    a.realm.beginWrite()
    a.realm.add(Cat(7))
    let commit = a.realm.commitAsyncWrite { _ in log.append("never") }
    try a.realm.cancelAsyncWrite(commit)
    a.finish()
    #expect(!log.contains("never"))
    #expect(a.cats.map(\.id) == [1, 3, 7])
  }

  @Test(
    "an asynchronous commit is visible at once, and observers are called",
    arguments: durabilities)
  func aCommitIsShownAtOnceAndToldOf(_ durability: Realm.Configuration.Durability) throws {
    let a = try Shelter(durability).open()
    try a.add(1)
    let cat = a.cat(1)!
    var log: [String] = []
    let token = a.realm.observe { _, realm in
      log.append("did change \(realm.objects(Cat.self).count) \(cat.age)")
    }
    let recorder = CatRecorder(a.cats)
    a.pump()
    a.realm.beginWrite()
    cat.age = 5
    a.realm.add(Cat(2))
    a.realm.commitAsyncWrite { _ in log.append("on disk \(a.cats.count) \(cat.age)") }
    #expect(log == ["did change 2 5"])
    #expect(!a.realm.isInWriteTransaction)
    #expect(cat.age == 5)
    #expect(a.cat(2) != nil)
    // Observers are called in a later turn.
    #expect(recorder.calls == ["initial 1"])
    a.finish()
    #expect(log == ["did change 2 5", "on disk 2 5"])
    #expect(recorder.calls == ["initial 1", "-[] +[1] ~[0]"])
    #expect(recorder.problems == [])
    token.invalidate()
  }

  @Test("values read before and after a commit reaches the disk are the same")
  func whatIsReadBeforeTheDiskIsWhatIsReadAfterIt() throws {
    let a = try Shelter(.full).open()
    func hoard(_ id: Int) -> Hoard { a.realm.object(ofType: Hoard.self, forPrimaryKey: id)! }
    func text() -> String {
      let all = a.realm.objects(Hoard.self)
      let lines = all.map { hoard in
        "\(hoard.id) \(Array(hoard.numbers)) \(hoard.words.sorted()) "
          + "\(hoard.ages.keys.sorted()) \(hoard.cats.map(\.name)) \(hoard.long.count) "
          + "\(hoard.anything) \(hoard.next?.id ?? -1) \(hoard.before.map(\.id))"
      }
      let found = a.cats.where { $0.age > 5 }.sorted(by: \.age, ascending: false).map(\.id)
      let indexed = a.cats.where { $0.age == 10 }.count
      let linked = hoard(0).cats.where { $0.age > 3 }.map(\.id)
      return "\(Array(lines)) \(Array(found)) \(indexed) \(Array(linked)) "
        + "\(a.cats.sum(of: \.age)) \(hoard(0).numbers.sorted().first ?? -1)"
    }
    func change(_ round: Int) {
      for id in 0..<20 {
        let hoard = a.realm.create(Hoard.self, value: ["id": id], update: .modified)
        hoard.numbers.append(objectsIn: (0..<30).map { $0 * round })
        if round > 1 { hoard.numbers.removeSubrange(3..<9) }
        hoard.words.insert("word \(round)")
        hoard.ages["age \(round)"] = round
        hoard.long = String(repeating: "long \(round) ", count: 2_000)
        hoard.anything = .int(round)
        hoard.next = id > 0 ? self.hoard(id - 1, a) : nil
        let cat = a.realm.create(
          Cat.self, value: ["id": 100 * round + id, "age": id, "name": "cat \(round)"])
        hoard.cats.insert(cat, at: 0)
      }
      if round == 3 { a.realm.delete(a.cats.where { $0.age < 4 }) }
    }
    let followed = hoardList(a)
    for round in 1...4 {
      a.realm.beginWrite()
      change(round)
      let open = text()
      var isOnDisk = false
      a.realm.commitAsyncWrite { error in isOnDisk = error == nil }
      #expect(text() == open)
      #expect(text() == open)
      // The pump alone moves the instance.
      #expect(!isOnDisk)
      a.finish()
      #expect(isOnDisk)
      #expect(text() == open)
      #expect(followed() == Array(a.realm.objects(Hoard.self).map(\.id)))
    }
    #expect(try Instance(a.realm.configuration).cats.count == a.cats.count)
  }

  private func hoard(_ id: Int, _ a: Instance) -> Hoard {
    a.realm.object(ofType: Hoard.self, forPrimaryKey: id)!
  }

  private func hoardList(_ a: Instance) -> () -> [Int] {
    let all = a.realm.objects(Hoard.self)
    return { all.map(\.id) }
  }

  @Test("a completion may write in every way", arguments: durabilities)
  func aCompletionMayWriteInEveryWay(_ durability: Realm.Configuration.Durability) throws {
    let a = try Shelter(durability).open()
    var log: [String] = []
    a.realm.writeAsync {
      a.realm.add(Cat(1))
    } onComplete: { _ in
      a.realm.writeAsync {
        a.realm.add(Cat(2))
      } onComplete: { _ in
        log.append("2")
      }
      try! a.write { a.realm.add(Cat(3)) }
      a.realm.beginWrite()
      a.realm.add(Cat(4))
      a.realm.commitAsyncWrite { _ in log.append("4") }
      a.realm.beginWrite()
      a.realm.add(Cat(5))
      a.realm.cancelWrite()
    }
    a.finish()
    #expect(log == ["4", "2"])
    #expect(a.cats.map(\.id) == [1, 2, 3, 4])
  }

  @Test("an ordinary write first finishes the commits before it", arguments: durabilities)
  func aWriteOfTheProgramFinishesTheCommitsBefore(
    _ durability: Realm.Configuration.Durability
  ) throws {
    let a = try Shelter(durability).open()
    var log: [String] = []
    a.realm.beginWrite()
    a.realm.add(Cat(1))
    a.realm.commitAsyncWrite { _ in log.append("1") }
    a.realm.beginWrite()
    a.realm.add(Cat(2))
    a.realm.commitAsyncWrite { _ in log.append("2") }
    try a.write { a.realm.add(Cat(3)) }
    #expect(log == ["1", "2"])
    #expect(!a.realm.isPerformingAsynchronousWriteOperations)
    a.finish()
    #expect(log == ["1", "2"])
    #expect(a.cats.map(\.id) == [1, 2, 3])
  }

  @Test("invalidate() keeps what is committed and drops queued blocks", arguments: durabilities)
  func invalidatingKeepsWhatIsCommittedAndDropsTheRest(
    _ durability: Realm.Configuration.Durability
  ) throws {
    let a = try Shelter(durability).open()
    var log: [String] = []
    a.realm.beginWrite()
    a.realm.add(Cat(1))
    a.realm.commitAsyncWrite { _ in log.append("1") }
    a.realm.writeAsync {
      log.append("never")
    } onComplete: { _ in
      log.append("never")
    }
    a.realm.invalidate()
    #expect(a.cats.map(\.id) == [1])
    a.finish()
    #expect(log == ["1"])
  }

  @Test(
    "releasing an instance keeps what is committed and drops queued blocks",
    arguments: durabilities)
  func anInstanceThatGoesKeepsWhatIsCommittedAndDropsTheRest(
    _ durability: Realm.Configuration.Durability
  ) throws {
    let shelter = try Shelter(durability)
    let scheduler = ManualScheduler()
    var log: [String] = []
    do {
      let realm = try Realm(configuration: shelter.configuration, scheduler: scheduler)
      realm.beginWrite()
      realm.add(Cat(1))
      realm.commitAsyncWrite { _ in log.append("1") }
      realm.writeAsync {
        log.append("never")
      } onComplete: { _ in
        log.append("never")
      }
    }
    let b = try shelter.open()
    #expect(b.cats.count == 1)
    while scheduler.pump() {}
    #expect(log == ["1"])
    // The gate is free.
    try b.add(2)
  }

  @Test("writeAsync excludes tokens", arguments: durabilities)
  func tokensCanBeLeftOut(_ durability: Realm.Configuration.Durability) throws {
    let a = try Shelter(durability).open()
    let (left, told) = (CatRecorder(a.cats), CatRecorder(a.cats))
    a.pump()
    a.realm.writeAsync(withoutNotifying: [left.token!]) { a.realm.add(Cat(1)) }
    a.finish()
    a.realm.beginWrite()
    a.realm.add(Cat(2))
    a.realm.commitAsyncWrite(withoutNotifying: [left.token!])
    a.finish()
    #expect(left.calls == ["initial 0"])
    #expect(told.calls == ["initial 0", "-[] +[0] ~[]", "-[] +[1] ~[]"])
    try a.add(3)
    a.pump()
    #expect(left.calls.last == "-[] +[2] ~[]")
  }

  @Test(
    "observing, freezing and refreshing wait for commits to reach the disk",
    arguments: durabilities)
  func observingFreezingAndRefreshingWaitForTheDisk(
    _ durability: Realm.Configuration.Durability
  ) throws {
    let a = try Shelter(durability).open()
    a.realm.beginWrite()
    a.realm.add(Cat(1))
    a.realm.commitAsyncWrite()
    #expect(a.realm.freeze().objects(Cat.self).count == 1)
    a.realm.beginWrite()
    a.realm.add(Cat(2))
    a.realm.commitAsyncWrite()
    a.realm.refresh()
    #expect(a.cats.count == 2)
    let recorder = CatRecorder(a.cats)
    a.finish()
    #expect(recorder.calls == ["initial 2"])
  }

  @Test("the thread does not block while its block waits for the write lock")
  func theGateIsWaitedForElsewhere() throws {
    let shelter = try Shelter(.relaxed)
    let (a, b) = (try shelter.open(), try shelter.open())
    b.realm.beginWrite()
    b.realm.add(Cat(1))
    a.realm.writeAsync { a.realm.add(Cat(2)) }
    // Nothing blocks, and nothing can be done.
    a.pump()
    a.pump()
    #expect(a.cats.count == 0)
    // A write on the way holds nobody up who goes first.
    try b.realm.commitWrite()
    a.finish()
    #expect(a.cats.map(\.id) == [1, 2])
    // Leaving the line.
    b.realm.beginWrite()
    let id = a.realm.writeAsync { Issue.record("cancelled") }
    a.pump()
    try a.realm.cancelAsyncWrite(id)
    b.realm.cancelWrite()
    #expect(!a.realm.isPerformingAsynchronousWriteOperations)
    try a.add(3)
  }

  @Test("an ordinary write takes the queued block's place in the line")
  func aWriteOfTheProgramTakesTheTurnInLine() throws {
    let shelter = try Shelter(.relaxed)
    let (a, b) = (try shelter.open(), try shelter.open())
    b.realm.beginWrite()
    a.realm.writeAsync { a.realm.add(Cat(a.cats.count)) }
    a.pump()
    b.realm.cancelWrite()
    try a.write { a.realm.add(Cat(a.cats.count)) }
    #expect(a.cats.count == 1)
    a.finish()
    #expect(a.cats.map(\.id) == [0, 1])
  }
}

@Suite struct AsyncWriteTrapTests: TrapSuite {
  static let traps: [TrapCase] = [
    TrapCase(
      "queueing a write on a thread without a scheduler",
      "Can't write asynchronously on a thread without a run loop"
    ) { shelter in
      let configuration = shelter.configuration
      let ended = DispatchSemaphore(value: 0)
      let thread = Thread {
        let realm = try! Realm(configuration: configuration)
        realm.writeAsync {}
        ended.signal()
      }
      thread.start()
      ended.wait()
    },
    TrapCase(
      "queueing a write after the scheduler was released",
      "after the Realm's ManualScheduler was released"
    ) { shelter in
      let realm = try Realm(configuration: shelter.configuration, scheduler: ManualScheduler())
      realm.writeAsync {}
    },
    TrapCase(
      "changing an object after commitAsyncWrite()",
      "Cannot modify managed objects outside of a write transaction"
    ) { shelter in
      shelter.durability = .full
      let a = try shelter.open()
      try a.add(1)
      let cat = a.cat(1)!
      a.realm.beginWrite()
      cat.name = "warm"
      a.realm.commitAsyncWrite()
      guard cat.name == "warm" else { return }
      cat.name = "late"
    },
  ]

  private let folder = TemporaryFolder()

  @Test(arguments: traps.map(\.name))
  func stops(_ name: String) async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [path = folder.path as String, name] in
      try await AsyncWriteTrapTests.traps.named(name).run(Shelter(within: path))
    }
    try expect(Self.traps.named(name).message, in: result)
  }
}
