import TarnStore

/// Limits how many deliveries run at the same time. Any thread.
///
/// Each consumer has a place. A slot that is given back is handed to the place that has waited
/// longest, so none is free while one waits. A consumer that was handed a slot and has nothing to
/// deliver must leave its place, which hands the slot on.
final class Slots: Sendable {
  /// The place of one consumer, which delivers one batch at a time.
  final class Place: Sendable {
    fileprivate let slots: Slots

    fileprivate init(_ slots: Slots) { self.slots = slots }

    /// Takes a slot, or has it already. Without a free one it waits, and `handed` is called, once,
    /// when it has one.
    func take(orWait handed: @escaping @Sendable () -> Void) -> Bool {
      slots.take(self, handed)
    }

    /// Gives back what it has, and waits no more.
    func leave() { slots.leave(self) }
  }

  private struct State {
    /// How many there are.
    var count: Int
    /// Below zero while more are taken than there are since that was changed.
    var free: Int
    /// The places that have a slot.
    var holders: Set<ObjectIdentifier> = []
    /// The places that want one, each once, the one that has waited longest first.
    var waiting: [(place: Place, handed: @Sendable () -> Void)] = []

    /// Gives what is free to those that wait.
    mutating func handOn() -> [@Sendable () -> Void] {
      var handed: [@Sendable () -> Void] = []
      while free > 0, !waiting.isEmpty {
        let next = waiting.removeFirst()
        free -= 1
        holders.insert(ObjectIdentifier(next.place))
        handed.append(next.handed)
      }
      return handed
    }
  }

  private let state: Lock<State>

  init(_ count: Int) { state = Lock(State(count: count, free: count)) }

  func place() -> Place { Place(self) }

  /// How many are free now.
  var free: Int { state.withLock { $0.free } }

  private func take(_ place: Place, _ handed: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      if state.holders.contains(ObjectIdentifier(place)) { return true }
      if state.free > 0 {
        state.free -= 1
        state.holders.insert(ObjectIdentifier(place))
        return true
      }
      if !state.waiting.contains(where: { $0.place === place }) {
        state.waiting.append((place, handed))
      }
      return false
    }
  }

  private func leave(_ place: Place) {
    let handed = state.withLock { state -> [@Sendable () -> Void] in
      guard state.holders.remove(ObjectIdentifier(place)) != nil else {
        state.waiting.removeAll { $0.place === place }
        return []
      }
      state.free += 1
      return state.handOn()
    }
    for handed in handed { handed() }
  }

  /// Changes how many there are. Deliveries that run go on.
  func resize(to count: Int) {
    let handed = state.withLock { state in
      state.free += count - state.count
      state.count = count
      return state.handOn()
    }
    for handed in handed { handed() }
  }
}
