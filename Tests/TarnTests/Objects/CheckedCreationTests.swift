import Foundation
import Testing

@testable import Tarn

/// The throwing way to create from values that come from outside.
struct CheckedCreationTests {
  private struct Wrong: Sendable {
    let values: String
    let reason: Realm.InvalidValue.Reason
    let property: String?
    let path: String
    init(_ values: String, _ reason: Realm.InvalidValue.Reason, _ property: String?, _ path: String)
    {
      (self.values, self.reason, self.property, self.path) = (values, reason, property, path)
    }
  }

  private static let wrong: [Wrong] = [
    Wrong(#"{"number": "x"}"#, .wrongType, "number", "number"),
    Wrong(#"{"number": 1.5}"#, .outOfRange, "number", "number"),
    Wrong(#"{"number": null}"#, .missing, "number", "number"),
    Wrong(#"{"label": "x"}"#, .missing, "number", "number"),
    Wrong(#"{"number": 1, "label": 4}"#, .wrongType, "label", "label"),
    Wrong(#"{"number": 1, "labels": 4}"#, .unknownKey, "labels", "labels"),
    Wrong(#"{"number": 1, "next": {"number": 1, "x": 4}}"#, .unknownKey, "x", "next.x"),
    Wrong(
      #"{"number": 1, "boxes": [{"number": 2}, {"number": 3, "next": {"number": "x"}}]}"#,
      .wrongType, "number", "boxes[1].next.number"),
    Wrong(#"{"number": 1, "boxes": [[1], 7]}"#, .wrongType, "boxes", "boxes[1]"),
    Wrong(#"{"number": 1, "boxes": 7}"#, .wrongType, "boxes", "boxes"),
    Wrong(#"{"number": 1, "next": 7}"#, .wrongType, "next", "next"),
    Wrong("[1, null, null, null, [], 4]", .tooManyValues, nil, ""),
    Wrong("7", .wrongType, nil, ""),
    Wrong(#"{"number": 1, "horse": {"id": 1, "int8": 300}}"#, .outOfRange, "int8", "horse.int8"),
    Wrong(#"{"number": 1, "horse": {"id": 1, "mood": "odd"}}"#, .refused, "mood", "horse.mood"),
    Wrong(#"{"number": 1, "horse": {"id": 1, "share": 101}}"#, .refused, "share", "horse.share"),
    Wrong(
      #"{"number": 1, "horse": {"id": 1, "moods": ["calm", "odd"]}}"#, .refused, "moods",
      "horse.moods[1]"),
    Wrong(
      #"{"number": 1, "horse": {"id": 1, "scores": [1, null]}}"#, .missing, "scores",
      "horse.scores[1]"),
    Wrong(
      #"{"number": 1, "horse": {"id": 1, "weight": 1e300}}"#, .outOfRange, "weight",
      "horse.weight"),
    Wrong(
      #"{"number": 1, "horse": {"id": 40}}"#, .duplicatePrimaryKey, "id", "horse.id"),
    Wrong(
      #"{"number": 1, "horse": {"id": 1, "int8": 1, "age": 1, "height": 1, "weight": 1,"#
        + #""price": 1, "isTame": 1, "mood": "calm", "mother": {"id": 1}}}"#,
      .duplicatePrimaryKey, "id", "horse.mother.id"),
  ]

  @Test func whatDoesNotFitIsToldAndNothingIsChanged() throws {
    let instance = try Shelter().openStable()
    try instance.write { instance.realm.create(StableHorse.self, value: [40]) }
    try instance.write {
      for wrong in Self.wrong {
        let values = try json(wrong.values)
        do {
          try instance.realm.create(StableBox.self, checking: values, unknownKeys: .refused)
          Issue.record("\(wrong.values) was taken")
        } catch let error as Realm.InvalidValue {
          #expect(error.reason == wrong.reason, "\(wrong.values): \(error)")
          #expect(error.propertyName == wrong.property, "\(error)")
          #expect(error.path == wrong.path, "\(error)")
        }
      }
      #expect(instance.realm.objects(StableBox.self).isEmpty)
      #expect(instance.realm.objects(StableHorse.self).count == 1)
      try instance.realm.create(StableBox.self, checking: ["number": 1, "x": 2])
    }
    #expect(instance.realm.objects(StableBox.self).count == 1)
  }

  @Test func theErrorNamesAllThereIsToKnow() throws {
    let instance = try Shelter().openStable()
    instance.realm.beginWrite()
    defer { instance.realm.cancelWrite() }
    do {
      let values = try json(#"{"number": 1, "boxes": [{"number": "many"}]}"#)
      try instance.realm.create(StableBox.self, checking: values)
    } catch let error as Realm.InvalidValue {
      #expect(error.className == "StableBox")
      #expect(error.value == "many")
      #expect(error.valueType == "String")
      #expect(
        error.description == "Invalid value 'many' of type 'String' for property "
          + "'StableBox.number'. It is given at 'boxes[0].number'.")
    }
    do {
      try instance.realm.create(StableBox.self, checking: ["number": try json("1.5")])
    } catch let error as Realm.InvalidValue {
      #expect(
        error.description == "Invalid value '1.5' of type 'NSNumber' for property "
          + "'StableBox.number'. The number does not fit the property's type.")
    }
    instance.realm.create(StableHorse.self, value: [40])
    do {
      try instance.realm.create(StableHorse.self, checking: [40])
    } catch let error as Realm.InvalidValue {
      #expect(error.description.contains("existing primary key value '40'. Pass update: .modified"))
    }
  }

  @Test func anUpdateNeedsNoMoreThanWhatChanges() throws {
    let instance = try Shelter().openStable()
    try instance.write {
      instance.realm.create(StableHorse.self, value: ["id": 40, "age": 3, "front": ["n": 1]])
      let horse = try instance.realm.create(
        StableHorse.self, checking: ["id": 40, "name": "x", "front": ["horse": NSNull()]],
        update: .modified)
      #expect(horse.age == 3)
      #expect(horse.name == "x")
      #expect(horse.front?.n == 1)
      #expect(throws: Realm.InvalidValue.self) {
        try instance.realm.create(StableHorse.self, checking: ["id": 41], update: .modified)
      }
    }
  }
}
