import Foundation
import Testing

@testable import Tarn

/// Which key paths stand for stored properties.
struct KeyPathStepsTests {
  private func names<T: ObjectBase>(_ keyPath: PartialKeyPath<T>) -> String {
    do throws(KeyPathFault) {
      return try Tracer.steps(of: keyPath).map(\.name).joined(separator: ".")
    } catch {
      return error.message(for: .name)
    }
  }

  @Test func storedPropertiesHaveTheirNames() {
    let paths: [PartialKeyPath<Mare>] = [
      \.age, \.name, \.note, \.mood, \.isOld, \.born, \.mother, \.foals, \.crowd, \.named, \.mane,
      \.stable, \.otherStable, \.hooves, \.weight, \.counted, Mare.secretPath, \.parents,
    ]
    #expect(
      paths.map(names) == [
        "age", "name", "note", "mood", "isOld", "born", "mother", "foals", "crowd", "named", "mane",
        "stable", "otherStable", "hooves", "weight", "counted", "secret", "parents",
      ])
    #expect(names(\StableRow.boxes) == "boxes")
  }

  @Test func linksAreFollowed() {
    #expect(names(\Mare.mother?.age) == "mother.age")
    #expect(names(\Mare.mother!.age) == "mother.age")
    #expect(names(\Mare.mother?.note) == "mother.note")
    #expect(names(\Mare.mother?.mother?.weight) == "mother.mother.weight")
    #expect(names(\Mare.mother!.mother?.stable) == "mother.mother.stable")
    #expect(names((\Mare.mother!).appending(path: \.counted)) == "mother.counted")
  }

  @Test func subclassesHaveTheirSuperclassesProperties() {
    #expect(names(\Pinto.age) == "age")
    #expect(names(\Pinto.spots) == "spots")
    #expect(names(\Pinto.weight) == "weight")
    #expect(names(\Pinto.mother?.mood) == "mother.mood")
    #expect(names(\Pinto.negative).contains("is not stored"))
    #expect(names(\Pinto.lessSpots) == names(\Pinto.lessSpots))
    #expect(names(\Pinto.lessSpots).contains("computed from 'spots'"))
  }

  @Test func anOverridingPropertyIsNotWhatItUses() {
    #expect(names(\Mare.counting) == "counting")
    #expect(names(\Mare.flag) == "flag")
    #expect(names(\Pinto.counting).contains("is not stored but computed from 'counting'"))
    #expect(names(\Pinto.flag).contains("is not stored but computed from 'flag'"))
    #expect(names(\Pinto.note) == "note", "an observer changes nothing")
  }

  @Test func initializersOfTypesSeeNoOddValues() {
    #expect(names(\Insisting.strict) == "strict")
    #expect(names(\Insisting.maybe) == "maybe")
    #expect(names(\Insisting.object) == "object")
    #expect(names(\Insisting.own) == "own")
  }

  @Test func computedPropertiesAreNotStored() {
    let paths: [PartialKeyPath<Mare>] = [
      \.negative, \.years, \.same, \.both, \.twice, \.changing, \.isYoung, \.shouting, \.firstFoal,
      \.grandmother, \.partner, \.finalNegative, \.extended, \.ordinary, \.constant, \.description,
      \.hashValue, \.isInvalidated, \.mother?.negative, \.mother?.changing, \.grandmother?.age,
      \.partner?.age, \.mother?.ordinary, \.skipped,
    ]
    for path in paths {
      let text = names(path)
      #expect(text.contains(" is not stored"), "\(text)")
      #expect(text.hasSuffix("reached through links."), "\(text)")
    }
  }

  @Test func faultsAreNamed() {
    func expect(_ path: PartialKeyPath<Mare>, _ message: String) {
      let text = names(path)
      #expect(text.contains(message), "\(text)")
    }
    let start = "A key path of Mare to a value of type "
    expect(
      \.negative,
      start + "Int is not stored but computed from 'age', so it has no name in the file. "
        + "Use a @Persisted property, or one reached through links.")
    expect(\.both, start + "Int is not stored but computed from 'age', 'counted', so")
    expect(\.mother?.negative, start + "Optional<Int> is not stored")
    expect(\.extended, start + "Int is not stored")
    expect(\.skipped, start + "Int is not stored")
    expect(\.name.count, start + "Int goes into a value")
    #expect(names(\Mare.self).contains("\\Mare.self is the object itself and not a property"))
  }

  @Test func membersOfValuesAreNotStored() {
    let paths: [PartialKeyPath<Mare>] = [
      \.name.count, \.name.isEmpty, \.mood.rawValue, \.born.timeIntervalSince1970, \.mane.color,
      \.note?.count, \.stable.street, \.otherStable?.boxes, \.foals.count, \.foals[0].age,
      \.parents.count, \.mane.persistableValue, \.mother?.name.count,
    ]
    for path in paths {
      let text = names(path)
      #expect(text.contains("goes into a value"), "\(text)")
    }
  }

  @Test func genericCodeMayMeanARequirement() {
    func age<T: Object & Aged>(of _: T.Type) -> String { names(\T.age) }
    func mane<T: Object & Aged>(of _: T.Type) -> String { names(\T.mane) }
    func years<T: Object & Aged>(of _: T.Type) -> String { names(\T.years) }
    func weight<T: Mare>(of _: T.Type) -> String { names(\T.weight) }
    func negative<T: Mare>(of _: T.Type) -> String { names(\T.negative) }
    let texts = [
      age(of: Mare.self), age(of: Pinto.self), mane(of: Mare.self), years(of: Mare.self),
    ]
    for text in texts {
      #expect(text.contains("is a requirement of a protocol, which a class may compute"))
      #expect(text.contains("name the property as a string"))
    }
    #expect(weight(of: Pinto.self) == "weight")
    #expect(weight(of: Mare.self) == "weight")
    #expect(negative(of: Mare.self).contains("is not stored"))
  }

  @Test func aKeptObjectOfATraceIsAnOrdinaryOne() {
    #expect(names(\Hoarder.kept).contains("is not stored"))
    let kept = Hoarder.last!
    #expect(kept.number == 8)
    #expect(kept.realm == nil)
    kept.number = 9
    #expect(kept.number == 9)
    Hoarder.last = nil
  }
}

/// Its computed property keeps the object that it is asked of.
private class Hoarder: Object {
  nonisolated(unsafe) static var last: Hoarder?  // because: one test uses it
  @Persisted var number: Int
  var kept: Int {
    Hoarder.last = self
    number = 8
    return number
  }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Stops the program for any value but the zero of what it is stored as.
private struct Strict: CustomPersistable, Equatable {
  init(persistedValue: String) { precondition(persistedValue.isEmpty) }
  var persistableValue: String { "" }
}

/// Stops the program for the zero.
private struct Picky: CustomPersistable, Equatable {
  init() {}
  init(persistedValue: StableRow) { precondition(persistedValue.boxes > 0) }
  var persistableValue: StableRow { StableRow() }
}

private class Insisting: Object {
  @Persisted var strict: Strict
  @Persisted var maybe: Picky?
  @Persisted var object: Stable
  @Persisted var own = Picky()
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
