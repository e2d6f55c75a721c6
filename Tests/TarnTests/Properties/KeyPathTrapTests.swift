import Foundation
import TestSupport
import Testing

@testable import Tarn

/// What a program is told that gives a key path of no stored property, wherever one is taken.
struct KeyPathTrapTests: TrapSuite {
  private let shelter = Result { try Shelter() }

  enum Mistake: String, CaseIterable, Codable {
    case order, orderOfMember, orderBehindALink, orderOfAList, orderOfASet, orderOfAMap
    case orderOfBacklinks, orderOfDerived, descriptor
    case least, greatest, sum, average, sumOfAList, sumOfAMap
    case condition, conditionBehindALink, conditionOnElements, conditionOfAList, conditionOfAMap
    case distinct, distinctByMember, distinctOfAMap, sections, sectionsWithDescriptors

    private static let negative =
      "A key path of Mare to a value of type Int is not stored but computed from 'age', so the "
      + "store cannot "
    private static let filtered =
      "A key path of Mare to a value of type Int is not stored but computed from 'age', so a "
      + "filter cannot use it."
    private static let member =
      "A key path of Mare to a value of type Int goes into a value, whose parts are not stored "
      + "separately"

    var message: String {
      switch self {
      case .orderOfMember, .distinctByMember: Self.member
      case .orderBehindALink:
        "A key path of Mare to a value of type Optional<Int> is not stored but computed from "
          + "'mother',"
      case .order, .orderOfAList, .orderOfASet, .orderOfAMap, .orderOfBacklinks, .orderOfDerived,
        .descriptor:
        Self.negative
          + "sort by it. Sort by a @Persisted property, or sort an array of the objects."
      case .least, .greatest, .sum, .average, .sumOfAList, .sumOfAMap:
        Self.negative + "compute with it. Iterate over the objects in Swift instead."
      case .condition, .conditionBehindALink, .conditionOnElements, .conditionOfAList,
        .conditionOfAMap:
        Self.filtered
      case .distinct, .distinctOfAMap: Self.negative + "distinguish objects"
      case .sections, .sectionsWithDescriptors:
        Self.negative + "order sections by it. Give a closure instead"
      }
    }

    func make(_ realm: Realm) {
      let mares = realm.objects(Mare.self)
      let mare = mares[0]
      switch self {
      case .order: _ = mares.sorted(by: \.negative)
      case .orderOfMember: _ = mares.sorted(by: \.name.count)
      case .orderBehindALink: _ = mares.sorted(by: \.mother?.negative)
      case .orderOfAList: _ = mare.foals.sorted(by: \.negative)
      case .orderOfASet: _ = mare.crowd.sorted(by: \.negative)
      case .orderOfAMap: _ = mare.named.sorted(by: \.negative)
      case .orderOfBacklinks: _ = mare.parents.sorted(by: \.negative)
      case .orderOfDerived: _ = mares.where { $0.age > 0 }.sorted(by: \.age).sorted(by: \.negative)
      case .descriptor: _ = SortDescriptor(keyPath: \Mare.negative)
      case .least: _ = mares.min(of: \.negative)
      case .greatest: _ = mares.max(of: \.negative)
      case .sum: _ = mares.sum(of: \.negative)
      case .average: _ = mares.average(of: \.negative)
      case .sumOfAList: _ = mare.foals.sum(of: \.negative)
      case .sumOfAMap: _ = mare.named.sum(of: \.negative)
      case .condition: _ = mares.where { $0.negative < -5 }
      case .conditionBehindALink: _ = mares.where { $0.mother.negative < -5 }
      case .conditionOnElements: _ = mares.where { $0.foals.negative < -5 }
      case .conditionOfAList: _ = mare.foals.where { $0.negative < -5 }
      case .conditionOfAMap: _ = mare.named.where { $0.negative < -5 }
      case .distinct: _ = mares.distinct(by: [\.negative])
      case .distinctByMember: _ = mares.distinct(by: [\.name.count])
      case .distinctOfAMap: _ = mare.named.distinct(by: [\.negative])
      case .sections: _ = mares.sectioned(by: \.negative)
      case .sectionsWithDescriptors:
        _ = mares.sectioned(by: \.negative, sortDescriptors: ["age"])
      }
    }
  }

  @Test(arguments: Mistake.allCases)
  func traps(_ mistake: Mistake) async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = try shelter.get().folder as String, mistake = mistake as Mistake] in
      let instance = try Shelter(within: folder).openMares()
      try instance.write { instance.realm.add(Mare(1)) }
      mistake.make(instance.realm)
      exit(0)
    }
    try expect(mistake.message, in: result)
  }
}
