import TarnStore

/// Sections of results on one instance, kept right as the shown version moves. `SectionedResults`
/// of one key path share them, those of a block have their own.
///
/// The key of a row is asked for on the instance's scheduler, while the row is shown: when the row
/// came or changed, and for all rows at the first use. While somebody observes, that is in each
/// step that concerns the rows, so that what every step did is known whenever it is told.
///
/// On a frozen instance the keys are asked for where the sections are made, not where they are read
/// first: a block of the program belongs to one thread, sections to all of them from then on.
final class LiveSections<Key: Hashable> {
  /// Rows and how they fall into sections.
  struct State {
    var rows: ResultRows
    var table: SectionTable<Key>
  }

  private unowned let core: RealmCore
  private let live: LiveResult
  private let createdInWrite: WriteMark?
  private let key: (ResultRows, Int) -> Key

  /// What a frozen instance shows; nothing else of its sections changes.
  private var frozen: State?
  /// What became of these sections when they were frozen last.
  private weak var lastFrozen: LiveSections?
  /// At step `step`; nil until somebody asks.
  private var published: (state: State, step: Int)?
  /// Inside the open write, at a position of its journal.
  private var working: (state: State, serial: UInt64, position: ChangeRecorder.Position)?
  /// Somebody has been told: from then on every step that concerns the rows is logged.
  private var isTracked = false
  /// The tables after steps that not everybody has been told of.
  private var log: [(step: Int, table: SectionTable<Key>)] = []

  /// - Parameters:
  ///   - key: the key of a row at a position.
  ///   - other: the same sections on another instance, to be frozen as they are there.
  init(
    _ core: RealmCore, _ live: LiveResult, createdInWrite: WriteMark?,
    like other: LiveSections? = nil,
    key: @escaping (ResultRows, Int) -> Key
  ) {
    self.core = core
    self.live = live
    self.createdInWrite = createdInWrite
    self.key = key
    guard core.isFrozen else { return }
    let state = other?.state(shownBy: core) ?? evaluate()
    _ = state.table.keys.numbers  // Worked out now: threads that read share it.
    frozen = state
    if let other, !other.core.isFrozen { other.lastFrozen = self }
  }

  /// What is known to be shown by a frozen instance, too.
  private func state(shownBy frozen: RealmCore) -> State? {
    guard !core.isFrozen, frozen.shows(core.shown().snapshot) else { return nil }
    if core.session?.isEmpty != false { return current() }
    guard let published, isTracked || published.step == core.step else { return nil }
    return published.state
  }

  /// These sections on a frozen instance, if they are alive.
  func frozen(on other: RealmCore) -> LiveSections? {
    guard let lastFrozen, lastFrozen.core === other else { return nil }
    return lastFrozen
  }

  var source: any ObservedSource { live }

  // MARK: - Reading

  /// The sections now, an open write's changes included.
  func current() -> State {
    if let frozen { return frozen }
    guard let session = core.session, !session.isEmpty else {
      working = nil
      return atShownVersion()
    }
    let serial = core.write.serial
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
    live.current(createdInWrite: createdInWrite)
  }

  private func evaluate() -> State {
    let rows = currentRows()
    let table = core.askingForKeys { SectionTable(rowCount: rows.count) { key(rows, $0) } }
    return State(rows: rows, table: table)
  }

  private func state(_ old: State, after changes: IndexChanges, _ rows: ResultRows) -> State {
    let table = core.askingForKeys { old.table.applying(changes) { key(rows, $0) } }
    return State(rows: rows, table: table)
  }

  private func follow(_ changes: ChangeSet, from old: State) -> State {
    guard live.model.isConcerned(by: changes) else { return old }
    guard !changes.schemaChanged else { return evaluate() }
    let rows = currentRows()
    let difference = trapping { () throws(StorageError) in
      try live.model.difference(old.rows, rows, over: changes, core.rows())
    }
    return self.state(old, after: difference, rows)
  }

  // MARK: - Observing

  /// An observer is about to be told of what is shown.
  func beginFollowing() {
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
      state = self.state(published.state, after: changes, currentRows())
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
  func forgetSteps(toldTo observations: [CollectionObservation]) {
    let seen = observations.filter(isOwn).map(\.seen).min() ?? .max
    guard let needed = log.lastIndex(where: { $0.step <= seen }) else { return }
    log.removeFirst(needed)
  }

  private func isOwn(_ observation: CollectionObservation) -> Bool {
    (observation as? SectionsObservation<Key>)?.sections === self
  }

  /// - Parameter observations: those of the results.
  func endFollowing(unlessObservedBy observations: [CollectionObservation]) {
    guard isTracked, !observations.contains(where: isOwn) else { return }
    isTracked = false
    if let state = published?.state { published = (state, core.step) }
    log = []
  }
}

extension RealmCore {
  /// Works out sections' keys, which may be asked of a block of the program: it may read.
  fileprivate func askingForKeys<Result>(_ body: () -> Result) -> Result {
    if isFrozen { return body() }
    sectionKeyDepth += 1
    defer { sectionKeyDepth -= 1 }
    return body()
  }
}
