import Testing

@testable import TarnStore

/// The objects that link to one object, from step to step.
@Suite struct BacklinksModelTests {
  private let fixture: LiveFixture
  private static let target = ObjectRef(classID: LiveFixture.dog, key: ObjectKey(1))

  init() throws {
    fixture = try LiveFixture(people: 4)
    _ = try fixture.move { session in
      for key in [1, 3] as [Int64] { try Self.link(key, to: 1, session) }
      try session.insert(
        [1, 2, 1].map { .link(ObjectKey($0)) }, at: 0, in: LiveFixture.place(LiveFixture.dogs))
    }
  }

  private static func link(_ key: Int64, to dog: Int64?, _ session: WriteSession) throws {
    let value = dog.map { Value.link(ObjectKey($0)) } ?? .null
    try session.set(
      LiveFixture.favourite, at: ObjectKey(key), in: LiveFixture.person, to: value)
  }

  private func model(_ column: ColumnID = LiveFixture.favourite) throws -> BacklinksModel {
    BacklinksModel(to: Self.target, from: LiveFixture.person, column, try fixture.rows.schema)
  }

  @Test func originsAreInTheOrderOfTheirKeys() throws {
    #expect(try model().evaluate(fixture.rows).keys == [ObjectKey(1), ObjectKey(3)])
  }

  @Test func anObjectThatLinksTwiceIsThereTwice() throws {
    let content = try model(LiveFixture.dogs).evaluate(fixture.rows)
    #expect(content.keys == [ObjectKey(1), ObjectKey(1)])
  }

  @Test func linksThatAreSetAndTakenAwayAreTold() throws {
    let model = try model()
    var content = try model.evaluate(fixture.rows)
    let told = try fixture.difference(model, &content) { session in
      try Self.link(1, to: nil, session)
      try Self.link(2, to: 1, session)
    }
    #expect(told == "-[0] +[0] ~[]")
    #expect(content.keys == [ObjectKey(2), ObjectKey(3)])
  }

  @Test func aLinkToAnotherObjectIsNotTold() throws {
    let model = try model()
    var content = try model.evaluate(fixture.rows)
    #expect(try fixture.difference(model, &content) { try Self.link(4, to: 2, $0) } == nil)
    #expect(content.keys == [ObjectKey(1), ObjectKey(3)])
  }

  @Test func anOriginThatChangesIsModified() throws {
    let model = try model()
    var content = try model.evaluate(fixture.rows)
    func rename(_ session: WriteSession) throws {
      try session.set(
        LiveFixture.name, at: ObjectKey(3), in: LiveFixture.person, to: .string("Ida"))
    }
    #expect(try fixture.difference(model, &content, rename) == "-[] +[] ~[1]")
    #expect(try fixture.difference(model, &content, seen: .paths([]), rename) == nil)
  }

  @Test func anOriginThatIsDeletedGoes() throws {
    let model = try model()
    var content = try model.evaluate(fixture.rows)
    let told = try fixture.difference(model, &content) {
      _ = try $0.delete(ObjectKey(3), in: LiveFixture.person)
    }
    #expect(told == "-[1] +[] ~[]")
  }

  @Test func theTargetsDeletionTakesAllOrigins() throws {
    let model = try model()
    var content = try model.evaluate(fixture.rows)
    let told = try fixture.difference(model, &content) {
      _ = try $0.delete(ObjectKey(1), in: LiveFixture.dog)
    }
    #expect(told == "-[0, 1] +[] ~[]")
    #expect(content.isOwnerGone)
    #expect(try model.evaluate(fixture.rows).isOwnerGone)
  }
}
