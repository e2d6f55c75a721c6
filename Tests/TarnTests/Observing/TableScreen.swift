import Dispatch
import Tarn

/// What there is of a table view where there are no screens: rows of text, changed in batches. Like
/// the real ones it compares the number of rows with its source's after each batch.
final class TableView {
  private(set) var rows: [String] = []
  /// Batches after which the table did not fit its source.
  private(set) var problems: [String] = []
  private(set) var batches = 0
  private var numberOfRows: () -> Int = { 0 }
  private var cell: (Int) -> String = { _ in "" }
  private var pending: (deletions: [Int], insertions: [Int], reloads: [Int])?

  func connect(numberOfRows: @escaping () -> Int, cell: @escaping (Int) -> String) {
    self.numberOfRows = numberOfRows
    self.cell = cell
  }

  func reloadData() { rows = (0..<numberOfRows()).map(cell) }

  func beginUpdates() { pending = ([], [], []) }
  /// At positions before the batch.
  func deleteRows(at positions: [Int]) { inBatch { $0.deletions += positions } }
  /// At positions after the batch.
  func insertRows(at positions: [Int]) { inBatch { $0.insertions += positions } }
  /// At positions before the batch.
  func reloadRows(at positions: [Int]) { inBatch { $0.reloads += positions } }

  func endUpdates() {
    guard let batch = pending else { return }
    pending = nil
    batches += 1
    var next = rows.map { Optional($0) }
    for position in batch.reloads { next[position] = nil }
    for position in batch.deletions.sorted().reversed() { next.remove(at: position) }
    for position in batch.insertions.sorted() { next.insert(nil, at: position) }
    if next.count != numberOfRows() {
      problems.append("\(next.count) rows, but the source has \(numberOfRows())")
    }
    rows = next.enumerated().map { $1 ?? cell($0) }
  }

  /// Outside of a batch each call is one.
  private func inBatch(
    _ change: (inout (deletions: [Int], insertions: [Int], reloads: [Int])) -> Void
  ) {
    let isBatch = pending != nil
    if !isBatch { beginUpdates() }
    change(&pending!)
    if !isBatch { endUpdates() }
  }
}

/// A screen with a table that follows results. What it deletes itself it learns from its observer,
/// in a later turn: until then the table shows rows that are no longer there.
class TableScreen {
  let realm: Realm
  let results: Results<Cat>
  let tableView = TableView()
  private(set) var notificationToken: NotificationToken?

  init(_ realm: Realm) {
    self.realm = realm
    results = realm.objects(Cat.self).sorted(byKeyPath: "age")
    tableView.connect(
      numberOfRows: { [results] in results.count }, cell: { [results] in results[$0].name })
    notificationToken = results.observe { [tableView] (changes: RealmCollectionChange) in
      switch changes {
      case .initial:
        tableView.reloadData()
      case .update(_, let deletions, let insertions, let modifications):
        tableView.beginUpdates()
        // Deletions before insertions, as the positions are meant.
        tableView.deleteRows(at: deletions)
        tableView.insertRows(at: insertions)
        tableView.reloadRows(at: modifications)
        tableView.endUpdates()
      case .error(let error):
        fatalError("\(error)")
      }
    }
  }

  deinit { notificationToken?.invalidate() }

  func delete(at index: Int) throws {
    try realm.write {
      realm.delete(results[index])
    }
  }
}

/// Changes the table itself, at once, and leaves its observer out: the quickest answer to a touch,
/// and code of one's own for each change.
final class DirectTableScreen: TableScreen {
  override func delete(at index: Int) throws {
    try realm.write(withoutNotifying: notificationToken.map { [$0] } ?? []) {
      realm.delete(results[index])
    }
    tableView.deleteRows(at: [index])
  }
}

/// Lets its observer be called before `delete` returns. What that has to work out is worked out
/// here instead of beforehand.
final class RefreshingTableScreen: TableScreen {
  override func delete(at index: Int) throws {
    try super.delete(at: index)
    realm.refresh()
  }
}

/// Writes on another thread: this one waits neither for whoever else writes nor for the disk. The
/// row may be gone by the time of the write, and the table is late by that and a turn.
final class BackgroundTableScreen: TableScreen {
  private let writes = DispatchGroup()

  override func delete(at index: Int) throws {
    @ThreadSafe var object = results[index]
    DispatchQueue.global().async(group: writes) { [$object] in
      guard let object = $object.wrappedValue, let realm = object.realm else { return }
      try! realm.write {
        if !object.isInvalidated {
          realm.delete(object)
        }
      }
    }
  }

  func waitForWrites() { writes.wait() }
}
