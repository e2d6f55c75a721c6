public import Foundation
public import Tarn
import TarnStore

/// Whether the objects of the subscriptions have arrived.
public enum SyncSubscriptionState: Sendable {
  /// Not all of them have arrived.
  case pending
  /// All have arrived, and are kept up to date.
  case complete
  /// The server cannot evaluate a query. The former subscriptions stay in effect.
  case error(any Error)
  /// The subscriptions were changed again, here or in another process.
  case superseded
}

extension SyncSubscriptionState: Equatable {
  /// True for one state; two errors are equal if they have the same type and description.
  public static func == (a: Self, b: Self) -> Bool {
    switch (a, b) {
    case (.pending, .pending), (.complete, .complete), (.superseded, .superseded): true
    case (.error(let a), .error(let b)): type(of: a) == type(of: b) && "\(a)" == "\(b)"
    case (.pending, _), (.complete, _), (.error, _), (.superseded, _): false
    }
  }
}

/// The subscriptions of a synchronized file, which determine its objects.
///
///     let subscriptions = realm.subscriptions
///     try await subscriptions.update {
///       subscriptions.append(QuerySubscription<Todo>(name: "mine") { $0.owner == "frodo" })
///     }
///
/// Each access to `realm.subscriptions` creates a separate set, with the subscriptions at its
/// creation or at its last update: other sets do not show a change, and `append` in the block must
/// be called on the set whose update it is. An object that no query selects any more is removed
/// from the file, and observers see a deletion; the server keeps it. For one thread at a time.
public final class SyncSubscriptionSet {
  private let store: Store
  /// The classes of the Realm; nil for those of default schemas.
  private let types: [ObjectBase.Type]?
  private var version: UInt64 = 0
  private(set) var subscriptions: [Subscription] = []
  private var isInUpdate = false

  init(_ store: Store, _ types: [ObjectBase.Type]?) {
    self.store = store
    self.types = types
    reload()
  }

  private func reload() {
    let set = trapping { () throws(StorageError) in
      try SubscriptionSet.read(in: store.newestSnapshot())
    }
    version = set?.version ?? 0
    subscriptions = set?.subscriptions ?? []
  }

  /// The number of subscriptions.
  public var count: Int { subscriptions.count }

  /// Whether their objects have arrived.
  public var state: SyncSubscriptionState {
    let set = trapping { () throws(StorageError) in
      try SubscriptionSet.read(in: store.newestSnapshot())
    }
    return Self.state(set, version)
  }

  private static func state(_ set: SubscriptionSet?, _ version: UInt64) -> SyncSubscriptionState {
    guard let set, set.version == version else { return .superseded }
    switch set.state {
    case .pending: return .pending
    case .complete: return .complete
    case .failed(let reason):
      return .error(
        SyncError(.invalidFlexibleSyncSubscriptions, ServerError("subscribe", reason)))
    }
  }

  // MARK: - Changing

  /// Changes the subscriptions: `block` appends and removes, on the newest ones of the file.
  ///
  /// - Parameter onComplete: called on another thread when all objects have arrived, or with an
  ///   error: ``SyncError`` if the server cannot evaluate a query, or if waiting is useless, as for
  ///   ``SyncSession/wait(for:)``; `CancellationError` if the subscriptions were changed again;
  ///   or `Realm.Error` if the file cannot be read.
  public func update(
    _ block: () -> Void, onComplete: (@Sendable ((any Error)?) -> Void)? = nil
  ) {
    change(block)
    if let onComplete { Self.tell(store, version, onComplete) }
  }

  private static func tell(
    _ store: Store, _ version: UInt64, _ onComplete: @escaping @Sendable ((any Error)?) -> Void
  ) {
    Task {
      do {
        try await complete(store, version)
        onComplete(nil)
      } catch {
        onComplete(error)
      }
    }
  }

  /// Changes the subscriptions, and waits until all objects have arrived.
  ///
  /// - Throws: ``SyncError`` if the server cannot evaluate a query, or if waiting is useless, as
  ///   for ``SyncSession/wait(for:)``; `CancellationError` if the subscriptions were changed again,
  ///   or if the task is cancelled; or `Realm.Error` if the file cannot be read.
  nonisolated(nonsending) public func update(_ block: () -> Void) async throws {
    change(block)
    let (store, version) = (store, version)
    try await Self.complete(store, version)
  }

  private static func complete(_ store: Store, _ version: UInt64) async throws {
    do {
      var problems: LastingProblems?
      if let session = SessionHub.shared.session(of: store) {
        problems = try LastingProblems(session, .download)
      }
      try await FileWait(store: store).until { [problems] in
        switch state(try SubscriptionSet.read(in: store.newestSnapshot()), version) {
        case .pending:
          try problems?.check()
          return false
        case .complete: return true
        case .error(let error): throw error
        case .superseded: throw CancellationError()
        }
      }
    } catch let error as StorageError {
      throw Realm.Error(synchronizing: error)
    }
  }

