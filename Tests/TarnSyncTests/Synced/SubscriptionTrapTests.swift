import Foundation
import Tarn
import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// Mistakes in changes of subscriptions that end the program.
@Suite struct SubscriptionTrapTests {
  enum Mistake: String, CaseIterable, Codable {
    case filter, query, removedQuery, otherObject

    /// What the message has.
    var sentences: [String] {
      switch self {
      case .filter:
        [
          "Cannot subscribe to Todo where owner CONTAINS[c] 'x': a subscription cannot compare"
            + " Todo.owner regardless of case",
          "filter its objects", "Results.subscribe() throws this error",
        ]
      case .query: ["Cannot subscribe to Todo where tags.@count > 0: a subscription cannot"]
      case .removedQuery: ["Cannot subscribe to Todo where tags.@count > 0: a subscription cannot"]
      case .otherObject:
        [
          "append changes the subscriptions: call it in the block of update, on the object whose"
            + " update it is",
          "Each realm.subscriptions is another object",
        ]
      }
    }

    func make(in subscriptions: SyncSubscriptionSet, _ other: SyncSubscriptionSet) {
      subscriptions.update {
        switch self {
        case .filter:
          subscriptions.append(QuerySubscription<Todo>(where: "owner CONTAINS[c] 'x'"))
        case .query: subscriptions.append(QuerySubscription<Todo> { $0.tags.count > 0 })
        case .removedQuery: subscriptions.remove(ofType: Todo.self) { $0.tags.count > 0 }
        case .otherObject: other.append(QuerySubscription<Todo>(name: "all"))
        }
      }
    }
  }

  @Test(arguments: Mistake.allCases)
  func `the message names the query and the way out`(_ mistake: Mistake) async throws {
    let folder = TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [path = folder.file("one") as String, mistake = mistake as Mistake] in
      let configuration = Realm.Configuration(
        fileURL: URL(filePath: path), objectTypes: [Todo.self])
      let store = try Realm(configuration: configuration).store
      let sets = [0, 1].map { _ in SyncSubscriptionSet(store, [Todo.self]) }
      mistake.make(in: sets[0], sets[1])
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    for part in mistake.sentences { #expect(text.contains(part), "\(text)") }
  }
}
