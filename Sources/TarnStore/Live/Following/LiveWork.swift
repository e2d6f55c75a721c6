import Synchronization

/// The content of live sources at one snapshot, computed on a thread of the library, so that the
/// sources' run loop continues meanwhile. Runs no code of the program.
///
/// It uses only values and immutable objects: models, contents, change sets, and snapshots, which
/// it pins until it is released. It reads with its own cursor.
///
/// Threading: any thread may start and cancel it, and read its end.
package final class LiveWork: Sendable {
  /// The changes from the items' contents to the snapshot.
  package enum Changes: Sendable {
    case known(ChangeSet)
    /// The changes committed after that state, to be merged.
    case after(Snapshot)
  }

  package enum End: Sendable {
    /// An answer for each item, in their order.
    case done(ChangeSet, [WorkResult])
    case cancelled
    case failed(StorageError)
  }

  package let snapshot: Snapshot
  /// The state before the changes, if an item reads it.
  private let past: Snapshot?
  private let changes: Changes
  private let items: [any WorkItem]
  private let isCancelled = Atomic<Bool>(false)
  private let result = Lock<End?>(nil)

  /// - Parameter past: the state before the changes. Pinned only if an item reads it.
  package init(
    _ snapshot: Snapshot, from past: Snapshot, _ changes: Changes, _ items: [any WorkItem]
  ) {
    self.snapshot = snapshot
    self.past = items.contains(where: \.readsPastState) ? past : nil
    self.changes = changes
    self.items = items
  }

  /// Its result; nil until it has ended.
  package var end: End? { result.withLock { $0 } }

  /// Its result is no longer needed: it ends after the current item.
  package func cancel() { isCancelled.store(true, ordering: .relaxed) }

  /// Begins as soon as a thread is free.
  ///
  /// - Parameters:
  /// - before: called first, on that thread.
  /// - onEnd: called on that thread once `end` is set.
  package func start(
    before: (@Sendable () -> Void)? = nil, onEnd: @escaping @Sendable () -> Void
  ) {
    LiveWorkers.shared.run {
      before?()
      let end = self.work()
      self.result.withLock { $0 = end }
      onEnd()
    }
  }

  /// Releases steps on a worker's thread: freeing the parts that two roots do not share takes
  /// milliseconds after many changes.
  package static func letGo(of steps: consuming [LiveChange]) {
    LiveWorkers.shared.run { [steps] in withExtendedLifetime(steps) {} }
  }

  private func work() -> End {
    do throws(StorageError) {
      let move = LiveMove(
        try mergedChanges(), from: past.map { .version($0) },
        to: Rows(try SnapshotReader(snapshot)))
      var answers: [WorkResult] = []
      answers.reserveCapacity(items.count)
      for item in items {
        if isCancelled.load(ordering: .relaxed) { return .cancelled }
        answers.append(try item.answer(move))
      }
      return .done(move.changes, answers)
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
}

/// One source's part of the work.
package protocol WorkItem: Sendable {
  var readsPastState: Bool { get }
  func answer(_ move: LiveMove) throws(StorageError) -> WorkResult
}

/// The result for an item.
package struct WorkResult: Sendable {
  /// The source's content at the snapshot; nil if the changes cannot affect it.
  package var content: (any LiveContent)?
  /// The changes of the move for the requested scopes, without those that have nothing to report.
  package var changes: [ObjectIdentifier: LiveChange] = [:]
  /// The requested scopes.
  package var scopes: Set<ObjectIdentifier> = []
  /// Whether the item was content that observers have seen, and the answer is the next step from
  /// it.
  package var isStep = false
}

/// Computes a source's content elsewhere.
package struct ModelWorkItem<Model: LiveModel>: WorkItem {
  package enum Kind: Sendable {
    /// Evaluates the content from scratch.
    case evaluate
    /// Follows changes that are not reported.
    case follow(Model.Content)
    /// Advances content that observers have seen.
    case step(Model.Content, seen: [BoundScope])
  }

  private let model: Model
  private let kind: Kind

  package init(_ model: Model, _ kind: Kind) {
    self.model = model
    self.kind = kind
  }

  package var readsPastState: Bool {
    if case .step = kind { model.readsPastState } else { false }
  }

  package func answer(_ move: LiveMove) throws(StorageError) -> WorkResult {
    switch kind {
    case .evaluate: return WorkResult(content: try model.evaluate(move.rows))
    case .follow(var content):
      try model.follow(&content, over: move.changes, to: move.rows)
      return WorkResult(content: content)
    case .step(var content, let scopes):
      var answer = WorkResult(
        content: nil, scopes: Set(scopes.map { ObjectIdentifier($0) }), isStep: true)
      guard model.hasStep(over: move.changes, seen: scopes) else { return answer }
      // Observers are notified in a turn, where the difference should already be computed.
      var step = try model.advance(&content, over: move)
      for scope in scopes {
        let change = try model.change(&step, &content, move, seen: scope)
        answer.changes[ObjectIdentifier(scope)] = change?.withDifference()
      }
      answer.content = content
      return answer
    }
  }
}
