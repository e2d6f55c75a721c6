import TarnStore

/// The query of results, and their rows.
///
/// A query is bound to the file when its results are built, so that an invalid one traps where it
/// was written. Its rows are found when they are first used, and shared by equal queries from the
/// second use on: many results are only steps to others, or are read once and dropped, and sharing
/// costs more than either.
final class ResultSource {
  private enum State {
    case unused
    case used(LiveResult)
    case shared(LiveResult)
  }

  let core: RealmCore
  let spec: QuerySpec
  let model: ResultModel
  private var state = State.unused
  /// The note of a library of synchronization on these results.
  var note: AnyObject?

  init(_ core: RealmCore, _ spec: QuerySpec) {
    self.core = core
    self.spec = spec
    guard core.frozen != nil else {
      model = core.liveModel(of: spec)
      return
    }
    // Any thread may read a frozen instance's results, so nothing in them may change.
    let live = core.sharedResult(WeakTable.Name(spec)) {
      LiveResult(core.liveModel(of: spec), on: core)
    }
    (model, state) = (live.model, .shared(live))
  }

  /// The rows for one more use.
  var live: LiveResult {
    guard case .unused = state else { return shared }
    let known = core.shared.results.isEmpty ? nil : core.knownResult(WeakTable.Name(spec))
    let live = known ?? LiveResult(model, on: core)
    state = known == nil ? .used(live) : .shared(live)
    return live
  }

  /// The rows that equal queries share.
  var shared: LiveResult {
    if case .shared(let live) = state { return live }
    let live = core.sharedResult(WeakTable.Name(spec)) {
      if case .used(let live) = state { live } else { LiveResult(model, on: core) }
    }
    state = .shared(live)
    return live
  }
}
