import Foundation
import TestSupport
import Testing

@testable import Tarn

struct NestedChangeTests {
  @Test func ownPropertiesAreNamedInTheOrderOfColumns() throws {
    let instance = try Shelter().openIsles(2)
    let recorder = NestedRecorder(instance.isles)
    instance.pump()
    try instance.write {
      instance.isle(1).numbers.append(objectsIn: [5, 6])
      instance.isle(1).name = "new"
      instance.isle(1).tags.insert("x")
      instance.isle(1).scores["a"] = 1
    }
    instance.pump()
    let expected = [
      "name", "numbers -[] +[0, 1] ~[]>[]", "tags -[] +[0]", "scores -[] +[\"a\"] ~[]",
    ]
    #expect(recorder.take() == [[1: expected]])
    try instance.write {
      instance.isle(1).numbers.insert(4, at: 0)
      instance.isle(1).numbers[2] = 7
      instance.isle(1).tags.remove("x")
      instance.isle(1).scores["a"] = nil
      instance.isle(1).scores["b"] = 1
    }
    instance.pump()
    let next = [
      "numbers -[] +[0] ~[1]>[2]", "tags -[0] +[]", "scores -[\"a\"] +[\"b\"] ~[]",
    ]
    #expect(recorder.take() == [[1: next]])
  }

  @Test func linksOfEveryKindLeadToTheObjectThatChanged() throws {
    let instance = try Shelter().openIsles(9)
    try instance.write {
      let changed = instance.isle(8)
      instance.isle(0).next = changed
      instance.isle(1).list.append(objectsIn: [instance.isle(7), changed, changed])
      instance.isle(2).set.insert(objectsIn: [instance.isle(7), changed])
      instance.isle(3).map["k"] = changed
      instance.isle(4).any = .object(changed)
      instance.isle(5).any = .fromArray([.int(1), .fromDictionary(["a": .object(changed)])])
    }
    let recorder = NestedRecorder(instance.isles)
    instance.pump()
    try instance.write { instance.isle(8).name = "new" }
    instance.pump()
    let expected: [Int: [String]] = [
      0: ["next.name"], 1: ["list[1>1].name", "list[2>2].name"], 2: ["set[1>1].name"],
      3: ["map[k].name"], 4: ["any.name"], 5: ["any[1>1][a].name"], 8: ["name"],
    ]
    #expect(recorder.take() == [expected])
  }

  @Test func aPathHasItsPositionsBeforeAndAfter() throws {
    let instance = try Shelter().openIsles(6)
    try instance.write {
      instance.isle(0).list.append(objectsIn: [instance.isle(2), instance.isle(3)])
    }
    let recorder = NestedRecorder(instance.isles)
    instance.pump()
    try instance.write {
      instance.isle(0).list.remove(at: 0)
      instance.isle(0).list.append(instance.isle(4))
      instance.isle(3).name = "new"
      instance.isle(4).name = "new"
    }
    instance.pump()
    let own = ["list -[0] +[1] ~[]>[]", "list[1>0].name", "list[>1].name"]
    #expect(recorder.take() == [[0: own, 3: ["name"], 4: ["name"]]])
  }

  @Test func embeddedObjectsAreOnTheWay() throws {
    let instance = try Shelter().openIsles(1)
    try instance.write {
      instance.isle(0).port = Port()
      instance.isle(0).ports.append(objectsIn: [Port(), Port()])
    }
    let recorder = NestedRecorder(instance.isles)
    var objects: [ObjectBase?] = []
    let token = instance.isles.observeChanges { change in
      guard case .update(_, let delta) = change else { return }
      objects = delta.nested(at: 0).map(\.object)
    }
    instance.pump()
    try instance.write {
      instance.isle(0).port!.depth = 1
      instance.isle(0).ports[1].quays.append(2)
    }
    instance.pump()
    #expect(recorder.take() == [[0: ["port.depth", "ports[1>1].quays -[] +[0] ~[]>[]"]]])
    try #require(objects.count == 2)
    #expect((objects[0] as? Port)?.depth == 1)
    #expect((objects[1] as? Port)?.quays.first == 2)
    try instance.write { instance.isle(0).port = Port() }
    instance.pump()
    #expect(recorder.take() == [[0: ["port"]]])
    token.invalidate()
  }

