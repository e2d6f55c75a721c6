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
  private let folder = TemporaryFolder()

  enum Mistake: String, CaseIterable, Codable {
    case invalidated, unknownOrder, unknownProperty, sumOfDates, averageOfDates, otherType, narrow
    case removingTooManyFirst, removingTooManyLast, removingFewerThanNone
    case dynamicOfUnmanaged, dynamicOfNothing, dynamicOfNumbers, dynamicOfAnotherKind

    /// What the message says.
    var message: String {
      switch self {
      case .invalidated: "This Results<Meal> has been invalidated with its Realm; query again."
      case .unknownOrder: "Invalid query on 'Meal':"
      case .unknownProperty: "Invalid aggregate on 'Meal':"
      case .sumOfDates: "Dates have no sum: property 'time'."
      case .averageOfDates: "Dates have no average: property 'time'."
      case .narrow:
        "The result for property 'calories' is 300, out of the range of 'Int8', -128 to 127: "
          + "a program whose model declares a wider type stored it. Declare the property as Int"
      case .otherType: "The result for property 'time' is not of type 'Int'."
      case .removingTooManyFirst, .removingTooManyLast: "Cannot remove 3 of 2 elements of the list"
      case .removingFewerThanNone: "Cannot remove -1 of 2 elements of the list 'Meal.portions'."
      case .dynamicOfUnmanaged:
        "'Meal.guests': an unmanaged object has no dynamic collections."
      case .dynamicOfNothing: "Class 'Meal' has no list of objects 'friends'."
      case .dynamicOfNumbers: "Class 'Meal' has no list of objects 'portions'."
      case .dynamicOfAnotherKind: "Class 'Meal' has no set of objects 'guests'."
      }
    }

    func make(_ path: String) throws {
      let realm = try Realm(
        configuration: Realm.Configuration(
          fileURL: URL(fileURLWithPath: path), objectTypes: [Cat.self, Home.self, Meal.self],
          durability: .relaxed))
      let meal = Meal(value: ["portions": [1, 2]])
      if self == .dynamicOfUnmanaged { _ = meal.dynamicList("guests") }
      realm.beginWrite()
      realm.add(meal)
      switch self {
      case .removingTooManyFirst: meal.portions.removeFirst(3)
      case .removingTooManyLast: meal.portions.removeLast(3)
      case .removingFewerThanNone: meal.portions.removeFirst(-1)
      case .dynamicOfNothing: _ = meal.dynamicList("friends")
      case .dynamicOfNumbers: _ = meal.dynamicList("portions")
      case .dynamicOfAnotherKind: _ = meal.dynamicMutableSet("guests")
      default: ask(realm.objects(Meal.self))
      }
      exit(0)
    }

    private func ask(_ meals: Results<Meal>) {
      switch self {
      case .invalidated:
        meals.realm!.invalidate()
        print(meals.count)
      case .unknownOrder: print(meals.sorted(byKeyPath: "price").count)
      case .unknownProperty: print(meals.max(ofProperty: "price") as Int? as Any)
      case .sumOfDates: print(meals.sum(ofProperty: "time") as Int)
      case .narrow: print(meals.max(ofProperty: "calories") as Int8? as Any)
      case .averageOfDates: print(meals.average(ofProperty: "time") as Double? as Any)
      default: print(meals.min(ofProperty: "time") as Int? as Any)
      }
    }
  }

  @Test(arguments: Mistake.allCases)
  func traps(mistake: Mistake) async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [path = folder.file("meals.realm") as String, mistake = mistake as Mistake] in
      try mistake.make(path)
    }
    try expect(mistake.message, in: result)
  }
}
