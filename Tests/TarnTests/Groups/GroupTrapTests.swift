import Foundation
import TestSupport
import Testing

@testable import Tarn

/// What a program that misuses groups is told before it stops.
struct GroupTrapTests: TrapSuite {
  private let folder = TemporaryFolder()

  enum Mistake: String, CaseIterable, Codable {
    case link, list, unknown, sumOfDates, text, overflow, overflowOfSum, unmanaged, outOfBounds
    case forcedLink

    /// What the message says.
    var message: String {
      switch self {
      case .link: "cannot group by property 'shop'"
      case .list: "is a collection"
      case .unknown: "class 'Purse' has no property 'size'"
      case .sumOfDates: "dates have no sum: property 'day'"
      case .text: "has no minimum, maximum or sum"
      case .overflow, .overflowOfSum:
        "property 'coins' does not fit 'Int': it is 1.8446744073709552e+19"
      case .forcedLink:
        "Grouping by 'shop.id' needs an optional key, because objects without the link have "
          + "the key nil: write \\.shop?.id."
      case .unmanaged: "Only collections which are managed by a Realm can be queried"
      case .outOfBounds: "Index 1 is out of bounds"
      }
    }

    func make(_ path: String) throws {
      let instance = try Instance(
        Realm.Configuration(
          fileURL: URL(fileURLWithPath: path),
          objectTypes: [Purse.self, Shop.self, PurseBox.self], durability: .relaxed))
      try instance.write {
        for id in 0..<2 {
          let purse = Purse()
          (purse.id, purse.coins) = (id, .max)
          instance.realm.add(purse)
        }
      }
      let purses = instance.purses
      switch self {
      case .link: _ = purses.grouped(by: "shop", as: String?.self)
      case .list: _ = instance.realm.objects(PurseBox.self).grouped(by: "purses", as: Int.self)
      case .unknown: _ = purses.grouped(by: "size", as: Int.self)
      case .sumOfDates: _ = purses.aggregate(Aggregate<Purse, Double>.sum(ofProperty: "day"))
      case .text: _ = purses.aggregate(Aggregate<Purse, Int>.sum(ofProperty: "owner"))
      case .overflow: _ = purses.aggregate(.sum(of: \.coins)).value
      case .overflowOfSum: _ = purses.sum(of: \.coins)
      case .forcedLink: _ = purses.grouped(by: \.shop!.id)
      case .unmanaged: _ = PurseBox().purses.grouped(by: \.owner)
      case .outOfBounds: _ = purses.grouped(by: \.coins)[1]
      }
    }
  }

  @Test(arguments: Mistake.allCases)
  func traps(mistake: Mistake) async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [path = folder.path + "/purses.realm" as String, mistake = mistake as Mistake] in
      try mistake.make(path)
    }
    try expect(mistake.message, in: result)
  }
}
