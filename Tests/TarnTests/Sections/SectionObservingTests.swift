import Foundation
import Testing

@testable import Tarn

/// What observers of sections are told.
struct SectionObservingTests {
  /// Cats named a, b, a, c, b with ages 0, 10, …
  private func open() throws -> Instance {
    let instance = try Shelter().open()
    try instance.write {
      for (id, name) in ["a", "b", "a", "c", "b"].enumerated() {
        instance.realm.add(Cat(id, name, age: 10 * id))
      }
    }
    return instance
  }

  private func byName(_ instance: Instance) -> SectionRecorder<String, Cat> {
    let recorder = SectionRecorder(instance.cats.sectioned(by: \.name)) { "\($0.id) \($0.age)" }
    instance.pump()
    return recorder
  }

  private func told(_ recorder: SectionRecorder<String, Cat>, _ instance: Instance) -> [String] {
    instance.pump()
    #expect(recorder.problems == [])
    return Array(recorder.calls.dropFirst())
  }

  @Test func rowsThatChangeAreToldByTheirOldPosition() throws {
    let a = try open()
    let recorder = byName(a)
    #expect(recorder.calls == ["initial 3"])
    try a.write {
      a.cat(4)?.age += 1
      a.cat(3)?.age += 1
    }
    #expect(told(recorder, a) == ["-[] +[] ~[1.1, 2.0] -[] +[]"])
  }

  /// One that others have shifted within its section is modified still.
  @Test func aRowThatWasShiftedAndChangedIsModified() throws {
    let a = try open()
    let recorder = byName(a)
    try a.write {
      a.realm.delete(a.cat(0)!)
      a.cat(2)?.age += 1
    }
    #expect(told(recorder, a) == ["-[0.0] +[] ~[0.1] -[] +[]"])
  }

  @Test func rowsOfASectionThatGoesAreNotTold() throws {
    let a = try open()
    let recorder = byName(a)
    try a.write { a.realm.delete(a.cats.where { $0.name == "b" || $0.id == 0 }) }
    #expect(told(recorder, a) == ["-[0.0] +[] ~[] -[1] +[]"])
  }

  @Test func rowsOfASectionThatComesAreTold() throws {
    let a = try open()
    let recorder = byName(a)
    try a.write {
      a.realm.add(Cat(9, "ab"))
      a.realm.add(Cat(10, "ab"))
      a.realm.add(Cat(11, "b"))
    }
    #expect(told(recorder, a) == ["-[] +[1.0, 1.1, 2.2] ~[] -[] +[1]"])
  }

  @Test func aRowThatGoesToAnotherSectionIsDeletedAndInserted() throws {
    let a = try open()
    let recorder = byName(a)
    try a.write {
      a.cat(0)?.name = "c"
      a.cat(3)?.name = "a"
    }
    #expect(told(recorder, a) == ["-[0.0, 2.0] +[0.1, 2.0] ~[] -[] +[]"])
    try a.write { a.cat(0)?.name = "b" }
    #expect(told(recorder, a).last == "-[] +[1.0] ~[] -[2] +[]")
  }

  /// The section of the first row is the first one.
  @Test func aSectionThatMovesAmongTheOthersGoesAndComes() throws {
    let a = try open()
    let sections = a.cats.sectioned(by: { $0.name }, sortDescriptors: ["age"])
    let recorder = SectionRecorder(sections) { "\($0.id) \($0.age)" }
    a.pump()
    try a.write { a.cat(3)?.age = -1 }
    #expect(told(recorder, a) == ["-[] +[0.0] ~[] -[2] +[0]"])
    #expect(sections.allKeys == ["c", "a", "b"])
  }

  @Test func commitsThatFollowEachOtherAreToldInOneCall() throws {
    let a = try open()
    let b = try Instance(a.realm.configuration)
    let recorder = byName(a)
    try b.write { b.cat(0)?.name = "x" }
    try b.write { b.realm.add(Cat(8, "y")) }
    try b.write { b.cat(0)?.name = "a" }
    try b.write { b.realm.delete(b.cat(8)!) }
    #expect(told(recorder, a) == ["-[] +[] ~[0.0] -[] +[]"])
  }

