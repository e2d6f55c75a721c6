import Testing

@testable import TarnStore

/// What `SequenceModel` says of one step of a list, a set or a map.
@Suite struct SequenceStepTests {
  private let fixture: LiveFixture
  private let numbers = LiveFixture.place(LiveFixture.numbers)
  private let dogs = LiveFixture.place(LiveFixture.dogs)
  private let members = LiveFixture.place(LiveFixture.members)
  private let labels = LiveFixture.place(LiveFixture.labels)

  init() throws {
    fixture = try LiveFixture()
    let (numbers, dogs, members, labels) = (numbers, dogs, members, labels)
    _ = try fixture.move { session in
      try session.insert([.int(10), .int(20), .int(30)], at: 0, in: numbers)
      try session.insert([1, 2, 1].map { .link(ObjectKey($0)) }, at: 0, in: dogs)
      for number in 1...3 as ClosedRange<Int64> {
        _ = try session.insert(.int(number), intoSet: members)
      }
      try session.set(.string("one"), forKey: "a", inMap: labels)
      try session.set(.string("two"), forKey: "b", inMap: labels)
    }
  }

  private func model(_ place: SequencePlace, _ kind: CollectionKind = .list) throws
    -> SequenceModel
  {
    SequenceModel(place, kind, try fixture.rows.schema)
  }

  @Test func contentIsTheNumberOfElements() throws {
    let content = try model(numbers).evaluate(fixture.rows)
    #expect(content.count == 3)
    #expect(!content.isOwnerGone)
  }

  @Test func withoutItsOwnerItIsEmptyAndGone() throws {
    let place = LiveFixture.place(LiveFixture.numbers, of: 9)
    let content = try model(place).evaluate(fixture.rows)
    #expect(content.count == 0)
    #expect(content.isOwnerGone)
  }

  @Test func insertionsAndDeletionsAreTheirPositions() throws {
    let model = try model(numbers)
    var content = try model.evaluate(fixture.rows)
    let told = try fixture.difference(model, &content) { session in
      try session.remove(0..<1, in: numbers)
      try session.insert(.int(40), at: 2, in: numbers)
    }
    #expect(told == "-[0] +[2] ~[]")
    #expect(content.count == 3)
  }

  @Test func anAssignedElementIsModified() throws {
    let model = try model(numbers)
    var content = try model.evaluate(fixture.rows)
    let told = try fixture.difference(model, &content) { try $0.set(.int(25), at: 1, in: numbers) }
    #expect(told == "-[] +[] ~[1]")
  }

  @Test func aMoveIsADeletionAndAnInsertion() throws {
    let model = try model(numbers)
    var content = try model.evaluate(fixture.rows)
    let told = try fixture.difference(model, &content) { try $0.move(from: 0, to: 2, in: numbers) }
    #expect(told == "-[0] +[2] ~[] 0→2")
  }

  @Test func changesOfAnotherObjectsListAreNotTold() throws {
    let model = try model(numbers)
    var content = try model.evaluate(fixture.rows)
    let other = LiveFixture.place(LiveFixture.numbers, of: 2)
    #expect(
      try fixture.difference(model, &content) { try $0.insert(.int(1), at: 0, in: other) } == nil)
    #expect(content.count == 3)
  }

  @Test func aChangedObjectIsModifiedWhereverItStands() throws {
    let model = try model(dogs)
    var content = try model.evaluate(fixture.rows)
    func grow(_ session: WriteSession) throws {
      try session.set(LiveFixture.age, at: ObjectKey(1), in: LiveFixture.dog, to: .int(9))
    }
    #expect(try fixture.difference(model, &content, grow) == "-[] +[] ~[0, 2]")
    #expect(try fixture.difference(model, &content, seen: .paths([]), grow) == nil)
  }

  @Test func aDeletedObjectLeavesEveryPosition() throws {
    let model = try model(dogs)
    var content = try model.evaluate(fixture.rows)
    let told = try fixture.difference(model, &content) {
      _ = try $0.delete(ObjectKey(1), in: LiveFixture.dog)
    }
    #expect(told == "-[0, 2] +[] ~[]")
    #expect(content.count == 1)
  }

  @Test func theOwnersDeletionTakesAllElements() throws {
    let model = try model(numbers)
    var content = try model.evaluate(fixture.rows)
    let told = try fixture.difference(model, &content) {
      _ = try $0.delete(ObjectKey(1), in: LiveFixture.person)
    }
    #expect(told == "-[0, 1, 2] +[] ~[]")
    #expect(content.isOwnerGone)
  }

  @Test func ofASetTheValuesThatWentAndCameAreTold() throws {
    let model = try model(members, .set)
    var content = try model.evaluate(fixture.rows)
    let told = try fixture.difference(model, &content) { session in
      _ = try session.remove(.int(2), fromSet: members)
      _ = try session.insert(.int(4), intoSet: members)
    }
    #expect(told == "-[1] +[2] ~[]")
  }

  @Test func aValueThatIsRemovedAndAddedInOneStepHasStayed() throws {
    let model = try model(members, .set)
    var content = try model.evaluate(fixture.rows)
    let told = try fixture.difference(model, &content) { session in
      _ = try session.remove(.int(2), fromSet: members)
      _ = try session.insert(.int(2), intoSet: members)
    }
    #expect(told == nil)
    #expect(content.count == 3)
  }

  @Test func aValueThatIsRemovedAndAddedInALaterStepHasStayed() throws {
    let model = try model(members, .set)
    var content = try model.evaluate(fixture.rows)
    let removed = try #require(
      try fixture.change(model, &content) { _ = try $0.remove(.int(2), fromSet: members) })
    let added = try #require(
      try fixture.change(model, &content) { session in
        for number in [2, 4] as [Int64] {
          _ = try session.insert(.int(number), intoSet: members)
        }
      })
    #expect(LiveFixture.text(removed) == "-[1] +[] ~[]")
    #expect(LiveFixture.text(added) == "-[] +[1, 3] ~[]")
    #expect(LiveFixture.text(removed.merging(added)) == "-[] +[3] ~[]")
  }

  @Test func ofAMapTheKeysAreTold() throws {
    let model = try model(labels, .map)
    var content = try model.evaluate(fixture.rows)
    let told = try fixture.difference(model, &content) { session in
      _ = try session.removeValue(forKey: "a", fromMap: labels)
      try session.set(.string("deux"), forKey: "b", inMap: labels)
      try session.set(.string("three"), forKey: "c", inMap: labels)
    }
    #expect(told == "-[\"a\"] +[\"c\"] ~[\"b\"]")
  }
}
