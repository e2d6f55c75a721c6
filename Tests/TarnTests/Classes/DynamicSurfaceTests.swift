import Foundation
import TestSupport
import Testing

@testable import Tarn

private class Ranch: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var any: AnyRealmValue
  @Persisted var anys: List<AnyRealmValue>
  @Persisted var anySet: MutableSet<AnyRealmValue>
  @Persisted var anyMap: Map<String, AnyRealmValue>
  @Persisted var numbers: List<Int>
  @Persisted var names: MutableSet<String?>
  @Persisted var sizes: Map<String, Float?>
  @Persisted var partners: List<Ranch>
  @Persisted var rivals: MutableSet<Ranch>
  @Persisted var byName: Map<String, Ranch?>
  @Persisted var fences: List<Fence>
  @Persisted var born = Date(timeIntervalSince1970: 0)
  @Persisted(originProperty: "partners") var owners: LinkingObjects<Ranch>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class Fence: EmbeddedObject {
  @Persisted var length = 0
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// What dynamic objects and values of any type can be asked.
struct DynamicSurfaceTests: TrapSuite {
  private let folder = TemporaryFolder()

  private func open(_ types: [ObjectBase.Type] = [Ranch.self, Fence.self]) throws -> Realm {
    try Realm(
      configuration: Realm.Configuration(
        fileURL: folder.url("ranches.realm"), objectTypes: types, durability: .relaxed))
  }

  private func addRanch(_ realm: Realm) throws -> Ranch {
    let ranch = Ranch()
    ranch.id = 1
    ranch.numbers = [1, 2]
    ranch.names = [nil, "a"]
    ranch.sizes = ["x": 1.5, "y": nil]
    ranch.partners = [ranch]
    ranch.rivals = [ranch]
    ranch.byName = ["me": ranch, "nobody": nil]
    ranch.fences = [Fence(value: [5])]
    ranch.any = ["list": [1, .object(ranch)]]
    ranch.anys = [1, .object(ranch), ["k": 2]]
    ranch.anyMap = ["a": .object(ranch)]
    ranch.anySet = [1, "a"]
    try realm.write { realm.add(ranch) }
    return ranch
  }

  @Test func collectionsOfValuesByTheTypeOfTheirElements() throws {
    let realm = try open()
    try realm.write {
      let ranch = realm.create(
        Ranch.self, value: ["id": 1, "numbers": [3, 4], "names": ["a", nil]] as [String: Any])
      let numbers: List<Int> = ranch.dynamicList("numbers")
      numbers.append(5)
      let dynamic = try #require(realm.dynamicObject(ofType: "Ranch", forPrimaryKey: 1))
      let names: MutableSet<String?> = dynamic.dynamicMutableSet("names")
      #expect(Array(dynamic.dynamicList("numbers") as List<Int>) == [3, 4, 5])
      #expect(names.count == 2)
      #expect(names.contains(nil))
      #expect(ranch.dynamicList("partners").isEmpty)
    }
  }

  @Test func aDynamicObjectIsTheSameAsATypedOneOfItsRow() throws {
    let realm = try open()
    let ranch = try addRanch(realm)
    let dynamic = realm.dynamicObjects("Ranch")[0]
    #expect(dynamic.isSameObject(as: ranch))
    #expect(ranch.isSameObject(as: dynamic))
    #expect(dynamic == ranch as ObjectBase)
    #expect(dynamic.hashValue == ranch.hashValue)
    #expect(Set<ObjectBase>([dynamic, ranch]).count == 1)
    #expect(ranch.freeze().isSameObject(as: dynamic) == false)
    let other = try realm.write { realm.create(Ranch.self, value: ["id": 2]) }
    #expect(!dynamic.isSameObject(as: other))
    #expect(!other.isSameObject(as: dynamic))
  }

  @Test func anObjectInAValueIsThereByName() throws {
    let realm = try open()
    let ranch = try addRanch(realm)
    let value = AnyRealmValue.object(ranch)
    #expect(value.dynamicObject?.id as? Int == 1)
    #expect(value.dynamicObject?.isSameObject(as: ranch) == true)
    #expect(ranch.anys[1].dynamicObject?.id as? Int == 1)
    #expect(ranch.anys[0].dynamicObject == nil)
    #expect(AnyRealmValue.object(Ranch()).dynamicObject == nil)
    let dynamic = try #require(realm.dynamicObjects("Ranch").first)
    #expect(AnyRealmValue.object(dynamic).dynamicObject === dynamic)
    try realm.write { value.dynamicObject?.born = Date() }
    #expect(ranch.born.timeIntervalSince1970 > 5)
  }

  @Test(arguments: [true, false])
  func collectionsAreLive(hasClasses: Bool) throws {
    do { _ = try addRanch(open()) }
    let realm = try open(hasClasses ? [Ranch.self, Fence.self] : [])
    let ranch = realm.dynamicObjects("Ranch")[0]
    let numbers = try #require(ranch.numbers as? List<Int>)
    let names = try #require(ranch.names as? MutableSet<String?>)
    let sizes = try #require(ranch.sizes as? Map<String, Float?>)
    let partners = try #require(ranch.partners as? List<DynamicObject>)
    let rivals = try #require(ranch.rivals as? MutableSet<DynamicObject>)
    let byName = try #require(ranch.byName as? Map<String, DynamicObject?>)
    let fences = try #require(ranch.fences as? List<DynamicObject>)
    let anys = try #require(ranch.anys as? List<AnyRealmValue>)
    let map = try #require(ranch.any as? Map<String, AnyRealmValue>)
    #expect(numbers == [1, 2])
    #expect(names == [nil, "a"])
    #expect(sizes == ["x": 1.5, "y": nil])
    #expect(partners.map { $0.id as? Int } == [1])
    #expect(rivals.first?.id as? Int == 1)
    #expect(byName["me"]??.id as? Int == 1)
    #expect(byName["nobody"] == .some(nil))
    #expect(fences[0].length as? Int == 5)
    #expect(anys.count == 3)
    #expect(anys[1].object(DynamicObject.self)?.id as? Int == 1)
    #expect(map["list"]?.listValue?[1].object(DynamicObject.self)?.id as? Int == 1)
    #expect(ranch.anySet is MutableSet<AnyRealmValue>)
    #expect(ranch.value(forKeyPath: "partners.@max.id") as? Int == 1)
    #expect(ranch.value(forKeyPath: "byName.me.id") as? Int == 1)
    #expect(partners.sum(ofProperty: "id") == 1)
    #expect(partners.filter("id == 1").count == 1)
    try realm.write {
      numbers.append(3)
      partners.append(ranch)
      byName["nobody"] = ranch
      map["list"]?.listValue?.append("x")
      fences[0].length = 6
      ranch.setValue(7, forKeyPath: "fences.length")
      let made = realm.dynamicCreate("Ranch", value: ["id": 2])
      partners.append(made)
    }
    #expect((ranch.numbers as? List<Int>)?.last == 3)
    #expect(partners.count == 3)
    #expect(byName["nobody"]??.id as? Int == 1)
    #expect(map["list"]?.listValue?.last == "x")
    #expect(fences[0].length as? Int == 7)
    #expect(partners[2].id as? Int == 2)
    try realm.write { realm.delete(ranch) }
    #expect(numbers.isInvalidated)
    #expect("\(partners)" == "List<DynamicObject> [invalidated]")
  }

  @Test func schemasTellComputedPropertiesApart() throws {
    let realm = try open()
    let ranch = try addRanch(realm)
    for schema in [Ranch.sharedSchema()!, realm.schema["Ranch"]!, ranch.objectSchema] {
      #expect(!schema.properties.contains { $0.name == "owners" })
      #expect(schema.computedProperties.map(\.name) == ["owners"])
      #expect(schema["owners"]?.type == .linkingObjects)
      #expect(schema["owners"]?.isArray == true)
      #expect(schema.description.contains("owners: [Ranch]"))
    }
    let names = ranch.objectSchema.properties.map(\.name)
    try realm.write {
      for name in names.dropFirst() { ranch[name] = ranch[name] }
    }
    #expect(ranch.numbers == [1, 2])
    #expect(ranch.partners.count == 1)
    #expect(ranch.fences.count == 1)
    #expect(realm.dynamicObjects("Ranch")[0].objectSchema.computedProperties.isEmpty)
  }

  @Test func numbersOfValuesOfAnyType() throws {
    let ranch = Ranch()
    let date = Date(timeIntervalSince1970: 9)
    let realm = try open()
    for isManaged in [false, true] {
      if isManaged { try realm.write { realm.add(ranch) } }
      func set(_ values: [AnyRealmValue]) throws {
        func change() {
          ranch.anys.removeAll()
          ranch.anys.append(objectsIn: values)
          ranch.anySet.removeAll()
          ranch.anySet.insert(objectsIn: values)
          ranch.anyMap.removeAll()
          for (number, value) in values.enumerated() { ranch.anyMap["k\(number)"] = value }
        }
        if isManaged { try realm.write(change) } else { change() }
      }
      func check(
        _ values: [AnyRealmValue], _ least: AnyRealmValue?, _ most: AnyRealmValue?,
        _ sum: AnyRealmValue, _ average: Double?
      ) throws {
        try set(values)
        let (list, map) = (ranch.anys, ranch.anyMap)
        let averages: [Double?] = [list.average(), ranch.anySet.average(), map.average()]
        #expect(list.min() == least, "\(values)")
        #expect(list.max() == most, "\(values)")
        #expect(list.sum() == sum, "\(values)")
        #expect(ranch.anySet.min() == least, "\(values)")
        #expect(ranch.anySet.sum() == sum, "\(values)")
        #expect(map.min() == least, "\(values)")
        #expect(map.max() == most, "\(values)")
        #expect(map.sum() == sum, "\(values)")
        #expect(averages == [average, average, average], "\(values)")
        guard isManaged else { return }
        #expect(list.sorted(ascending: true).sum() == sum)
        #expect(list.sorted().max() == most)
        #expect(AnyRealmCollection(list).min() == least)
      }
      try check([], nil, nil, 0, nil)
      try check(["a", nil, true], nil, nil, 0, nil)
      try check([3, 1, "a", nil], 1, 3, 4, 2)
      try check([3, 1.5, .float(0.5)], .float(0.5), 3, 5.0, 5.0 / 3)
      try check([.int(2), .decimal128("1.5"), .double(0.5)], 0.5, 2, .decimal128(4), 4.0 / 3)
      try check([3, .date(date)], 3, .date(date), 3, 3)
      try check([.date(date), "b"], .date(date), .date(date), 0, nil)
    }
    try realm.write { ranch.any = 4 }
    let ranches = realm.objects(Ranch.self)
    #expect(ranches.max(of: \.any) == 4)
    #expect(ranches.sum(of: \.any) == 4)
    #expect(ranches.min(ofProperty: "any") == 4)
    #expect(ranches.average(of: \.any) == 4)
  }

  @Test func datesHaveNoSum() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let list: List<Ranch> = [Ranch()]
      let sum: Int = list.sum(ofProperty: "born")
      print(sum)
    }
    try expect("Dates have no sum: property 'born'.", in: result)
  }

  @Test func anObjectOfAnotherClassIsNotTaken() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [path = folder.file("ranches.realm") as String] in
      let realm = try Realm(
        configuration: Realm.Configuration(
          fileURL: URL(fileURLWithPath: path),
          objectTypes: [Ranch.self, Fence.self, Cat.self, Home.self],
          durability: .relaxed))
      try realm.write {
        let ranch = realm.dynamicCreate("Ranch", value: ["id": 1])
        ranch.dynamicList("partners").append(realm.dynamicCreate("Cat", value: ["id": 1]))
      }
    }
    try expect(
      "Cannot put an object of class 'Cat' into the list 'Ranch.partners': it holds objects of "
        + "class 'Ranch'.", in: result)
  }
}
