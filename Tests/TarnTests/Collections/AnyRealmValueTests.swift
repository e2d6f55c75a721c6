import Foundation
import TestSupport
import Testing

@testable import Tarn

private class Setting: Object {
  @Persisted(primaryKey: true) var name: String
  @Persisted var value: AnyRealmValue
  @Persisted var history: List<AnyRealmValue>
  @Persisted var tags: MutableSet<AnyRealmValue>
  @Persisted var extra: Map<String, AnyRealmValue>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

struct AnyRealmValueTests {
  private let scalars: [AnyRealmValue] = [
    .none, .int(.min), .int(0), .int(7), .bool(true), .bool(false), .float(-0.0), .float(1.5),
    .double(.infinity), .double(2.5), .string(""), .string("Köln"),
    .string(String(repeating: "long ", count: 400)), .data(Data()), .data(Data([0, 255, 3])),
    .date(Date(timeIntervalSince1970: -1.25)), .objectId(ObjectId.generate()),
    .decimal128("12.340"), .uuid(UUID()),
  ]

  private func open() throws -> Instance {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [Setting.self, Cat.self, Home.self]
    return try Instance(configuration, shelter)
  }

  private func addSetting(_ instance: Instance, _ value: AnyRealmValue = .none) throws -> Setting {
    let setting = Setting()
    setting.value = value
    try instance.write { instance.realm.add(setting) }
    return setting
  }

  @Test func everyKindOfValueComesBack() throws {
    let a = try open()
    for (index, value) in scalars.enumerated() {
      let setting = Setting()
      setting.name = "added \(index)"
      setting.value = value
      #expect(setting.value == value)
      try a.write { a.realm.add(setting) }
      #expect(setting.value == value)
    }
    let setting = try addSetting(a)
    for value in scalars {
      try a.write {
        setting.value = value
        #expect(setting.value == value)
      }
      #expect(setting.value == value)
    }
  }

  @Test func numbersOfDifferentTypesAreDifferent() {
    #expect(AnyRealmValue.int(1) != .double(1))
    #expect(AnyRealmValue.float(1) != .double(1))
    #expect(AnyRealmValue.int(1).doubleValue == nil)
    #expect(AnyRealmValue.int(1).intValue == 1)
  }

  @Test func anObjectIsAddedAndForgottenWhenItIsDeleted() throws {
    let a = try open()
    let cat = Cat(3, "Mia")
    let setting = try addSetting(a, .object(cat))
    #expect(cat.realm == a.realm)
    #expect(setting.value.object(Cat.self)?.name == "Mia")
    try a.write { setting.value = .object(cat) }
    try a.write {
      setting.history.append(objectsIn: [.object(cat), 5, .object(cat)])
      setting.tags.insert(objectsIn: [.object(cat), "x"])
      setting.extra["cat"] = .object(cat)
    }
    #expect(setting.tags.contains(.object(cat)))
    try a.write { a.realm.delete(cat) }
    #expect(setting.value == .none)
    #expect(Array(setting.history) == [.none, 5, .none])
    #expect(Array(setting.tags) == ["x"])
    #expect(setting.extra["cat"] == AnyRealmValue.none)
  }

  @Test func listsAndMapsWithinAValueAreLive() throws {
    let a = try open()
    let setting = try addSetting(a, ["numbers": [1, 2.5, "three"], "deep": ["a": ["b": [nil]]]])
    let map = try #require(setting.value.dictionaryValue)
    let numbers = try #require(map["numbers"]?.listValue)
    try #require(numbers.count == 3)
    #expect(numbers[2] == "three")
    let deep = map["deep"]?.dictionaryValue?["a"]?.dictionaryValue?["b"]?.listValue
    #expect(deep?[0] == AnyRealmValue.none)
    try a.write {
      numbers.append(true)
      numbers[0] = ["nested": .object(Cat(9, "Tom"))]
    }
    let again = setting.value.dictionaryValue?["numbers"]?.listValue
    #expect(again?.count == 4)
    #expect(again?[3] == true)
    #expect(again?[0].dictionaryValue?["nested"]?.object(Cat.self)?.name == "Tom")
    try a.write { setting.value = "done" }
    #expect(numbers.isInvalidated)
    #expect(map.isInvalidated)
  }

