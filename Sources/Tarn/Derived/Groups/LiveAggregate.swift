import TarnStore

/// The argument of an observer of aggregates.
public enum AggregateChange<Values> {
  /// The first call, with the current values.
  case initial(Values)
  /// The values changed since the last call.
  case update(old: Values, new: Values)
  /// The file can no longer be observed; this is the last call.
  case error(any Error)
}

/// Aggregates over all objects of a query. Lazy and live, like `Results`.
///
/// ```swift
/// let total = realm.objects(Order.self).where { $0.isOpen }.aggregate(.sum(of: \.amount))
/// let token = total.observe { change in
///   if case .update(let old, let new) = change { print(old, "→", new) }
/// }
/// ```
///
/// While this is observed, a commit costs time for the objects that it changes, not for all.
///
/// Belongs to its Realm's thread, queue or actor.
public struct LiveAggregate<Values>: _ObservableCollection, Equatable, CustomStringConvertible {
  let groups: LiveGroups<Values>

  init(_ groups: LiveGroups<Values>) { self.groups = groups }

  /// The Realm that the objects belong to.
  public var realm: Realm? { groups.results.realm }

  /// True if the Realm was invalidated. Any other use of this then traps.
  public var isInvalidated: Bool { groups.results.isInvalidated }

  public func _counterpart(in realm: Realm) -> LiveAggregate? {
    groups.counterpart(in: realm).map { LiveAggregate($0) }
  }

  /// The current aggregates, including changes of an open write: a tuple in the order requested; a
  /// single aggregate is not wrapped.
  public var value: Values { groups.values(groups.table(), 0) }

  /// The value, for logs and debuggers.
  public var description: String {
    isInvalidated ? "LiveAggregate<\(Values.self)> [invalidated]" : groups.text(groups.table(), 0)
  }

  /// True if both are the same aggregates of the same results.
  public static func == (a: Self, b: Self) -> Bool { a.groups.isSame(as: b.groups) }

  /// The changes that `observe` reports, for `for await`. Traps for aggregates of an invalidated
  /// Realm; ``ChangeSequence`` says which code may iterate over it.
  public var changes: ChangeSequence<AggregateChange<Values>> { _plainOrigin.changes }

  public var _plainOrigin: _ChangeOrigin<AggregateChange<Values>> {
    groups.changeOrigin { news in
      switch news {
      case .initial: .initial(groups.values(groups.revived().table(), 0))
      case .update(let update):
        .update(old: groups.values(update.old, 0), new: groups.values(update.new, 0))
      case .error(let error): .error(Realm.Error(error))
      }
    }
  }
}

extension AggregateChange: _FailingChange {
  public static func _ended(by error: any Error) -> Self? { .error(error) }
}
extension AggregateChange: Sendable where Values: Sendable {}

@available(*, unavailable, message: "it belongs to one thread or actor: pass a ThreadSafeReference")
extension LiveAggregate: Sendable {}
