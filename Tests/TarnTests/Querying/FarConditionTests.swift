import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Conditions that reach through several collections, to what links here, and into collections of
/// values: written as text, in Swift, and as a closure over objects, while everything changes.
struct FarConditionTests {
  private struct View<T: Object> {
    let text: String
    let typed: (Query<T>) -> Query<Bool>
    let expected: (T) -> Bool

    init(
      _ text: String, _ typed: @escaping (Query<T>) -> Query<Bool>,
      _ expected: @escaping (T) -> Bool
    ) {
      self.text = text
      self.typed = typed
      self.expected = expected
    }
  }

  private static var steers: [View<Steer>] {
    [
      View("herds.@count > 1", { $0.herds.count > 1 }, { $0.herds.count > 1 }),
      View("led.@count == 0", { $0.led.count == 0 }, { $0.led.isEmpty }),
      View(
        "ANY herds.label == 'b'", { $0.herds.label == "b" },
        { $0.herds.contains { $0.label == "b" } }),
      View(
        "NONE paddocks.label BEGINSWITH 'a' AND paddocks.@count > 0",
        { !$0.paddocks.label.starts(with: "a") && $0.paddocks.count > 0 },
        { !$0.paddocks.isEmpty && !$0.paddocks.contains { $0.label.hasPrefix("a") } }),
      View(
        "ANY herds.ranches.name == 'c'", { $0.herds.ranches.name == "c" },
        { $0.herds.contains { $0.ranches.contains { $0.name == "c" } } }),
      View(
        "ANY led.animals.weight > 2.2", { $0.led.animals.weight > 2.2 },
        { $0.led.contains { $0.animals.contains { $0.weight > 2.2 } } }),
      View(
        "ANY @links.SteerHerd.animals.label != 'a'", { $0.herds.label != "a" },
        { $0.herds.contains { $0.label != "a" } }),
      View(
        "ANY herds.chief.led.@count > 1", { $0.herds.chief.led.count > 1 },
        { $0.herds.contains { ($0.chief?.led.count ?? 0) > 1 } }),
    ]
  }

  private static var values: [View<Steer>] {
    [
      View("ANY scores > 1.1", { $0.scores > 1.1 }, { $0.scores.contains { $0 > 1.1 } }),
      View(
        "ANY scores BETWEEN {1.1, 2.2}", { $0.scores.containsAny(in: 1.1...2.2) },
        { $0.scores.contains { $0 >= 1.1 && $0 <= 2.2 } }),
      View(
        "scores.@min >= 1.1 AND scores.@max <= 2.2", { $0.scores.contains(1.1...2.2) },
        { !$0.scores.isEmpty && $0.scores.allSatisfy { $0 >= 1.1 && $0 <= 2.2 } }),
      View(
        "ANY scores >= 1.1 AND ANY scores < 2.2", { 1.1 <= $0.scores && $0.scores < 2.2 },
        { $0.scores.contains { $0 >= 1.1 } && $0.scores.contains { $0 < 2.2 } }),
      View("ANY scores != 1.1", { $0.scores != 1.1 }, { $0.scores.contains { $0 != 1.1 } }),
      View(
        "ANY words CONTAINS 'b' AND NOT 'b' IN words",
        { $0.words.contains("b", options: []) && !$0.words.contains("b") },
        { $0.words.contains { $0.contains("b") } && !$0.words.contains("b") }),
      View(
        "ANY words ENDSWITH[c] 'B' OR ANY words LIKE '?'",
        { $0.words.ends(with: "B", options: .caseInsensitive) || $0.words.like("?") },
        { $0.words.contains { $0.hasSuffix("b") || $0.count == 1 } }),
      View(
        "ANY ratings.@allKeys == 'k1' AND ratings.@allKeys.@count > 1",
        { $0.ratings.keys == "k1" && $0.ratings.count > 1 },
        { $0.ratings.keys.contains("k1") && $0.ratings.count > 1 }),
      View(
        "ANY ratings.@allKeys > 'k0' AND ANY ratings.@allValues >= 3",
        { $0.ratings.keys > "k0" && $0.ratings.values >= 3 },
        { $0.ratings.keys.contains { $0 > "k0" } && $0.ratings.values.contains { $0 >= 3 } }),
      View(
        "'k2' IN ratings.@allKeys OR ANY ratings.@allValues BETWEEN {1, 2}",
        { $0.ratings.keys.in(["k2"]) || $0.ratings.values.contains(1...2) },
        { $0.ratings.keys.contains("k2") || $0.ratings.values.contains { (1...2).contains($0) } }),
      View("ANY moods > 'calm'", { $0.moods > .calm }, { $0.moods.contains { $0 > .calm } }),
      View(
        "ANY moods ENDSWITH 'd'", { $0.moods.rawValue.ends(with: "d") },
        { $0.moods.contains { $0.rawValue.hasSuffix("d") } }),
      View(
        "mood > 'calm' AND former != nil AND mood <= former",
        { $0.mood > .calm && $0.former != nil && $0.mood.rawValue.in(["odd", "wild"]) },
        { $0.mood > .calm && $0.former != nil }),
      View("tag > 'a'", { $0.tag > SteerTag("a") }, { $0.tag.text > "a" }),
      View(
        "tag CONTAINS 'b'", { $0.tag.persistableValue.contains("b") },
        { $0.tag.text.contains("b") }),
    ]
  }