  @Test func aSkippedCommitIsNotTold() throws {
    let a = try open()
    let recorder = byName(a)
    let other = byName(a)
    try a.write { a.realm.add(Cat(7, "A")) }
    try a.realm.write(withoutNotifying: [recorder.token!]) { a.realm.add(Cat(8, "aa")) }
    try a.write { a.realm.add(Cat(9, "aa")) }
    a.pump()
    #expect(
      recorder.calls == [
        "initial 3", "-[] +[0.0] ~[] -[] +[0]", "-[] +[2.1] ~[] -[] +[]",
      ])
    #expect(
      told(other, a) == [
        "-[] +[0.0] ~[] -[] +[0]", "-[] +[2.0] ~[] -[] +[2]", "-[] +[2.1] ~[] -[] +[]",
      ])
  }

  /// Another observer has written already when the first call comes: that shows its write.
  @Test(arguments: [true, false])
  func theFirstCallMayShowAnOpenWrite(isCommitted: Bool) throws {
    let a = try open()
    let first = a.cats.observe { change in
      if case .initial = change, a.realm.isInWriteTransaction { a.realm.add(Cat(9, "aa")) }
    }
    let recorder = SectionRecorder(a.cats.sectioned(by: \.name)) { "\($0.id) \($0.age)" }
    a.realm.beginWrite()
    #expect(recorder.calls == ["initial 4"])
    a.cat(1)?.name = "aa"
    if isCommitted { try a.realm.commitWrite() } else { a.realm.cancelWrite() }
    #expect(told(recorder, a) == (isCommitted ? ["-[1.0, 2.0] +[1.0, 1.1] ~[] -[] +[]"] : []))
    if isCommitted {
      try a.write { a.cat(9)?.name = "b" }
      #expect(told(recorder, a).last == "-[1.1] +[2.1] ~[] -[] +[]")
    }
    first.invalidate()
  }

  /// What is told leads to the state of its step, whatever has been written since.
  @Test func anObserverThatWritesMeanwhile() throws {
    let a = try open()
    let sections = a.cats.sectioned(by: { $0.name }, sortDescriptors: ["age"])
    var left = 3
    let writer = a.cats.observe { _ in
      guard left > 0 else { return }
      left -= 1
      try! a.write { a.realm.add(Cat(100 + left, "n\(left)", age: 100 + left)) }
    }
    var keys: [String] = []
    let token = sections.observe { change in
      switch change {
      case .initial(let sections): keys = sections.allKeys
      case .update(_, _, let insertions, _, let came, let went):
        for section in went.reversed() { keys.remove(at: section) }
        for section in came { keys.insert("?", at: section) }
        #expect(insertions.map(\.section) == Array(came))
      }
    }
    a.pump()
    #expect(left == 0)
    #expect(keys.count == 6)
    #expect(sections.count == 6)
    writer.invalidate()
    token.invalidate()
  }

  @Test func oneSectionIsToldOfItsOwnChangesOnly() throws {
    let a = try open()
    var calls: [String] = []
    let token = a.cats.sectioned(by: \.name)[1].observe { change in
      switch change {
      case .initial(let section): calls.append("initial \(section.key) \(section.count)")
      case .update(let section, let deletions, let insertions, let changed, let came, let went):
        typealias Recorder = SectionRecorder<String, Cat>
        calls.append(
          "\(section.count) -\(Recorder.text(deletions)) +\(Recorder.text(insertions)) "
            + "~\(Recorder.text(changed)) -\(Array(went)) +\(Array(came))")
      }
    }
    a.pump()
    func told() -> [String] {
      a.pump()
      defer { calls = [] }
      return calls
    }
    #expect(told() == ["initial b 2"])
    try a.write { a.cat(0)?.age += 1 }
    try a.write { a.realm.add(Cat(8, "A")) }
    #expect(told() == [])
    try a.write {
      a.cat(4)?.age += 1
      a.realm.add(Cat(9, "b"))
    }
    #expect(told() == ["3 -[] +[2.2] ~[2.1] -[] +[]"])
    try a.write { a.realm.delete(a.cats.where { $0.name == "b" }) }
    #expect(told() == ["0 -[] +[] ~[] -[2] +[]"])
    try a.write { a.realm.add(Cat(10, "bb")) }
    #expect(told() == [])
    try a.write { a.realm.add(Cat(11, "b")) }
    #expect(told() == ["1 -[] +[2.0] ~[] -[] +[2]"])
    token.invalidate()
    try a.write { a.realm.add(Cat(12, "b")) }
    #expect(told() == [])
  }

  @Test func anEmptySectionOfAnotherRealmVersionIsCalledFirst() throws {
    let a = try open()
    let section = a.cats.sectioned(by: \.name)[2]
    try a.write { a.realm.delete(a.cat(3)!) }
    var calls = 0
    let token = section.observe { _ in calls += 1 }
    a.pump()
    #expect(calls == 1)
    token.invalidate()
  }

  @Test func observersOfAnInvalidatedRealmGoOn() throws {
    let a = try open()
    let recorder = byName(a)
    a.realm.invalidate()
    try a.write { a.cat(0)?.name = "b" }
    #expect(told(recorder, a) == ["-[0.0] +[1.0] ~[] -[] +[]"])
  }

  @Test func sectionsOfAListWhoseObjectIsDeletedGo() throws {
    let instance = try Shelter().openKennel(3, 1, 3, 2)
    let sections = instance.kennel.hounds.sectioned(by: \.age)
    let recorder = SectionRecorder(sections) { $0.text }
    instance.pump()
    try instance.write { instance.kennel.hounds.move(from: 0, to: 2) }
    instance.pump()
    #expect(recorder.calls.last == "-[2.0] +[2.1] ~[] -[] +[]")
    try instance.write { instance.realm.delete(instance.kennel) }
    instance.pump()
    #expect(recorder.calls.last == "-[] +[] ~[] -[0, 1, 2] +[]")
    #expect(recorder.problems == [])
    recorder.token?.invalidate()
  }
}
