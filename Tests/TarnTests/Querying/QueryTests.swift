import Foundation
import TarnStore
import Testing

@testable import Tarn

// Foundation has one of its own.
private typealias Predicate = TarnStore.Predicate

@Suite struct QueryTests: TrapSuite {
  private func predicate(_ build: (Query<ModelDog>) -> Query<Bool>) -> Predicate {
    build(.root).predicate
  }

  @Test func comparisonsWithValues() {
    #expect(predicate { $0.name == "Rex" } == .compare("name", .equal, .string("Rex")))
    #expect(predicate { $0.age != 3 } == .compare("age", .notEqual, .int(3)))
    #expect(predicate { $0.age > 3 } == .compare("age", .greater, .int(3)))
    #expect(predicate { 3 > $0.age } == .compare("age", .less, .int(3)))
    #expect(predicate { $0.weight <= 2 } == .compare("weight", .lessOrEqual, .double(2)))
    #expect(predicate { $0.shoeSize >= 40 } == .compare("shoeSize", .greaterOrEqual, .int(40)))
    #expect(predicate { $0.name < "S" } == .compare("name", .less, .string("S")))
    #expect(predicate { $0.mood == .wild } == .compare("mood", .equal, .string("wild")))
    let date = Date(timeIntervalSince1970: 1.5)
    let time = Timestamp(seconds: 1, nanoseconds: 500_000_000)
    #expect(predicate { $0.born > date } == .compare("born", .greater, .date(time)))
  }

  @Test func comparisonsWithNil() {
    #expect(predicate { $0.nickname == nil } == .compare("nickname", .equal, .null))
    #expect(predicate { $0.mother != nil } == .compare("mother", .notEqual, .null))
  }

  @Test func comparisonsWithProperties() {
    let expected = Predicate.comparison(Comparison(.path(["age"]), .less, .path(["_id"])))
    #expect(predicate { $0.age < $0._id } == expected)
    let equal = Predicate.comparison(
      Comparison(.path(["name"]), .equal, .path(["mother", "name"])))
    #expect(predicate { $0.name == $0.mother.name } == equal)
  }

  @Test func comparisonsWithObjects() {
    let stage = RowStage()
    let dog = ModelDog()
    dog._context = stage.context
    dog._key = 17
    let expected = Predicate.compare("mother", .equal, .link(ObjectKey(17)))
    #expect(predicate { $0.mother == dog } == expected)
    #expect(
      predicate { $0.mother.in([dog, nil]) } == .isIn("mother", [.link(ObjectKey(17)), .null]))
  }

  @Test func combinationsStayFlat() {
    let a = Predicate.compare("age", .greater, .int(1))
    let b = Predicate.compare("age", .less, .int(9))
    let good = Predicate.compare("isGood", .equal, .bool(true))
    #expect(predicate { $0.isGood } == good)
    #expect(predicate { !$0.isGood } == .not(good))
    #expect(predicate { $0.age > 1 && $0.age < 9 && $0.isGood } == .and([a, b, good]))
    #expect(predicate { $0.age > 1 || $0.isGood } == .or([a, good]))
    #expect(predicate { !($0.age > 1) } == .not(a))
  }

  @Test func membershipAndRanges() {
    #expect(predicate { $0.age.in([1, 2]) } == .isIn("age", [.int(1), .int(2)]))
    #expect(predicate { $0.name.in(["a"]) } == .isIn("name", [.string("a")]))
    let low = Predicate.compare("age", .greaterOrEqual, .int(1))
    #expect(
      predicate { $0.age.contains(1..<5) } == .and([low, .compare("age", .less, .int(5))]))
    #expect(
      predicate { $0.age.contains(1...5) } == .and([low, .compare("age", .lessOrEqual, .int(5))]))
    #expect(
      predicate { $0.shoeSize.contains(1..<5) }
        == .and([
          .compare("shoeSize", .greaterOrEqual, .int(1)), .compare("shoeSize", .less, .int(5)),
        ]))
  }

  @Test func textSearch() {
    #expect(
      predicate { $0.name.contains("x") } == .compare("name", .contains, .string("x")))
    #expect(
      predicate { $0.name.starts(with: "x", options: .caseInsensitive) }
        == .compare("name", .beginsWith, .string("x"), .caseInsensitive))
    #expect(
      predicate { $0.nickname.ends(with: "x") }
        == .compare("nickname", .endsWith, .string("x")))
    #expect(
      predicate { $0.photo.contains(Data([1])) } == .compare("photo", .contains, .data([1])))
    #expect(
      predicate { $0.name.contains($0.nickname) }
        == .comparison(Comparison(.path(["name"]), .contains, .path(["nickname"]))))
  }

  @Test func linksAreFollowedByColumnNames() {
    #expect(predicate { $0.mother.age > 3 } == .compare("mother.age", .greater, .int(3)))
    #expect(
      predicate { $0.mother.favouriteToy.color == "red" }
        == .compare("mother.favouriteToy.colour", .equal, .string("red")))
    #expect(predicate { $0.mother.isGood } == .compare("mother.isGood", .equal, .bool(true)))
  }

  @Test func propertiesThatAreNotStoredTrap() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Query<ModelDog>.root.label == "x"
    }
    try expect("so a filter cannot use it", in: result)
  }
}
