import Foundation
import TestSupport
import Testing

@testable import Tarn

enum Postage: Int, PersistableEnum {
  case letter = 1
  case packet = 5
  case crate = 20
}

struct Grams: CustomPersistable, Equatable {
  typealias PersistedType = Double
  var amount: Double
  init(persistedValue: Double) { amount = persistedValue }
  var persistableValue: Double { amount }
}

class Dispatch: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var town = ""
  @Persisted var postage: Postage
  @Persisted var extra: Postage?
  @Persisted var weight: Grams
  @Persisted var wrapping: Grams?
}

/// Aggregates of enums and custom types in groups.
@Suite struct StoredGroupTests {
  @Test func `they are values of their types`() throws {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.fileURL = URL(fileURLWithPath: shelter.folder + "/dispatches.realm")
    configuration.objectTypes = [Dispatch.self]
    let instance = try Instance(configuration, shelter)
    let (realm, dispatches) = (instance.realm, instance.realm.objects(Dispatch.self))
    try instance.write {
      realm.create(
        Dispatch.self, value: ["id": 1, "town": "a", "postage": 5, "weight": 2.5, "wrapping": 0.5])
      realm.create(
        Dispatch.self, value: ["id": 2, "town": "a", "postage": 20, "extra": 1, "weight": 4.0])
      realm.create(Dispatch.self, value: ["id": 3, "town": "b", "postage": 1, "weight": 1.0])
    }
    let ends = dispatches.grouped(
      by: \.town, .min(of: \.postage), .max(of: \.postage), .min(of: \.extra), .max(of: \.extra))
    let (least, most, leastExtra, mostExtra): (Postage?, Postage?, Postage?, Postage?) =
      ends[0].values
    #expect(least == .packet)
    #expect(most == .crate)
    #expect(leastExtra == .letter)
    #expect(mostExtra == .letter)
    #expect(ends[1].values == (.letter, .letter, nil, nil))
    let weights = dispatches.aggregate(
      .min(of: \.weight), .max(of: \.wrapping), .sum(of: \.weight), .sum(of: \.wrapping))
    let (lightest, wrapping, total, wrappings): (Grams?, Grams?, Grams, Grams) = weights.value
    #expect(lightest == Grams(persistedValue: 1))
    #expect(wrapping == Grams(persistedValue: 0.5))
    #expect(total == Grams(persistedValue: 7.5))
    #expect(wrappings == Grams(persistedValue: 0.5))
    let sums = dispatches.aggregate(
      .sum(of: \.postage), .sum(of: \.extra), .average(of: \.postage), .average(of: \.wrapping))
    let (sum, extras, average, averageWrapping): (Int, Int, Double?, Double?) = sums.value
    #expect(sum == 26)
    #expect(extras == 1)
    #expect(average == 26.0 / 3)
    #expect(averageWrapping == 0.5)

    var told: [Postage?] = []
    let greatest = dispatches.aggregate(.max(of: \.postage))
    let token = greatest.observe { change in
      if case .update(_, let new) = change { told.append(new) }
    }
    defer { token.invalidate() }
    instance.pump()
    try instance.write {
      if let second = realm.object(ofType: Dispatch.self, forPrimaryKey: 2) { realm.delete(second) }
    }
    instance.pump()
    #expect(told == [.packet])
    try instance.write { realm.deleteAll() }
    instance.pump()
    #expect(told == [.packet, nil])
    #expect(total == Grams(persistedValue: 7.5))
    #expect(weights.value.2 == Grams(persistedValue: 0))
    #expect(sums.value.2 == nil)
  }
}
