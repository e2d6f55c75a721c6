/// A kind of live source: its content, and how a change set leads to the next content.
///
/// Every observable source is a model: the results of a query, a list, backlinks. A model is a
/// value that reads only its arguments. So the source's instance and a worker on its own thread
/// compute the same result, and the code that holds a source need not know its kind.
package protocol LiveModel: Sendable {
  /// The content at one version, and the state that the next step needs.
  associatedtype Content: LiveContent
  /// The change of content in a move, independent of how far an observer looks.
  associatedtype Step

  /// The object that the source belongs to; nil for one over a class.
  var owner: ObjectRef? { get }
  /// The classes whose changes can affect the content, besides the owner's. What observers see of
  /// it reaches further.
  var concerningClasses: Set<ClassID> { get }
  /// The classes of the elements; none for values.
  var elementClasses: Set<ClassID> { get }
  /// True if `follow` takes less time than `evaluate` after few changes.
  var followsIncrementally: Bool { get }
  /// True if `follow` into an open write must begin at the state before the write.
  var followsFromStart: Bool { get }
  /// True if `step` reads the state before the move, not only the content.
  var readsPastState: Bool { get }
  /// How changes find the source by the values of rows; nil if it has to be asked.
  var route: Route? { get }
  /// True if the source is invalid without its owner; otherwise it is empty then.
  var needsOwner: Bool { get }
  /// The same model in less memory, for a source that is followed from now on.
  var compact: Self { get }

  /// False if `changes` cannot change the content.
  func isConcerned(by changes: ChangeSet) -> Bool

  func evaluate(_ rows: Rows) throws(StorageError) -> Content

  /// The same for content without observers, which may need less.
  func evaluateForReading(_ rows: Rows) throws(StorageError) -> Content

  /// Updates content over changes that are not reported.
  func follow(
    _ content: inout Content, over changes: ChangeSet, to rows: Rows
  ) throws(StorageError)

  /// Updates content to the end of a move.
  func advance(_ content: inout Content, over move: LiveMove) throws(StorageError) -> Step

  /// The change of content in a move for observers that look that far; nil if there is nothing to
  /// report. May cache results in `step` and `content` for the next call.
  ///
  /// - Parameters:
  /// - step: the result of `advance` for the move.
  /// - content: the content after it.
  func change(
    _ step: inout Step, _ content: inout Content, _ move: LiveMove, seen scope: BoundScope
  ) throws(StorageError) -> LiveChange?

  /// True if only observers of modifications can see a change in the step.
  func isQuiet(_ step: Step) -> Bool

  /// The elements of content, read in `rows`.
  func elements(_ content: Content, _ rows: Rows) throws(StorageError) -> LiveElements

  /// The approximate cost of `evaluate`.
  func cost(ofEvaluating rows: Rows) throws(StorageError) -> LiveCost

  /// The same for `step`, without reading anything.
  func cost(
    ofFollowing changes: ChangeSet, from content: Content, seen scopes: [BoundScope]
  ) -> LiveCost
}

/// The approximate cost of computing content; expensive content is left to a worker.
package struct LiveCost: Sendable {
  package static let none = LiveCost()

  /// Rows that a scan visits.
  package var scanned = 0
  /// Rows that are looked up and sorted in.
  package var lookedUp = 0

  /// The cost of a pass over elements in memory.
  static func passing(_ count: Int) -> LiveCost { LiveCost(scanned: count / 8) }

  /// The cost of rows that are looked up many at a time, in the order of a collection.
  static func readingElements(_ count: Int) -> LiveCost {
    LiveCost(scanned: count.multipliedReportingOverflow(by: 8).partialValue)
  }
}

package protocol LiveContent: Sendable {
  /// The object that the source belongs to is deleted. The content never changes again.
  var isOwnerGone: Bool { get }
  /// The number of elements.
  var count: Int { get }
  /// True if a step can begin from it; otherwise it must first be evaluated in full.
  var hasState: Bool { get }
  /// The parts of it that an observer remembers if its first call is inside a write.
  var baseline: LiveBaseline { get }
}

extension LiveContent {
  package var hasState: Bool { true }
  package var baseline: LiveBaseline { LiveBaseline(count: count) }
}

extension LiveModel {
  package var followsIncrementally: Bool { false }
  package var followsFromStart: Bool { false }
  package var readsPastState: Bool { false }
  package var route: Route? { nil }
  package var needsOwner: Bool { false }
  package var compact: Self { self }

  package func evaluateForReading(_ rows: Rows) throws(StorageError) -> Content {
    try evaluate(rows)
  }

  package func follow(
    _ content: inout Content, over changes: ChangeSet, to rows: Rows
  ) throws(StorageError) {
    if isConcerned(by: changes) { content = try evaluate(rows) }
  }

  /// False if a step over `changes` has nothing to do.
  package func hasStep(over changes: ChangeSet, seen scopes: [BoundScope]) -> Bool {
    isConcerned(by: changes) || scopes.contains { $0.mayBeConcerned(by: changes) }
  }
}

extension ChangeSet {
  /// True if they deleted the object.
  func deletes(_ object: ObjectRef?) -> Bool {
    guard let object, let own = self[object.classID] else { return false }
    return own.isCleared || own.deleted.contains(object.key)
  }
}

/// The elements of a source at a version.
package enum LiveElements {
  case rows(ResultRows)
  /// Nil for a collection whose object is deleted.
  case sequence(StoredSequence?)
  /// That many elements, identified by their positions.
  case positions(Int)
  /// Some of those elements; the closure maps a position to that among all.
  indirect case part(LiveElements, count: Int, (Int) -> Int)

  package var count: Int {
    switch self {
    case .rows(let rows): rows.count
    case .sequence(let sequence): sequence?.count ?? 0
    case .positions(let count): count
    case .part(_, let count, _): count
    }
  }

  /// The element at a position, or for a map the value. Objects are links.
  package func value(at position: Int) throws(StorageError) -> Value {
    switch self {
    case .rows(let rows): return rows.value(at: position) ?? .link(rows.key(at: position))
    case .sequence(let sequence):
      guard let sequence else { trap("internal error: an element of a deleted collection") }
      return try sequence.value(at: position)
    case .positions: return .int(Int64(position))
    case .part(let all, _, let locate): return try all.value(at: locate(position))
    }
  }

  /// For maps: the key at a position.
  package func key(at position: Int) throws(StorageError) -> String {
    guard case .sequence(let sequence?) = self else {
      trap("internal error: a key of a collection that is not a map")
    }
    return try sequence.key(at: position)
  }

  /// For maps: the value under a key; nil if the key does not exist.
  package func value(for key: String) throws(StorageError) -> Value? {
    guard case .sequence(let sequence?) = self else { return nil }
    let found = try sequence.find(key: key)
    return found.isFound ? try sequence.value(at: found.index) : nil
  }
}

extension LiveModel where Content == ResultRows {
  package func elements(
    _ content: ResultRows, _ rows: Rows
  ) throws(StorageError) -> LiveElements {
    .rows(content)
  }
}
