import Foundation
import TestSupport

@testable import Tarn

/// Observers of every kind of source, on an instance that writes itself now and then. What they do
/// when they are called is random, too: they write, cancel what is being begun, and end each other.
final class KnotObservers {
  typealias Version = KnotHistory.Version

  let history: KnotHistory
  private let a: KnotWriter
  private let b: KnotWriter
  private var realm: Realm { b.place.realm }
  private var tokens: [NotificationToken] = []
  private var ended: Set<Int> = []
  /// What each of them is to be told of no more, and whether it has missed something.
  private var skip: [(UInt64) -> Void] = []
  private var misses: [(_ last: UInt64) -> Bool] = []
  private var names: [String] = []
  private var numbers: SeededRandom
  private var isWriting = false
  /// What each step of the instance has shown.
  private var versions: [Int: UInt64] = [:]
  /// All knots that observers may be told of, also those that have been deleted.
  private var knots: [Int: Knot] = [:]
  private(set) var problems: [String] = []
  private(set) var calls = 0

  /// In a file with a few knots.
  init(_ folder: String, seed: UInt64) throws {
    history = KnotHistory(folder)
    numbers = SeededRandom(seed: seed)
    a = try KnotWriter(history, seed: 1)
    b = try KnotWriter(history, seed: 2)
    try a.begin()
    realm.refresh()
    for source in KnotSource.all {
      for _ in 0..<4 { observe(source, randomLook()) }
    }
    for _ in 0..<4 { observeMap(randomLook()) }
    for source in KnotSections.all {
      for _ in 0..<3 { observe(source, randomLook()) }
    }
    for id in 0..<6 { observe(id, randomLook()) }
    b.place.pump()
  }

  private func randomLook() -> KnotLook {
    if numbers.chance(30) { return .depth(numbers.below(5)) }
    return .paths((0...numbers.below(2)).map { _ in KnotLook.randomPath(&numbers) })
  }

  // MARK: - What they are told

  /// Runs with the version that is shown, and with the one that the round goes up to.
  private func told(_ number: Int, _ body: (_ shown: UInt64, _ target: UInt64) -> Void) {
    history.lock.lock()
    defer { history.lock.unlock() }
    let shown = realm.core.shownVersion!.rawValue
    versions[realm.core.step] = shown
    calls += 1
    body(shown, versions[realm.core.delivery.roundTargets.last!]!)
    react(to: number)
  }

  private func add<Content: Equatable>(
    _ name: String, _ follower: KnotFollower<Content>, _ token: NotificationToken
  ) {
    names.append(name)
    tokens.append(token)
    skip.append { follower.skip($0) }
    misses.append { follower.misses(upTo: $0) }
  }

  private func observe(_ source: KnotSource, _ look: KnotLook) {
    let (name, number) = ("\(source.name) \(look)", tokens.count)
    var copy: [Knot] = []
    let follower = KnotFollower(history, \.rows[source.name]!) { versions, old, new in
      old != new || !versions.modified(look).isDisjoint(with: old)
    }
    if source.isSet {
      // What was set may be taken for what went and came.
      follower.mayBeTold = { $0.contains { $0.model.touched.contains(.hubsSet) } }
    }
    let collection = source.collection(realm)
    let reach = look.reach
    add(
      name, follower,
      collection._changeOrigin.looking(reach).observe { [unowned self] change in
        told(number) { shown, target in
          switch change {
          case .initial: report(name, of: &copy, change, to: follower.begin(at: shown))
          case .update(_, let delta):
            let step = follower.follow(upTo: target) {
              Self.problem(of: delta, $0.modified(look), $1, $2, source.isSet)
            }
            switch step {
            case .wrong(let problem): problems.append("\(name): \(problem)")
            case .right(let old, let new):
              if let old { copy = old.map { knots[$0]! } }
              report(name, of: &copy, change, to: new)
            }
          case .error(let error): problems.append("\(name): \(error)")
          }
        }
      })
  }

