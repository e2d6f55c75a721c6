import TestSupport
import Testing

@testable import TarnStore

/// Random scopes over random schemas, objects and changes, against a search that knows no indexes.
@Suite struct ScopeModelTests {
  private typealias Asked = (scope: Scope, classes: Set<ClassID>)

  /// A store that changes, and what is asked of each change.
  private struct Run {
    var source: RandomStore
    let asked: [Asked]
    private(set) var snapshot: Snapshot

    init(seed: UInt64) throws {
      var source = try RandomStore(seed: seed)
      try source.store.write { try source.change($0, 160) }
      asked = (0..<16).map { _ in source.scope() }
      snapshot = try source.store.newestSnapshot()
      self.source = source
    }

    /// Commits a few changes.
    mutating func change() throws -> (model: ScopeModel, former: Snapshot, rows: Rows) {
      let (former, count) = (snapshot, source.random.pick([1, 1, 3, 10]))
      try source.store.write { try source.change($0, count) }
      snapshot = try source.store.newestSnapshot()
      let changes = try ChangeLog.changes(from: former, to: snapshot)
      let rows = Rows(try SnapshotReader(snapshot))
      return (ScopeModel(source: source, changes: changes), former, rows)
    }

    /// About half of the objects of some classes.
    mutating func someObjects(_ classes: Set<ClassID>) -> [ClassID: KeySet] {
      var found: [ClassID: KeySet] = [:]
      for id in classes {
        let keys = source.keys(id).filter { _ in source.random.chance(50) }
        found[id] = KeySet(keys.map { ObjectKey($0) })
      }
      return found
    }
  }

  private func observed(_ keys: [ClassID: KeySet], budget: Int) -> ObservedObjects {
    var observed = ObservedObjects(count: 0) { keys }
    observed.budget = budget
    return observed
  }

  @Test(arguments: Seeds.of(1...24 as ClosedRange<UInt64>))
  func `a scope concerns the objects that a plain search finds`(_ seed: UInt64) throws {
    var run = try Run(seed: seed)
    var hits = 0
    for _ in 0..<15 {
      let (model, _, rows) = try run.change()
      for asked in run.asked {
        let bound = BoundScope(asked.scope, from: asked.classes, rows.schema)
        let shown = run.someObjects(asked.classes)
        // From a change backwards; from the objects that are shown; and some of both.
        let budget = run.source.random.pick([0, 1, 4])
        let all = try bound.concerned(
          by: model.changes, rows, among: observed([:], budget: .max))
        let some = try bound.concerned(
          by: model.changes, rows, among: observed(shown, budget: budget))
        for id in asked.classes {
          let expected = model.concerned(asked.scope, in: id)
          let (found, nearby) = (Set(all[id] ?? KeySet()), Set(some[id] ?? KeySet()))
          #expect(found == expected, "backwards: \(asked.scope)")
          #expect(nearby.isSubset(of: expected), "forwards: \(asked.scope)")
          let here = expected.filter { shown[id]!.contains($0) }
          #expect(nearby.isSuperset(of: here), "forwards: \(asked.scope)")
          if !expected.isEmpty {
            hits += 1
            #expect(bound.mayBeConcerned(by: model.changes))
          }
          if asked.classes.count == 1, let alone = bound.concernedAlone(id, by: model.changes) {
            #expect(Set(alone) == expected, "without reading: \(asked.scope)")
          }
        }
      }
    }
    #expect(hits > 50)
  }

  @Test(arguments: Seeds.of(1...24 as ClosedRange<UInt64>))
  func `paths concern the objects of each first property apart`(_ seed: UInt64) throws {
    var run = try Run(seed: seed)
    for _ in 0..<10 {
      let (model, _, rows) = try run.change()
      for asked in run.asked {
        guard case .paths(let paths) = asked.scope, asked.classes.count == 1 else { continue }
        let (id, budget) = (asked.classes.first!, run.source.random.pick([0, 1, .max]))
        let shown = [id: KeySet(run.source.keys(id).map { ObjectKey($0) })]
        let bound = BoundScope(asked.scope, from: asked.classes, rows.schema)
        var found: [Int: KeySet] = [:]
        try bound.forEachPath(
          concernedBy: model.changes, rows, among: observed(shown, budget: budget)
        ) { found[$0.property, default: KeySet()].formUnion($1) }
        for path in paths {
          let expected = model.concerned(.paths([path]), in: id)
          #expect(Set(found[path.property] ?? KeySet()) == expected, "\(path)")
        }
      }
    }
  }

  @Test(arguments: Seeds.of(1...24 as ClosedRange<UInt64>))
  func `the trie of many scopes leaves none out that is concerned`(_ seed: UInt64) throws {
    var run = try Run(seed: seed)
    var passedOver = 0
    for _ in 0..<15 {
      let (model, _, rows) = try run.change()
      var trie = ScopeTrie()
      for (number, asked) in run.asked.enumerated() {
        trie.insert(BoundScope(asked.scope, from: asked.classes, rows.schema), number)
      }
      let most = run.source.random.pick([0, 1, 1_000])
      let found = try trie.concerned(by: model.changes, rows, atMost: most)
      for (number, asked) in run.asked.enumerated() where !found.contains(number) {
        passedOver += 1
        for id in asked.classes {
          #expect(model.concerned(asked.scope, in: id).isEmpty, "\(asked.scope)")
        }
      }
    }
    #expect(passedOver > 10)
  }

  @Test(arguments: Seeds.of(1...24 as ClosedRange<UInt64>))
  func `ways lead to everything that was set, and nowhere else`(_ seed: UInt64) throws {
    var run = try Run(seed: seed)
    var hits = 0
    for _ in 0..<10 {
      let (model, former, _) = try run.change()
      for asked in run.asked {
        // The number of ways grows with the depth as no plain search can follow.
        let scope = asked.scope == .depth(.max) ? .depth(2) : asked.scope
        let walk = try #require(
          try NestedWalk(from: .version(former), to: .version(run.snapshot), scope, in: nil))
        let id = asked.classes.first!
        guard let key = run.source.keys(id).randomElement(using: &run.source.random) else {
          continue
        }
        let object = ObjectRef(classID: id, key: ObjectKey(key))
        let ways = try walk.ways(from: object)
        let ends = Set(
          ways.map {
            ScopeModel.SetProperty(object: $0.object, column: $0.column, origin: $0.origin)
          })
        let expected = model.changed(scope, from: object)
        #expect(ends.isSubset(of: expected), "\(scope)")
        if ways.count < NestedWalk.waysMax { #expect(ends == expected, "\(scope)") }
        if !expected.isEmpty { hits += 1 }
        for way in ways.prefix(20) {
          var reached: Set<ObjectRef> = [object]
          for step in way.steps {
            reached = Set(reached.flatMap { model.targets(of: $0, step.link) })
          }
          #expect(reached.contains(way.object), "\(way)")
        }
      }
    }
    #expect(hits > 0)
  }
}
