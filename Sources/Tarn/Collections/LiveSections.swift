import TarnStore

/// Sections of results on one instance, kept right as the shown version moves. `SectionedResults`
/// of one key path share them, those of a block have their own.
///
/// The key of a row is asked for on the instance's scheduler, while the row is shown: when the row
/// came or changed, and for all rows at the first use. While somebody observes, that is in each
/// step that concerns the rows, so that what every step did is known whenever it is told.
final class LiveSections<Key: Hashable> {
  /// Rows and how they fall into sections.
  struct State {
    var rows: ResultRows
    var table: SectionTable<Key>
  }

  private unowned let core: RealmCore
  private let live: LiveRows
  private let key: (ResultRows, Int) -> Key

  /// At step `step`; nil until somebody asks.
  private var published: (state: State, step: Int)?
  /// Inside the open write, at a position of its journal.
  private var working: (state: State, serial: UInt64, position: ChangeRecorder.Position)?
  /// Somebody has been told: from then on every step that concerns the rows is logged.
  private var isTracked = false
  /// The tables after steps that not everybody has been told of.
  private var log: [(step: Int, table: SectionTable<Key>)] = []

  /// - Parameter key: the key of a row at a position.
  init(_ core: RealmCore, _ live: LiveRows, key: @escaping (ResultRows, Int) -> Key) {
    self.core = core
    self.live = live
    self.key = key
  }

  var source: any ObservedSource { live.source }

  // MARK: - Reading

  /// The sections now, an open write's changes included.
  func current() -> State {
    guard let session = core.session, !session.isEmpty else {
      working = nil
      return atShownVersion()
    }
    let serial = core.writeSerial
    let position = session.recorder.position
    if let working, working.serial == serial, working.position == position {
      return working.state
    }
    let (old, seen): (State, ChangeRecorder.Position)
    if let working, working.serial == serial {
      (old, seen) = (working.state, working.position)
    } else if let published, isTracked || published.step == core.step {
      (old, seen) = (published.state, .start)
    } else {
      let state = evaluate()
      working = (state, serial, position)
      return state
    }
    let state = follow(session.recorder.changes(since: seen), from: old)
    working = (state, serial, position)
    return state
  }

  private func atShownVersion() -> State {
    _ = core.shown()
    let state: State
    if let published {
      if isTracked || published.step == core.step { return published.state }
      if let missed = core.recentSteps.changes(after: published.step, upTo: core.step) {
        state = follow(missed, from: published.state)
      } else {
        state = evaluate()
      }
    } else {
      state = evaluate()
    }
    published = (state, core.step)
    return state
  }

  private func currentRows() -> ResultRows {
    trapping { () throws(StorageError) in try live.current(core) }
  }

  private func evaluate() -> State {
    let rows = currentRows()
    return State(rows: rows, table: SectionTable(rowCount: rows.count) { key(rows, $0) })
  }

  private func follow(_ changes: ChangeSet, from old: State) -> State {
    guard live.isConcerned(by: changes) else { return old }
    guard !changes.schemaChanged else { return evaluate() }
    let rows = currentRows()
    let difference = trapping { () throws(StorageError) in
      try live.query.difference(old.rows, rows, over: changes, core.rows())
    }
    return State(rows: rows, table: old.table.applying(difference) { key(rows, $0) })
  }

  // MARK: - Observing

  /// An observer is about to be told of what is shown.
  func prepareForObserving() {
    if isTracked { return }
    // What a write shows that has changed something is in no step.
    if core.session?.isEmpty != false {
      log = [(core.step, current().table)]
    } else {
      published = nil
    }
    isTracked = true
  }

  /// The source has logged the step that was just made.
  func logStep() {
    guard isTracked, log.last?.step != core.step else { return }
    let state: State
    if let published,
      case .indices(let changes) = source.difference(
        after: core.step - 1, upTo: core.step, from: nil)
    {
      let rows = currentRows()
      state = State(rows: rows, table: published.state.table.applying(changes) { key(rows, $0) })
    } else {
      state = evaluate()
    }
    published = (state, core.step)
    log.append((core.step, state.table))
  }

  /// The sections after a step.
  func table(after step: Int) -> SectionTable<Key> {
    log.last { $0.step <= step }?.table ?? SectionTable()
  }

  /// Lets go of what everybody has been told of.
  func forgetSteps() {
    let seen = observations.map(\.seen).min() ?? .max
    guard let needed = log.lastIndex(where: { $0.step <= seen }) else { return }
    log.removeFirst(needed)
  }

  private var observations: [CollectionObservation] {
    source.observations.filter { ($0 as? SectionsObservation<Key>)?.sections === self }
  }

  func stopTrackingIfUnobserved() {
    guard isTracked, observations.isEmpty else { return }
    isTracked = false
    if let state = published?.state { published = (state, core.step) }
    log = []
  }
}

extension CompiledQuery {
  /// What `changes` made of older rows of this query.
  fileprivate func difference(
    _ old: ResultRows, _ new: ResultRows, over changes: ChangeSet, _ rows: StoreRows
  ) throws(StorageError) -> IndexChanges {
    switch (old, new) {
    case (.root(let old), .root(let new)): return try difference(old, new, over: changes, rows)
    case (.derived(let old), .derived(let new)):
      let modified = try modifiedRows(changes, rows) { KeySet(Set(old.keys + new.keys).sorted()) }
      let own = changes[classID]
      return new.script(from: old, along: nil, modified: modified) { own?.isReplaced($0) == true }
        .indexChanges()
    default: preconditionFailure("rows of two kinds of one query: bug in this package")
    }
  }
}