  @Test func aValueCanBeMadeOfWhatItIsNow() throws {
    let a = try open()
    let setting = try addSetting(a, [1, [2, 3]])
    try a.write {
      let old = setting.value
      setting.value = ["was": old]
    }
    let was = setting.value.dictionaryValue?["was"]?.listValue
    #expect(was?.count == 2)
    #expect(was?[1].listValue?[1] == 3)
  }

  @Test func valuesByNameTakePlainDictionariesAndArrays() throws {
    let a = try open()
    try a.write {
      let values: [String: Any] = [
        "name": "plain", "value": ["k": [1, "two", 3.5] as [Any]] as [String: Any],
        "history": [1, "x", Date(timeIntervalSince1970: 0)] as [Any],
      ]
      a.realm.create(Setting.self, value: values)
    }
    let setting = try #require(a.realm.object(ofType: Setting.self, forPrimaryKey: "plain"))
    #expect(setting.value.dictionaryValue?["k"]?.listValue?[1] == "two")
    #expect(Array(setting.history) == [1, "x", .date(Date(timeIntervalSince1970: 0))])
  }

  @Test func updatingWithModifiedOnlyWritesWhatDiffers() throws {
    let a = try open()
    let setting = try addSetting(a, 5)
    var calls: [[String]] = []
    let token = setting.observe { change in
      if case .change(_, let properties) = change { calls.append(properties.map(\.name)) }
    }
    try a.write {
      a.realm.create(Setting.self, value: ["name": "", "value": 5], update: .modified)
    }
    a.pump()
    #expect(calls.isEmpty)
    try a.write {
      a.realm.create(Setting.self, value: ["name": "", "value": 6.0], update: .modified)
    }
    a.pump()
    #expect(calls == [["value"]])
    #expect(setting.value == 6.0)
    token.invalidate()
  }

  @Test func anotherInstanceSeesAndIsToldOfNestedChanges() throws {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [Setting.self, Cat.self, Home.self]
    let a = try Instance(configuration, shelter)
    let b = try Instance(configuration, shelter)
    let setting = try addSetting(a, [1, 2])
    b.pump()
    b.realm.refresh()
    let there = try #require(b.realm.objects(Setting.self).first)
    let list = try #require(there.value.listValue)
    var calls: [String] = []
    let token = list.observe { change in
      switch change {
      case .initial(let list): calls.append("initial \(list.count)")
      case .update(_, let deletions, let insertions, let modifications):
        calls.append("-\(deletions) +\(insertions) ~\(modifications)")
      case .error(let error): calls.append("\(error)")
      }
    }
    b.pump()
    try a.write {
      setting.value.listValue!.insert("new", at: 1)
      setting.value.listValue![0] = 9
    }
    b.pump()
    #expect(calls == ["initial 2", "-[] +[1] ~[0]"])
    #expect(Array(list) == [9, "new", 2])
    try a.write { setting.value = 1 }
    b.pump()
    #expect(calls.last == "-[0, 1, 2] +[] ~[]")
    #expect(list.isInvalidated)
    token.invalidate()
  }

  @Test func tooDeepIsRefused() async throws {
    let shelter = try Shelter()
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [folder = shelter.folder as String] in
      let shelter = try Shelter(within: folder)
      var configuration = shelter.configuration
      configuration.objectTypes = [Setting.self]
      let a = try Instance(configuration, shelter)
      var value = AnyRealmValue.int(1)
      for _ in 0..<101 { value = [value] }
      let setting = Setting()
      setting.value = value
      try a.write { a.realm.add(setting) }
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains("up to 100 deep"), "\(text)")
  }
}