  private static var ranches: [View<SteerRanch>] {
    [
      View(
        "ANY herds.animals.weight == 1.1", { $0.herds.animals.weight == 1.1 },
        { $0.herds.contains { $0.animals.contains { $0.weight == 1.1 } } }),
      View(
        "ANY groups.animals.weight BETWEEN {1.1, 2.2}",
        { $0.herds.animals.weight.contains(1.1...2.2) },
        { $0.herds.contains { $0.animals.contains { $0.weight >= 1.1 && $0.weight <= 2.2 } } }),
      View(
        "ANY herds.animals.@count > 1", { $0.herds.animals.count > 1 },
        { $0.herds.contains { $0.animals.count > 1 } }),
      View(
        "ANY herds.animals.scores > 2.2", { $0.herds.animals.scores > 2.2 },
        { $0.herds.contains { $0.animals.contains { $0.scores.contains { $0 > 2.2 } } } }),
      View(
        "NONE herds.animals.ratings.@allKeys == 'k0'", { !($0.herds.animals.ratings.keys == "k0") },
        { !$0.herds.contains { $0.animals.contains { $0.ratings.keys.contains("k0") } } }),
      View(
        "ANY herds.animals.brand.sign == 'b'", { $0.herds.animals.brand.sign == "b" },
        { $0.herds.contains { $0.animals.contains { $0.brand?.sign == "b" } } }),
      View(
        "ANY herds.chief.herds.label == 'c'", { $0.herds.chief.herds.label == "c" },
        { $0.herds.contains { $0.chief?.herds.contains { $0.label == "c" } == true } }),
      View(
        "ANY herds.ranches.herds.animals.mood == 'wild'",
        { $0.herds.ranches.herds.animals.mood == .wild },
        { ranch in
          ranch.herds.contains {
            $0.ranches.contains {
              $0.herds.contains { $0.animals.contains { $0.mood == .wild } }
            }
          }
        }),
    ]
  }

  /// What is observed shows what the closures say and is told of each difference, and so is what is
  /// asked now and then, also in a write.
  @Test(arguments: Array(1...6) as [UInt64])
  func randomChanges(seed: UInt64) throws {
    let shelter = try Shelter()
    let (a, b) = (try shelter.openSteers(), try shelter.openSteers())
    var operations = SteerOperations(numbers: SeededRandom(seed: seed))
    try b.write { for _ in 0..<80 { operations.apply(to: b) } }
    a.pump()
    let (asText, id) = (seed % 2 == 0, { (object: Object) in "\(object["id"] ?? -1)" })
    let steers = Watch(Self.steers + Self.values, a, b, asText, id)
    let ranches = Watch(Self.ranches, a, b, asText, id)
    a.pump()
    for commit in 0..<60 {
      try b.write {
        for _ in 0...operations.numbers.below(5) { operations.apply(to: b) }
        if operations.numbers.chance(20) {
          steers.checkAsked("write \(commit)")
          ranches.checkAsked("write \(commit)")
        }
      }
      if operations.numbers.chance(60) { a.pump() }
      if operations.numbers.chance(20) {
        steers.checkAsked("after \(commit)")
        ranches.checkAsked("after \(commit)")
      }
    }
    a.pump()
    steers.checkObserved()
    ranches.checkObserved()
  }

  /// Some results of one class that are observed in one instance and asked in another.
  private struct Watch<T: Object> {
    let views: [View<T>]
    let observed: [Results<T>]
    let recorders: [SequenceRecorder<Results<T>>]
    let asked: [Results<T>]
    let all: (observed: Results<T>, asked: Results<T>)
    let id: (Object) -> String

