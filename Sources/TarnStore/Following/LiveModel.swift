/// What a kind of live source shows, and how a change set leads on from it.
///
/// Every source that can be observed is a model: the results of a query, a list, what links to an
/// object. A model is a value that reads nothing but what it is handed. So the instance that shows
/// the source and a worker on a thread of its own come to the same result, and whoever keeps a
/// source needs to know nothing of its kind.
package protocol LiveModel: Sendable {
  /// What is shown at one version, and whatever else the next step is made from.
  associatedtype Content: LiveContent
  /// What a move did to content, before it is asked how far somebody looks.
  associatedtype Step

  /// The object that the source belongs to; nil for one over a class.
  var owner: LinkTarget? { get }
  /// The classes whose changes can concern what is shown, beside the owner's. What observers see
  /// of it reaches further.
  var concerningClasses: Set<ClassID> { get }
  /// The classes of the objects that are shown; none for values.
  var elementClasses: Set<ClassID> { get }
  /// True if `follow` needs less time than `evaluate` where little has changed.
  var followsIncrementally: Bool { get }
  /// True if `follow` into an open write is to begin at what that began with.
  var followsFromStart: Bool { get }
  /// True if `step` reads the state before the move, not only what is known of it.
  var readsFormerState: Bool { get }
  /// True if the source is invalid without its owner; else it is empty then.
  var needsOwner: Bool { get }

  /// False if what is shown after `changes` is what was shown before.
  func isConcerned(by changes: ChangeSet) -> Bool

  func evaluate(_ rows: StoreRows) throws(StorageError) -> Content

  /// The same for who will not be told of changes, so that less may do.
  func evaluateForReading(_ rows: StoreRows) throws(StorageError) -> Content
  /// True if a step can begin from content; else it has to be evaluated in full before.
  func canFollow(_ content: Content) -> Bool

  /// Brings content over changes that nobody will be told of.
  func follow(
    _ content: inout Content, over changes: ChangeSet, to rows: StoreRows
  ) throws(StorageError)

  /// Brings content to the end of a move.
  func advance(_ content: inout Content, over move: LiveMove) throws(StorageError) -> Step

  /// What a move did to content in the eyes of those who look that far; nil if there is nothing to
  /// tell. May note in either what the next one to ask need not find out again.
  ///
  /// - Parameters:
  ///   - step: what `advance` has made of the move.
  ///   - content: what it has led to.
  func change(
    _ step: inout Step, _ content: inout Content, _ move: LiveMove, seen reach: BoundScope
  ) throws(StorageError) -> LiveChange?

  /// True if a step tells those alone anything who look at what was modified.
  func isQuiet(_ step: Step) -> Bool

  /// The elements of content that `rows` show.
  func elements(_ content: Content, _ rows: StoreRows) throws(StorageError) -> LiveElements

  /// The content that a step led to, as far as what it did says that; nil if it does not.
  func content(after change: LiveChange) -> Content?

  /// What an observer has seen who was told of content inside of a write.
  func baseline(_ content: Content, _ rows: StoreRows) throws(StorageError) -> LiveBaseline

  /// About what `evaluate` reads.
  func cost(ofEvaluating rows: StoreRows) throws(StorageError) -> LiveCost

  /// The same for `step`, without reading anything.
  func cost(
    ofFollowing changes: ChangeSet, from content: Content, seen reaches: [BoundScope]
  ) -> LiveCost
}

/// About what it takes to show something, so that it can be left to a worker if it is much.
package struct LiveCost: Sendable {
  package static let none = LiveCost()

  /// Rows that a scan passes.
  package var scanned = 0
  /// Rows that are looked up and sorted in.
  package var lookedUp = 0

  /// Of elements that are gone over in memory.
  static func passing(_ count: Int) -> LiveCost { LiveCost(scanned: count / 8) }

  /// Of rows that are looked up many at a time, in the order of a collection.
  static func readingElements(_ count: Int) -> LiveCost {
    LiveCost(scanned: count.multipliedReportingOverflow(by: 8).partialValue)
  }
}

package protocol LiveContent: Sendable {
  /// The object that the source belongs to is gone. Nothing comes after that.
  var isOwnerGone: Bool { get }
}

extension LiveModel {
  package var followsIncrementally: Bool { false }
  package var followsFromStart: Bool { false }
  package var readsFormerState: Bool { false }
  package var needsOwner: Bool { false }

  package func content(after change: LiveChange) -> Content? { nil }

  package func evaluateForReading(_ rows: StoreRows) throws(StorageError) -> Content {
    try evaluate(rows)
  }

  package func canFollow(_ content: Content) -> Bool { true }

  package func follow(
    _ content: inout Content, over changes: ChangeSet, to rows: StoreRows
  ) throws(StorageError) {
    if isConcerned(by: changes) { content = try evaluate(rows) }
  }

  /// False if a step over `changes` has nothing to do.
  package func hasStep(over changes: ChangeSet, seen reaches: [BoundScope]) -> Bool {
    isConcerned(by: changes) || reaches.contains { $0.mayBeConcerned(by: changes) }
  }

  /// True if `changes` took the source's owner away.
  func isOwnerDeleted(by changes: ChangeSet) -> Bool {
    guard let owner, let own = changes[owner.classID] else { return false }
    return own.isCleared || own.deleted.contains(owner.key)
  }
}

/// A move from one version to a newer one.
package struct LiveMove {
  package let changes: ChangeSet
  /// What is shown at the end of the move.
  package let rows: StoreRows
  /// Where it began.
  package let former: FormerState

  /// - Parameter former: nil if no model among those that are asked reads it.
  package init(_ changes: ChangeSet, from former: PastState?, to rows: StoreRows) {
    self.changes = changes
    self.rows = rows
    self.former = FormerState(former)
  }
}

/// A state that is over, such as the one before a move. Read from only by who needs it.
package final class FormerState {
  package let state: PastState?
  private var known: StoreRows?

  package init(_ state: PastState?) { self.state = state }

  func sequence(at place: SequencePlace) throws(StorageError) -> StoredSequence? {
    try rows().stored(at: place)
  }

  /// The objects that linked to one then, each as often as it did.
  func origins(
    of target: LinkTarget, in id: ClassID, through column: ColumnID
  ) throws(StorageError) -> [ObjectKey] {
    try rows().origins(of: target, in: id, through: column)
  }

  /// What was at the end of a path from an object; null where it led nowhere, and for a path to or
  /// through collections or what links to an object.
  package func value(
    along path: ScopePath, from key: ObjectKey
  ) throws(StorageError) -> Value {
    guard let end = path.dependencies.last, end.origin == nil else { return .null }
    let rows = try rows()
    var key = key
    for link in end.links {
      guard !link.isBackwards,
        case .link(let next) = try rows.plainValue(of: link.column, at: key, in: link.classID)
      else { return .null }
      key = next
    }
    return try rows.plainValue(of: end.column, at: key, in: end.classID)
  }

  /// What there was. Traps if the move knows nothing of it.
  func rows() throws(StorageError) -> StoreRows {
    if let known { return known }
    guard let state else { trap("the state before a move was let go of: bug in this package") }
    let made = try state.rows()
    known = made
    return made
  }
}
