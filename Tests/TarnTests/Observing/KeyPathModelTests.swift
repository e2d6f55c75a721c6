import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Random knots that link to each other in every way, random writes, and observers along random key
/// paths: they are told what a walk forwards from each object, over a plain copy, finds.
struct KeyPathModelTests {
  @Test(arguments: Seeds.of(1...16))
  func observersAreToldWhatAWalkForwardsFinds(seed: Int) throws {
    var run = try KnotRun(seed: UInt64(seed))
    for _ in 0..<40 { try run.step() }
    #expect(run.told > 40)
  }
}

/// One who is told, and what it is told.
private final class KnotWatch {
  let look: KnotLook
  /// Nil for one of all knots.
  let id: Int?
  var token: NotificationToken?
  var calls: [Set<String>] = []

  init(_ look: KnotLook, id: Int? = nil) {
    self.look = look
    self.id = id
  }
}

private struct KnotRun {
  private let a: Instance
  private let b: Instance
  private var script: KnotScript
  private var model: KnotModel { script.model }
  private var watches: [KnotWatch] = []
  private(set) var told = 0

  init(seed: UInt64) throws {
    script = KnotScript(numbers: SeededRandom(seed: seed))
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [Knot.self, Clasp.self]
    a = try Instance(configuration, shelter)
    b = try Instance(configuration, shelter)
    try a.write { for _ in 0..<12 { script.add(to: a.realm) } }
    try a.write { for _ in 0..<40 { script.change(a.realm) } }
    script.model.touched = []
    b.realm.refresh()
    for _ in 0..<8 {
      observeAll(
        .paths((0...script.numbers.below(2)).map { _ in KnotLook.randomPath(&script.numbers) }))
    }
    for depth in 0..<5 { observeAll(.depth(depth)) }
    for id in 0..<12 where model.links[id] != nil { observe(id) }
    b.pump()
    for watch in watches { watch.calls = [] }
  }

  private mutating func observeAll(_ look: KnotLook) {
    let knots = b.realm.objects(Knot.self).sorted(by: \.id)
    let watch = KnotWatch(look)
    var ids: [Int] = []
    let tell = { (change: RealmCollectionChange<Results<Knot>>) in
      if case .update(let knots, let deletions, let insertions, let modifications) = change {
        watch.calls.append(
          Set(
            deletions.map { "-\(ids[$0])" } + insertions.map { "+\(knots[$0].id)" }
              + modifications.map { "~\(ids[$0])" }))
      }
      ids = knots.map(\.id)
    }
    switch look {
    case .paths(let paths):
      watch.token = knots.observe(keyPaths: paths.map { $0.joined(separator: ".") }, tell)
    case .depth(3): watch.token = knots.observe(tell)
    case .depth(let depth): watch.token = knots.observe(depth: depth, tell)
    }
    watches.append(watch)
  }

  private mutating func observe(_ id: Int) {
    let paths = (0...script.numbers.below(3)).map { _ in KnotLook.randomPath(&script.numbers) }
    let watch = KnotWatch(.paths(paths), id: id)
    let knot = b.realm.object(ofType: Knot.self, forPrimaryKey: id)!
    let names = paths.map { $0.joined(separator: ".") }
    watch.token = knot.observe(keyPaths: names) { change in
      switch change {
      case .change(_, let properties): watch.calls.append(Set(properties.map(\.name)))
      case .deleted: watch.calls.append(["deleted"])
      case .error(let error): watch.calls.append(["\(error)"])
      }
    }
    watches.append(watch)
  }

  // MARK: - Checking

  mutating func step() throws {
    let before = Set(model.links.keys)
    try a.write {
      for _ in 0...script.numbers.below(2) { script.change(a.realm) }
      if script.numbers.chance(10) { script.add(to: a.realm) }
      if script.numbers.chance(10), model.links.count > 6 {
        let ids = model.links.keys.sorted()
        let id = ids[script.numbers.below(ids.count)]
        script.delete(id, in: a.realm)
      }
    }
    b.pump()
    let after = Set(model.links.keys)
    for watch in watches {
      let expected = expected(watch, before, after)
      #expect(watch.calls == (expected.isEmpty ? [] : [expected]), "\(watch.look)")
      told += watch.calls.count
      watch.calls = []
    }
    watches.removeAll { $0.id.map { !after.contains($0) } == true }
    script.model.touched = []
  }

  private func expected(
    _ watch: KnotWatch, _ before: Set<Int>, _ after: Set<Int>
  ) -> Set<String> {
    func isHit(_ id: Int, _ paths: [[String]]) -> Bool {
      paths.contains { model.isTouched(id, along: $0[...]) }
    }
    switch watch.look {
    case .paths(let paths):
      if let id = watch.id {
        if !after.contains(id) { return ["deleted"] }
        return Set(paths.filter { isHit(id, [$0]) }.map { $0[0] })
      }
      return moves(before, after) { isHit($0, paths) }
    case .depth(let depth): return moves(before, after) { model.isTouched($0, within: depth) }
    }
  }

  private func moves(
    _ before: Set<Int>, _ after: Set<Int>, _ isModified: (Int) -> Bool
  ) -> Set<String> {
    Set(before.subtracting(after).map { "-\($0)" })
      .union(after.subtracting(before).map { "+\($0)" })
      .union(before.intersection(after).filter(isModified).map { "~\($0)" })
  }
}
