import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Random isles that link to each other in every way, random writes, and observers that look along
/// random key paths or links: what they are told behind each element is what a walk over copies of
/// both versions finds.
struct NestedModelTests {
  @Test(arguments: 1...16)
  func whatIsToldIsWhatAWalkOverBothVersionsFinds(seed: Int) throws {
    var run = try IsleRun(seed: UInt64(seed))
    for _ in 0..<30 { try run.step() }
    #expect(run.told > 100)
  }
}

/// One who is told, and what it is told: behind every element, modified or not.
private final class IsleWatch {
  let look: KnotLook
  var token: NotificationToken?
  var calls: [(modified: Set<Int>, changes: [Int: [String]])] = []

  init(_ look: KnotLook) { self.look = look }

  func record(_ change: ObservedChange<Results<Isle>, CollectionDelta<Isle>>) {
    guard case .update(_, let delta) = change else { return }
    var changes: [Int: [String]] = [:]
    for position in 0..<delta.count {
      let found = delta.nested(at: position)
      let lengths = found.map(\.path.count)
      #expect(lengths == lengths.sorted())
      changes[delta.element(at: position).id] = found.map(\.text).sorted()
    }
    let modified = delta.modificationsNew.map { delta.element(at: $0).id }
    calls.append((Set(modified), changes))
  }
}

private struct IsleRun {
  private let writer: Place
  private let place: Place
  private var script: IsleScript
  private var watches: [IsleWatch] = []
  private(set) var told = 0

  init(seed: UInt64) throws {
    script = IsleScript(seed: seed)
    let shelter = try Shelter()
    writer = try shelter.openIsles()
    place = try shelter.openIsles()
    try writer.write { script.begin(in: writer.realm) }
    place.realm.refresh()
    script.model.forgetTouches()
    let isles = place.isles
    for _ in 0..<5 {
      let paths = (0...script.numbers.below(2)).map { _ in Self.randomPath(&script.numbers) }
      let watch = IsleWatch(.paths(paths))
      watch.token = isles.observeChanges(
        keyPaths: paths.map { $0.joined(separator: ".") }, watch.record)
      watches.append(watch)
    }
    for depth in 0..<4 {
      let watch = IsleWatch(.depth(depth))
      watch.token = isles.observeChanges(depth: depth, watch.record)
      watches.append(watch)
    }
    place.pump()
  }

  private static func randomPath(_ numbers: inout SeededRandom) -> [String] {
    let links = (0..<numbers.below(4)).map { _ in
      ["next", "list", "set", "map", "any", "back"][numbers.below(6)]
    }
    return links + [["name", "numbers", "list", "set", "map", "back"][numbers.below(6)]]
  }

  // MARK: - Checking

  /// Commits, by somebody else or by the instance itself, and what is told of them.
  mutating func step() throws {
    let before = script.model
    try script.commit(to: place.realm, or: writer.realm)
    place.pump()
    writer.pump()
    let walk = IsleWalk(before: before, after: script.model)
    for watch in watches {
      for (modified, changes) in watch.calls {
        for (id, found) in changes {
          let expected = expected(walk, id, watch.look)
          #expect(found == expected, "\(id) \(watch.look)")
          told += found.count
          if before.isles[id] != nil { #expect(modified.contains(id) == !found.isEmpty) }
        }
      }
      watch.calls = []
    }
    script.model.forgetTouches()
  }

  private func expected(_ walk: IsleWalk, _ id: Int, _ look: KnotLook) -> [String] {
    switch look {
    case .depth(let depth): walk.changes(of: id, within: depth).sorted()
    case .paths(let paths):
      paths.reduce(into: Set<String>()) { $0.formUnion(walk.changes(of: id, along: $1[...])) }
        .sorted()
    }
  }
}
