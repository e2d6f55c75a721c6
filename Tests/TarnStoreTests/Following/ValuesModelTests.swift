import Testing

@testable import TarnStore

/// Values of a list in an order of their own, from step to step.
@Suite struct ValuesModelTests {
  private let fixture: LiveFixture
  private let place = LiveFixture.place(LiveFixture.numbers)

  init() throws {
    fixture = try LiveFixture()
    let place = place
    _ = try fixture.move { try $0.insert([30, 10, 20, 10].map { .int($0) }, at: 0, in: place) }
  }

  private func model(ascending: Bool? = true, isDistinct: Bool = false) throws -> ResultModel {
    let schema = try fixture.rows.schema
    return ResultModel(
      .values(ValuesModel(place, ascending: ascending, isDistinct: isDistinct, schema)))
  }

  private func numbers(_ content: ResultRows) -> [Int64?] {
    (0..<content.count).map { content.value(at: $0)?.number }
  }

  @Test(
    arguments: [
      (true, false, [10, 10, 20, 30]), (false, false, [30, 20, 10, 10]),
      (nil, false, [30, 10, 20, 10]), (nil, true, [30, 10, 20]), (true, true, [10, 20, 30]),
    ] as [(Bool?, Bool, [Int64])])
  func valuesAreOrderedAndLeftOut(
    _ ascending: Bool?, _ isDistinct: Bool, _ expected: [Int64]
  ) throws {
    let content = try model(ascending: ascending, isDistinct: isDistinct).evaluate(fixture.rows)
    #expect(numbers(content) == expected)
  }

  @Test func anInsertionIsToldWhereItSorts() throws {
    let model = try model()
    var content = try model.evaluate(fixture.rows)
    let told = try fixture.difference(model, &content) { try $0.insert(.int(15), at: 4, in: place) }
    #expect(told == "-[] +[2] ~[]")
    #expect(numbers(content) == [10, 10, 15, 20, 30])
    #expect(content.values?.positions == [1, 3, 4, 2, 0])
  }

  @Test func aRemovalIsToldWhereItWasSorted() throws {
    let model = try model(ascending: false)
    var content = try model.evaluate(fixture.rows)
    let told = try fixture.difference(model, &content) { try $0.remove(0..<1, in: place) }
    #expect(told == "-[0] +[] ~[]")
    #expect(numbers(content) == [20, 10, 10])
  }

  @Test func anotherOfADistinctValueIsNotTold() throws {
    let model = try model(isDistinct: true)
    var content = try model.evaluate(fixture.rows)
    let told = try fixture.difference(model, &content) { try $0.insert(.int(20), at: 4, in: place) }
    #expect(told == nil)
    #expect(numbers(content) == [10, 20, 30])
  }

  @Test func anotherObjectsListDoesNotConcernIt() throws {
    let model = try model()
    let other = LiveFixture.place(LiveFixture.numbers, of: 2)
    let elsewhere = try fixture.move { try $0.insert(.int(1), at: 0, in: other) }
    #expect(!model.isConcerned(by: elsewhere.changes))
    let here = try fixture.move { try $0.insert(.int(1), at: 0, in: place) }
    #expect(model.isConcerned(by: here.changes))
  }

  @Test func theOwnersDeletionTakesAllRows() throws {
    let model = try model()
    var content = try model.evaluate(fixture.rows)
    let told = try fixture.difference(model, &content) {
      _ = try $0.delete(ObjectKey(1), in: LiveFixture.person)
    }
    #expect(told == "-[0, 1, 2, 3] +[] ~[]")
    #expect(content.isOwnerGone)
    #expect(content.count == 0)
  }
}
