import Synchronization

/// What results become at one snapshot, worked out on a thread of the library, so that the run
/// loop which shows them goes on meanwhile. Runs no code of the program.
///
/// Everything that it works with is a value or does not change: queries, roots, change sets, and
/// the snapshot, which it pins until it is let go of. It reads through a cursor of its own.
///
/// Threading: any thread may start it, cancel it, and ask for its end.
package final class QueryWork: Sendable {
  /// The rows of one query.
  package struct Item: Sendable {
    let query: CompiledQuery
    let before: OrderedRoot?

    /// - Parameter before: the rows where the changes begin; nil to evaluate them from nothing.
    package init(_ query: CompiledQuery, before: OrderedRoot? = nil) {
      self.query = query
      self.before = before
    }
  }

  /// What leads from the items' rows to the snapshot.
  package enum Changes: Sendable {
    case known(ChangeSet)
    /// What was committed after that state, to be merged.
    case after(Snapshot)
  }

  /// What became of an item.
  package enum Answer: Sendable {
    case evaluated(OrderedRoot)
    case stepped(ResultStep)
    /// The changes cannot concern it.
    case unconcerned

    /// The rows at the snapshot; nil where they are as before.
    package var root: OrderedRoot? {
      switch self {
      case .evaluated(let root): root
      case .stepped(let step): step.after
      case .unconcerned: nil
      }
    }
  }

  package enum End: Sendable {
    /// An answer for each item, in their order.
    case done(ChangeSet, [Answer])
    case cancelled
    case failed(StorageError)
  }

  package let snapshot: Snapshot
  private let changes: Changes
  private let items: [Item]
  private let isCancelled = Atomic<Bool>(false)
  private let result = Mutex<End?>(nil)

  package init(_ snapshot: Snapshot, _ changes: Changes, _ items: [Item]) {
    self.snapshot = snapshot
    self.changes = changes
    self.items = items
  }

  /// How it ended; nil until it has.
  package var end: End? { result.withLock { $0 } }

  /// Nobody needs it any more: it ends after the item that it is at.
  package func cancel() { isCancelled.store(true, ordering: .relaxed) }

  /// Begins as soon as a thread is free.
  ///
  /// - Parameters:
  ///   - before: called on that thread first.
  ///   - onEnd: called on that thread when `end` is there.
  package func start(
    before: (@Sendable () -> Void)? = nil, onEnd: @escaping @Sendable () -> Void
  ) {
    QueryWorkers.shared.run {
      before?()
      let end = self.work()
      self.result.withLock { $0 = end }
      onEnd()
    }
  }

  /// Lets go of steps on a worker's thread: freeing what two roots do not share takes milliseconds
  /// where much has changed.
  package static func letGo(of steps: consuming [ResultStep]) {
    QueryWorkers.shared.run { [steps] in withExtendedLifetime(steps) {} }
  }

  private func work() -> End {
    do throws(StorageError) {
      let changes = try mergedChanges()
      let rows = StoreRows(try SnapshotReader(snapshot))
      var answers: [Answer] = []
      answers.reserveCapacity(items.count)
      for item in items {
        if isCancelled.load(ordering: .relaxed) { return .cancelled }
        answers.append(try answer(item, changes, rows))
      }
      return .done(changes, answers)
    } catch {
      return .failed(error)
    }
  }

  private func mergedChanges() throws(StorageError) -> ChangeSet {
    switch changes {
    case .known(let changes): return changes
    case .after(let before): return try ChangeLog.changes(from: before, to: snapshot)
    }
  }

  private func answer(
    _ item: Item, _ changes: ChangeSet, _ rows: StoreRows
  ) throws(StorageError) -> Answer {
    guard let before = item.before else { return .evaluated(try item.query.evaluate(rows)) }
    guard item.query.isConcerned(by: changes) else { return .unconcerned }
    var step = try item.query.step(from: before, over: changes, to: rows)
    // Observers are told of it in a turn: there it is to be known already.
    if step.isNews { _ = step.difference() }
    return .stepped(step)
  }
}
