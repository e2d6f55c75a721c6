import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Observing projections.
struct ProjectionObservingTests {
  private let shelter: Shelter
  /// Observes.
  private let a: Instance
  /// Writes, as another process does.
  private let b: Instance

  init() throws {
    shelter = try Shelter()
    a = try shelter.openClimbers()
    b = try shelter.openClimbers()
    try b.addClimbers()
    _ = a.realm.refresh()
  }

  @Test(arguments: [false, true])
  func projectedPropertiesAreTold(isLocal: Bool) throws {
    let recorder = ProjectionRecorder(try a.card(1))
    func changed(_ block: (Climber) -> Void) throws -> [String] {
      let instance = isLocal ? a : b
      try instance.write { block(instance.climber(1)!) }
      a.pump()
      return recorder.take()
    }
    #expect(try changed { $0.firstName = "Iris" } == ["name: Ida > Iris"])
    #expect(try changed { $0.age = 32 } == ["age: 31 > 32"])
    // The climber is in the own team.
    #expect(try changed { $0.weight = nil } == ["weight: 60.5 > nil, teamWeights: nil > nil"])
    #expect(try changed { $0.grade = .easy } == ["grade: hard > easy"])
    #expect(try changed { $0.partner = $0.friends[1] } == ["partner: climber 2 > climber 3"])
    #expect(try changed { $0.heights.append(1) } == ["heights: nil > nil"])
    #expect(try changed { $0.scores["x"] = 1 } == ["scores: nil > nil"])
    // Neither of a property that is not projected, nor of one of a linked object.
    #expect(try changed { $0.partner?.age = 9 } == [])
  }

  @Test func otherPropertiesAreNotTold() throws {
    let recorder = ProjectionRecorder(ClimberName(projecting: a.climber(1)!))
    try a.write {
      a.climber(1)!.age = 7
      a.climber(2)!.firstName = "Moritz"
    }
    a.pump()
    #expect(recorder.take() == [])
    try a.write { a.climber(1)!.firstName = "Iris" }
    a.pump()
    #expect(recorder.take() == ["first: Ida > Iris"])
  }

  /// What is written through another projection is a change of the property.
  @Test func writesThroughOtherProjections() throws {
    let recorder = ProjectionRecorder(try a.card(1))
    let name = ClimberName(projecting: a.climber(1)!)
    try a.write { name.first = "Iris" }
    a.pump()
    #expect(recorder.take() == ["name: Ida > Iris"])
    try a.write { try a.card(1).name = "Ida" }
    a.pump()
    #expect(recorder.take() == ["name: Iris > Ida"])
  }

