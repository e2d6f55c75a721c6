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
  var realm: Realm { b.instance.realm }
  var tokens: [NotificationToken] = []
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
  var knots: [Int: Knot] = [:]
  private var clasps: [Int64: Clasp] = [:]
  var problems: [String] = []
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
      for _ in 0..<3 { observe(source, randomLook()) }
    }
    for _ in 0..<4 { observeKnots(randomLook()) }
    for _ in 0..<2 { observeCounts() }
    for _ in 0..<2 { observeHeap() }
    for source in KnotSections.all {
      for _ in 0..<3 { observe(source, randomLook()) }
      for key in 0..<3 { observe(source, section: key, randomLook()) }
    }
    for _ in 0..<4 { observeClasps(KnotLook.randomOfAClasp(&numbers)) }
    for source in KnotNames.all {
      for _ in 0..<2 { observe(source) }
    }
    for source in KnotValues.all {
      for _ in 0..<2 { observe(source) }
    }
    for (name, cards) in KnotCards.all {
      for _ in 0..<3 { observeCards(name, cards(realm), randomLook()) }
    }
    for _ in 0..<3 { observeCardsInSections(randomLook()) }
    for id in 0..<6 {
      observe(id, randomLook())
      observeCard(id)
    }
    b.instance.pump()
  }

  private func randomLook() -> KnotLook {
    if numbers.chance(30) { return .depth(numbers.below(5)) }
    return .paths((0...numbers.below(2)).map { _ in KnotLook.randomPath(&numbers) })
  }

  // MARK: - What they are told

  /// Runs with the version that is shown, and with the one that the round goes up to.
  func told(_ number: Int, _ body: (_ shown: UInt64, _ target: UInt64) -> Void) {
    history.lock.lock()
    defer { history.lock.unlock() }
    let shown = realm.core.shownVersion!.rawValue
    versions[realm.core.step] = shown
    calls += 1
    body(shown, versions[realm.core.delivery.roundTargets.last!]!)
    react(to: number)
  }

  func add<Content: Equatable>(
    _ name: String, _ follower: KnotFollower<Content>, _ token: NotificationToken
  ) {
    names.append(name)
    tokens.append(token)
    skip.append { follower.skip($0) }
    misses.append { follower.misses(upTo: $0) }
  }

  /// What an observer of rows is held against.
  private struct Rows<Element, Row: Hashable> {
    let name: String
    let content: (Version) -> [Row]
    let row: (Element) -> Row?
    let element: (Row) -> Element
    /// The rows that are modified in the observer's eyes.
    var modified: ([Version]) -> Set<Row> = { _ in [] }
    /// What was touched may be told, even if nothing came of it.
    var spot: Spot?
    var kind = KnotProblem.Kind.objects
  }

  private func observe(_ source: KnotSource, _ look: KnotLook) {
    observe(
      Rows<Knot, Int>(
        name: "\(source.name) \(look)", content: \.rows[source.name]!,
        row: { [history] in history.id(of: $0) }, element: { [unowned self] in knots[$0]! },
        modified: { $0.modified(look) },
        // What went and came back may be told.
        spot: source.property.map { Spot(id: 0, property: $0) },
        kind: source.isSet ? .set : .objects),
      source.collection(realm)._changeOrigin.scoped(to: look.reach).map { change in
        change.map({ Array($0) }, { $0 })
      })
  }

  private func observeClasps(_ look: KnotLook) {
    observe(
      Rows<Clasp, Int64>(
        name: "clasps \(look)", content: \.clasps, row: { $0._key },
        element: { [unowned self] in clasps[$0]! }, modified: { $0.modifiedClasps(look) },
        spot: Spot(id: 0, property: "clasps")),
      KnotSource.hub(realm).clasps._changeOrigin.scoped(to: look.reach).map { change in
        change.map({ Array($0) }, { $0 })
      })
  }

  private func observe(_ source: KnotValues) {
    observe(
      Rows<String, String>(
        name: source.name, content: \.values[source.name]!, row: { $0 }, element: { $0 },
        spot: Spot(id: 0, property: source.property), kind: .values), source.changes(realm))
  }

  private func observeCards(_ name: String, _ cards: Results<KnotCard>, _ look: KnotLook) {
    observe(
      Rows<Knot, Int>(
        name: "cards \(name) \(look)", content: \.rows[name]!,
        row: { [history] in history.id(of: $0) }, element: { [unowned self] in knots[$0]! },
        modified: { $0.modified(look) }),
      cards._changeOrigin.scoped(to: look.labelled).map { change in
        change.map({ $0.map(\.rootObject) }, { $0.map(\.rootObject) })
      })
  }

  private func observe<Element, Row: Hashable>(
    _ rows: Rows<Element, Row>,
    _ changes: _ChangeOrigin<ObservedChange<[Element], CollectionDelta<Element>>>
  ) {
    let (name, number) = (rows.name, tokens.count)
    var copy: [Element] = []
    let follower = KnotFollower(history, rows.content) { versions, old, new in
      old != new || !rows.modified(versions).isDisjoint(with: old)
    }
    if let spot = rows.spot {
      follower.mayBeTold = { $0.contains { $0.model.touched.contains(spot) } }
    }
    /// Whatever was written since, a copy that follows holds what the call leads to.
    func report(
      _ change: ObservedChange<[Element], CollectionDelta<Element>>, to expected: [Row]
    ) {
      change.apply(to: &copy)
      let held = copy.map(rows.row)
      for case let knot as Knot in copy { history.id(of: knot).map { knots[$0] = knot } }
      for case let clasp as Clasp in copy { clasps[clasp._key] = clasp }
      if held != expected { problems.append("\(name): a copy holds \(held), not \(expected)") }
    }
    add(
      name, follower,
      changes.observe { [unowned self] change in
        told(number) { shown, target in
          switch change {
          case .initial: report(change, to: follower.begin(at: shown))
          case .update(_, let delta):
            let step = follower.follow(upTo: target) {
              KnotProblem.of(delta, rows.row, rows.modified($0), $1, $2, rows.kind)
            }
            switch step {
            case .wrong(let problem): problems.append("\(name): \(problem)")
            case .right(let old, let new):
              if let old { copy = old.map(rows.element) }
              report(change, to: new)
            }
          case .error(let error): problems.append("\(name): \(error)")
          }
        }
      })
  }

  /// One section, whether it is there or not.
  private func observe(_ source: KnotSections, section key: Int, _ look: KnotLook) {
    let section = ResultsSection(source.sections(realm), key, number: 0)
    observe(
      Rows<Knot, Int>(
        name: "\(source.name) \(key) \(look)",
        content: { $0.sections[source.name]!.first { $0.key == key }?.elements ?? [] },
        row: { [history] in history.id(of: $0) }, element: { [unowned self] in knots[$0]! },
        modified: { $0.modified(look) }, spot: source.property.map { Spot(id: 0, property: $0) }),
      section._changeOrigin.scoped(to: look.reach).map { change in
        change.map({ Array($0) }, { $0 })
      })
  }

  private func observe(_ source: KnotNames) {
    let (name, number) = ("names of \(source.property)", tokens.count)
    let look = KnotLook.paths([["name"]])
    let follower = KnotFollower(history, source.content) { versions, old, new in
      old != new || !versions.modified(look).isDisjoint(with: old.map(\.id))
    }
    let spot = Spot(id: 0, property: source.property)
    follower.mayBeTold = { $0.contains { $0.model.touched.contains(spot) } }
    let kind = source.property == "set" ? KnotProblem.Kind.set : .objects
    var copy: [String] = []
    func report(
      _ change: ObservedChange<ProjectedCollection<String>, CollectionDelta<String>>,
      to expected: [KnotNames.Row]
    ) {
      change.apply(to: &copy)
      let names = expected.map(\.name)
      if copy != names { problems.append("\(name): a copy holds \(copy), not \(names)") }
    }
    add(
      name, follower,
      source.names(realm).observeChanges { [unowned self] change in
        told(number) { shown, target in
          switch change {
          case .initial: report(change, to: follower.begin(at: shown))
          case .update(_, let delta):
            let step = follower.follow(upTo: target) {
              KnotProblem.of(
                positions: delta, $0.modified(look), $1.map(\.id), $2.map(\.id), kind)
            }
            switch step {
            case .wrong(let problem): problems.append("\(name): \(problem)")
            case .right(let old, let new):
              if let old { copy = old.map(\.name) }
              report(change, to: new)
            }
          case .error(let error): problems.append("\(name): \(error)")
          }
        }
      })
  }

  private func observe(_ id: Int, _ look: KnotLook) {
    guard let knot = realm.object(ofType: Knot.self, forPrimaryKey: id) else { return }
    let paths: [[String]]? = if case .paths(let paths) = look { paths } else { nil }
    observe(
      id, "knot \(id) \(look)", { $0.touchedProperties(of: id, along: paths) },
      { knot.observe(keyPaths: paths.map { $0.map { $0.joined(separator: ".") } }, $0) })
  }

  /// A projection of a knot tells the labels of what it projects.
  private func observeCard(_ id: Int) {
    guard let knot = realm.object(ofType: Knot.self, forPrimaryKey: id) else { return }
    let labels = KnotCards.labels.filter { _ in numbers.chance(60) }
    let seen = labels.isEmpty ? KnotCards.labels : labels
    observe(
      id, "card \(id) \(labels)",
      { model in
        Set(seen.filter { model.isTouched(id, along: $0.path[...]) }.map(\.label))
      }, { KnotCard(projecting: knot).observe(keyPaths: labels.map(\.label), $0) })
  }

  /// An object's observer is told of all that it was not left out of in one call.
  private func observe<Observed>(
    _ id: Int, _ name: String, _ touched: @escaping (KnotModel) -> Set<String>,
    _ register: (@escaping (ObjectChange<Observed>) -> Void) -> NotificationToken
  ) {
    let number = tokens.count
    var seen = realm.core.shownVersion!.rawValue
    var skips: Set<UInt64> = []
    func expected(upTo target: UInt64) -> Set<String> {
      guard seen < target else { return [] }
      if history[target].model.links[id] == nil { return ["deleted"] }
      let told = (seen + 1...target).filter { !skips.contains($0) }
      return Set(told.flatMap { touched(history[$0].model) })
    }
    names.append(name)
    skip.append { skips.insert($0) }
    misses.append { !expected(upTo: $0).isEmpty }
    tokens.append(
      register { [unowned self] change in
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
      for clasp in KnotSource.hub(realm).clasps { clasps[clasp._key] = clasp }
    } catch {
      problems.append("\(error)")
    }
  }

  func step() throws {
    switch numbers.below(9) {
    case 0...4: try a.write()
    case 5: realm.refresh()
    case 6: write()
    default: b.instance.pump()
    }
  }

  /// Everything has been told, and so nothing more is.
  func finish() {
    b.instance.pump()
    realm.refresh()
    let before = calls
    b.instance.pump()
    if calls != before { problems.append("calls without changes") }
    let last = realm.core.shownVersion!.rawValue
    for (number, misses) in misses.enumerated() where !ended.contains(number) && misses(last) {
      problems.append("\(names[number]): missed the last change")
    }
    for token in tokens { token.invalidate() }
  }
}

extension KnotLook {
  /// As observers are made with it.
  var reach: _ObservationScope {
    switch self {
    case .paths(let paths): _ObservationScope(keyPaths: paths.map { $0.joined(separator: ".") })
    case .depth(let depth): _ObservationScope(depth: depth)
    }
  }

  /// The same for projections.
  var labelled: _ObservationScope {
    switch self {
    case .paths(let paths):
      _ObservationScope(keyPaths: paths.map(KnotCards.labelled), of: KnotCard.self)
    case .depth(let depth): _ObservationScope(depth: depth)
    }
  }
}

extension KnotModel {
  /// What an observer of a knot is told of this version: the first properties of its key paths, or
  /// without key paths the knot's own that were set.
  fileprivate func touchedProperties(of id: Int, along paths: [[String]]?) -> Set<String> {
    if let paths { return Set(paths.filter { isTouched(id, along: $0[...]) }.map { $0[0] }) }
    let own = touched.filter { $0.id == id && !$0.isEmbedded }.map(\.property)
    return Set(own.filter { $0 != "back" && !$0.contains("[") })
  }
}
