import Foundation
import Testing

@testable import Tarn

struct KeyValueCodingTests {
  private let shelter: Shelter
  private let instance: Instance
  private var kennel: Kennel { instance.kennel }

  init() throws {
    shelter = try Shelter()
    instance = try shelter.openKennel(5, 1, 3)
    try instance.write {
      instance.realm.add(Yard(4))
      instance.yard(4)!.rooms = 2
      instance.hound(1)!.yard = instance.yard(4)
      instance.hound(2)!.weight = 2.5
      instance.kennel.named["a"] = instance.hound(2)
      instance.kennel.named.updateValue(nil, forKey: "b")
    }
  }

  @Test func valuesOfAllKindsOfCollections() throws {
    #expect(kennel.hounds.value(forKey: "age") as? [Int] == [5, 1, 3])
    #expect(kennel.hounds.sorted(by: \.age).value(forKey: "age") as? [Int] == [1, 3, 5])
    #expect(kennel.hounds.value(forKey: "weight") as? [Double?] == [nil, nil, 2.5])
    #expect(
      AnyRealmCollection(kennel.hounds).value(forKey: "name") as? [String] == ["h0", "h1", "h2"])
    #expect(instance.yard(4)!.hounds.value(forKey: "id") as? [Int] == [1])
    #expect(kennel.pack.value(forKey: "age").isEmpty)
    let dynamic = instance.realm.dynamicObjects("Hound")
    #expect(dynamic.value(forKey: "age") as? [Int] == [5, 1, 3])
    #expect(dynamic.value(forKeyPath: "@max.age") as? Int == 5)
    #expect((kennel.hounds.value(forKey: "self") as? [Hound])?.map(\.id) == [0, 1, 2])
  }

  @Test func pathsAndOperators() throws {
    let hounds = kennel.hounds
    #expect(hounds.value(forKeyPath: "yard.rooms") as? [Int?] == [nil, 2, nil])
    #expect(hounds.value(forKeyPath: "@count") as? Int == 3)
    #expect(hounds.value(forKeyPath: "@min.age") as? Int == 1)
    #expect(hounds.value(forKeyPath: "@sum.age") as? Int == 9)
    #expect(hounds.value(forKeyPath: "@avg.age") as? Double == 3)
    #expect(hounds.value(forKeyPath: "@max.yard.rooms") as? Int == 2)
    #expect(hounds.where { $0.age > 9 }.value(forKeyPath: "@max.age") == nil)
    #expect(hounds.where { $0.age > 9 }.value(forKeyPath: "@sum.age") as? Int == 0)
    #expect(kennel.named.value(forKeyPath: "@sum.weight") as? Double == 2.5)
    #expect(kennel.value(forKeyPath: "hounds.@max.age") as? Int == 5)
    let numbers = List<Int?>()
    numbers.append(objectsIn: [3, nil, 4])
    #expect(numbers.value(forKeyPath: "@sum.self") as? Int == 7)
    #expect(numbers.value(forKey: "self") as? [Int?] == [3, nil, 4])
  }

  @Test func unions() throws {
    let hounds = kennel.hounds
    try instance.write {
      hounds[2].age = 5
      kennel.pack.insert(objectsIn: hounds)
    }
    func ages(_ path: String) -> [Int]? { kennel.value(forKeyPath: path) as? [Int] }
    #expect(ages("hounds.@unionOfObjects.age") == [5, 1, 5])
    #expect(ages("hounds.@distinctUnionOfObjects.age") == [5, 1])
    #expect(hounds.value(forKeyPath: "@unionOfObjects.yard.rooms") as? [Int?] == [nil, 2, nil])
    #expect(hounds.value(forKeyPath: "@distinctUnionOfObjects.weight") as? [Double?] == [nil, 2.5])
    #expect((ages("pack.@unionOfObjects.age") ?? []).sorted() == [1, 5, 5])
    let all = instance.realm.objects(Kennel.self)
    #expect(all.value(forKeyPath: "@unionOfArrays.hounds.age") as? [Int] == [5, 1, 5])
    #expect(all.value(forKeyPath: "@distinctUnionOfArrays.hounds.age") as? [Int] == [5, 1])
    #expect((all.value(forKeyPath: "@unionOfArrays.hounds") as? [Hound])?.map(\.id) == [0, 1, 2])
    let numbers = List<Int>()
    numbers.append(objectsIn: [3, 4, 3])
    #expect(numbers.value(forKeyPath: "@unionOfObjects.self") as? [Int] == [3, 4, 3])
    #expect(numbers.value(forKeyPath: "@distinctUnionOfObjects.self") as? [Int] == [3, 4])
  }

  @Test func valuesOfASetHaveNoRepeats() throws {
    func check(_ pack: MutableSet<Hound>, _ yard: Yard) {
      #expect(Set(pack.value(forKey: "name") as! [String]) == ["x", "y"])
      #expect(pack.value(forKey: "name").count == 2)
      let yards = pack.value(forKey: "yard") as! [Yard?]
      #expect(yards.count == 2)
      #expect(yards.contains(yard))
      #expect(yards.contains(nil))
      #expect((pack.value(forKeyPath: "yard.rooms") as? [Int?])?.count == 2)
      #expect(AnyRealmCollection(pack).value(forKey: "name").count == 2)
      #expect(pack.value(forKey: "self").count == 3)
      // Operators and other collections count each element.
      #expect(pack.value(forKeyPath: "@count") as? Int == 3)
      #expect(pack.value(forKeyPath: "@sum.age") as? Int == 12)
    }
    func fill(_ pack: MutableSet<Hound>, _ yard: Yard) {
      for (number, name) in ["x", "y", "x"].enumerated() {
        let hound = Hound(10 + number, name, age: 4)
        if name == "x" { hound.yard = yard }
        pack.insert(hound)
      }
    }
    let (unmanaged, yard) = (Kennel(7), Yard(7))
    fill(unmanaged.pack, yard)
    check(unmanaged.pack, yard)
    #expect((unmanaged.value(forKeyPath: "pack.name") as? [Any?])?.count == 2)
    try instance.write { fill(kennel.pack, instance.yard(4)!) }
    check(kennel.pack, instance.yard(4)!)
    #expect((kennel.value(forKeyPath: "pack.name") as? [Any?])?.count == 2)
    #expect(kennel.pack.sorted(by: \.age).value(forKey: "name").count == 3)
  }

  @Test func settingAllElements() throws {
    try instance.write {
      kennel.hounds.where { $0.age < 5 }.setValue(9, forKey: "age")
      kennel.named.setValue("named", forKeyPath: "a.name")
      kennel.hounds.setValue(nil, forKey: "weight")
    }
    #expect(kennel.hounds.map(\.age) == [5, 9, 9])
    #expect(kennel.hounds.map(\.name) == ["h0", "h1", "named"])
    #expect(instance.hound(2)!.weight == nil)
    let unmanaged = List<Hound>()
    unmanaged.append(Hound(7))
    unmanaged.setValue("x", forKey: "name")
    #expect(unmanaged[0].name == "x")
  }

  @Test(arguments: CollectionHome.allCases)
  func namesOfAMapAreItsKeys(home: CollectionHome) throws {
    let treasury = try Treasury(home)
    let chest = treasury.chest
    chest.scores.setValue(1, forKey: "a")
    chest.scores.setValue(Int8(2), forKey: "age")
    chest.notes.setValue("x", forKey: "a")
    chest.notes.setValue(nil, forKey: "b")
    chest.notes.updateValue(nil, forKey: "c")
    chest.notes.setValue("y", forKey: "d")
    chest.notes.setValue(NSNull(), forKey: "d")
    chest.named.setValue(Coin(5), forKey: "rex")
    try treasury.everywhere {
      #expect(chest.scores.value(forKey: "a") as? Int == 1)
      #expect(chest.scores.object(forKey: "age") == 2)
      #expect(chest.scores.value(forKey: "x") == nil)
      #expect(chest.notes.keys == ["a", "c", "d"])
      #expect(chest.notes.object(forKey: "d") == .some(nil))
      #expect(chest.notes.value(forKey: "c") == nil)
      #expect(chest.notes.object(forKey: "c") == .some(nil))
      #expect((chest.named.value(forKey: "rex") as? Coin)?.value == 5)
      #expect(chest.named.value(forKeyPath: "rex.value") as? Int == 5)
      #expect(chest.named.value(forKeyPath: "rex") is Coin)
      #expect(chest.named.value(forKeyPath: "max.value") == nil)
      #expect(chest.value(forKeyPath: "named.rex.value") as? Int == 5)
      #expect(chest.value(forKeyPath: "scores.age") as? Int == 2)
      #expect(chest.value(forKeyPath: "scores.@sum.self") as? Int == 3)
      #expect(chest.value(forKeyPath: "named.@max.value") as? Int == 5)
    }
    chest.named.setValue(6, forKeyPath: "rex.value")
    chest.setValue(7, forKeyPath: "scores.age")
    chest.setValue(8, forKeyPath: "named.max.value")
    chest.scores.setValue(nil, forKey: "a")
    try treasury.everywhere {
      #expect(chest.named["rex"]??.value == 6)
      #expect(chest.named.count == 1)
      #expect(chest.scores.keys == ["age"])
      #expect(chest.scores["age"] == 7)
    }
  }

  @Test(arguments: CollectionHome.allCases)
  func settingBehindAPath(home: CollectionHome) throws {
    let treasury = try Treasury(home)
    let chest = treasury.chest
    let inner = Chest(2)
    inner.coins.append(objectsIn: [Coin(1), Coin(2)])
    chest.inner.append(inner)
    chest.setValue(3, forKeyPath: "inner.coins.value")
    chest.inner.setValue(2.5, forKeyPath: "coins.weight")
    try treasury.everywhere {
      #expect(chest.inner[0].coins.map(\.value) == [3, 3])
      #expect(chest.inner[0].coins.map(\.weight) == [2.5, 2.5])
    }
    let hound = Hound(1)
    hound.setValue(5, forKeyPath: "yard.rooms")
    #expect(hound.yard == nil)
    hound.yard = Yard(2)
    hound.setValue(5, forKeyPath: "yard.rooms")
    #expect(hound.yard?.rooms == 5)
    #expect(hound.value(forKeyPath: "yard.rooms") as? Int == 5)
    hound.setValue("rex", forKeyPath: "name")
    #expect(hound.name == "rex")
  }

  @Test func pathsGoThroughValuesOfAnyType() throws {
    let coin = Coin(4)
    let map: Map<String, AnyRealmValue> = [
      "coin": .object(coin), "list": [1, .object(coin)], "more": ["deep": ["deeper": 5]],
      "none": nil,
    ]
    #expect(map.value(forKeyPath: "coin.value") as? Int == 4)
    #expect(map.value(forKeyPath: "more.deep.deeper") as? Int == 5)
    #expect(map.value(forKeyPath: "none.deep") == nil)
    map.setValue(7, forKeyPath: "coin.value")
    map.setValue(6, forKeyPath: "more.deep.deeper")
    #expect(coin.value == 7)
    #expect(map.value(forKeyPath: "more.deep.deeper") as? Int == 6)
    let list: List<AnyRealmValue> = [.object(coin), nil]
    #expect(list.value(forKey: "value") as? [Int?] == [7, nil])
  }
}