  func change(_ block: () -> Void) {
    reload()
    let before = version
    draft(block)
    let wanted = subscriptions
    trapping { () throws(StorageError) in
      let set = try store.editSubscriptions { set throws(StorageError) in
        if set.version != before {
          // Another process was faster: this block's subscriptions are added to that process's.
          let former = set.subscriptions
          set.subscriptions = former.filter { one in !wanted.contains { $0.name == one.name } }
          set.subscriptions += wanted
        } else {
          if set.version > 0, set.subscriptions == wanted { return false }
          set.subscriptions = wanted
        }
        set.renew()
        return true
      }
      version = set.version
      subscriptions = set.subscriptions
    }
  }

  func draft(_ block: () -> Void) {
    isInUpdate = true
    block()
    isInUpdate = false
  }

  func isSame(as set: SubscriptionSet) -> Bool {
    set.subscriptions.count == subscriptions.count
      && zip(set.subscriptions, subscriptions).allSatisfy {
        $0.name == $1.name && $0.isSameQuery(as: $1)
      }
  }

  private func requireUpdate(_ operation: String) {
    guard isInUpdate else {
      trap(
        "\(operation) changes the subscriptions: call it in the block of update, on the object"
          + " whose update it is. Each realm.subscriptions is another object: keep one in a"
          + " variable.")
    }
  }

  /// Adds subscriptions. One with the name of another replaces it; one without a name is added
  /// unless the set has an equal one.
  ///
  /// Traps outside of the block of this set's ``update(_:onComplete:)``, and for a query that no
  /// server can evaluate, for which `Results.subscribe` throws. A query can use properties of the
  /// class, integers, strings and Booleans of embedded objects by path, and links as `== object` or
  /// by the primary key.
  public func append<T: Object>(_ subscriptions: QuerySubscription<T>...) {
    requireUpdate("append")
    for one in subscriptions { add(one.resolved(in: store)) }
  }

  func add(_ one: Subscription) {
    var one = one
    let place = subscriptions.firstIndex { other in
      one.name == nil ? other.name == nil && other.isSameQuery(as: one) : other.name == one.name
    }
    guard let place else { return subscriptions.append(one) }
    if subscriptions[place].isSameQuery(as: one) { return }
    one.created = subscriptions[place].created
    subscriptions[place] = one
  }

  func drop(_ unwanted: Subscription, where isMeant: (Subscription) -> Bool = { _ in true }) {
    subscriptions.removeAll { $0.isSameQuery(as: unwanted) && isMeant($0) }
  }

  /// Removes the subscriptions with these queries. Traps outside of ``update(_:onComplete:)``.
  public func remove<T: Object>(_ subscriptions: QuerySubscription<T>...) {
    requireUpdate("remove")
    for one in subscriptions { drop(one.resolved(in: store)) }
  }

  /// Removes these subscriptions. Traps outside of ``update(_:onComplete:)``.
  public func remove(_ subscriptions: SyncSubscription...) {
    requireUpdate("remove")
    for one in subscriptions { self.subscriptions.removeAll { $0 == one.subscription } }
  }

  /// Removes the subscription with that name. Traps outside of ``update(_:onComplete:)``.
  public func remove(named name: String) {
    requireUpdate("remove(named:)")
    subscriptions.removeAll { $0.name == name }
  }

  /// Removes the subscriptions of a class with that query. Traps outside of
  /// ``update(_:onComplete:)``.
  public func remove<T: Object>(
    ofType type: T.Type, _ query: (Query<T>) -> Query<Bool>
  ) {
    requireUpdate("remove(ofType:)")
    drop(QuerySubscription<T>(query: query).resolved(in: store))
  }

  /// Removes the subscriptions of a class with that filter. Traps outside of
  /// ``update(_:onComplete:)``.
  public func remove<T: Object>(
    ofType type: T.Type, `where` filter: String, _ arguments: Any?...
  ) {
    requireUpdate("remove(ofType:where:)")
    let unwanted = QuerySubscription<T>(name: nil, where: filter, arguments: arguments)
    drop(unwanted.resolved(in: store))
  }

  /// Removes all subscriptions of a class. Traps outside of ``update(_:onComplete:)``.
  public func removeAll<T: Object>(ofType type: T.Type) {
    requireUpdate("removeAll(ofType:)")
    subscriptions.removeAll { $0.className == type.nameInFile }
  }

  /// Removes all subscriptions, or all without a name. Traps outside of ``update(_:onComplete:)``.
  public func removeAll(unnamedOnly: Bool = false) {
    requireUpdate("removeAll")
    subscriptions.removeAll { !unnamedOnly || $0.name == nil }
  }

  // MARK: - Finding

