import Testing

@testable import TarnStore

/// Groups of rows and their aggregates, from step to step.
@Suite struct GroupsModelTests {
  private let fixture: LiveFixture

  init() throws {
    // Three pugs of the ages 1, 2, 3, and two boxers.
    fixture = try LiveFixture()
    _ = try fixture.move { session in
      for key in [4, 5] as [Int64] {
        try session.create(
          [
            ColumnID(0): .int(key), LiveFixture.age: .int(key),
            LiveFixture.breed: .string("boxer"),
          ], in: LiveFixture.dog)
      }
    }
  }

  private func model() throws -> GroupsModel {
    let schema = try fixture.rows.schema
    let query = CompiledQuery(everythingIn: LiveFixture.dog, schema)
    return try GroupsModel(
      ResultModel(.query(query)), by: ["breed"],
      [AggregateTerm(.count), AggregateTerm(.sum, of: "age")],
      schema)
  }

  /// Each group as in "pug 3 6": its key, the number of its rows and the sum of their ages.
  private func groups(_ content: GroupsModel.Content) -> [String] {
    (0..<content.table.count).map { position in
      var words = ["?"]
      if case .string(let key) = content.table.key(at: position) { words = [key] }
      words += content.table.values(at: position).map { $0.number.map(String.init) ?? "?" }
      return words.joined(separator: " ")
    }
  }

  private static func set(
    _ column: ColumnID, _ key: Int64, _ value: Value, _ session: WriteSession
  ) throws {
    try session.set(column, at: ObjectKey(key), in: LiveFixture.dog, to: value)
  }

  @Test func groupsHaveTheirAggregates() throws {
    #expect(try groups(model().evaluate(fixture.rows)) == ["boxer 2 9", "pug 3 6"])
  }

  @Test func aRowThatChangesModifiesItsGroup() throws {
    let model = try model()
    var content = try model.evaluate(fixture.rows)
    let told = try fixture.difference(model, &content) {
      try Self.set(LiveFixture.age, 1, .int(10), $0)
    }
    #expect(told == "-[] +[] ~[1]")
    #expect(groups(content) == ["boxer 2 9", "pug 3 15"])
  }

  @Test func aRowThatGoesToAnotherGroupModifiesBoth() throws {
    let model = try model()
    var content = try model.evaluate(fixture.rows)
    let told = try fixture.difference(model, &content) {
      try Self.set(LiveFixture.breed, 3, .string("boxer"), $0)
    }
    #expect(told == "-[] +[] ~[0, 1]")
    #expect(groups(content) == ["boxer 3 12", "pug 2 3"])
  }

  @Test func aGroupComesWithItsFirstRowAndGoesWithItsLast() throws {
    let model = try model()
    var content = try model.evaluate(fixture.rows)
    let came = try fixture.difference(model, &content) {
      try Self.set(LiveFixture.breed, 1, .string("collie"), $0)
    }
    #expect(came == "-[] +[1] ~[1]")
    #expect(groups(content) == ["boxer 2 9", "collie 1 1", "pug 2 5"])
    let went = try fixture.difference(model, &content) {
      _ = try $0.delete(ObjectKey(1), in: LiveFixture.dog)
    }
    #expect(went == "-[1] +[] ~[]")
    #expect(groups(content) == ["boxer 2 9", "pug 2 5"])
  }

  @Test func anAssignmentOfTheSameValueIsNotTold() throws {
    let model = try model()
    var content = try model.evaluate(fixture.rows)
    let told = try fixture.difference(model, &content) {
      try Self.set(LiveFixture.age, 1, .int(1), $0)
    }
    #expect(told == nil)
  }

  @Test func aClearedClassLeavesNoGroups() throws {
    let model = try model()
    var content = try model.evaluate(fixture.rows)
    let told = try fixture.difference(model, &content) { try $0.clear(LiveFixture.dog) }
    #expect(told == "-[0, 1] +[] ~[]")
    #expect(groups(content) == [])
  }
}
