import Foundation
import TarnStore
import TestSupport
import Testing

@testable import Tarn

/// Key paths with as many names as there may be, and with more.
struct LongKeyPathTests: TrapSuite {
  private static func text(_ count: Int) -> String {
    String(repeating: "next.", count: count - 1) + "number"
  }

  private static func reading(_ count: Int) -> KeyPath<RingBead, Int?> {
    var links: KeyPath<RingBead, RingBead?> = \RingBead.next
    for _ in 2..<count { links = links.appending(path: \RingBead?.?.next) }
    return links.appending(path: \RingBead?.?.number)
  }

  private static func open() throws -> (Realm, ManualScheduler) {
    let scheduler = ManualScheduler()
    let configuration = Realm.Configuration(
      inMemoryIdentifier: UUID().uuidString, objectTypes: [RingBead.self])
    return (try Realm(configuration: configuration, scheduler: scheduler), scheduler)
  }

  @Test func `the longest path is followed by everything that takes one`() throws {
    let longest = PathLimit.namesMax
    let (realm, scheduler) = try Self.open()
    let beads = realm.objects(RingBead.self)
    // Each is in a ring of its own, so every path leads round to it.
    let made = try realm.write {
      [3, 1, 2].map { number in
        let bead = RingBead()
        bead.number = number
        realm.add(bead)
        bead.next = bead
        bead.others.append(bead)
        return bead
      }
    }
    let (text, path) = (Self.text(longest), Self.reading(longest))
    #expect(beads.filter("\(text) == 2").map(\.number) == [2])
    let links = String(repeating: "next.", count: longest - 2)
    #expect(beads.filter("ANY \(links)others.number == 2").map(\.number) == [2])
    #expect(beads.sorted(byKeyPath: text).map(\.number) == [1, 2, 3])
    #expect(beads.sorted(by: path).map(\.number) == [1, 2, 3])
    #expect(beads.distinct(by: [text]).count == 3)
    #expect(beads.distinct(by: [path]).count == 3)
    #expect(beads.grouped(by: text, as: Int?.self, .count).count == 3)
    #expect(beads.where { Self.condition($0, longest) }.map(\.number) == [2])
    #expect(made[0].value(forKeyPath: text) as? Int == 3)
    var told: [IndexSet] = []
    let token = beads.observeChanges(keyPaths: [text]) { change in
      if case .update(_, let delta) = change { told.append(IndexSet(delta.modifications)) }
    }
    scheduler.pump()
    try realm.write { made[1].number = 7 }
    scheduler.pump()
    #expect(told == [[1]])
    token.invalidate()
  }

  private static func condition(_ bead: Query<RingBead>, _ count: Int) -> Query<Bool> {
    var link: Query<RingBead?> = bead.next
    for _ in 2..<count { link = link.next }
    return link.number == 2
  }

  @Test(arguments: [PathLimit.namesMax + 1, 20_001])
  func `a text with a longer path is refused`(count: Int) throws {
    let (realm, _) = try Self.open()
    let base = realm.objects(RingBead.self)._derivation
    for text in ["\(Self.text(count)) == 2", "ANY \(Self.text(count)) == 2"] {
      let error = #expect(throws: Realm.Error.self) {
        _ = try base.filtered(FilterText(text, []))
      }
      #expect(error?.code == .invalidInput)
      #expect(error?.message.hasSuffix(Self.message(count) + ".") == true)
    }
  }

  private static func message(_ count: Int) -> String {
    "a key path may have at most 256 names, and this one has \(count)"
  }

  private static let tooMany = 20_001

  private static func use(
    _ name: String, _ use: @escaping @Sendable (Results<RingBead>) -> Void
  ) -> TrapCase {
    TrapCase(name, "a key path may have at most 256 names, and this one has") { _ in
      let (realm, _) = try open()
      try realm.write { realm.add(RingBead()) }
      use(realm.objects(RingBead.self))
    }
  }

  static let traps: [TrapCase] = [
    use("order") { _ = $0.sorted(byKeyPath: text(tooMany)).count },
    use("distinct") { _ = $0.distinct(by: [text(tooMany)]).count },
    use("groups") { _ = $0.grouped(by: text(tooMany), as: Int?.self, .count).count },
    use("condition") { _ = $0.where { condition($0, tooMany) }.count },
    use("observer") { _ = $0.observe(keyPaths: [text(tooMany)]) { _ in } },
    use("an object's observer") { _ = $0[0].observe(keyPaths: [text(tooMany)]) { _ in } },
  ]

  private let folder = TemporaryFolder()

  @Test(arguments: traps.map(\.name))
  func stops(_ name: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [folder = folder.path as String, name] in
      try await LongKeyPathTests.traps.named(name).run(Shelter(within: folder))
    }
    try expect(Self.traps.named(name).message, in: result)
  }
}

class RingBead: Object {
  @Persisted var number = 0
  @Persisted var next: RingBead?
  @Persisted var others: List<RingBead>
}
