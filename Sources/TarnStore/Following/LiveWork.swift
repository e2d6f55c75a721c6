import Synchronization

/// What live sources show at one snapshot, worked out on a thread of the library, so that the run
/// loop which shows them goes on meanwhile. Runs no code of the program.
///
/// Everything that it works with is a value or does not change: models, contents, change sets, and
/// the snapshots, which it pins until it is let go of. It reads through a cursor of its own.
///
/// Threading: any thread may start it, cancel it, and ask for its end.
package final class LiveWork: Sendable {
  /// What leads from the items' contents to the snapshot.
  package enum Changes: Sendable {
    case known(ChangeSet)
    /// What was committed after that state, to be merged.
    case after(Snapshot)
  }

  package enum End: Sendable {
    /// An answer for each item, in their order.
    case done(ChangeSet, [LiveAnswer])
    case cancelled
    case failed(StorageError)
  }

  package let snapshot: Snapshot
  /// Where the changes begin, if an item reads it.
  private let former: Snapshot?
  private let changes: Changes
  private let items: [any LiveItem]
  private let isCancelled = Atomic<Bool>(false)
  private let result = Lock<End?>(nil)

  /// - Parameter former: where the changes begin. Pinned only if an item reads it.
  package init(
    _ snapshot: Snapshot, from former: Snapshot, _ changes: Changes, _ items: [any LiveItem]
  ) {
    self.snapshot = snapshot
    self.former = items.contains(where: \.readsFormerState) ? former : nil
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
    LiveWorkers.shared.run {
      before?()
      let end = self.work()
      self.result.withLock { $0 = end }
      onEnd()
    }
  }

  /// Lets go of steps on a worker's thread: freeing what two roots do not share takes milliseconds
  /// where much has changed.
  package static func letGo(of steps: consuming [LiveChange]) {
    LiveWorkers.shared.run { [steps] in withExtendedLifetime(steps) {} }
  }

  private func work() -> End {
    do throws(StorageError) {
      let move = LiveMove(
        try mergedChanges(), from: former.map { .version($0) },
        to: StoreRows(try SnapshotReader(snapshot)))
      var answers: [LiveAnswer] = []
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
package protocol LiveItem: Sendable {
  var readsFormerState: Bool { get }
  func answer(_ move: LiveMove) throws(StorageError) -> LiveAnswer
}

/// What became of an item.
package struct LiveAnswer: Sendable {
  /// The source's content at the snapshot; nil where the changes cannot concern it.
  package var content: (any LiveContent)?
  /// What the move did as the reaches see it that were asked for, if there is something to tell.
  package var changes: [ObjectIdentifier: LiveChange] = [:]
  /// These reaches.
  package var reaches: Set<ObjectIdentifier> = []
  /// The item was what observers have been told, and the answer is what the move made of it.
  package var isStep = false
}

/// What a source needs to be worked out elsewhere.
package struct LiveTask<Model: LiveModel>: LiveItem {
  package enum Kind: Sendable {
    /// From nothing.
    case evaluate
    /// Over changes that nobody is told of.
    case follow(Model.Content)
    /// From what observers have been told.
    case step(Model.Content, seen: [BoundScope])
  }

  private let model: Model
  private let kind: Kind

  package init(_ model: Model, _ kind: Kind) {
    self.model = model
    self.kind = kind
  }

  package var readsFormerState: Bool {
    if case .step = kind { model.readsFormerState } else { false }
  }

  package func answer(_ move: LiveMove) throws(StorageError) -> LiveAnswer {
    switch kind {
    case .evaluate: return LiveAnswer(content: try model.evaluate(move.rows))
    case .follow(var content):
      try model.follow(&content, over: move.changes, to: move.rows)
      return LiveAnswer(content: content)
    case .step(var content, let reaches):
      var answer = LiveAnswer(
        content: nil, reaches: Set(reaches.map { ObjectIdentifier($0) }), isStep: true)
      guard model.hasStep(over: move.changes, seen: reaches) else { return answer }
      // Observers are told of it in a turn: there the difference is to be known already.
      var step = try model.advance(&content, over: move)
      for reach in reaches {
        let change = try model.change(&step, &content, move, seen: reach)
        answer.changes[ObjectIdentifier(reach)] = change?.withDifference()
      }
      answer.content = content
      return answer
    }
  }
}
