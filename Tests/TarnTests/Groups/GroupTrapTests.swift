import Foundation
import TestSupport
import Testing

@testable import Tarn

/// What a program that misuses groups is told before it stops.
struct GroupTrapTests: TrapSuite {
  private let shelter = Result { try Shelter() }
  private var folder: String { get throws { try shelter.get().folder } }

  /// A use of two purses with as much as there can be.
  private static func row(
    _ name: String, _ message: String,
    _ use: @escaping @Sendable ((instance: Instance, purses: Results<Purse>)) -> Void
  ) -> TrapCase {
    TrapCase(name, message) { shelter in
      let instance = try Instance(
        Realm.Configuration(
          fileURL: URL(fileURLWithPath: shelter.folder + "/purses.realm"),
          objectTypes: [Purse.self, Shop.self, PurseBox.self], durability: .relaxed))
      try instance.write {
        for id in 0..<2 {
          let purse = Purse()
          (purse.id, purse.coins) = (id, .max)
          instance.realm.add(purse)
        }
      }
      use((instance, instance.purses))
    }
  }

  static let traps: [TrapCase] = [
    row("link", "cannot group by property 'shop'") {
      _ = $0.purses.grouped(by: "shop", as: String?.self)
    },
    row("list", "is a collection") {
      _ = $0.instance.realm.objects(PurseBox.self).grouped(by: "purses", as: Int.self)
    },
    row("unknown", "class 'Purse' has no property 'size'") {
      _ = $0.purses.grouped(by: "size", as: Int.self)
    },
    row("sum of dates", "dates have no sum: property 'day'") {
      _ = $0.purses.aggregate(Aggregate<Purse, Double>.sum(ofProperty: "day"))
    },
    row("text", "has no minimum, maximum or sum") {
      _ = $0.purses.aggregate(Aggregate<Purse, Int>.sum(ofProperty: "owner"))
    },
    row("overflow", "property 'coins' does not fit 'Int': it is 1.8446744073709552e+19") {
      _ = $0.purses.aggregate(.sum(of: \.coins)).value
    },
    row("overflow of sum", "property 'coins' does not fit 'Int': it is 1.8446744073709552e+19") {
      _ = $0.purses.sum(of: \.coins)
    },
    row("unmanaged", "Only collections which are managed by a Realm can be queried") { _ in
      _ = PurseBox().purses.grouped(by: \.owner)
    },
    row("out of bounds", "Index 1 is out of bounds") { _ = $0.purses.grouped(by: \.coins)[1] },
    row(
      "forced link",
      "Grouping by 'shop.id' needs an optional key, because objects without the link have "
        + "the key nil: write \\.shop?.id."
    ) { _ = $0.purses.grouped(by: \.shop!.id) },
  ]

  @Test(arguments: traps.map(\.name))
  func stops(_ name: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [folder = try folder as String, name] in
      try await GroupTrapTests.traps.named(name).run(Shelter(within: folder))
    }
    try expect(Self.traps.named(name).message, in: result)
  }
}
