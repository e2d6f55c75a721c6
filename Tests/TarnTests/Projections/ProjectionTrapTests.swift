import Foundation
import Testing

@testable import Tarn

/// What a program is told before it stops that projects what is not there.
struct ProjectionTrapTests: TrapSuite {
  private let shelter = Result { try Shelter() }
  private var folder: String { get throws { try shelter.get().folder } }

  /// An instance with climbers, one of them, and its card.
  private typealias Camp = (instance: Instance, climber: Climber, card: ClimberCard)

  private static func row(
    _ name: String, _ message: String, _ use: @escaping @Sendable (Camp) throws -> Void
  ) -> TrapCase {
    TrapCase(name, message) { shelter in
      let instance = try shelter.openClimbers()
      try instance.addClimbers()
      let climber = instance.climber(1)!
      try use((instance, climber, ClimberCard(projecting: climber)))
    }
  }

  static let traps: [TrapCase] = [
    row("sorted by computed", "so the store cannot sort by it") {
      print($0.instance.cards.sorted(by: \.greeting))
    },
    row("sorted by member", "so the store cannot sort by it") {
      print($0.instance.cards.sorted(by: \.name.count))
    },
    row(
      "assigned values",
      "'ClimberCard.friendNames' is read from the objects of a list or set and cannot be set."
    ) { it in
      try it.instance.write { it.card.friendNames = it.card.friendNames }
    },
    row("assigned outside of write", "Cannot modify managed objects outside of a write transaction")
    { $0.card.name = "x" },
    row("assigned key", "Climber.id is the primary key") { it in
      try it.instance.write { ClimberDetails(projecting: it.climber).number = 9 }
    },
    row("deleted", "Object has been deleted or invalidated") { it in
      try it.instance.write { it.instance.realm.delete(it.climber) }
      print(it.card.name)
    },
    row("stored", "'ClimberCard' is a projection, which cannot be stored") { _ in
      print(List<ClimberCard>._description)
    },
    row("unknown property", "'name'") { print($0.instance.cards.sorted(byKeyPath: "name")) },
    row("frozen", "Cannot set Climber.firstName of a frozen Realm") { $0.card.freeze().name = "x" },
    row("observed frozen", "Cannot observe a frozen Realm") {
      _ = $0.card.freeze().observe { _ in }
    },
    row("observed unmanaged", "Only objects which are managed by a Realm") { _ in
      _ = ClimberCard(projecting: Climber()).observe { _ in }
    },
    row(
      "observed unknown",
      "'ClimberCard' has no projected property at the start of the key path 'nme'."
    ) {
      _ = $0.card.observe(keyPaths: ["nme"]) { _ in }
    },
    row(
      "observed beside",
      "'ClimberName' has no projected property at the start of the key path 'lastName'."
    ) { _ = ClimberName(projecting: $0.card.rootObject).observe(keyPaths: ["lastName"]) { _ in } },
    row("observed behind", "Class 'Climber' has no property 'nme'") {
      _ = $0.card.observe(keyPaths: ["partner.nme"]) { _ in }
    },
    row("through values", "goes into a value, whose parts are not stored separately") {
      _ = $0.card.observe(keyPaths: [\.friendNames[0].count]) { _ in }
    },
    row("observed computed", "not stored but computed from 'firstName'") {
      _ = $0.card.observe(keyPaths: [\.greeting]) { _ in }
    },
    row(
      "loop along unknown",
      "'ClimberCard' has no projected property at the start of the key path 'nme'."
    ) { _ = $0.card.changes(keyPaths: ["nme"]) },
    row("results along unknown", "Class 'Climber' has no property 'nme'") {
      _ = $0.card.realm!.objects(ClimberCard.self).observe(keyPaths: ["nme"]) { _ in }
    },
  ]

  @Test(arguments: traps.map(\.name))
  func stops(_ name: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [folder = try folder as String, name] in
      try await ProjectionTrapTests.traps.named(name).run(Shelter(within: folder))
    }
    try expect(Self.traps.named(name).message, in: result)
  }
}