    init(
      _ views: [View<T>], _ a: Instance, _ b: Instance, _ asText: Bool,
      _ id: @escaping (Object) -> String
    ) {
      self.views = views
      self.id = id
      all = (a.realm.objects(T.self), b.realm.objects(T.self))
      func results(_ view: View<T>, _ all: Results<T>, _ asText: Bool) -> Results<T> {
        asText ? all.filter(view.text) : all.where(view.typed)
      }
      observed = views.map { [all] in results($0, all.observed, asText) }
      recorders = observed.map { SequenceRecorder($0, id) }
      asked = views.map { [all] in results($0, all.asked, !asText) }
    }

    func checkAsked(_ moment: String) {
      for (view, results) in zip(views, asked) {
        let expected: [String] = all.asked.filter(view.expected).map(id)
        #expect(Array(results.map(id)) == expected, "\(view.text), \(moment)")
        #expect(all.asked.filter(view.text).count == expected.count, "\(view.text), \(moment)")
      }
    }

    func checkObserved() {
      checkAsked("end")
      for ((view, results), recorder) in zip(zip(views, observed), recorders) {
        let expected: [String] = all.observed.filter(view.expected).map(id)
        #expect(Array(results.map(id)) == expected, "\(view.text)")
        #expect(recorder.problems == [], "\(view.text)")
        #expect(recorder.mirror == expected, "\(view.text)")
      }
    }
  }

  @Test func aBacklinkThatComesAndGoesIsTold() throws {
    let instance = try Shelter().openSteers()
    try instance.write {
      for id in 0..<3 { instance.realm.create(Steer.self, value: ["id": id]) }
      instance.realm.create(SteerHerd.self, value: ["id": 0, "label": "x"])
    }
    let (herd, steer) = (instance.herd(0)!, instance.steer(1)!)
    let counted = SequenceRecorder(instance.steers.where { $0.herds.count > 0 }) { "\($0.id)" }
    let named = SequenceRecorder(instance.steers.filter("ANY herds.label == 'y'")) { "\($0.id)" }
    let sorted = instance.steers.where { $0.led.label == "y" }.sorted(
      by: \.weight, ascending: false)
    let led = SequenceRecorder(sorted) { "\($0.id)" }
    instance.pump()
    try instance.write { herd.animals.append(steer) }
    try instance.write { herd.label = "y" }
    try instance.write { herd.chief = steer }
    instance.pump()
    #expect(counted.calls == ["initial 0", "-[] +[0] ~[]"])
    #expect(named.calls == ["initial 0", "-[] +[0] ~[]"])
    #expect(led.calls == ["initial 0", "-[] +[0] ~[]"])
    try instance.write { instance.realm.delete(herd) }
    instance.pump()
    #expect(counted.calls.last == "-[0] +[] ~[]")
    #expect(named.calls.last == "-[0] +[] ~[]")
    #expect(led.calls.last == "-[0] +[] ~[]")
  }

  /// Sections, distinct results and those of a list follow what links to their rows as well.
  @Test func otherResultsFollowBacklinks() throws {
    let instance = try Shelter().openSteers()
    try instance.write {
      let herd = instance.realm.create(SteerHerd.self, value: ["id": 0, "label": "x"])
      for id in 0..<4 {
        let steer = instance.realm.create(Steer.self, value: ["id": id, "weight": id % 2])
        herd.animals.append(steer)
      }
      instance.realm.create(SteerHerd.self, value: ["id": 1, "label": "y"])
    }
    let (first, second) = (instance.herd(0)!, instance.herd(1)!)
    let inList = first.animals.where { $0.paddocks.label == "y" }
    let distinct = instance.steers.where { $0.paddocks.count > 0 }.distinct(by: [\.weight])
    let sections = instance.steers.where { $0.paddocks.label == "y" }.sectioned(by: \.weight)
    let listed = SequenceRecorder(inList) { "\($0.id)" }
    let unique = SequenceRecorder(distinct) { "\($0.id)" }
    var changes = 0
    let token = sections.observe { _ in changes += 1 }
    instance.pump()
    try instance.write { for id in [1, 2, 3] { second.paddock.insert(instance.steer(id)!) } }
    instance.pump()
    #expect(listed.mirror == ["1", "2", "3"])
    #expect(unique.mirror == ["1", "2"])
    #expect(sections.map { $0.map(\.id) } == [[2], [1, 3]])
    #expect(changes == 2)
    try instance.write { second.paddock.remove(instance.steer(1)!) }
    instance.pump()
    #expect(listed.mirror == ["2", "3"])
    #expect(unique.mirror == ["2", "3"])
    #expect(sections.map { $0.map(\.id) } == [[2], [3]])
    #expect(changes == 3)
    #expect(listed.problems == [])
    #expect(unique.problems == [])
    token.invalidate()
  }
}
