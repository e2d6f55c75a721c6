import TarnStore

/// Sections of results on one instance: a live source, and the program's part in it. Sections by
/// one key path share them, sections by a block have their own.
///
/// The key of a row is computed on the instance's scheduler, while the row exists there: when the
/// row was added or changed, and for all rows at the first use. While sections are observed, that
/// is in each step that concerns the rows, so that the changes of every step are known when it is
/// reported.
///
/// On a frozen instance the keys are computed where the sections are made, not where they are first
/// read: a block of the program belongs to one thread, sections to all of them from then on.
/// first: a block of the program belongs to one thread, sections to all of them from then on.
final class LiveSections<Key: Hashable> {
  /// Rows and their division into sections.
  struct State {
    var rows: ResultRows
    var table: SectionTable<Key>
  }

  let source: LiveSource<SectionsModel<Key>>
  private unowned let core: RealmCore
  private let createdInWrite: WriteMark?
  /// The frozen form of these sections at the last `freeze()`.
  private weak var lastFrozen: LiveSections?

  /// - Parameters:
  ///   - key: the key of the row at a position.
  ///   - other: the same sections on another instance, to be frozen in their current state.
  init(
    _ core: RealmCore, _ live: LiveResult, createdInWrite: WriteMark?,
    like other: LiveSections? = nil,
    key: @escaping (ResultRows, Int) -> Key
  ) {
    self.core = core
    self.createdInWrite = createdInWrite
    let model = SectionsModel<Key>(results: live.model, core.shown().schema)
    source = LiveSource(model, on: core) { [unowned core] content in
      if content.sections.table != nil { return }
      core.askingForKeys {
        content.sections.fill(rowCount: content.rows.count) { key(content.rows, $0) }
      }
    }
    guard core.isFrozen else { return }
    source.show(
      other?.content(shownBy: core)
        ?? .init(rows: live.current(createdInWrite: createdInWrite), sections: KeyedRows()))
    _ = current().table.keys.numbers  // Worked out now: threads that read share it.
    if let other, !other.core.isFrozen { other.lastFrozen = self }
  }

  /// The known content at a frozen instance's version.
  private func content(shownBy frozen: RealmCore) -> SectionsModel<Key>.Content? {
    guard !core.isFrozen, frozen.shows(core.shown().snapshot) else { return nil }
    if core.activeWrite == nil { _ = current() }
    return source.known.flatMap { $0.sections.table == nil ? nil : $0 }
  }

  /// These sections on a frozen instance, if they still exist.
  func frozen(on other: RealmCore) -> LiveSections? {
    guard let lastFrozen, lastFrozen.core === other else { return nil }
    return lastFrozen
  }

  /// The sections now, an open write's changes included.
  func current() -> State {
    if createdInWrite?.wasCancelled == true {
      return State(rows: source.model.results.nothing, table: SectionTable())
    }
    core.tracking?.note(source)
    let content = trapping { () throws(StorageError) in try source.current() }
    return State(rows: content.rows, table: content.sections.table ?? SectionTable())
  }
}

extension RealmCore {
  /// Computes sections' keys, possibly by a block of the program: it may only read.
  fileprivate func askingForKeys(_ body: () -> Void) {
    if isFrozen { return body() }
    sectionKeyDepth += 1
    defer { sectionKeyDepth -= 1 }
    body()
  }
}