  /// The subscription with that name; nil without one.
  public func first(named name: String) -> SyncSubscription? {
    first { $0.name == name }
  }

  /// The first subscription to all objects of a class; nil without one.
  public func first<T: Object>(ofType type: T.Type) -> SyncSubscription? {
    first(QuerySubscription<T>())
  }

  /// The first subscription of a class with that query; nil without one.
  public func first<T: Object>(
    ofType type: T.Type, where query: (Query<T>) -> Query<Bool>
  ) -> SyncSubscription? {
    first(QuerySubscription<T>(query: query))
  }

  /// The first subscription of a class with that filter; nil without one.
  public func first<T: Object>(
    ofType type: T.Type, `where` filter: String, _ arguments: Any?...
  ) -> SyncSubscription? {
    first(QuerySubscription<T>(name: nil, where: filter, arguments: arguments))
  }

  private func first<T: Object>(_ query: QuerySubscription<T>) -> SyncSubscription? {
    let wanted = query.resolved(in: store)
    return first { $0.subscription.isSameQuery(as: wanted) }
  }
}

extension SyncSubscriptionSet: Sequence {
  /// The subscriptions in the order in which they were added.
  public func makeIterator() -> AnyIterator<SyncSubscription> {
    var rest = subscriptions[...]
    return AnyIterator { rest.popFirst().map { SyncSubscription($0, of: self) } }
  }

  /// The subscription at a position; nil if there is none.
  public subscript(position: Int) -> SyncSubscription? {
    guard subscriptions.indices.contains(position) else { return nil }
    return SyncSubscription(subscriptions[position], of: self)
  }

  /// The first one; nil for an empty set.
  public var first: SyncSubscription? { subscriptions.first.map { SyncSubscription($0, of: self) } }

  /// The last one; nil for an empty set.
  public var last: SyncSubscription? { subscriptions.last.map { SyncSubscription($0, of: self) } }

  fileprivate func replace(_ one: Subscription, by other: Subscription) {
    requireUpdate("updateQuery")
    guard let place = subscriptions.firstIndex(of: one) else { return }
    var next = other
    (next.name, next.created) = (one.name, one.created)
    subscriptions[place] = next
  }

  fileprivate func replace<T: Object>(_ one: Subscription, by query: QuerySubscription<T>) {
    replace(one, by: query.resolved(in: store))
  }

  fileprivate func replace(_ one: Subscription, by filter: String, _ arguments: [Any?]) {
    let other = Subscription.resolved(
      one.className, where: filter, arguments, among: types, in: store)
    replace(one, by: other)
  }
}

/// One of a file's subscriptions.
public struct SyncSubscription {
  let subscription: Subscription
  private let set: SyncSubscriptionSet

  init(_ subscription: Subscription, of set: SyncSubscriptionSet) {
    self.subscription = subscription
    self.set = set
  }

  /// Its name; nil if it has none.
  public var name: String? { subscription.name }
  /// When it was added.
  public var createdAt: Date { Self.date(subscription.created) }
  /// When its query was last changed.
  public var updatedAt: Date { Self.date(subscription.updated) }

  private static func date(_ time: Int64) -> Date {
    Date(timeIntervalSince1970: Double(time) / 1_000_000)
  }

  /// Selects all objects of a class. Traps outside of
  /// ``SyncSubscriptionSet/update(_:onComplete:)``.
  public func updateQuery<T: Object>(toType type: T.Type) {
    set.replace(subscription, by: QuerySubscription<T>())
  }

  /// Replaces its query. Traps outside of ``SyncSubscriptionSet/update(_:onComplete:)``.
  public func updateQuery<T: Object>(
    toType type: T.Type, where query: (Query<T>) -> Query<Bool>
  ) {
    set.replace(subscription, by: QuerySubscription<T>(query: query))
  }

  /// Replaces its query by that of a filter string. Traps outside of
  /// ``SyncSubscriptionSet/update(_:onComplete:)``.
  public func updateQuery<T: Object>(
    toType type: T.Type, `where` filter: String, _ arguments: Any?...
  ) {
    let query = QuerySubscription<T>(name: nil, where: filter, arguments: arguments)
    set.replace(subscription, by: query)
  }

  /// Replaces its query by that of a filter string on the same class. Traps outside of
  /// ``SyncSubscriptionSet/update(_:onComplete:)``, and for a condition that no server can
  /// evaluate.
  public func updateQuery(to filter: String, _ arguments: Any?...) {
    set.replace(subscription, by: filter, arguments)
  }
}

extension Realm {
  /// The current subscriptions of the file, as a new set. Traps for a Realm that is not
  /// synchronized.
  public var subscriptions: SyncSubscriptionSet {
    guard configuration.syncConfiguration != nil else {
      trap("A Realm has subscriptions if its configuration is from flexibleSyncConfiguration.")
    }
    return SyncSubscriptionSet(store, configuration.objectTypes)
  }
}
