import Foundation
import TestSupport
import Testing

@testable import Tarn

private class Meal: Object {
  @Persisted var time = Date(timeIntervalSinceReferenceDate: 0)
  @Persisted var calories = 300
  @Persisted var cat: Cat?
  @Persisted var guests: List<Cat>
  @Persisted var portions: List<Int>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// What a program is told that asks results and collections for what they cannot give.
struct ResultsTrapTests: TrapSuite {
  private let shelter = Result { try Shelter() }
  private var folder: String { get throws { try shelter.get().folder } }

  /// A use of all meals and of the only one, in an open write.
  private static func row(
    _ name: String, _ message: String,
    _ use: @escaping @Sendable ((meal: Meal, meals: Results<Meal>)) -> Void
  ) -> TrapCase {
    TrapCase(name, message) { shelter in
      let realm = try Realm(
        configuration: Realm.Configuration(
          fileURL: URL(fileURLWithPath: shelter.folder + "/meals.realm"),
          objectTypes: [Cat.self, Home.self, Meal.self], durability: .relaxed))
      let meal = Meal(value: ["portions": [1, 2]])
      realm.beginWrite()
      realm.add(meal)
      use((meal, realm.objects(Meal.self)))
    }
  }

  static let traps: [TrapCase] = [
    row("invalidated", "This Results<Meal> has been invalidated with its Realm; query again.") {
      it in
      it.meals.realm!.invalidate()
      print(it.meals.count)
    },
    row("unknown order", "Invalid query on 'Meal':") {
      print($0.meals.sorted(byKeyPath: "price").count)
    },
    row("unknown property", "Invalid aggregate on 'Meal':") {
      print($0.meals.max(ofProperty: "price") as Int? as Any)
    },
    row("sum of dates", "Dates have no sum: property 'time'.") {
      print($0.meals.sum(ofProperty: "time") as Int)
    },
    row("average of dates", "Dates have no average: property 'time'.") {
      print($0.meals.average(ofProperty: "time") as Double? as Any)
    },
    row("other type", "The result for property 'time' is not of type 'Int'.") {
      print($0.meals.min(ofProperty: "time") as Int? as Any)
    },
    row(
      "narrow",
      "The result for property 'calories' is 300, out of the range of 'Int8', -128 to 127. "
        + "Request the result as Int, or declare the property as Int: a sum may be larger"
    ) { print($0.meals.max(ofProperty: "calories") as Int8? as Any) },
    row("removing too many first", "Cannot remove 3 of 2 elements of the list") {
      $0.meal.portions.removeFirst(3)
    },
    row("removing too many last", "Cannot remove 3 of 2 elements of the list") {
      $0.meal.portions.removeLast(3)
    },
    row("removing fewer than none", "Cannot remove -1 of 2 elements of the list 'Meal.portions'.") {
      $0.meal.portions.removeFirst(-1)
    },
    row("dynamic of unmanaged", "'Meal.guests': an unmanaged object has no dynamic collections.") {
      _ in _ = Meal().dynamicList("guests")
    },
    row("dynamic of nothing", "Class 'Meal' has no list of objects 'friends'.") {
      _ = $0.meal.dynamicList("friends")
    },
    row("dynamic of numbers", "Class 'Meal' has no list of objects 'portions'.") {
      _ = $0.meal.dynamicList("portions")
    },
    row("dynamic of another kind", "Class 'Meal' has no set of objects 'guests'.") {
      _ = $0.meal.dynamicMutableSet("guests")
    },
  ]

  @Test(arguments: traps.map(\.name))
  func stops(_ name: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [folder = try folder as String, name] in
      try await ResultsTrapTests.traps.named(name).run(Shelter(within: folder))
    }
    try expect(Self.traps.named(name).message, in: result)
  }
}
