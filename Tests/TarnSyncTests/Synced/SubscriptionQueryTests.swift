import Foundation
import Tarn
import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// A class with other names in the file than in the program.
final class RenamedTodo: Object {
  @Persisted(primaryKey: true) var _id: String
  @Persisted var owner: String

  override class func propertiesMapping() -> [String: String] { ["owner": "owned_by"] }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Queries of subscriptions, without a server.
@Suite struct SubscriptionQueryTests {
  private let folder = TemporaryFolder()
  private let realm: Realm

  init() throws {
    realm = try Realm(
      configuration: Realm.Configuration(
        fileURL: URL(filePath: folder.file("one")), objectTypes: [Todo.self, RenamedTodo.self]))
  }

  private func subscriptions(
    _ types: [ObjectBase.Type]? = [Todo.self, RenamedTodo.self]
  ) -> SyncSubscriptionSet {
    SyncSubscriptionSet(realm.store, types)
  }

  @Test func `states are equal if they are the same, with errors of the same text`() {
    func error(_ reason: String) -> SyncSubscriptionState {
      .error(SyncError(.invalidFlexibleSyncSubscriptions, ServerError("subscribe", reason)))
    }
    let all: [SyncSubscriptionState] = [
      .pending, .complete, .superseded, error("a"), error("b"), .error(CancellationError()),
    ]
    for (place, one) in all.enumerated() {
      for (other, another) in all.enumerated() {
        #expect((one == another) == (place == other), "\(one), \(another)")
      }
    }
    #expect(error("a") == error("a"))
    #expect(subscriptions().state == .superseded || subscriptions().state == .pending)
  }

  /// The closures of a caller need not outlive the call.
  private func subscribe(
    _ set: SyncSubscriptionSet, to query: (Query<Todo>) -> Query<Bool>,
    then next: (Query<Todo>) -> Query<Bool>
  ) {
    set.update {
      set.append(QuerySubscription<Todo>(name: "mine", query: query))
      set.append(QuerySubscription<Todo>(query: query))
    }
    #expect(set.first(ofType: Todo.self, where: query)?.name == "mine")
    set.update { set.first(named: "mine")?.updateQuery(toType: Todo.self, where: next) }
    #expect(set.first(ofType: Todo.self, where: next)?.name == "mine")
    #expect(set.count == 2)
    set.update { set.remove(ofType: Todo.self, query) }
  }

  @Test func `queries are closures that do not escape`() {
    let set = subscriptions()
    subscribe(set, to: { $0.owner == "frodo" }, then: { $0.owner == "sam" })
    #expect(set.map(\.name) == ["mine"])
    #expect(set.first(ofType: Todo.self) == nil)
    set.update { set.first?.updateQuery(toType: Todo.self) }
    #expect(set.first(ofType: Todo.self)?.name == "mine")
  }

  @Test func `a query is replaced by a filter on its class`() throws {
    let set = subscriptions()
    set.update {
      set.append(QuerySubscription<Todo>(name: "mine") { $0.owner == "frodo" })
      set.append(QuerySubscription<RenamedTodo>(name: "renamed"))
    }
    let created = try #require(set.first(named: "mine")?.createdAt)
    set.update {
      set.first(named: "mine")?.updateQuery(to: "owner == %@ AND priority > %d", "sam", 3)
      set.first(named: "renamed")?.updateQuery(to: "owner == 'sam'")
    }
    let wanted = set.first(ofType: Todo.self) { $0.owner == "sam" && $0.priority > 3 }
    #expect(wanted?.name == "mine")
    #expect(wanted?.createdAt == created)
    #expect(set.first(ofType: RenamedTodo.self) { $0.owner == "sam" }?.name == "renamed")
    // A program without the class has the names of the file.
    let other = subscriptions([Todo.self])
    other.update { other.first(named: "renamed")?.updateQuery(to: "owned_by == 'merry'") }
    set.update {}
    #expect(set.first(ofType: RenamedTodo.self) { $0.owner == "merry" }?.name == "renamed")
  }

  @Test func `subscriptions are removed by a filter`() {
    let set = subscriptions()
    set.update {
      for owner in ["frodo", "sam"] {
        set.append(QuerySubscription<Todo>(name: owner) { $0.owner == owner })
      }
      set.append(QuerySubscription<Todo> { $0.owner == "sam" })
    }
    set.update { set.remove(ofType: Todo.self, where: "owner == %@", "sam") }
    #expect(set.map(\.name) == ["frodo"])
  }

  @Test func `there is no subscription beyond the last`() {
    let set = subscriptions()
    set.update { set.append(QuerySubscription<Todo>(name: "all")) }
    #expect(set[0]?.name == "all")
    #expect(set[1]?.name == nil)
    #expect(set[-1]?.name == nil)
  }

  @Test func `a damaged file is an internal error`() {
    func code(_ code: StorageError.Code) -> SyncError.Code {
      SyncError(StorageError(code, operation: "read", path: "/a", detail: "it is damaged")).code
    }
    #expect(code(.corrupted) == .clientInternalError)
    #expect(code(.notAStore) == .clientInternalError)
    #expect(code(.diskFull) == .clientSessionError)
    #expect(SyncError.Code.clientUserError.rawValue == 5)
    #expect(SyncError.Code.clientInternalError.rawValue == 6)
  }
}
