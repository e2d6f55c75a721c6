import TestSupport
import Testing

@testable import Tarn

/// One who is told, and what it is told: behind every element, modified or not.
final class IsleWatch {
  struct Call {
    let look: KnotLook
    var modified: Set<Int>
    var changes: [Int: [String]]
  }

  private let look: KnotLook
  private var token: NotificationToken?
  var calls: [Call] = []
  /// Called with each call, after it was noted.
  var onCall: (Call) -> Void = { _ in }

  private init(_ look: KnotLook) { self.look = look }

  /// Some along random key paths, and one for each depth up to three links.
  static func all(of isles: Results<Isle>, _ numbers: inout SeededRandom) -> [IsleWatch] {
    var watches: [IsleWatch] = []
    for _ in 0..<5 {
      let paths = (0...numbers.below(2)).map { _ in Self.randomPath(&numbers) }
      let watch = IsleWatch(.paths(paths))
      watch.token = isles.observeChanges(
        keyPaths: paths.map { $0.joined(separator: ".") }
      ) { [unowned watch] in watch.record($0) }
      watches.append(watch)
    }
    for depth in 0..<4 {
      let watch = IsleWatch(.depth(depth))
      watch.token = isles.observeChanges(depth: depth) { [unowned watch] in watch.record($0) }
      watches.append(watch)
    }
    return watches
  }

  private static func randomPath(_ numbers: inout SeededRandom) -> [String] {
    let links = (0..<numbers.below(4)).map { _ in
      ["next", "list", "set", "map", "any", "back"][numbers.below(6)]
    }
    return links + [["name", "numbers", "list", "set", "map", "back"][numbers.below(6)]]
  }

  private func record(_ change: ObservedChange<Results<Isle>, CollectionDelta<Isle>>) {
    guard case .update(_, let delta) = change else { return }
    var changes: [Int: [String]] = [:]
    for position in 0..<delta.count {
      let found = delta.nested(at: position)
      let lengths = found.map(\.path.count)
      #expect(lengths == lengths.sorted())
      changes[delta.element(at: position).id] = found.map(\.text).sorted()
    }
    let modified = delta.modificationsNew.map { delta.element(at: $0).id }
    let call = Call(look: look, modified: Set(modified), changes: changes)
    calls.append(call)
    onCall(call)
  }
}

extension IsleWatch.Call {
  /// Holds what was told against what a walk finds that leads over all that the call covers.
  ///
  /// - Returns: how many changes were told.
  func check(_ walk: IsleWalk) -> Int {
    for (id, found) in changes {
      let expected = expected(walk, id)
      #expect(found == expected, "\(id) \(look)")
      if walk.before.isles[id] != nil { #expect(modified.contains(id) == !found.isEmpty) }
    }
    return changes.values.reduce(0) { $0 + $1.count }
  }

  private func expected(_ walk: IsleWalk, _ id: Int) -> [String] {
    switch look {
    case .depth(let depth): walk.changes(of: id, within: depth).sorted()
    case .paths(let paths):
      paths.reduce(into: Set<String>()) { $0.formUnion(walk.changes(of: id, along: $1[...])) }
        .sorted()
    }
  }
}