  @Test func collectionsWithinValuesSayWhereTheyAre() throws {
    let instance = try Shelter().openIsles(1)
    try instance.write {
      instance.isle(0).any = .fromDictionary(["a": .fromArray([.int(1), .int(2)]), "b": .int(1)])
    }
    let recorder = NestedRecorder(instance.isles)
    instance.pump()
    try instance.write {
      instance.isle(0).any.dictionaryValue!["a"]!.listValue!.append(.int(3))
    }
    instance.pump()
    #expect(recorder.take() == [[0: ["any[a] -[] +[2] ~[]>[]"]]])
    try instance.write { instance.isle(0).any.dictionaryValue!["b"] = .int(2) }
    instance.pump()
    #expect(recorder.take() == [[0: ["any -[] +[] ~[\"b\"]"]]])
    try instance.write { instance.isle(0).any = .fromArray([.int(1)]) }
    instance.pump()
    #expect(recorder.take() == [[0: ["any"]]])
  }

  @Test func noWayPassesAnObjectTwiceAndDepthIsTheLimit() throws {
    let instance = try Shelter().openIsles(6)
    try instance.write {
      instance.isle(0).next = instance.isle(1)
      instance.isle(1).next = instance.isle(0)
      for id in 2..<5 { instance.isle(id).next = instance.isle(id + 1) }
      instance.isle(2).list.append(objectsIn: [instance.isle(4), instance.isle(2)])
    }
    let standard = NestedRecorder(instance.isles)
    let (own, far) = (NestedRecorder(), NestedRecorder())
    own.token = instance.isles.observeChanges(depth: 0) { own.record($0) }
    far.token = instance.isles.observeChanges(depth: 2) { far.record($0) }
    instance.pump()
    try instance.write {
      instance.isle(0).name = "new"
      instance.isle(5).name = "new"
    }
    instance.pump()
    var expected: [Int: [String]] = [
      0: ["name"], 1: ["next.name"], 2: ["list[0>0].next.name", "next.next.next.name"],
      3: ["next.next.name"], 4: ["next.name"], 5: ["name"],
    ]
    #expect(standard.take() == [expected])
    expected[2] = ["list[0>0].next.name"]
    #expect(far.take() == [expected])
    #expect(own.take() == [[0: ["name"], 5: ["name"]]])
  }

  @Test func keyPathsTellOfNothingElse() throws {
    let instance = try Shelter().openIsles(4)
    try instance.write {
      instance.isle(0).next = instance.isle(1)
      instance.isle(1).next = instance.isle(0)
      instance.isle(2).list.append(instance.isle(0))
    }
    let names = NestedRecorder(instance.isles, ["next.name", "next.next.name"])
    let origins = NestedRecorder(instance.isles, ["back", "back.name"])
    instance.pump()
    try instance.write {
      instance.isle(0).name = "new"
      instance.isle(0).numbers.append(1)
      instance.isle(2).name = "new"
      instance.isle(3).list.append(objectsIn: [instance.isle(0), instance.isle(1)])
    }
    instance.pump()
    #expect(names.take() == [[0: ["next.next.name"], 1: ["next.name"]]])
    let expected = [0: ["back -[] +[1]", "back[0>0].name"], 1: ["back -[] +[0]"]]
    #expect(origins.take() == [expected])
  }

