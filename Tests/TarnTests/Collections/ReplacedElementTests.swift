import Foundation
import TestSupport
import Testing

@testable import Tarn

/// An object is deleted, and another one comes under its key: collections that have both, one after
/// the other, tell so, although the key is the same.
struct ReplacedElementTests {
  private let a: Instance
  private let b: Instance

  init() throws {
    let shelter = try Shelter()
    (a, b) = (try shelter.openKennels(), try shelter.openKennels())
    try b.write {
      let kennel = Kennel(1)
      b.realm.add(kennel)
      for id in 0..<4 { kennel.hounds.append(Hound(id, "h\(id)", age: id)) }
      kennel.pack.insert(objectsIn: kennel.hounds)
      kennel.named["a"] = kennel.hounds[1]
    }
    _ = a.realm.refresh()
  }

  private func replace(_ id: Int, _ instance: Instance, _ body: (Hound) -> Void) {
    instance.realm.delete(instance.hound(id)!)
    let other = Hound(id, "new", age: 100)
    instance.realm.add(other)
    body(other)
  }

  @Test func inASet() throws {
    let recorder = SequenceRecorder(a.kennel.pack) { $0.text }
    a.pump()
    try b.write { replace(1, b) { b.kennel.pack.insert($0) } }
    a.pump()
    #expect(recorder.calls == ["initial 4", "-[1] +[1] ~[]"])
    #expect(recorder.mirror == a.kennel.pack.map(\.text))
    #expect(recorder.problems == [])
    // Out and in again, and the object changed.
    try b.write {
      let hound = b.hound(2)!
      b.kennel.pack.remove(hound)
      hound.age = 50
      b.kennel.pack.insert(hound)
    }
    a.pump()
    #expect(recorder.calls.last == "-[] +[] ~[2]")
    #expect(recorder.problems == [])
    try b.write {
      b.kennel.pack.remove(b.hound(2)!)
      b.kennel.pack.insert(b.hound(2)!)
    }
    a.pump()
    #expect(recorder.calls.count == 3)
  }

  @Test func inASetInTwoCommitsThatAreToldInOneCall() throws {
    let recorder = SequenceRecorder(a.kennel.pack) { $0.text }
    a.pump()
    try b.write { b.realm.delete(b.hound(1)!) }
    try b.write {
      b.realm.add(Hound(1, "new", age: 100))
      b.kennel.pack.insert(b.hound(1)!)
    }
    try b.write { b.kennel.pack.remove(b.hound(3)!) }
    a.pump()
    #expect(recorder.problems == [])
    #expect(recorder.calls.count == 2)
    #expect(recorder.mirror == a.kennel.pack.map(\.text))
  }

  @Test func inAListAndAMap() throws {
    let list = SequenceRecorder(a.kennel.hounds) { $0.text }
    let map = MapRecorder(a.kennel.named) { $0?.text ?? "-" }
    a.pump()
    try b.write {
      replace(1, b) {
        b.kennel.hounds.insert($0, at: 1)
        b.kennel.named["a"] = $0
      }
    }
    a.pump()
    #expect(list.calls == ["initial 4", "-[1] +[1] ~[]"])
    #expect(list.problems == [])
    #expect(map.calls == ["initial 1", #"-[] +[] ~["a"]"#])
    #expect(map.problems == [])
  }

  @Test(arguments: Array(1...6) as [UInt64])
  func randomChanges(seed: UInt64) throws {
    try b.write { for id in 0..<3 { b.realm.add(Yard(id)) } }
    let set = SequenceRecorder(a.kennel.pack) { $0.text }
    let list = SequenceRecorder(a.kennel.hounds) { $0.text }
    let map = MapRecorder(a.kennel.named) { $0?.text ?? "-" }
    a.pump()
    var operations = KennelOperations(numbers: SeededRandom(seed: seed))
    for _ in 0..<120 {
      try b.write { for _ in 0...operations.numbers.below(6) { operations.apply(to: b) } }
      if operations.numbers.chance(60) { a.pump() }
    }
    a.pump()
    #expect(set.problems == [])
    #expect(list.problems == [])
    #expect(map.problems == [])
    #expect(set.mirror == a.kennel.pack.map(\.text))
    #expect(set.calls.count > 10)
  }

  @Test func amongValuesOfAnyType() throws {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [Mixture.self]
    let (c, d) = (try Instance(configuration, shelter), try Instance(configuration, shelter))
    try d.write {
      let all = d.realm.create(Mixture.self, value: [1])
      all.values.append(objectsIn: [.int(1), .object(d.realm.create(Mixture.self, value: [2]))])
    }
    _ = c.realm.refresh()
    func text(_ value: AnyRealmValue) -> String {
      guard case .object(let object) = value else { return "\(value)" }
      return "object \((object as? Mixture)?.values.count ?? -1)"
    }
    let values = c.realm.objects(Mixture.self)[0].values
    let list = SequenceRecorder(values, text)
    let sorted = SequenceRecorder(values.sorted(ascending: true), text)
    let sections = SectionRecorder(values.sectioned(by: text), text)
    c.pump()
    try d.write {
      d.realm.delete(d.realm.object(ofType: Mixture.self, forPrimaryKey: 2)!)
      let other = d.realm.create(Mixture.self, value: [2])
      other.values.append(.int(5))
      let all = d.realm.object(ofType: Mixture.self, forPrimaryKey: 1)!
      if all.values.count < 2 { all.values.append(.none) }
      all.values[1] = .object(other)
    }
    c.pump()
    #expect(list.problems == [])
    #expect(sorted.problems == [])
    #expect(sections.problems == [])
    #expect(list.calls.count == 2)
    #expect(sorted.mirror.last == "object 1")
    #expect(sections.mirror.last?.rows == ["object 1"])
  }
}
