import Foundation
import Testing

@testable import Tarn

extension Climber {
  fileprivate var title: String {
    get { "Ms. " + lastName }
    set { lastName = String(newValue.dropFirst(4)) }
  }
}

private class ComputedCard: Projection<Climber> {
  @Projected(\Climber.fullName) var full
  @Projected(\Climber.sameName) var same
  @Projected(\Climber.firstName) var first
  @Projected(\Climber.firstName.count) var length
  @Projected(\Climber.title) var title
  @Projected(\Climber.friendsNames) var names
  @Projected(\Climber.friends.projectTo.fullName) var fullNames
  @Projected(\Climber.hut?.name) var hutName
}

/// Projections of computed properties, and single properties of projections.
struct ComputedProjectionTests {
  private let a: Instance
  private let b: Instance

  init() throws {
    let shelter = try Shelter()
    (a, b) = (try shelter.openClimbers(), try shelter.openClimbers())
    try b.addClimbers()
    _ = a.realm.refresh()
  }

  private func card(_ id: Int = 1) -> ComputedCard { ComputedCard(projecting: a.climber(id)!) }

  @Test func theyAreComputedAtEachRead() throws {
    let card = card()
    #expect(card.full == "Ida Berg")
    #expect(card.same == "Ida")
    #expect(card.length == 3)
    #expect(card.title == "Ms. Berg")
    #expect(Array(card.names) == ["Max", "Eva"])
    #expect(Array(card.fullNames) == ["Max Tal", "Eva Alm"])
    try a.write {
      card.first = "Iris"
      #expect(card.full == "Iris Berg")
      #expect(card.same == "Iris")
      #expect(card.length == 4)
      card.title = "Ms. Fels"
    }
    #expect(card.rootObject.lastName == "Fels")
    #expect(card.freeze().full == "Iris Fels")
    let unmanaged = ComputedCard(projecting: Climber(9, "A", "B"))
    #expect(unmanaged.full == "A B")
    unmanaged.title = "Ms. C"
    #expect(unmanaged.full == "A C")
    #expect(card.description.contains("full = Iris Fels"))
  }

  /// Which properties a getter reads is not known, so that every one of the object counts.
  @Test func observersAreToldWithEachChangeOfTheObject() throws {
    let recorder = ProjectionRecorder(card())
    try b.write { b.climber(1)!.age = 50 }
    a.pump()
    let computed = "full: nil > Ida Berg, same: nil > Ida, length: nil > 3, title: nil > Ms. Berg, "
    let lists = "names: nil > nil, fullNames: nil > nil"
    #expect(recorder.take() == [computed + lists])
    try b.write { b.climber(2)!.firstName = "Moritz" }
    a.pump()
    #expect(recorder.take() == [])
    let first = ProjectionRecorder(card(), ["first"])
    try b.write { b.climber(1)!.firstName = "Iris" }
    a.pump()
    #expect(first.take() == ["first: Ida > Iris"])
    #expect(recorder.take().first?.hasPrefix("full: nil > Iris Berg, same: nil > Iris") == true)
  }

  @Test func sectionsByThem() throws {
    let cards = a.realm.objects(ComputedCard.self)
    #expect(cards.sectioned(by: \.length).allKeys == [3])
    #expect(cards.sectioned(by: \.same).allKeys == ["Eva", "Ida", "Max"])
    let full = cards.sectioned(by: \.full, sortDescriptors: ["age"])
    #expect(full.allKeys == ["Max Tal", "Ida Berg", "Eva Alm"])
  }

  @Test func onePropertyIsToldWhenItIsAssigned() throws {
    let card = card()
    var told: [String] = []
    let name = card.observe(\.first, options: [.old, .new, .initial]) { from, change in
      told.append("\(change.oldValue ?? "-") → \(change.newValue ?? "-") \(from === card)")
    }
    let hut = card.observe(\.hutName, options: .new) { _, change in
      told.append("hut \(change.newValue!!)")
    }
    let end = card.observe(\.isInvalidated) { _, _ in told.append("gone") }
    try a.write {
      a.climber(1)!.firstName = "Iris"
      a.climber(1)!.hut!.name = "Low"
      a.climber(1)!.age = 3
    }
    #expect(told == ["- → Ida true", "Ida → Iris true", "hut Low"])
    try b.write { b.climber(1)!.firstName = "Ina" }
    a.realm.refresh()
    #expect(told.dropFirst(3) == ["Iris → Ina true"])
    try a.write { a.realm.delete(card.rootObject) }
    #expect(told.contains("gone"))
    for token in [name, hut, end] { token.invalidate() }
    let unmanaged = ComputedCard(projecting: Climber(9, "A", "B"))
    let token = unmanaged.observe(\.first, options: .new) { from, change in
      told.append("\(change.newValue!) \(from.full)")
    }
    unmanaged.first = "Z"
    #expect(told.last == "Z Z B")
    token.invalidate()
  }

  /// An unmanaged object retains its observers.
  @Test func observersOfAnUnmanagedOneEndWithIt() {
    weak var object: Climber?
    do {
      let card = ComputedCard(projecting: Climber(9, "A", "B"))
      object = card.rootObject
      let token = card.observe(\.first) { _, _ in }
      token.invalidate()
    }
    #expect(object == nil)
  }
}

/// What a program is told before it stops that asks too much of computed properties.
struct ComputedProjectionTrapTests: TrapSuite {
  private let shelter = Result { try Shelter() }
  private var folder: String { get throws { try shelter.get().folder } }

  private static func row(
    _ name: String, _ message: String, _ use: @escaping @Sendable (ComputedCard) throws -> Void
  ) -> TrapCase {
    TrapCase(name, message) { shelter in
      let instance = try shelter.openClimbers()
      try instance.addClimbers()
      try use(ComputedCard(projecting: instance.climber(1)!))
    }
  }

  static let traps: [TrapCase] = [
    row("assigned", "'ComputedCard.full' projects a computed property without a setter") { card in
      try card.realm!.write { card.full = "x" }
    },
    row("sorted", "so the store cannot sort by it") {
      print($0.realm!.objects(ComputedCard.self).sorted(by: \.full))
    },
    row("sorted by a disguised one", "so the store cannot sort by it") {
      print($0.realm!.objects(ComputedCard.self).sorted(by: \.same))
    },
    row("observed along a label", "'full' projects a computed property") {
      _ = $0.observe(keyPaths: ["full"]) { _ in }
    },
    row("observed along a key path", "so it cannot be observed") {
      _ = $0.observe(keyPaths: [\.full]) { _ in }
    },
    row("observed as one property", "so its changes are not reported") {
      _ = $0.observe(\.full) { _, _ in }
    },
    row("sections by two", "its getter does not read exactly one stored property") {
      print($0.realm!.objects(ComputedCard.self).sectioned(by: \.full))
    },
  ]

  @Test(arguments: traps.map(\.name))
  func stops(_ name: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [folder = try folder as String, name] in
      try await ComputedProjectionTrapTests.traps.named(name).run(Shelter(within: folder))
    }
    try expect(Self.traps.named(name).message, in: result)
  }
}
