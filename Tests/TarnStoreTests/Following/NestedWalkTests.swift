import Testing

@testable import TarnStore

/// The ways from an object down to what changed between two versions.
@Suite struct NestedWalkTests {
  private let fixture: LiveFixture

  init() throws { fixture = try LiveFixture(people: 5) }

  private static func befriend(_ key: Int64, _ other: Int64, _ session: WriteSession) throws {
    try session.set(
      LiveFixture.friend, at: ObjectKey(key), in: LiveFixture.person,
      to: .link(ObjectKey(other)))
  }

  private static func rename(_ key: Int64, _ session: WriteSession) throws {
    try session.set(
      LiveFixture.name, at: ObjectKey(key), in: LiveFixture.person, to: .string("new"))
  }

  /// The ways from person 1 to what a write changes, as in "friend/friends[0 0] 3": the links, with
  /// positions before and now, and the object at the end.
  private func ways(
    in fixture: LiveFixture, scope: Scope = .depth(3), _ body: (WriteSession) throws -> Void
  ) throws -> [ChangePath] {
    let former = fixture.snapshot
    _ = try fixture.move(body)
    let walk = try #require(
      try NestedWalk(from: .version(former), to: .version(fixture.snapshot), scope, in: nil))
    return try walk.ways(from: LiveFixture.person(1))
  }

  private func text(_ way: ChangePath) -> String {
    let names = [LiveFixture.friend: "friend", LiveFixture.friends: "friends"]
    let steps = way.steps.map { step in
      let positions = step.positions.map { position in
        switch position {
        case .index(let old, let new): "[\(old.map(String.init) ?? "-") \(new)]"
        case .key(let key): "[\(key)]"
        }
      }
      return (names[step.link.column] ?? "?") + positions.joined()
    }
    return "\(steps.joined(separator: "/")) \(way.object.key.rawValue)"
  }

  @Test func theObjectItselfHasAWayWithoutSteps() throws {
    let ways = try ways(in: fixture) { try Self.rename(1, $0) }
    #expect(ways.map(text) == [" 1"])
    #expect(ways.map(\.column) == [LiveFixture.name])
  }

  @Test func anObjectBehindALinkHasAWayOverIt() throws {
    _ = try fixture.move { try Self.befriend(1, 2, $0) }
    let ways = try ways(in: fixture) { try Self.rename(2, $0) }
    #expect(ways.map(text) == ["friend 2"])
  }

  @Test func whatIsFartherThanTheReachIsNotFound() throws {
    _ = try fixture.move { session in
      try Self.befriend(1, 2, session)
      try Self.befriend(2, 3, session)
    }
    #expect(try ways(in: fixture, scope: .depth(1)) { try Self.rename(3, $0) }.isEmpty)
    let found = try ways(in: fixture, scope: .depth(2)) { try Self.rename(3, $0) }
    #expect(found.map(text) == ["friend/friend 3"])
  }

  @Test func everyWayToAnObjectIsFoundTheShorterOnesFirst() throws {
    _ = try fixture.move { session in
      try Self.befriend(1, 2, session)
      try Self.befriend(2, 3, session)
      try session.insert(
        [4, 3].map { .link(ObjectKey($0)) }, at: 0, in: LiveFixture.place(LiveFixture.friends))
    }
    let ways = try ways(in: fixture) { try Self.rename(3, $0) }
    #expect(ways.map(text) == ["friends[1 1] 3", "friend/friend 3"])
  }

  @Test func aCircleIsWalkedOnce() throws {
    _ = try fixture.move { session in
      try Self.befriend(1, 2, session)
      try Self.befriend(2, 1, session)
    }
    let behind = try ways(in: fixture) { try Self.rename(2, $0) }
    #expect(behind.map(text) == ["friend 2"])
    let itself = try ways(in: fixture) { try Self.rename(1, $0) }
    #expect(itself.map(text) == [" 1"])
  }

  @Test func noMoreWaysAreFoundThanTheLimit() throws {
    let crowd = try LiveFixture(people: 1_201)
    _ = try crowd.move { session in
      let links = (2...1_201).map { Value.link(ObjectKey($0)) }
      try session.insert(links, at: 0, in: LiveFixture.place(LiveFixture.friends))
    }
    let ways = try ways(in: crowd) { session in
      for key in 2...1_201 as ClosedRange<Int64> { try Self.rename(key, session) }
    }
    #expect(ways.count == NestedWalk.waysMax)
    #expect(Set(ways.map(\.object)).count == NestedWalk.waysMax)
  }
}
