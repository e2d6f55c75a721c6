import Tarn
import TarnStore
import ToolSupport

/// Groups of the objects that a filter matches. A live source maintains them. Its tables hold all
/// that is shown, so no old version is read.
final class WatchedGroups: Watched {
  private let question: GroupQuestion
  private let condition: Condition
  /// The positions of the groups shown.
  private let window: Range<Int>
  private var view: ClassView
  private let version: WatchedVersion
  private let source: LiveSource<GroupsModel>
  private let seen: ScopedLog
  /// The changes since the version shown, and the view of that version.
  private var gathered: (view: ClassView, step: GroupsStep?)?

  var snapshot: Snapshot { version.reader.snapshot }
  var hasGathered: Bool { gathered != nil }

  init(
    _ question: GroupQuestion, of schema: ClassSchema, _ condition: Condition,
    _ window: Range<Int>, _ snapshot: Snapshot
  ) throws {
    self.question = question
    self.condition = condition
    self.window = window
    view = question.view(of: schema)
    let query = try condition.query(on: schema.id, snapshot.schema)
    version = try WatchedVersion(snapshot)
    source = LiveSource(try question.model(query, snapshot.schema), on: version)
    seen = source.log(.depth(0))
    try source.beginFollowing()
  }

  func showInitial(_ printer: any WatchPrinter) throws {
    let count = window.clamped(to: 0..<(try source.current().table.count)).count
    try printer.initial(view, snapshot.version, count: count) { [unowned self] index in
      try row(at: index, of: source.current().table, view)
    }
  }

  /// The group at a position of the window.
  private func row(at index: Int, of table: GroupTable, _ view: ClassView) -> WatchedRow {
    let position = window.lowerBound + index
    return WatchedRow(group: question.row(at: position, of: table), at: index, view)
  }

  /// Advances to the next version.
  ///
  /// - Returns: the changes of the groups; nil without any.
  private func move(to newest: Snapshot, _ changes: ChangeSet) throws -> GroupsStep? {
    if newest.schema.epoch != snapshot.schema.epoch { try bind(to: newest) }
    try source.follow(version.move(to: newest, changes))
    guard case .groups(let step)? = seen.forgetSteps(upTo: version.step).first else { return nil }
    return step
  }

  private func bind(to newest: Snapshot) throws {
    do {
      let schema = newest.schema[view.id]
      view = question.view(of: schema)
      let query = try condition.query(on: view.id, newest.schema)
      source.rebind(to: try question.model(query, newest.schema), at: newest.schema)
    } catch {
      throw ToolError("the schema changed in version \(newest.version.rawValue): \(error)")
    }
  }

  func advance(
    to newest: Snapshot, _ changes: ChangeSet, _ printer: any WatchPrinter
  ) throws -> Int {
    let old = view
    guard let step = try move(to: newest, changes) else { return 0 }
    return try tell(step, old, printer)
  }

  func gather(to newest: Snapshot, _ changes: ChangeSet) throws {
    var gathered = gathered ?? (view, nil)
    if let step = try move(to: newest, changes) {
      gathered.step = gathered.step?.merging(step) ?? step
    }
    self.gathered = gathered
  }

  func tellGathered(_ printer: any WatchPrinter) throws -> Int {
    guard let gathered = gathered.take(), let step = gathered.step else { return 0 }
    return try tell(step, gathered.view, printer)
  }

  /// - Returns: the number of changes printed.
  private func tell(
    _ step: GroupsStep, _ old: ClassView, _ printer: any WatchPrinter
  ) throws -> Int {
    let indexes = step.difference(of: window)
    if indexes.isEmpty { return 0 }
    var difference = WatchedDifference(
      version: snapshot.version, count: window.clamped(to: 0..<step.after.count).count)
    difference.deletions = indexes.deletions.map { row(at: $0, of: step.before, old) }
    difference.insertions = indexes.insertions.map { row(at: $0, of: step.after, view) }
    difference.modifications = zip(indexes.modifications, indexes.modificationsNew).map {
      WatchedModification(row(at: $0, of: step.before, old), row(at: $1, of: step.after, view))
    }
    try printer.difference(view, difference)
    return 1
  }
}