  @Test func labelsAndValuesAreThoseOfTheProjection() throws {
    let recorder = ProjectionRecorder(try a.card(1))
    func changed(_ block: (Climber) -> Void) throws -> [String] {
      try b.write { block(b.climber(1)!) }
      a.pump()
      return recorder.take()
    }
    // Two labels of one property, in one call.
    #expect(
      try changed { $0.lastName = "Fels" }
        == ["lastName: Berg > Fels, familyName: Berg > Fels"])
    // Behind links, and nothing of what lies beside it.
    #expect(
      try changed { $0.extras!.phone!.mobile!.number = "0999" } == ["mobile: 0171 > 0999"])
    #expect(try changed { $0.extras!.email = "x" } == ["email: ida@example.org > x"])
    #expect(try changed { $0.hut!.beds = 9 } == [])
    #expect(try changed { $0.extras = nil } == ["mobile: 0999 > nil, email: x > nil"])
    #expect(try changed { $0.friends[0].firstName = "Moritz" } == ["friendNames: nil > nil"])
    #expect(
      try changed { $0.friends.removeLast() } == ["friends: nil > nil, friendNames: nil > nil"])
    #expect(
      try changed { $0.hut = nil }.map { $0.hasSuffix("> nil, hutName: Top > nil") } == [true])
    let other = ProjectionRecorder(try a.card(2))
    try b.write { b.climber(3)!.friends.append(b.climber(2)!) }
    a.pump()
    #expect(other.take() == ["admirers: nil > nil"])
  }

  @Test func keyPathsAreLabelsOrWhatTheyProject() throws {
    let card = try a.card(1)
    let recorders = [
      "label": ProjectionRecorder(card, ["name"]), "path": ProjectionRecorder(card, ["firstName"]),
      "typed": ProjectionRecorder(card, typed: [\.name]),
      "deep": ProjectionRecorder(card, ["extras.phone.mobile.number"]),
      "deep label": ProjectionRecorder(card, ["mobile"]),
      "behind": ProjectionRecorder(card, ["partner.firstName"]),
      "behind typed": ProjectionRecorder(card, typed: [\.partner?.firstName]),
      "both": ProjectionRecorder(card, ["age", "familyName"]),
      "none": ProjectionRecorder(card, []),
    ]
    func told(_ block: (Climber) -> Void) throws -> [String] {
      try b.write { block(b.climber(1)!) }
      a.pump()
      return recorders.filter { $0.value.take() != [] }.map(\.key).sorted()
    }
    #expect(try told { $0.firstName = "Iris" } == ["label", "none", "path", "typed"])
    #expect(
      try told { $0.extras!.phone!.mobile!.number = "1" } == ["deep", "deep label", "none"])
    #expect(try told { $0.partner!.age = 3 } == [])
    // The partner is a friend, too.
    #expect(try told { $0.partner!.firstName = "Moritz" } == ["behind", "behind typed", "none"])
    #expect(try told { $0.partner = nil } == ["behind", "behind typed", "none"])
    #expect(try told { $0.lastName = "Fels" } == ["both", "none"])
    #expect(try told { $0.age = 1 } == ["both", "none"])
  }

  /// Any element stands for all of them.
  @Test func keyPathsGoOnFromElements() throws {
    #expect(
      _names(of: [
        \ClimberCard.friends[0].firstName, \ClimberCard.partner?.friends[3].hut?.beds,
        \ClimberCard.admirers[1].friends[2].age, \ClimberCard.friends[0], \ClimberCard.friends,
      ]) == [
        "friends.firstName", "partner.friends.hut.beds", "admirers.friends.age", "friends",
        "friends",
      ])
    let card = try a.card(1)
    let recorders = [
      "friends": ProjectionRecorder(card, typed: [\.friends[0].firstName]),
      "team": ProjectionRecorder(card, typed: [\.partner?.team[0].age]),
    ]
    func told(_ id: Int, _ block: (Climber) -> Void) throws -> [String: [String]] {
      try b.write { block(b.climber(id)!) }
      a.pump()
      return recorders.mapValues { $0.take() }.filter { !$0.value.isEmpty }
    }
    // The names of the friends have a label of their own.
    let friends = ["friends: nil > nil, friendNames: nil > nil"]
    #expect(try told(3) { $0.firstName = "Evi" } == ["friends": friends])
    #expect(try told(3) { $0.age = 3 } == [:])
    #expect(try told(1) { $0.firstName = "Iris" } == [:])
    let partner = ["partner: climber 2 > climber 2"]
    #expect(try told(2) { $0.team.insert($0) } == ["team": partner])
    #expect(try told(2) { $0.age = 9 } == ["team": partner])
    #expect(try told(1) { $0.friends.removeAll() } == ["friends": friends])
    var calls = 0
    let token = a.cards.observe(keyPaths: [\.friends[0].firstName]) { _ in calls += 1 }
    a.pump()
    try b.write { b.climber(3)!.friends.append(b.climber(2)!) }
    a.pump()
    try b.write { b.climber(2)!.age = 1 }
    a.pump()
    #expect(calls == 2)
    token.invalidate()
  }

  /// A text is a label before it is anything else; what the compiler has checked is itself.
  @Test func aLabelThatIsCalledLikeAnotherProperty() throws {
    let twist = ClimberTwist(projecting: a.climber(1)!)
    let recorders = [
      ProjectionRecorder(twist, ["firstName"]), ProjectionRecorder(twist, typed: [\.firstName]),
    ]
    try b.write { b.climber(1)!.firstName = "Iris" }
    a.pump()
    #expect(recorders.map { $0.take() } == [[], []])
    try b.write { b.climber(1)!.lastName = "Fels" }
    a.pump()
    for recorder in recorders { #expect(recorder.take() == ["firstName: Berg > Fels"]) }
  }

  /// The values of the last call, whoever has written meanwhile.
  @Test func oldValuesAreThoseOfTheLastCall() throws {
    let recorder = ProjectionRecorder(try a.card(1))
    let other = ProjectionRecorder(try a.card(1), ["mobile"])
    try b.write { b.climber(1)!.firstName = "Iris" }
    try b.write {
      b.climber(1)!.firstName = "Irma"
      b.climber(1)!.extras!.phone!.mobile!.number = "1"
    }
    try b.write { b.climber(1)!.extras!.phone = nil }
    a.pump()
    #expect(recorder.take() == ["name: Ida > Irma, mobile: 0171 > nil"])
    #expect(other.take() == ["mobile: 0171 > nil"])
    try a.write {
      let phone = ClimberPhone()
      phone.mobile = ClimberMobile(value: ["number": "2"])
      a.climber(1)!.extras!.phone = phone
    }
    try a.write { a.climber(1)!.extras!.phone!.mobile!.number = "3" }
    a.pump()
    #expect(recorder.take() == ["mobile: nil > 2", "mobile: 2 > 3"])
  }

  @Test func deletionIsToldOnce() throws {
    let card = try a.card(1)
    let recorders = [ProjectionRecorder(card), ProjectionRecorder(card, ["name"])]
    try b.write {
      b.climber(1)!.firstName = "Iris"
      b.realm.delete(b.climber(1)!)
    }
    a.pump()
    try b.write { b.realm.add(Climber(1, "Uta")) }
    a.pump()
    for recorder in recorders { #expect(recorder.take() == ["deleted"]) }
  }

  @Test func theProjectionThatIsTold() throws {
    let card = try a.card(1)
    let recorder = ProjectionRecorder(card)
    try a.write { card.name = "Iris" }
    a.pump()
    try #require(recorder.objects.count == 1)
    #expect(recorder.objects[0] === card)
    a.realm.invalidate()
    try b.write { b.climber(1)!.firstName = "Irma" }
    a.pump()
    #expect(recorder.objects.last?.name == "Irma")
    #expect(card.isInvalidated)
  }

  /// A commit that is not told of, and a token that has ended.
  @Test func tokens() throws {
    var count = 0
    let card = try a.card(1)
    let token = card.observe { _ in count += 1 }
    try a.realm.write(withoutNotifying: [token]) { card.name = "Iris" }
    a.pump()
    #expect(count == 0)
    try a.write { card.name = "Irma" }
    a.pump()
    #expect(count == 1)
    #expect(token.invalidate())
    try a.write { card.name = "Ina" }
    a.pump()
    #expect(count == 1)
  }

  @Test func anotherThreadWrites() throws {
    let recorder = ProjectionRecorder(try a.card(1))
    let configuration = shelter.climbers
    let thread = Thread {
      let realm = try! Realm(configuration: configuration)
      try! realm.write { realm.objects(ClimberCard.self)[0].mobile = "5" }
    }
    thread.start()
    a.waitAndPump(until: { !recorder.calls.isEmpty })
    #expect(recorder.take() == ["mobile: 0171 > 5"])
  }

  @Test func anotherProcessWrites() async throws {
    let recorder = ProjectionRecorder(try a.card(1))
    let said = KeptErrors(in: shelter.folder)
    let result = await #expect(processExitsWith: .success) {
      [folder = shelter.folder as String, said = said as KeptErrors] in
      said.keep()
      var configuration = Realm.Configuration(
        fileURL: URL(fileURLWithPath: folder + "/cats.realm"))
      configuration.objectTypes = [
        Climber.self, Hut.self, ClimberExtras.self, ClimberPhone.self, ClimberMobile.self,
      ]
      let realm = try Realm(configuration: configuration)
      let card = realm.objects(ClimberCard.self).where { $0.firstName == "Ida" }[0]
      try realm.write {
        card.familyName = "Fels"
        card.mobile = "5"
      }
    }
    said.tell(result)
    // The test may have gone on on another thread.
    a.scheduler.adopt()
    a.waitAndPump(until: { !recorder.calls.isEmpty })
    #expect(
      recorder.take() == ["lastName: Berg > Fels, familyName: Berg > Fels, mobile: 0171 > 5"])
  }

  /// A typed key path stands for a property of the object, whose name may be another one's label.
  @Test func typedKeyPathsAreNotReadAsLabels() throws {
    let twist = ClimberTwist(projecting: a.climber(1)!)
    nonisolated(unsafe) var calls: [String] = []  // because: all is on this thread
    let token = twist.observe(keyPaths: [\.lastName], on: nil) { change in
      if case .change(_, let properties) = change { calls += properties.map(\.text) }
    }
    try a.write { a.climber(1)!.lastName = "Berg" }
    a.pump()
    #expect(calls == [])
    try a.write { a.climber(1)!.firstName = "Iris" }
    a.pump()
    #expect(calls == ["lastName: Ida > Iris"])
    token.invalidate()
  }
}
