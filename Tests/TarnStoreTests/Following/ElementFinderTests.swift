import Testing

@testable import TarnStore

/// Where objects are in a list: found by a scan first, and by an index when asked again.
@Suite struct ElementFinderTests {
  private let fixture: LiveFixture
  private let place = LiveFixture.place(LiveFixture.dogs)

  /// The dogs 1...8, eight times.
  init() throws {
    fixture = try LiveFixture(dogs: 8)
    let place = place
    _ = try fixture.move { session in
      let links = (0..<64).map { Value.link(ObjectKey(Int64($0 % 8 + 1))) }
      try session.insert(links, at: 0, in: place)
    }
  }

  private func sequence() throws -> StoredSequence {
    try #require(try fixture.rows.stored(at: place))
  }

  private func sought(_ keys: Int64...) -> [ClassID: KeySet] {
    [LiveFixture.dog: KeySet(keys.map { ObjectKey($0) })]
  }

  private func positions(_ keys: KeySet) -> [Int64] { keys.map(\.rawValue) }

  private func expected(_ keys: Int64...) -> [Int64] {
    (0..<64).filter { keys.contains($0 % 8 + 1) }
  }

  @Test func aScanAndAnIndexFindTheSame() throws {
    var finder = ElementFinder(target: LiveFixture.dog)
    let sequence = try sequence()
    for _ in 0..<3 {
      #expect(try positions(finder.positions(of: sought(3), in: sequence)) == expected(3))
      #expect(try positions(finder.positions(of: sought(1, 8), in: sequence)) == expected(1, 8))
    }
    // More than a sixteenth of the elements: a scan, index or not.
    let many = sought(1, 2, 3, 4, 5)
    #expect(try positions(finder.positions(of: many, in: sequence)) == expected(1, 2, 3, 4, 5))
  }

  @Test func theFirstQuestionMakesNoIndexAndTheSecondDoes() throws {
    var finder = ElementFinder(target: LiveFixture.dog)
    let before = try sequence()
    _ = try finder.positions(of: sought(8), in: before)
    _ = try fixture.move { try $0.remove(0..<8, in: place) }
    let after = try sequence()
    // No index yet that could be out of date: this one is made of the newer state.
    #expect(try positions(finder.positions(of: sought(8), in: after)).count == 7)
    // And now there is one, which knows nothing of elements that have moved since.
    _ = try fixture.move { try $0.remove(0..<8, in: place) }
    let later = try sequence()
    #expect(try positions(finder.positions(of: sought(8), in: later)).count == 7)
    finder.forget()
    #expect(try positions(finder.positions(of: sought(8), in: later)).count == 6)
  }

  @Test func beyondASixteenthTheIndexIsNotAsked() throws {
    var finder = ElementFinder(target: LiveFixture.dog)
    let before = try sequence()
    for _ in 0..<2 { _ = try finder.positions(of: sought(8), in: before) }
    _ = try fixture.move { try $0.remove(0..<8, in: place) }
    let after = try sequence()
    #expect(try finder.positions(of: sought(1, 2, 3), in: after).count == 24)
    #expect(try finder.positions(of: sought(1, 2, 3, 4), in: after).count == 28)
  }

  @Test func anObjectThatIsNotThereHasNoPosition() throws {
    var finder = ElementFinder(target: LiveFixture.dog)
    let sequence = try sequence()
    for _ in 0..<2 {
      #expect(try finder.positions(of: sought(9), in: sequence) == KeySet())
      let others = [LiveFixture.person: KeySet([ObjectKey(1)])]
      #expect(try finder.positions(of: others, in: sequence) == KeySet())
    }
    #expect(try finder.objects(in: sequence) == sought(1, 2, 3, 4, 5, 6, 7, 8))
  }
}
