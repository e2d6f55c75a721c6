import TestSupport
import Testing

@testable import Tarn

/// Random changes of the objects in a file.
protocol RandomOperations {
  var numbers: SeededRandom { get set }
  init(numbers: SeededRandom)
  mutating func apply(to instance: Instance)
}

/// Objects that tests tell apart by a number.
protocol NumberedObject: Object {
  var id: Int { get }
}

/// A condition as a text, in Swift, and as a closure over objects.
struct ConditionView<Model: NumberedObject> {
  let text: String
  /// Nil for what only texts can say.
  let typed: ((Query<Model>) -> Query<Bool>)?
  let expected: (Model) -> Bool

  init(
    _ text: String, _ typed: ((Query<Model>) -> Query<Bool>)?,
    _ expected: @escaping (Model) -> Bool
  ) {
    self.text = text
    self.typed = typed
    self.expected = expected
  }

  func results(_ instance: Instance, asText: Bool) -> Results<Model> {
    let all = instance.realm.objects(Model.self)
    if !asText, let typed { return all.where(typed) }
    return all.filter(text)
  }

  func ids(_ instance: Instance) -> [Int] {
    instance.realm.objects(Model.self).filter(expected).map(\.id)
  }
}

extension ConditionView {
  /// Observed results show what the closures say and are told of each difference; so do those that
  /// are asked anew, inside and outside of a write.
  static func followChanges<Operations: RandomOperations>(
    of views: [Self], by type: Operations.Type, seed: UInt64,
    open: (Shelter) throws -> Instance
  ) throws {
    let shelter = try Shelter()
    let (a, b) = (try open(shelter), try open(shelter))
    var operations = Operations(numbers: SeededRandom(seed: seed))
    try b.write { for _ in 0..<120 { operations.apply(to: b) } }
    a.pump()
    let kept = views.map { $0.results(a, asText: seed % 2 == 0) }
    let recorders = kept.map { SequenceRecorder($0) { "\($0.id)" } }
    let unobserved = views.map { $0.results(b, asText: seed % 2 == 1) }
    a.pump()
    for commit in 0..<50 {
      try b.write {
        for _ in 0...operations.numbers.below(5) { operations.apply(to: b) }
        if operations.numbers.chance(20) { check(views, unobserved, b, "write \(commit)") }
      }
      if operations.numbers.chance(60) { a.pump() }
      if operations.numbers.chance(20) {
        check(views, unobserved, b, "after \(commit)")
        a.pump()
        check(views, kept, a, "kept after \(commit)")
      }
    }
    a.pump()
    check(views, kept, a, "end")
    check(views, unobserved, b, "end")
    for (view, recorder) in zip(views, recorders) {
      #expect(recorder.problems == [], "\(view.text)")
      #expect(recorder.mirror == view.ids(a).map { "\($0)" }, "\(view.text)")
    }
  }

  private static func check(
    _ views: [Self], _ results: [Results<Model>], _ instance: Instance, _ moment: String
  ) {
    for (view, results) in zip(views, results) {
      let expected = view.ids(instance)
      #expect(results.map(\.id) == expected, "\(view.text), \(moment)")
      #expect(
        view.results(instance, asText: true).map(\.id) == expected, "\(view.text), \(moment)")
    }
  }

  /// A condition that is printed and read again finds the same.
  func expectPrinted(in instance: Instance) {
    guard let typed else { return }
    let printed = "\(typed(.root).predicate)"
    #expect(
      instance.realm.objects(Model.self).filter(printed).map(\.id) == ids(instance), "\(printed)")
  }

  /// It finds the same among objects in no Realm.
  func expectFirst(in shelf: List<Model>) {
    let first = shelf.firstIndex(where: expected)
    #expect(shelf.index(matching: text) == first, "\(text)")
    if let typed { #expect(shelf.index(matching: typed) == first, "\(text)") }
  }
}