  @Test func everyKindOfCollectionTellsOfItsElements() throws {
    let instance = try Shelter().openIsles(4)
    try instance.write {
      instance.isle(0).list.append(objectsIn: [
        instance.isle(1), instance.isle(2), instance.isle(3),
      ])
      instance.isle(0).set.insert(objectsIn: [instance.isle(1), instance.isle(2)])
      instance.isle(0).map["k"] = instance.isle(1)
      instance.isle(0).numbers.append(objectsIn: [1, 2])
    }
    let isle = instance.isle(0)
    let list = NestedRecorder(isle.list)
    let results = NestedRecorder(isle.list.sorted(by: \.id))
    let set = NestedRecorder(isle.set)
    let origins = NestedRecorder(instance.isle(1).back)
    let erased = NestedRecorder(AnyRealmCollection(isle.list))
    let numbers = NestedRecorder(isle.numbers)
    let names = NestedRecorder()
    names.token = isle.list.projectTo.name.observeChanges { names.record($0) }
    var keys: [String: [String]] = [:]
    let token = isle.map.observeChanges { change in
      guard case .update(_, let delta) = change else { return }
      for key in delta.modifications { keys[key] = delta.nested(for: key).map(\.text) }
      #expect(delta.nested(for: "none").isEmpty)
    }
    instance.pump()
    try instance.write {
      instance.isle(1).name = "new"
      isle.list[1] = instance.isle(3)
      isle.numbers[1] = 7
    }
    instance.pump()
    #expect(list.take() == [[0: ["name"], 1: ["self"]]])
    #expect(erased.take() == [[0: ["name"], 1: ["self"]]])
    #expect(names.take() == [[0: ["name"], 1: ["self"]]])
    #expect(results.take() == [[0: ["name"]]])
    #expect(set.take() == [[0: ["name"]]])
    #expect(numbers.take() == [[1: ["self"]]])
    let own = ["list -[] +[] ~[1]>[1]", "numbers -[] +[] ~[1]>[1]"]
    let behind = ["list[0>0].name", "set[0>0].name", "map[k].name"]
    #expect(origins.take() == [[0: own + behind]])
    #expect(keys == ["k": ["name"]])
    try instance.write { isle.map["k"] = instance.isle(1) }
    instance.pump()
    #expect(keys == ["k": ["self"]])
    token.invalidate()
  }

  @Test func ofVeryManyWaysLongerOnesAreLeftOut() throws {
    let instance = try Shelter().openIsles(42)
    let all = (1...40).map { instance.isle($0) }
    try instance.write {
      instance.isle(0).list.append(objectsIn: all)
      for isle in all {
        isle.list.append(objectsIn: all)
        isle.next = instance.isle(41)
      }
    }
    var lengths: [Int] = []
    let token = instance.isles.observeChanges { change in
      guard case .update(_, let delta) = change else { return }
      lengths = delta.nested(at: 0).map(\.path.count)
    }
    instance.pump()
    try instance.write { instance.isle(41).name = "new" }
    instance.pump()
    #expect(lengths == Array(repeating: 2, count: 40) + Array(repeating: 3, count: 960))
    token.invalidate()
  }

  /// As far as anybody says, on a stack of any size.
  @Test func aLongChainIsWalkedToItsEnd() throws {
    let instance = try Shelter().openIsles(1_000)
    try instance.write {
      for id in 0..<999 { instance.isle(id).next = instance.isle(id + 1) }
    }
    var (found, missed) = ([Int](), [Int]())
    let tokens = [999, 998].map { depth in
      instance.isles.observeChanges(depth: depth) { change in
        guard case .update(_, let delta) = change else { return }
        let lengths = delta.nested(at: 0).map(\.path.count)
        if depth == 999 { found = lengths } else { missed = lengths }
      }
    }
    instance.pump()
    try instance.write { instance.isle(999).name = "new" }
    instance.pump()
    #expect(found == [999])
    #expect(missed == [])
    for token in tokens { token.invalidate() }
  }

  @Test func objectsOfNoClassOfTheProgramAreNamedAsTheFileDoes() throws {
    let instance = try Shelter().openIsles(2)
    try instance.write { instance.isle(0).list.append(instance.isle(1)) }
    var changes: [NestedChange] = []
    let token = instance.realm.dynamicObjects("Isle").observeChanges { change in
      guard case .update(_, let delta) = change else { return }
      changes = delta.nested(at: 0)
    }
    instance.pump()
    try instance.write { instance.isle(1).name = "new" }
    instance.pump()
    #expect(changes.map(\.text) == ["list[0>0].name"])
    #expect((changes[0].object as? DynamicObject)?["name"] as? String == "new")
    token.invalidate()
  }
}
