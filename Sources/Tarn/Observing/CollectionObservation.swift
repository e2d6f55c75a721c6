import TarnStore

/// An observation of a collection.
class CollectionObservation: Observation {
  /// - Parameter elements: what the news lead to; an update's alone may be asked for.
  typealias Block = (_ news: News<LiveDifference>, _ elements: () -> PastElements) -> Void

  /// Observed strongly: a token keeps its source alive.
  let source: any ObservedSource
  /// What it is told of the source, as far as it looks.
  let view: ScopedLog
  private(set) var needsInitial = true
  private let block: Block
  private var skipped: Set<Int> = []
  private let asksForElements: Bool
  /// The states before skipped steps, which a call may lead to that leaves those out.
  private var statesBeforeSkipped: [Int: PastState] = [:]
  /// The states before the steps that the next calls begin with, in their order: what has changed
  /// behind the elements is told from there on.
  private var statesBefore: [(step: Int, state: PastState)] = []
  /// They were let go of, and what comes up to the next call is told without them.
  private var hasLostStates = false
  /// What the first call showed, where that was no committed state: another observer had changed
  /// rows already, in the write whose begin made the call.
  private var baseline: LiveBaseline?

  init(
    state: ObservationState, serial: Int, seen: Int, source: any ObservedSource, _ view: ScopedLog,
    readsTarget: Bool, block: @escaping Block
  ) {
    self.source = source
    self.view = view
    asksForElements = readsTarget
    self.block = block
    super.init(state: state, serial: serial, seen: seen)
  }

  override func hasPendingChange(upTo target: Int) -> Bool {
    needsInitial ? !source.isAwaited : view.hasSteps(after: seen, upTo: target)
  }

  override var waitsForWorker: Bool { needsInitial && source.isAwaited }

  override var readsTarget: Bool { asksForElements }

  /// A loop asks for the steps, which may take its time.
  var isPulled: Bool { false }

  /// It is called in the next round for the first time.
  var isFirstCallDue: Bool { needsInitial }

  /// Steps after which it is told anew.
  var marks: [Int] { [seen] + skipped.flatMap { [$0 - 1, $0] } }

  override func skip(step: Int, from former: PastState) {
    if readsTarget, view.hasSteps(after: seen, upTo: step - 1) {
      statesBeforeSkipped[step] = former
    }
    skipped.insert(step)
    if statesBefore.last?.step == step { statesBefore.removeLast() }
  }

  /// There is something to tell of a step that was just made.
  func note(step: Int, from former: PastState) {
    guard asksForElements, !needsInitial, !hasLostStates else { return }
    if let last = statesBefore.last, !skipped.contains(where: { $0 > last.step }) { return }
    statesBefore.append((step, former))
  }

  /// The first step of which the state before it is kept.
  final var firstStepKept: Int? { statesBefore.first?.step }

  /// Lets go of the states before steps that nobody has asked for; what has changed behind the
  /// elements since is not known then.
  final func forgetStatesBefore() {
    statesBefore = []
    hasLostStates = true
  }

  override func deliver(upTo target: Int, _ host: any DeliveryHost) {
    if needsInitial {
      needsInitial = false
      seen = host.step
      prepare()
      // What it belonged to went before it could be told of anything.
      if source.isGone { return }
      if host.session?.isEmpty == false { baseline = source.baseline() }
      return block(.initial, Self.trapNoElements)
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
      let former = statesBefore.first { $0.step > seen && $0.step <= last }?.state
      seen = last
      if !changes.isEmpty { block(.update(changes)) { elements(after: last, former, host) } }
      guard state.isActive else { return }
    }
    seen = max(seen, target)
    if !statesBeforeSkipped.isEmpty {
      statesBeforeSkipped = statesBeforeSkipped.filter { $0.key > seen }
    }
    if !statesBefore.isEmpty { statesBefore.removeAll { $0.step <= seen } }
    hasLostStates = false
  }

  /// What there was after step `last`, though a callback may have moved the instance since, or
  /// written.
  ///
  /// - Parameter former: where it began.
  private func elements(
    after last: Int, _ former: PastState?, _ host: any DeliveryHost
  ) -> PastElements {
    let next = statesBeforeSkipped.keys.filter { $0 > last }.min()
    let shown = host.delivery.roundState ?? host.reader?.snapshot
    guard let state = next.flatMap({ statesBeforeSkipped[$0] }) ?? shown.map({ .version($0) })
    else { trap("internal error: a change without the state that it leads to") }
    return view.elements(after: last, in: state, since: former)
  }

  private static func trapNoElements() -> PastElements {
    trap("internal error: this change leads to no new state")
  }

  /// The first call is near: what it shows is worked out.
  func prepare() {
    trapping { () throws(StorageError) in try source.beginFollowing() }
  }

  override func end(with error: StorageError) {
    if state.end() { block(.error(error), Self.trapNoElements) }
  }
}
