import Foundation
import Testing

@testable import Tarn

/// When observers are called, and what can be read before, then and afterwards.
struct TurnTests {
  private func pair() throws -> (Instance, Instance) {
    let shelter = try Shelter()
    return (try shelter.open(cats: 1), try shelter.open())
  }

  /// Not by the commit but by a later turn, a refresh or the begin of the next write.
  @Test func aCommitCallsNobodyThatObservesObjects() throws {
    let (a, _) = try pair()
    let recorder = CatRecorder(a.cats)
    var told = 0
    let token = a.cat(0)!.observe { (_: ObjectChange<Cat>) in told += 1 }
    a.pump()
    func commit(_ id: Int, then call: () throws -> Void) throws {
      try a.realm.write {
        a.realm.add(Cat(id))
        a.cat(0)!.age += 1
      }
      let before = (recorder.calls.count, told)
      try call()
      #expect(recorder.calls.count == before.0 + 1)
      #expect(told == before.1 + 1)
    }
    try commit(1) { a.pump() }
    try commit(2) { a.realm.refresh() }
    try commit(3) {
      a.realm.beginWrite()
      a.realm.cancelWrite()
    }
    #expect(recorder.calls.dropFirst() == ["-[] +[1] ~[0]", "-[] +[2] ~[0]", "-[] +[3] ~[0]"])
    token.invalidate()
  }

  /// What was told last is what is read, and what this instance has written since.
  @Test func betweenCallsNothingMovesButOwnWrites() throws {
    let (a, b) = try pair()
    let recorder = CatRecorder(b.cats)
    b.pump()
    try a.add(5)
    #expect(b.cats.map(\.id) == recorder.mirror)
    try b.add(6)
    #expect(recorder.mirror == [0, 5])
    #expect(b.cats.map(\.id) == [0, 5, 6])
    try a.add(7)
    #expect(b.cats.map(\.id) == [0, 5, 6])
    b.pump()
    #expect(b.cats.map(\.id) == [0, 5, 6, 7])
    #expect(recorder.mirror == [0, 5, 6, 7])
    #expect(recorder.calls.dropFirst() == ["-[] +[1] ~[]", "-[] +[2, 3] ~[]"])
  }

  /// What others observe has moved, too; they are called in the order in which they
  /// came.
  @Test func inACallAllElseHasMoved() throws {
    let (a, b) = try pair()
    var told: [String] = []
    let tokens = (0..<4).map { number in
      b.cats.observe { change in
        if case .update = change { told.append("\(number): \(b.realm.objects(Home.self).count)") }
      }
    }
    let homes = b.realm.objects(Home.self).observe { change in
      if case .update = change { told.append("homes") }
    }
    b.pump()
    for round in 1...3 {
      try a.write {
        a.realm.add(Cat(round))
        a.realm.add(Home("x"))
      }
      b.pump()
      #expect(told == (0..<4).map { "\($0): \(round)" } + ["homes"])
      told = []
    }
    for token in tokens + [homes] { token.invalidate() }
  }

  /// The first call comes though the Realm was invalidated.
  @Test func firstCallsOutliveInvalidating() throws {
    let (a, b) = try pair()
    let recorder = CatRecorder(b.cats)
    b.realm.invalidate()
    b.pump()
    #expect(recorder.calls == ["initial 1"])
    b.realm.invalidate()
    try a.add(5)
    b.pump()
    #expect(recorder.calls == ["initial 1", "-[] +[1] ~[]"])
    #expect(recorder.problems == [])
  }

  /// In a write that has changed nothing yet; the Realm itself at any time.
  @Test func anObserverThatComesInAWrite() throws {
    let (a, _) = try pair()
    var told = 0
    a.realm.beginWrite()
    let recorder = CatRecorder(a.cats)
    a.realm.add(Cat(1))
    let token = a.realm.observe { _, _ in told += 1 }
    try a.realm.commitWrite()
    #expect(told == 1)
    #expect(recorder.calls == [])
    a.pump()
    try a.add(2)
    a.pump()
    #expect(recorder.calls == ["initial 2", "-[] +[2] ~[]"])
    #expect(recorder.problems == [])
    token.invalidate()
  }

  // MARK: - Realms

  /// One call for a move, however many commits it covers and though nothing is
  /// shown; none where nothing moves.
  @Test func aRealmTellsOfEachMove() throws {
    let (a, b) = try pair()
    var told: [Int] = []
    let token = b.realm.observe { _, realm in told.append(realm.objects(Cat.self).count) }
    for id in 1...3 { try a.add(id) }
    b.pump()
    #expect(told == [4])
    try a.add(4)
    b.realm.refresh()
    #expect(told == [4, 5])
    try a.add(5)
    b.realm.beginWrite()
    #expect(told == [4, 5, 6])
    b.realm.cancelWrite()
    b.realm.beginWrite()
    b.realm.cancelWrite()
    b.pump()
    #expect(told == [4, 5, 6])
    b.realm.invalidate()
    try a.add(6)
    b.pump()
    #expect(told == [4, 5, 6, 7])
    token.invalidate()
  }

  /// Once for each time that there is something new; a write moves as a refresh does.
  @Test func aRealmThatDoesNotFollowMayWriteWhenItIsTold() throws {
    let (a, b) = try pair()
    b.realm.autorefresh = false
    var told: [String] = []
    var isWriting = false
    let token = b.realm.observe { notification, realm in
      told.append("\(notification)")
      if isWriting, notification == .refreshRequired {
        try! realm.write { realm.add(Cat(50)) }
      }
    }
    #expect(b.cats.count == 1)
    for id in 1...2 {
      try a.add(id)
      b.pump()
    }
    #expect(told == ["refreshRequired", "refreshRequired"])
    #expect(b.cats.count == 1)
    isWriting = true
    try a.add(3)
    b.pump()
    #expect(b.cats.map(\.id) == [0, 1, 2, 3, 50])
    #expect(told == Array(repeating: "refreshRequired", count: 3))
    token.invalidate()
  }
}
