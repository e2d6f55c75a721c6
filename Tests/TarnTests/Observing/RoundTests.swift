import Foundation
import Testing

@testable import Tarn

struct RoundTests {
  @Test func severalCommitsAreToldInOneCall() throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 6)
    let b = try shelter.open()
    let recorder = CatRecorder(b.cats)
    b.pump()
    try a.write { a.realm.delete(a.cat(1)!) }
    try a.write { a.realm.delete(a.cat(4)!) }
    try a.add(9)
    try a.write { a.cat(9)!.name = "new" }
    try a.add(10)
    try a.write { a.realm.delete(a.cat(10)!) }
    b.pump()
    #expect(recorder.calls == ["initial 6", "-[1, 4] +[4] ~[]"])
    #expect(recorder.problems == [])
  }

  @Test func whatChangesBeforeTheFirstCallIsPartOfIt() throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 1)
    let b = try shelter.open()
    let recorder = CatRecorder(b.cats)
    try a.add(5)
    b.pump()
    #expect(recorder.calls == ["initial 2"])
    try a.add(6)
    b.pump()
    #expect(recorder.calls.last == "-[] +[2] ~[]")
  }

  @Test func anUnrelatedChangeCallsNobody() throws {
    let a = try Shelter().open(cats: 2)
    let young = CatRecorder(a.cats.where { $0.age < 5 })
    a.pump()
    try a.write {
      a.realm.add(Stray())
      a.realm.add(Home("empty"))
      a.cat(1)!.name = "still old"
    }
    try a.add(7, age: 50)
    a.pump()
    #expect(young.calls == ["initial 1"])
  }

  /// A callback deletes what another observer is still to be told of in the same round.
  @Test func whatWasDeletedMeanwhileIsToldToBeDeletedOnly() throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 2)
    let b = try shelter.open()
    let token = b.cats.observe { change in
      guard case .update = change, !b.realm.isInWriteTransaction, let cat = b.cat(1) else { return }
      try! b.write { b.realm.delete(cat) }
    }
    var calls: [String] = []
    let own = b.cat(1)!.observe { (change: ObjectChange<Cat>) in
      if case .deleted = change { calls.append("deleted") } else { calls.append("changed") }
    }
    b.pump()
    try a.write { a.cat(1)!.age += 1 }
    b.pump()
    #expect(calls == ["deleted"])
    token.invalidate()
    own.invalidate()
  }

  /// The same in a write that a callback of its begin changes: who is told after that waits for
  /// what becomes of it.
  @Test(arguments: [true, false])
  func whatAnOpenWriteHasDeletedIsToldAfterIt(isCommitted: Bool) throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 2)
    let b = try shelter.open()
    let token = b.cats.observe { _ in
      if b.realm.isInWriteTransaction, let cat = b.cat(1) { b.realm.delete(cat) }
    }
    var calls: [String] = []
    let own = b.cat(1)!.observe { (change: ObjectChange<Cat>) in
      switch change {
      case .change(let cat, let changes): calls.append("\(cat.age) \(changes.map(\.name))")
      case .deleted: calls.append("deleted")
      case .error(let error): Issue.record(error)
      }
    }
    b.pump()
    try a.write { a.cat(1)!.age = 77 }
    b.realm.beginWrite()
    #expect(b.cat(1) == nil)
    #expect(calls.isEmpty)
    b.pump()
    #expect(calls.isEmpty)
    if isCommitted { try b.realm.commitWrite() } else { b.realm.cancelWrite() }
    b.pump()
    #expect(calls == [isCommitted ? "deleted" : "77 [\"age\"]"])
    token.invalidate()
    own.invalidate()
  }

  @Test func anInvalidatedTokenIsNotCalledAgain() throws {
    let a = try Shelter().open(cats: 1)
    let recorder = CatRecorder(a.cats)
    a.pump()
    try a.add(5)
    let token = try #require(recorder.token)
    #expect(token.invalidate())
    #expect(!token.invalidate())
    a.pump()
    #expect(recorder.calls == ["initial 1"])
    #expect(!NotificationToken().invalidate())
  }

  @Test func aTokenThatIsLetGoOfEndsItsObservation() throws {
    let a = try Shelter().open(cats: 1)
    var calls = 0
    _ = a.cats.observe { _ in calls += 1 }
    var token: NotificationToken? = a.cat(0)!.observe { (_: ObjectChange<Cat>) in calls += 1 }
    a.pump()
    #expect(token != nil)
    token = nil
    try a.write { a.cat(0)!.age += 1 }
    a.pump()
    #expect(calls == 0)
    #expect(a.realm.core.delivery.observers.isEmpty)
  }

  @Test func aTokenInvalidatedOnAnotherThreadIsNotCalledAgain() throws {
    let a = try Shelter().open(cats: 1)
    let recorder = CatRecorder(a.cats)
    a.pump()
    try a.add(5)
    let token = try #require(recorder.token)
    DispatchQueue(label: "ending").sync { _ = token.invalidate() }
    a.pump()
    #expect(recorder.calls == ["initial 1"])
    #expect(a.realm.core.delivery.observers.isEmpty)
  }

  @Test func anObserverMayEndAnotherThatWasNotCalledYetAndItself() throws {
    let a = try Shelter().open(cats: 1)
    let first = CatRecorder()
    let second = CatRecorder()
    let third = CatRecorder()
    first.onCall = { cats in
      guard cats.count == 2 else { return }
      second.token?.invalidate()
      first.token?.invalidate()
    }
    for each in [first, second, third] { each.observe(a.cats) }
    a.pump()
    try a.add(5)
    a.pump()
    try a.add(6)
    a.pump()
    #expect([first, second, third].map(\.calls.count) == [2, 1, 3])
    first.onCall = { _ in }
  }

  @Test func anObserverAddedInACallbackIsFirstCalledLater() throws {
    let a = try Shelter().open(cats: 1)
    let outer = CatRecorder()
    let inner = CatRecorder()
    outer.onCall = { cats in
      if cats.count == 2, inner.token == nil { inner.observe(cats) }
      #expect(inner.calls.isEmpty)
    }
    outer.observe(a.cats)
    a.pump()
    try a.add(5)
    a.scheduler.pump()
    #expect(outer.calls.count == 2)
    #expect(inner.calls.isEmpty)
    a.pump()
    #expect(inner.calls == ["initial 2"])
  }

  @Test func aWriteInACallbackThatAdvancesTellsEverybodyOfWhatTheyMiss() throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 1)
    let other = try shelter.open()
    let recorders = (0..<3).map { _ in CatRecorder() }
    for each in recorders { each.checksContents = false }
    recorders[1].onCall = { cats in
      guard cats.count == 2, !a.realm.isInWriteTransaction else { return }
      do {
        try other.add(20)
        try a.add(30)
      } catch {
        Issue.record(error)
      }
    }
    for each in recorders { each.observe(a.cats) }
    a.pump()
    try other.add(10)
    a.pump()
    #expect(a.cats.map(\.id) == [0, 10, 20, 30])
    let steps = ["-[] +[1] ~[]", "-[] +[2] ~[]", "-[] +[3] ~[]"]
    #expect(recorders[0].calls == ["initial 1"] + steps)
    #expect(recorders[1].calls == ["initial 1"] + steps)
    #expect(recorders[2].calls == ["initial 1", "-[] +[1, 2] ~[]", "-[] +[3] ~[]"])
  }

  @Test func aWriteInACallbackThatDoesNotAdvanceIsToldInALaterRound() throws {
    let a = try Shelter().open(cats: 2)
    let recorders = (0..<3).map { _ in CatRecorder() }
    for each in recorders { each.checksContents = false }
    var countInFirst: [Int] = []
    recorders[1].onCall = { cats in
      guard cats.count == 3, !a.realm.isInWriteTransaction else { return }
      do {
        try a.write { a.realm.delete(cats[0]) }
      } catch {
        Issue.record(error)
      }
    }
    recorders[2].onCall = { countInFirst.append($0.count) }
    for each in recorders { each.observe(a.cats) }
    a.pump()
    try a.add(5)
    a.pump()
    let steps = ["initial 2", "-[] +[2] ~[]", "-[0] +[] ~[]"]
    for recorder in recorders { #expect(recorder.calls == steps) }
    #expect(countInFirst == [2, 2, 2])
  }

  @Test func writesNestAsDeepAsCallbacksGo() throws {
    let a = try Shelter().open(cats: 0)
    let recorders = (0..<5).map { _ in CatRecorder() }
    for (number, recorder) in recorders.enumerated() {
      recorder.checksContents = false
      recorder.onCall = { cats in
        guard cats.count == number + 1 else { return }
        do {
          if a.realm.isInWriteTransaction { try a.realm.commitWrite() }
          a.realm.beginWrite()
          a.realm.add(Cat(100 + number))
          try a.realm.commitWrite()
          a.realm.beginWrite()
        } catch {
          Issue.record(error)
        }
      }
    }
    for each in recorders { each.observe(a.cats) }
    a.pump()
    try a.add(0)
    a.pump()
    if a.realm.isInWriteTransaction { try a.realm.commitWrite() }
    a.pump()
    #expect(a.cats.count == 6)
    for recorder in recorders {
      var mirror = 0
      for call in recorder.calls.dropFirst() {
        let inserted = call.split(separator: "+")[1].split(separator: "]")[0]
        mirror += inserted.split(separator: ",").count
      }
      #expect(mirror == 6, "\(recorder.calls)")
    }
  }

  @Test func realmObserversAreCalledInTheCommitBeforeTheOthersAndOnce() throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 1)
    let b = try shelter.open()
    var told: [String] = []
    let token = a.realm.observe { _, realm in
      told.append("realm \(realm.objects(Cat.self).count)")
      do {
        if realm.objects(Cat.self).count == 3 { try realm.write { realm.add(Cat(99)) } }
      } catch {
        Issue.record(error)
      }
    }
    let recorder = CatRecorder()
    recorder.onCall = { _ in told.append("cats") }
    recorder.observe(a.cats)
    a.pump()
    try a.add(5)
    #expect(told == ["cats", "realm 2"])
    a.pump()
    #expect(told == ["cats", "realm 2", "cats"])
    told = []
    try b.add(6)
    a.pump()
    // Its own write in a handler gives no second call of the handler.
    #expect(told == ["realm 3", "cats", "cats"])
    #expect(a.cats.count == 4)
    told = []
    a.realm.beginWrite()
    a.realm.cancelWrite()
    #expect(told == [])
    token.invalidate()
  }

  @Test func invalidatingTheRealmInACallbackDoesNothing() throws {
    let a = try Shelter().open(cats: 1)
    let recorder = CatRecorder()
    recorder.onCall = { cats in
      a.realm.invalidate()
      #expect(!cats.isInvalidated)
    }
    recorder.observe(a.cats)
    a.pump()
    #expect(recorder.calls.count == 1)
  }
}