  /// Whatever was written since, a copy that follows holds what the call leads to.
  private func report(
    _ name: String, of copy: inout [Knot],
    _ change: ObservedChange<AnyRealmCollection<Knot>, CollectionDelta<Knot>>, to rows: [Int]
  ) {
    change.apply(to: &copy)
    for knot in copy { history.id(of: knot).map { knots[$0] = knot } }
    let ids = copy.map { history.id(of: $0) }
    if ids != rows { problems.append("\(name): a copy holds \(ids), not \(rows)") }
  }

  private func observeMap(_ look: KnotLook) {
    let (name, number) = ("map \(look)", tokens.count)
    var copy: [String: Knot?] = [:]
    let follower = KnotFollower(history, \.map) { versions, old, new in
      old != new || !versions.modifiedKeys(look).isDisjoint(with: old.keys)
    }
    func report(
      _ change: ObservedChange<Map<String, Knot?>, MapDelta<String, Knot?>>, to map: [String: Int]
    ) {
      change.apply(to: &copy)
      let ids = copy.mapValues { $0.map { history.id(of: $0) ?? -2 } ?? -1 }
      if ids != map { problems.append("\(name): a copy holds \(ids), not \(map)") }
    }
    let map = KnotSource.hub(realm).map
    add(
      name, follower,
      map._changeOrigin.looking(look.reach).observe { [unowned self] change in
        told(number) { shown, target in
          switch change {
          case .initial: report(change, to: follower.begin(at: shown))
          case .update(_, let delta):
            let step = follower.follow(upTo: target) {
              Self.problem(of: delta, $0.modifiedKeys(look), $1, $2)
            }
            switch step {
            case .wrong(let problem): problems.append("\(name): \(problem)")
            case .right(let old, let new):
              if let old { copy = old.mapValues { $0 < 0 ? nil : knots[$0] } }
              report(change, to: new)
            }
          case .error(let error): problems.append("\(name): \(error)")
          }
        }
      })
  }

  private func observe(_ source: KnotSections, _ look: KnotLook) {
    let (name, number) = ("\(source.name) \(look)", tokens.count)
    let follower = KnotFollower(history, \.sections[source.name]!) { versions, old, new in
      old != new || !versions.modified(look).isDisjoint(with: old.flatMap(\.ids))
    }
    var copy: [SectionCopy<Int, Knot>] = []
    func report(
      _ change: ObservedChange<SectionedResults<Int, Knot>, SectionsDelta<Int, Knot>>,
      to sections: [KnotHistory.Section]
    ) {
      change.apply(to: &copy)
      for knot in copy.flatMap(\.elements) { history.id(of: knot).map { knots[$0] = knot } }
      let held = copy.map { section in
        KnotHistory.Section(
          key: "\(section.key)", ids: section.elements.map { history.id(of: $0) ?? -1 })
      }
      if held != sections { problems.append("\(name): a copy holds \(held), not \(sections)") }
    }
    add(
      name, follower,
      source.sections(realm)._changeOrigin.looking(look.reach).observe { [unowned self] change in
        told(number) { shown, target in
          switch change {
          case .initial: report(change, to: follower.begin(at: shown))
          case .update(_, let delta):
            let step = follower.follow(upTo: target) {
              Self.problem(of: delta, $0.modified(look), $1, $2)
            }
            switch step {
            case .wrong(let problem): problems.append("\(name): \(problem)")
            case .right(let old, let new):
              if let old {
                copy = old.map { section in
                  SectionCopy(key: Int(section.key)!, elements: section.ids.map { knots[$0]! })
                }
              }
              report(change, to: new)
            }
          case .error(let error): problems.append("\(name): \(error)")
          }
        }
      })
  }

