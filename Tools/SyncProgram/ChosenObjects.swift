import Foundation
package import TarnStore
import TarnSync
import ToolSupport

/// The objects that `--where` chooses: the conditions that its values give, as subscriptions.
package struct ChosenObjects {
  private let conditions: [(className: String, text: String)]

  /// - Parameter values: each a class, a colon, and a condition on its objects.
  package init(_ values: [String]) throws {
    conditions = try values.map { value in
      guard let parts = value.partsAroundASCII(":") else {
        throw UsageError("--where takes 'CLASS: CONDITION', not '\(printable(value))'")
      }
      return (String(parts.before.trimmingASCII()), String(parts.behind.trimmingASCII()))
    }
  }

  package var isEmpty: Bool { conditions.isEmpty }
  package var classNames: [String] { conditions.map(\.className) }

  /// Makes these the subscriptions of a store, unless it has them already.
  ///
  /// - Parameter others: classes all of whose objects are selected.
  package func subscribe(_ store: Store, others: [String]) throws {
    let snapshot = try store.newestSnapshot()
    let all = conditions + others.map { ($0, "TRUEPREDICATE") }
    let chosen = try all.map { try subscription($0.className, $0.text, snapshot) }
    try store.editSubscriptions { set in
      let former = set.subscriptions
      let isSame =
        former.count == chosen.count
        && chosen.allSatisfy { one in former.contains { $0.isSameQuery(as: one) } }
      if isSame { return false }
      set.subscriptions = chosen
      set.renew()
      return true
    }
  }

  /// Checks the conditions against a store, and changes nothing.
  package func check(_ store: Store) throws {
    let snapshot = try store.newestSnapshot()
    for one in conditions { _ = try subscription(one.className, one.text, snapshot) }
  }

  private func subscription(
    _ name: String, _ text: String, _ snapshot: Snapshot
  ) throws -> Subscription {
    guard let described = snapshot.schema.schema.named(name) else {
      throw ToolError("--where: the store does not have a class \(printable(name))")
    }
    do {
      let parsed = try PredicateParser.parse(text, [])
      try parsed.check(on: described.id, in: snapshot.schema.schema)
      return try Subscription(
        name: nil, to: described, where: parsed.predicate, in: snapshot,
        time: Int64(Date().timeIntervalSince1970 * 1_000_000))
    } catch let error as PredicateSyntaxError {
      throw ToolError(
        "--where: in '\(printable(text))', character \(error.offset + 1): \(error.message)")
    } catch let error as TarnStore.PredicateError {
      throw ToolError("--where: '\(printable(text))': \(error.message)")
    }
  }
}
