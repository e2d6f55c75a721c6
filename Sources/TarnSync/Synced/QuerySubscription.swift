public import Foundation
public import Tarn
import TarnStore

/// A query to subscribe to: the objects of a class that match a condition, or all of them.
public struct QuerySubscription<T: Object> {
  private let name: String?
  private let condition: Condition

  private enum Condition {
    case all
    case query(TarnStore.Predicate)
    case filter(String, [Any?])
  }

  /// All objects of the class.
  ///
  /// - Parameter name: identifies it, so that it can be found and replaced; nil for none.
  public init(name: String? = nil) {
    self.name = name
    condition = .all
  }

  /// - Parameters:
  ///   - name: identifies it, so that it can be found and replaced; nil for none.
  ///   - query: the condition.
  public init(name: String? = nil, query: (Query<T>) -> Query<Bool>) {
    self.name = name
    condition = .query(Query<T>.condition(query))
  }

  /// - Parameters:
  ///   - name: identifies it, so that it can be found and replaced; nil for none.
  ///   - filter: the condition as a filter string, with arguments for its placeholders.
  public init(name: String? = nil, `where` filter: String, _ arguments: Any?...) {
    self.init(name: name, where: filter, arguments: arguments)
  }

  init(name: String?, where filter: String, arguments: [Any?]) {
    self.name = name
    condition = .filter(filter, arguments)
  }

  /// Traps for a condition that no server can evaluate.
  func resolved(in store: Store) -> Subscription {
    var text = ""
    do {
      let predicate: TarnStore.Predicate
      switch condition {
      case .all: predicate = .constant(true)
      case .query(let query):
        predicate = query
        text = " where \(predicate)"
      case .filter(let filter, let arguments):
        text = " where \(filter)"
        predicate = try T.condition(filter, arguments)
      }
      return try Subscription(name, T.nameInFile, predicate, store)
    } catch {
      Subscription.refuse("\(T.nameInFile)\(text)", error)
    }
  }
}

extension Subscription {
  /// Ends the program for a condition that no server can evaluate.
  static func refuse(_ query: String, _ error: any Error) -> Never {
    trap(
      "Cannot subscribe to \(query): \(error). Subscribe to a condition that the server can"
        + " evaluate, and filter its objects in the file. Results.subscribe() throws this error"
        + " instead.")
  }

  /// The objects of a class that match a filter string. Traps for a condition that no server can
  /// evaluate.
  ///
  /// - Parameter types: classes of the program, whose property names the string has.
  static func resolved(
    _ className: String, where filter: String, _ arguments: [Any?], among types: [ObjectBase.Type]?,
    in store: Store
  ) -> Subscription {
    do {
      let condition = try ObjectBase.condition(
        onClass: className, among: types, filter, arguments)
      return try Subscription(nil, className, condition, store)
    } catch {
      refuse("\(className) where \(filter)", error)
    }
  }

  /// - Throws: `PredicateError` for a condition that no server can evaluate, `StorageError` if the
  ///   file cannot be read.
  init(_ name: String?, _ className: String, _ condition: TarnStore.Predicate, _ store: Store)
    throws
  {
    let snapshot = try store.newestSnapshot()
    guard let described = snapshot.schema.schema.named(className) else {
      throw PredicateError("the Realm does not have the class: add it to objectTypes")
    }
    try self.init(
      name: name, to: described, where: condition, in: snapshot,
      time: Int64(Date().timeIntervalSince1970 * 1_000_000))
  }
}

/// When `Results.subscribe` waits for the objects.
public enum WaitForSyncMode: Sendable {
  /// Waits if the subscription is new.
  case onCreation
  /// Waits until all objects that the server has now are here.
  case always
  /// Does not wait.
  case never
}

extension Results where Element: Object {
  /// Subscribes to the objects of these results, whatever their order.
  ///
  /// - Parameters:
  ///   - name: the unique name of the subscription; nil for none.
  ///   - waitForSync: when to wait for the objects.
  ///   - timeout: the maximum time to wait, in seconds; nil for no limit.
  /// - Returns: the results.
  /// - Throws: `Realm.Error` for results whose condition no server can evaluate; ``SyncError`` if
  ///   the server refuses; `CancellationError` if the task is cancelled, or after the timeout.
  @discardableResult
  nonisolated(nonsending) public func subscribe(
    name: String? = nil, waitForSync: WaitForSyncMode = .onCreation,
    timeout: TimeInterval? = nil
  ) async throws -> Results<Element> {
    let (set, wanted) = try subscription(name)
    let isThere = set.subscriptions.contains { $0.name == name && $0.isSameQuery(as: wanted) }
    if !isThere { set.change { set.add(wanted) } }
    syncNote = SubscriptionNote(name)
    guard let session = realm?.syncSession else { return self }
    switch waitForSync {
    case .never: break
    case .onCreation where isThere: break
    case .onCreation, .always:
      try await limited(timeout) { try await session.wait(for: .download) }
    }
    return self
  }

  /// Removes the subscription that ``subscribe(name:waitForSync:timeout:)`` has created for these
  /// results. If it has created none, removes the subscription to the same objects that has no
  /// name. Other subscriptions stay.
  ///
  /// Traps for results whose condition no server can evaluate.
  public func unsubscribe() {
    do {
      let name = (syncNote as? SubscriptionNote)?.name
      let (set, unwanted) = try subscription(name)
      set.change { set.drop(unwanted) { $0.name == name } }
    } catch {
      trap("Cannot unsubscribe: \(error)")
    }
  }

  private func subscription(_ name: String?) throws -> (SyncSubscriptionSet, Subscription) {
    guard let realm else { trap("Results of a Realm have one.") }
    let (className, condition) = try classAndCondition()
    do {
      return (realm.subscriptions, try Subscription(name, className, condition, realm.store))
    } catch let error as TarnStore.PredicateError {
      throw Realm.Error(.invalidInput, message: error.message)
    } catch let error as StorageError {
      throw Realm.Error(synchronizing: error)
    }
  }
}

/// The name of the subscription that results have created.
private final class SubscriptionNote {
  let name: String?
  init(_ name: String?) { self.name = name }
}

/// Cancels work that takes too long.
private func limited(
  _ seconds: TimeInterval?, _ work: @escaping @Sendable () async throws -> Void
) async throws {
  guard let seconds else { return try await work() }
  try await withThrowingTaskGroup(of: Void.self) { group in
    group.addTask(operation: work)
    group.addTask {
      try await Task.sleep(for: .seconds(seconds))
      throw CancellationError()
    }
    defer { group.cancelAll() }
    try await group.next()
  }
}