  /// An object's observer is told of all that it was not left out of in one call.
  private func observe(_ id: Int, _ look: KnotLook) {
    guard let knot = realm.object(ofType: Knot.self, forPrimaryKey: id) else { return }
    let (name, number) = ("knot \(id) \(look)", tokens.count)
    let paths: [[String]]? = if case .paths(let paths) = look { paths } else { nil }
    var seen = realm.core.shownVersion!.rawValue
    var skips: Set<UInt64> = []
    func expected(upTo target: UInt64) -> Set<String> {
      guard seen < target else { return [] }
      if history[target].model.links[id] == nil { return ["deleted"] }
      let told = (seen + 1...target).filter { !skips.contains($0) }
      return Set(told.flatMap { history[$0].model.touchedProperties(of: id, along: paths) })
    }
    names.append(name)
    skip.append { skips.insert($0) }
    misses.append { !expected(upTo: $0).isEmpty }
    tokens.append(
      knot.observe(keyPaths: paths.map { $0.map { $0.joined(separator: ".") } }) {
        [unowned self] (change: ObjectChange<Knot>) in
        told(number) { _, target in
          var properties: Set<String> = []
          switch change {
          case .change(_, let changes): properties = Set(changes.map(\.name))
          case .deleted:
            properties = ["deleted"]
            ended.insert(number)
          case .error(let error): problems.append("\(name): \(error)")
          }
          let expected = expected(upTo: target)
          if properties != expected { problems.append("\(name): \(properties), not \(expected)") }
          seen = target
        }
      })
  }

  // MARK: - What happens

  /// What a callback does: it may write, cancel, end another token, or its own.
  private func react(to number: Int) {
    if realm.isInWriteTransaction {
      if numbers.chance(1) { realm.cancelWrite() }
      return
    }
    if numbers.chance(1), ended.count < tokens.count / 2 {
      end(numbers.chance(50) ? number : numbers.below(tokens.count))
    }
    guard !isWriting, numbers.chance(3) else { return }
    isWriting = true
    defer { isWriting = false }
    write()
  }

  private func end(_ number: Int) {
    tokens[number].invalidate()
    ended.insert(number)
  }

  /// One of the observing instance, of which some observers may not be told.
  private func write() {
    do {
      var skipped: [Int] = []
      let version = try b.write(withoutNotifying: {
        if numbers.chance(40) {
          skipped = tokens.indices.filter { !ended.contains($0) && numbers.chance(20) }
        }
        return skipped.map { tokens[$0] }
      })
      guard let version else { return }
      versions[realm.core.step] = version
      for number in skipped { skip[number](version) }
      for knot in realm.objects(Knot.self) { knots[knot.id] = knot }
    } catch {
      problems.append("\(error)")
    }
  }

  func step() throws {
    switch numbers.below(9) {
    case 0...4: try a.write()
    case 5: realm.refresh()
    case 6: write()
    default: b.place.pump()
    }
  }

  /// Everything has been told, and so nothing more is.
  func finish() {
    b.place.pump()
    realm.refresh()
    let before = calls
    b.place.pump()
    if calls != before { problems.append("calls without changes") }
    let last = realm.core.shownVersion!.rawValue
    for (number, misses) in misses.enumerated() where !ended.contains(number) && misses(last) {
      problems.append("\(names[number]): missed the last change")
    }
    for token in tokens { token.invalidate() }
  }
}

// MARK: - What is wrong with a call

extension KnotObservers {
  fileprivate static func problem(
    of delta: CollectionDelta<Knot>, _ hits: Set<Int>, _ old: [Int], _ new: [Int], _ isSet: Bool
  ) -> String? {
    guard let replayed = replay(old, delta.deletions, delta.insertions, new) else {
      return "-\(delta.deletions) +\(delta.insertions) of \(old)"
    }
    if replayed != new { return "\(replayed), not \(new)" }
    let gone = Set(delta.deletions)
    let expected = old.indices.filter { !gone.contains($0) && hits.contains(old[$0]) }
    let isRight =
      isSet
      ? Set(delta.modifications).isSuperset(of: expected) : delta.modifications == expected
    if !isRight { return "~\(delta.modifications), not \(expected)" }
    if delta.modifications.map({ old[$0] }) != delta.modificationsNew.map({ new[$0] }) {
      return "~\(delta.modifications) are now \(delta.modificationsNew)"
    }
    if delta.deletions.isEmpty, delta.insertions.isEmpty, delta.modifications.isEmpty {
      return "told of nothing"
    }
    return nil
  }

