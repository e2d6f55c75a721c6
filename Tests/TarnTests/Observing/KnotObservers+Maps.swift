@testable import Tarn

extension KnotObservers {
  /// What an observer of a map is held against.
  private struct Entries<Value: RealmCollectionValue> {
    let name: String
    let map: Map<String, Value>
    var look: _ObservationScope?
    let text: (Value) -> String
    let value: (String) -> Value
    /// The keys that are modified in the observer's eyes.
    let modified: ([KnotHistory.Version]) -> Set<String>
  }

  /// The hub's map of knots.
  func observeKnots(_ look: KnotLook) {
    observe(
      "map",
      Entries<Knot?>(
        name: "map \(look)", map: KnotSource.hub(realm).map, look: look.reach,
        text: { [history] in KnotMaps.text($0.map { history.id(of: $0) ?? -2 }) },
        value: { [unowned self] in Int($0).flatMap { knots[$0] } },
        modified: { $0.modifiedKeys(look) }))
  }

  /// The hub's map of numbers.
  func observeCounts() {
    observe(
      "counts",
      Entries<Int>(
        name: "counts", map: KnotSource.hub(realm).counts, text: { KnotMaps.text($0) },
        value: { Int($0)! }, modified: { $0.keysSet(of: "counts") }))
  }

  /// The map within the hub's value of any type.
  func observeHeap() {
    observe(
      "heap",
      Entries<AnyRealmValue>(
        name: "map in heap", map: KnotMaps.map(KnotSource.hub(realm)),
        text: { KnotMaps.text($0.intValue) }, value: { .int(Int($0)!) },
        modified: { $0.keysSet(of: "heap") }))
  }

  private func observe<Value>(_ property: String, _ entries: Entries<Value>) {
    let (name, number) = (entries.name, tokens.count)
    var copy: [String: Value] = [:]
    let content = { (version: Version) in version.maps[property]! }
    let follower = KnotFollower(history, content) { versions, old, new in
      old != new || !entries.modified(versions).isDisjoint(with: old.keys)
    }
    func report(
      _ change: ObservedChange<Map<String, Value>, MapDelta<String, Value>>,
      to map: [String: String]
    ) {
      change.apply(to: &copy)
      let texts = copy.mapValues(entries.text)
      if texts != map { problems.append("\(name): a copy holds \(texts), not \(map)") }
    }
    let changes = entries.map._changeOrigin
    add(
      name, follower,
      (entries.look.map { changes.scoped(to: $0) } ?? changes).observe { [unowned self] change in
        told(number) { shown, target in
          switch change {
          case .initial: report(change, to: follower.begin(at: shown))
          case .update(_, let delta):
            let step = follower.follow(upTo: target) {
              KnotProblem.of(delta, entries.modified($0), $1, $2)
            }
            switch step {
            case .wrong(let problem): problems.append("\(name): \(problem)")
            case .right(let old, let new):
              if let old { copy = old.mapValues(entries.value) }
              report(change, to: new)
            }
          case .error(let error): problems.append("\(name): \(error)")
          }
        }
      })
  }
}
