import TarnStore

/// An observation of a collection.
class CollectionObservation: Observation {
  /// - Parameter elements: the elements after the news; may be called for an update only.
  typealias Block = (_ news: News<LiveDifference>, _ elements: () -> PastElements) -> Void

  /// Referenced strongly: a token keeps its source alive.
  let source: any ObservedSource
  /// The changes of the source within this observer's scope.
  let log: ScopedLog
  private(set) var needsInitial = true
  private let block: Block
  private var skipped: Set<Int> = []
  private let asksForElements: Bool
  /// The states before skipped steps, for a call that reports the changes up to such a step.
  private var statesBeforeSkipped: [Int: PastState] = [:]
  /// The states before the steps with which the next calls begin, in order: changes in linked
  /// objects are reported from there on.
  private var statesBefore: [(step: Int, state: PastState)] = []
  /// These states were released, and the next call does not report changes in linked objects.
  private var hasLostStates = false
  /// The content at the first call, if that was not a committed state: another observer had already
  /// changed rows, in the write whose start made the call.
  private var baseline: Baseline?

  /// Elsewhere in memory: few of many observers have one.
  private final class Baseline {
    let content: LiveBaseline
    init(_ content: LiveBaseline) { self.content = content }
  }

  init(
    state: ObservationState, serial: Int, seen: Int, source: any ObservedSource, _ log: ScopedLog,
    readsTarget: Bool, block: @escaping Block
  ) {
    self.source = source
    self.log = log
    asksForElements = readsTarget
    self.block = block
    super.init(state: state, serial: serial, seen: seen)
  }

  override func hasPendingChange(upTo target: Int) -> Bool {
    needsInitial ? !source.isAwaited : log.hasSteps(after: seen, upTo: target)
  }

  override var waitsForWorker: Bool { needsInitial && source.isAwaited }

  override var readsTarget: Bool { asksForElements }

  /// True for a loop, which pulls steps and may be slow.
  var isPulled: Bool { false }

  /// The first call is due in the next round.
  var isFirstCallDue: Bool { needsInitial }

  /// The steps after which a new call begins.
  var marks: [Int] { [seen] + skipped.flatMap { [$0 - 1, $0] } }

  override func skip(step: Int, from past: PastState) {
    if readsTarget, log.hasSteps(after: seen, upTo: step - 1) {
      statesBeforeSkipped[step] = past
    }
    skipped.insert(step)
    if statesBefore.last?.step == step { statesBefore.removeLast() }
  }

  /// Notes a step that was just made and that will be reported.
  func note(step: Int, from past: PastState) {
    guard asksForElements, !needsInitial, !hasLostStates else { return }
    if let last = statesBefore.last, !skipped.contains(where: { $0 > last.step }) { return }
    statesBefore.append((step, past))
  }

  /// The first step whose preceding state is kept.
  final var firstStepKept: Int? { statesBefore.first?.step }

  /// Releases the states before steps that the loop has not read. Changes in linked objects since
  /// then are no longer known.
  final func forgetStatesBefore() {
    statesBefore = []
    hasLostStates = true
  }

  override func deliver(upTo target: Int, _ host: any DeliveryHost) {
    if needsInitial {
      needsInitial = false
      seen = host.step
      prepare()
      // Its owner was deleted before the first call.
      if source.isGone { return }
      if host.session?.isEmpty == false { baseline = Baseline(source.baseline()) }
      return block(.initial, Self.trapNoElements)
    }
    // A skipped step splits the changes: one call for the steps before it, another for those after
    // it.
    while let next = log.stepNumbers.first(where: { $0 > seen && $0 <= target }) {
      if skipped.remove(next) != nil {
        seen = next
        baseline = nil
        continue
      }
      let last = log.lastStep(from: next, upTo: target, before: skipped)
      let changes = log.difference(after: seen, upTo: last, from: baseline.take()?.content)
      let past = statesBefore.first { $0.step > seen && $0.step <= last }?.state
      seen = last
      if !changes.isEmpty { block(.update(changes)) { elements(after: last, past, host) } }
      guard state.isActive else { return }
    }
    seen = max(seen, target)
    if !statesBeforeSkipped.isEmpty {
      statesBeforeSkipped = statesBeforeSkipped.filter { $0.key > seen }
    }
    if !statesBefore.isEmpty { statesBefore.removeAll { $0.step <= seen } }
    hasLostStates = false
  }

  /// The elements after step `last`, even if a callback has advanced the instance or written since.
  ///
  /// - Parameter past: the state before the change.
  private func elements(
    after last: Int, _ past: PastState?, _ host: any DeliveryHost
  ) -> PastElements {
    let next = statesBeforeSkipped.keys.filter { $0 > last }.min()
    let shown = host.delivery.roundState ?? host.reader?.snapshot
    guard let state = next.flatMap({ statesBeforeSkipped[$0] }) ?? shown.map({ .version($0) })
    else { trap("internal error: a change without the state that it leads to") }
    return log.elements(after: last, in: state, since: past)
  }

  private static func trapNoElements() -> PastElements {
    trap("internal error: this change leads to no new state")
  }

  /// Evaluates the content for the first call, which is due soon.
  func prepare() {
    trapping { () throws(StorageError) in try source.beginFollowing() }
  }

  override func end(with error: StorageError) {
    if state.end() { block(.error(error), Self.trapNoElements) }
  }
}

/// The argument of an observation's block.
enum News<Update> {
  /// The first call: the observed object or collection can be read.
  case initial
  case update(Update)
  /// The file can no longer be followed. The last call.
  case error(StorageError)

  /// The same with another form of the update.
  ///
  /// - Parameter transform: returns nil for updates that are not reported to the observer.
  func map<Other>(_ transform: (Update) -> Other?) -> News<Other>? {
    switch self {
    case .initial: .initial
    case .update(let update): transform(update).map { .update($0) }
    case .error(let error): .error(error)
    }
  }
}