  fileprivate static func problem(
    of delta: MapDelta<String, Knot?>, _ hits: Set<String>, _ old: [String: Int],
    _ new: [String: Int]
  ) -> String? {
    let (before, after) = (Set(old.keys), Set(new.keys))
    let told = [delta.deletions, delta.insertions, delta.modifications]
    let expected = [
      before.subtracting(after), after.subtracting(before),
      before.intersection(after)
        .intersection(hits),
    ].map { $0.sorted() }
    if told != expected { return "\(told), not \(expected)" }
    return told.allSatisfy(\.isEmpty) ? "told of nothing" : nil
  }

  fileprivate static func problem(
    of delta: SectionsDelta<Int, Knot>, _ hits: Set<Int>, _ old: [KnotHistory.Section],
    _ new: [KnotHistory.Section]
  ) -> String? {
    let (deletions, insertions) = (delta.deletions, delta.insertions)
    let (modifications, now) = (delta.modifications, delta.modificationsNew)
    let (came, went) = (delta.sectionsToInsert, delta.sectionsToDelete)
    let change = "-\(deletions) +\(insertions) ~\(modifications) -\(went) +\(came)"
    let fitsOld = (deletions + modifications).allSatisfy {
      $0.section < old.count && $0.item < old[$0.section].ids.count
    }
    guard fitsOld, went.allSatisfy(old.indices.contains), came.allSatisfy(new.indices.contains),
      old.count - went.count + came.count == new.count
    else { return "\(change) of \(old)" }
    var copy = old
    for path in deletions.reversed() { copy[path.section].ids.remove(at: path.item) }
    for section in went.reversed() { copy.remove(at: section) }
    for section in came {
      copy.insert(KnotHistory.Section(key: new[section].key, ids: []), at: section)
    }
    for path in insertions {
      guard path.section < new.count, path.item < new[path.section].ids.count,
        path.item <= copy[path.section].ids.count
      else { return "\(change) of \(old)" }
      copy[path.section].ids.insert(new[path.section].ids[path.item], at: path.item)
    }
    if copy != new { return "\(copy), not \(new)" }
    let gone = Set(deletions)
    let expected = old.indices.filter { !went.contains($0) }.flatMap { section in
      old[section].ids.indices.map { IndexPath(item: $0, section: section) }
    }.filter { !gone.contains($0) && hits.contains(old[$0.section].ids[$0.item]) }
    if modifications != expected { return "~\(modifications), not \(expected)" }
    func at(_ path: IndexPath, _ sections: [KnotHistory.Section]) -> Int {
      sections[path.section].ids[path.item]
    }
    if modifications.map({ at($0, old) }) != now.map({ at($0, new) }) {
      return "~\(modifications) are now \(now)"
    }
    let isPaired = delta.moves.allSatisfy { at($0.from, old) == at($0.to, new) }
    return isPaired ? nil : "\(delta.moves) of \(old)"
  }

  /// Nil if those positions are none of these arrays.
  private static func replay(
    _ old: [Int], _ deletions: [Int], _ insertions: [Int], _ new: [Int]
  ) -> [Int]? {
    var copy = old
    for position in deletions.reversed() {
      guard position < copy.count else { return nil }
      copy.remove(at: position)
    }
    for position in insertions {
      guard position <= copy.count, position < new.count else { return nil }
      copy.insert(new[position], at: position)
    }
    return copy
  }
}

extension Spot {
  fileprivate static let hubsSet = Spot(id: 0, property: "set")
}

extension KnotLook {
  /// As observers are made with it.
  fileprivate var reach: _Look {
    switch self {
    case .paths(let paths): _Look(keyPaths: paths.map { $0.joined(separator: ".") })
    case .depth(let depth): _Look(depth: depth)
    }
  }
}

extension KnotModel {
  /// What an observer of a knot is told of this version: the first properties of its key paths, or
  /// without key paths the knot's own that were set.
  fileprivate func touchedProperties(of id: Int, along paths: [[String]]?) -> Set<String> {
    if let paths { return Set(paths.filter { isTouched(id, along: $0[...]) }.map { $0[0] }) }
    let own = touched.filter { $0.id == id }.map(\.property)
    return Set(own.filter { $0 != "back" && !$0.hasPrefix("map[") })
  }
}
