import Foundation
import Testing

@testable import Tarn

struct KeyValueCodingTests {
  private let shelter: Shelter
  private let place: Place
  private var kennel: Kennel { place.kennel }

  init() throws {
    shelter = try Shelter()
    place = try shelter.openKennel(5, 1, 3)
    try place.write {
      place.realm.add(Yard(4))
      place.yard(4)!.rooms = 2
      place.hound(1)!.yard = place.yard(4)
      place.hound(2)!.weight = 2.5
      place.kennel.named["a"] = place.hound(2)
      place.kennel.named.updateValue(nil, forKey: "b")
    }
  }

  @Test func valuesOfAllKindsOfCollections() throws {
    #expect(kennel.hounds.value(forKey: "age") as? [Int] == [5, 1, 3])
    #expect(kennel.hounds.sorted(by: \.age).value(forKey: "age") as? [Int] == [1, 3, 5])
    #expect(kennel.hounds.value(forKey: "weight") as? [Double?] == [nil, nil, 2.5])
    #expect(
      AnyRealmCollection(kennel.hounds).value(forKey: "name") as? [String] == ["h0", "h1", "h2"])
    #expect(place.yard(4)!.hounds.value(forKey: "id") as? [Int] == [1])
    #expect(kennel.named.value(forKey: "age") as? [Int?] == [3, nil])
    #expect(kennel.pack.value(forKey: "age").isEmpty)
    let dynamic = place.realm.dynamicObjects("Hound")
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

  @Test func settingAllElements() throws {
    try place.write {
      kennel.hounds.where { $0.age < 5 }.setValue(9, forKey: "age")
      kennel.named.setValue("named", forKey: "name")
      kennel.hounds.setValue(nil, forKey: "weight")
    }
    #expect(kennel.hounds.map(\.age) == [5, 9, 9])
    #expect(kennel.hounds.map(\.name) == ["h0", "h1", "named"])
    #expect(place.hound(2)!.weight == nil)
    let unmanaged = List<Hound>()
    unmanaged.append(Hound(7))
    unmanaged.setValue("x", forKey: "name")
    #expect(unmanaged[0].name == "x")
  }
}
