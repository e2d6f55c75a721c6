import TarnStore

/// The query of results, and their rows.
///
/// A query is bound to the file when its results are built, so that an invalid one traps where it
/// was written. Its rows are found when they are first used, and shared by equal queries from the
/// second use on: many results are only steps to others, or are read once and dropped, and sharing
/// costs more than either.
final class ResultSource {
  private enum State {
    case unused(ResultModel)
    case used(LiveResult)
    case shared(LiveResult)
  }

  let core: RealmCore
  private let key: WeakTable<QuerySpec>.Box
  private var state: State
  /// The note of a library of synchronization on these results.
  var note: AnyObject?

  init(_ core: RealmCore, _ spec: QuerySpec) {
    self.core = core
    key = WeakTable.Box(spec)
    if core.frozen == nil {
      state = .unused(core.liveModel(of: spec))
      return
    }
    // Any thread may read a frozen instance's results, so nothing in them may change.
    state = .shared(
      core.sharedResult(WeakTable.Name(key)) { LiveResult(core.liveModel(of: spec), on: core) })
  }

  var spec: QuerySpec { key.key }

  var model: ResultModel {
    switch state {
    case .unused(let model): model
    case .used(let live), .shared(let live): live.model
    }
  }

  /// The rows for one more use.
  var live: LiveResult {
    guard case .unused(let model) = state else { return shared }
    let known = core.shared.results.isEmpty ? nil : core.knownResult(WeakTable.Name(key))
    let live = known ?? LiveResult(model, on: core)
    state = known == nil ? .used(live) : .shared(live)
    return live
  }

  /// The rows that equal queries share.
  var shared: LiveResult {
    if case .shared(let live) = state { return live }
    let live = core.sharedResult(WeakTable.Name(key)) {
      switch state {
      case .unused(let model): LiveResult(model, on: core)
      case .used(let live), .shared(let live): live
      }
    }
    state = .shared(live)
    return live
  }
}

/// Identifies results in every Realm of their file, by their query.
private struct ResultsThreadReference<Element: RealmCollectionValue>: ThreadReference {
  let spec: QuerySpec

  var anchor: ThreadReferenceAnchor {
    switch spec.origin {
    case .sequence(let place): .sequence(place)
    case .backlinks(let target, _, _): .row(target)
    case .objects, nil: .nothing
    }
  }

  func arrival(in core: RealmCore) -> (any ThreadConfined)? {
    if let owner = spec.origin?.owner, !core.has(owner) { return nil }
    return Results<Element>(core, spec, createdInWrite: core.writeThatMadeOrigin(of: spec))
  }
}

extension Results {
  /// Traps for results of a collection that the open write created.
  public func _threadReference() -> _ThreadReference {
    require(
      core.writeThatMadeOrigin(of: spec) == nil,
      "This Results<\(Element.self)> is derived from a collection that was created in the open "
        + "write, and cannot be passed on before the write is committed. Pass the collection or "
        + "its object and derive the results at the destination, or commit first.")
    return _ThreadReference(
      ResultsThreadReference<Element>(spec: spec), createdInWrite: createdInWrite)
  }
}

extension RealmCore {
  /// The open write, if it created the collection that results are of.
  fileprivate func writeThatMadeOrigin(of spec: QuerySpec) -> WriteMark? {
    switch spec.origin {
    case .sequence(let place): writeThatMade(place)
    case .backlinks(let target, _, _): writeThatMade(target)
    case .objects, nil: nil
    }
  }
}
