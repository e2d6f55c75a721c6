import Tarn
import TarnStore
import ToolSupport

/// A sorted, filtered result. A live source maintains its rows and reports their changes; this
/// class reads and shows them.
final class WatchedResult: Watched {
  /// The changes since the version shown.
  private struct Gathered {
    let view: ClassView
    /// The merged step of all versions since; nil while the rows have not changed.
    var step: ResultStep?
    /// The changed rows as last shown.
    var rows: [ObjectKey: WatchedRow] = [:]
  }

  private let condition: Condition
  private let order: [OrderTerm]
  /// The positions of the rows shown.
  private let window: Range<Int>
  private var view: ClassView
  private let version: WatchedVersion
  private let source: LiveSource<WatchedRows>
  /// A row counts as modified if an object that it links to is.
  private let seen: ScopedLog
  private var gathered: Gathered?

  var snapshot: Snapshot { version.reader.snapshot }
  var hasGathered: Bool { gathered != nil }

  init(
    _ view: ClassView, _ condition: Condition, _ order: [OrderTerm], _ window: Range<Int>,
    _ snapshot: Snapshot
  ) throws {
    self.view = view
    self.condition = condition
    self.order = order
    self.window = window
    let query = try condition.query(on: view.id, snapshot.schema, sorted: order)
    version = try WatchedVersion(snapshot)
    source = LiveSource(WatchedRows(query: query), on: version)
    seen = source.log(.depth(1))
    try source.beginFollowing()
  }

  func showInitial(_ printer: any WatchPrinter) throws {
    let count = shown(try source.current().count)
    try printer.initial(view, snapshot.version, count: count) { [unowned self] index in
      try WatchedRow(
        view, source.current().key(at: window.lowerBound + index), at: index, version.reader)
    }
  }

  /// How many of all rows are shown.
  private func shown(_ count: Int) -> Int { window.clamped(to: 0..<count).count }

  /// The object at a position of the window.
  private func key(at index: Int, _ rows: OrderedRoot) -> ObjectKey {
    rows.key(at: window.lowerBound + index)
  }

  /// Advances to the next version.
  ///
  /// - Returns: the changes of the rows; nil without any.
  private func move(to newest: Snapshot, _ changes: ChangeSet) throws -> ResultStep? {
    if newest.schema.epoch != snapshot.schema.epoch { try bind(to: newest) }
    try source.follow(version.move(to: newest, changes))
    guard case .rows(let step)? = seen.forgetSteps(upTo: version.step).first else { return nil }
    return step
  }

  private func bind(to newest: Snapshot) throws {
    view = view.at(newest.schema)
    do {
      let query = try condition.query(on: view.id, newest.schema, sorted: order)
      source.rebind(to: WatchedRows(query: query), at: newest.schema)
    } catch {
      throw ToolError("the schema changed in version \(newest.version.rawValue): \(error)")
    }
  }

  /// - Returns: the number of changes printed.
  private func tell(_ difference: WatchedDifference, _ printer: any WatchPrinter) throws -> Int {
    if difference.isEmpty { return 0 }
    try printer.difference(view, difference)
    return 1
  }

  // MARK: - One version at a time

  func advance(
    to newest: Snapshot, _ changes: ChangeSet, _ printer: any WatchPrinter
  ) throws -> Int {
    let old = (view: view, reader: version.reader)
    guard let step = try move(to: newest, changes) else { return 0 }
    let reader = version.reader
    let indexes = step.difference(of: window)
    if indexes.isEmpty { return 0 }
    var difference = WatchedDifference(version: newest.version, count: shown(step.after.count))
    difference.deletions = try indexes.deletions.map { index in
      try WatchedRow(old.view, key(at: index, step.before), at: index, old.reader)
    }
    difference.insertions = try indexes.insertions.map { index in
      try WatchedRow(view, key(at: index, step.after), at: index, reader)
    }
    difference.moves = indexes.moves
    let modifications = ModificationReader(from: old, to: (view, reader), changes[view.id])
    for positions in zip(indexes.modifications, indexes.modificationsNew) {
      let found = try modifications.modification(
        of: key(at: positions.0, step.before), at: positions)
      if !view.showsSome || !found.isEmpty { difference.modifications.append(found) }
    }
    return try tell(difference, printer)
  }

  // MARK: - Merging versions

  func gather(to newest: Snapshot, _ changes: ChangeSet) throws {
    let before = version.reader
    var gathered = self.gathered.take() ?? Gathered(view: view)
    if let step = try move(to: newest, changes) {
      let all = gathered.step?.merging(step) ?? step
      // Rows that have not changed so far still have the shown content.
      for key in step.keys where gathered.rows[key] == nil {
        guard all.before.position(of: key) != nil else { continue }
        gathered.rows[key] = try WatchedRow(gathered.view, key, before)
      }
      gathered.step = all
    }
    self.gathered = gathered
  }

  func tellGathered(_ printer: any WatchPrinter) throws -> Int {
    guard let gathered = self.gathered.take(), let step = gathered.step else { return 0 }
    let reader = version.reader
    func before(_ index: Int) throws -> WatchedRow {
      let key = key(at: index, step.before)
      // Every row that differs has been remembered.
      var row = try gathered.rows[key] ?? WatchedRow(gathered.view, key, reader)
      row.index = index
      return row
    }
    func after(_ index: Int) throws -> WatchedRow {
      try WatchedRow(view, key(at: index, step.after), at: index, reader)
    }
    let indexes = step.difference(of: window)
    var difference = WatchedDifference(version: snapshot.version, count: shown(step.after.count))
    difference.deletions = try indexes.deletions.map(before)
    difference.insertions = try indexes.insertions.map(after)
    difference.moves = indexes.moves
    for (from, to) in zip(indexes.modifications, indexes.modificationsNew) {
      let modification = try WatchedModification(before(from), after(to))
      if !modification.isEmpty { difference.modifications.append(modification) }
    }
    return try tell(difference, printer)
  }
}
