import Foundation
import TestSupport
import Testing

@testable import Tarn

/// What a program is told that gives a key path of no stored property, wherever one is taken.
struct KeyPathTrapTests: TrapSuite {
  private let shelter = Result { try Shelter() }
  private var folder: String { get throws { try shelter.get().folder } }

  private static let negative =
    "A key path of Mare to a value of type Int is not stored but computed from 'age', so the "
    + "store cannot "
  private static let member =
    "A key path of Mare to a value of type Int goes into a value, whose parts are not stored "
    + "separately"

  private static let filtered =
    "A key path of Mare to a value of type Int is not stored but computed from 'age', so a "
    + "filter cannot use it."
  private static let order =
    negative + "sort by it. Sort by a @Persisted property, or sort an array of the objects."
  private static let sum = negative + "compute with it. Iterate over the objects in Swift instead."
  private static let sections =
    "and its getter does not read exactly one stored property, by which the store could order the "
    + "sections. Give the order: sectioned(by:sortDescriptors:)."

  /// All mares, and the only one.
  private typealias Stable = (mares: Results<Mare>, mare: Mare)

  private static func row(
    _ name: String, _ message: String, _ use: @escaping @Sendable (Stable) -> Void
  ) -> TrapCase {
    TrapCase(name, message) { shelter in
      let instance = try shelter.openMares()
      try instance.write { instance.realm.add(Mare(1)) }
      let mares = instance.realm.objects(Mare.self)
      use((mares, mares[0]))
    }
  }

  static let traps: [TrapCase] = [
    row("order", order) { _ = $0.mares.sorted(by: \.negative) },
    row("order of member", member) { _ = $0.mares.sorted(by: \.name.count) },
    row(
      "order behind a link",
      "A key path of Mare to a value of type Optional<Int> is not stored but computed from "
        + "'mother',"
    ) { _ = $0.mares.sorted(by: \.mother?.negative) },
    row("order of a list", order) { _ = $0.mare.foals.sorted(by: \.negative) },
    row("order of a set", order) { _ = $0.mare.crowd.sorted(by: \.negative) },
    row("order of a map", order) { _ = $0.mare.named.sorted(by: \.negative) },
    row("order of backlinks", order) { _ = $0.mare.parents.sorted(by: \.negative) },
    row("order of derived", order) {
      _ = $0.mares.where { $0.age > 0 }.sorted(by: \.age).sorted(by: \.negative)
    },
    row("descriptor", order) { _ in _ = SortDescriptor(keyPath: \Mare.negative) },
    row("least", sum) { _ = $0.mares.min(of: \.negative) },
    row("greatest", sum) { _ = $0.mares.max(of: \.negative) },
    row("sum", sum) { _ = $0.mares.sum(of: \.negative) },
    row("average", sum) { _ = $0.mares.average(of: \.negative) },
    row("sum of a list", sum) { _ = $0.mare.foals.sum(of: \.negative) },
    row("sum of a map", sum) { _ = $0.mare.named.sum(of: \.negative) },
    row("condition", filtered) { _ = $0.mares.where { $0.negative < -5 } },
    row("condition behind a link", filtered) {
      _ = $0.mares.where { $0.mother.negative < -5 }
    },
    row("condition on elements", filtered) {
      _ = $0.mares.where { $0.foals.negative < -5 }
    },
    row("condition of a list", filtered) {
      _ = $0.mare.foals.where { $0.negative < -5 }
    },
    row("condition of a map", filtered) {
      _ = $0.mare.named.where { $0.negative < -5 }
    },
    row("distinct", negative + "distinguish objects") { _ = $0.mares.distinct(by: [\.negative]) },
    row("distinct by member", member) { _ = $0.mares.distinct(by: [\.name.count]) },
    row("distinct of a map", negative + "distinguish objects") {
      _ = $0.mare.named.distinct(by: [\.negative])
    },
    row("sections by two properties", sections) { _ = $0.mares.sectioned(by: \.both) },
    row("sections by none", sections) { _ = $0.mares.sectioned(by: \.constant) },
    row("sections by the count of a list", sections) {
      _ = $0.mares.sectioned(by: \.foals.count)
    },
  ]

  @Test(arguments: traps.map(\.name))
  func stops(_ name: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [folder = try folder as String, name] in
      try await KeyPathTrapTests.traps.named(name).run(Shelter(within: folder))
    }
    try expect(Self.traps.named(name).message, in: result)
  }
}
