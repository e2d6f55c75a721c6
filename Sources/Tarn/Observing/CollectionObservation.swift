import TarnStore

/// What a collection observer is called with.
public enum RealmCollectionChange<Collection> {
  /// The first call: the collection is ready to be read.
  case initial(Collection)
  /// The collection changed since the last call. All indices ascend. `deletions` and
  /// `modifications` are positions before, `insertions` positions after the change. Removing the
  /// deletions and then inserting the insertions turns the old list into the new one.
  case update(Collection, deletions: [Int], insertions: [Int], modifications: [Int])
  /// The file can no longer be followed; nothing comes after this.
  case error(any Error)
}

/// An observation of a collection.
final class CollectionObservation: Observation {
  enum News {
    case initial
    case update(LiveDifference)
    case error(StorageError)
  }

  /// Observed strongly: a token keeps its source alive.
  let source: any ObservedSource
  /// What it is told of the source, as far as it looks.
  let view: SourceView
  private(set) var needsInitial = true
  private let block: (News) -> Void
  private var skipped: Set<Int> = []
  /// What the first call showed, where that was no committed state: another observer had changed
  /// rows already, in the write whose begin made the call.
  private var baseline: LiveBaseline?

  init(
    state: ObservationState, serial: Int, seen: Int, source: any ObservedSource, _ view: SourceView,
    block: @escaping (News) -> Void
  ) {
    self.source = source
    self.view = view
    self.block = block
    super.init(state: state, serial: serial, seen: seen)
  }

  override func hasPendingChange(upTo target: Int) -> Bool {
    needsInitial ? !source.isAwaited : view.hasSteps(after: seen, upTo: target)
  }

  override var waitsForWorker: Bool { needsInitial && source.isAwaited }

  override func skip(step: Int) { skipped.insert(step) }

  override func deliver(upTo target: Int, _ host: any DeliveryHost) {
    if needsInitial {
      needsInitial = false
      seen = host.step
      prepare()
      // What it belonged to went before it could be told of anything.
      if source.isGone { return }
      if host.session?.isEmpty == false { baseline = source.baseline() }
      return block(.initial)
    }
    // A skipped step splits what is to be told: one call for what came before, then on after it.
    while let next = view.stepNumbers.first(where: { $0 > seen && $0 <= target }) {
      if skipped.remove(next) != nil {
        seen = next
        baseline = nil
        continue
      }
      let last = view.lastStep(from: next, upTo: target, before: skipped)
      let changes = view.difference(after: seen, upTo: last, from: baseline.take())
      seen = last
      if !changes.isEmpty { block(.update(changes)) }
      guard state.isActive else { return }
    }
    seen = max(seen, target)
  }

  /// The first call is near: what it shows is worked out.
  func prepare() {
    trapping { () throws(StorageError) in try source.beginFollowing() }
  }

  override func end(with error: StorageError) {
    if state.end() { block(.error(error)) }
  }
}
