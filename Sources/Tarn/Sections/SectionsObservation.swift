import TarnStore

/// An observation of sections: one of the results that they are made of, whose differences it
/// turns into those of sections.
final class SectionsObservation<Key: Hashable>: CollectionObservation {
  enum SectionsNews {
    case initial
    case update(SectionChanges)
    case error(StorageError)
  }

  let sections: LiveSections<Key>
  /// Of the one section that is observed.
  private let key: Key?
  private let report: (SectionsNews) -> Void
  /// What the first call showed, where that was an open write's state.
  private var baseline: SectionTable<Key>?

  /// - Parameter key: to be told of one section only.
  init(
    state: ObservationState, serial: Int, seen: Int, sections: LiveSections<Key>, key: Key?,
    block: @escaping (SectionsNews) -> Void
  ) {
    self.sections = sections
    self.key = key
    report = block
    super.init(state: state, serial: serial, seen: seen, source: sections.source) { news in
      if case .error(let error) = news { block(.error(error)) }
    }
  }

  override func prepare() {
    super.prepare()
    sections.beginFollowing()
  }

  override func stepWasLogged() { sections.logStep() }

  override func wasRemoved(_ others: [CollectionObservation]) {
    sections.endFollowing(unlessObservedBy: others)
  }

  override func tellFirst(isBaseline: Bool) {
    if isBaseline { baseline = sections.current().table }
    report(.initial)
  }

  override func tell(_ changes: LiveDifference, after before: Int?) {
    guard case .indices(let rows) = changes else { return }
    let old = before.map { sections.table(after: $0) } ?? baseline ?? SectionTable()
    baseline = nil
    let new = sections.table(after: seen)
    var made = SectionChanges(from: old, to: new, rows: rows)
    if let key { made = made.concerning(old.number(of: key), new.number(of: key)) }
    if !made.isEmpty { report(.update(made)) }
  }

  override func deliver(upTo target: Int, _ host: any DeliveryHost) {
    super.deliver(upTo: target, host)
    sections.forgetSteps(toldTo: host.delivery.observers.observations(of: source))
  }
}
