import Foundation
import Testing

@testable import Tarn

struct ListTests {
  @Test(arguments: CollectionHome.allCases)
  func elementsComeAndGo(home: CollectionHome) throws {
    let treasury = try Treasury(home)
    let list = treasury.chest.numbers
    #expect(list.isEmpty)
    #expect(list.first == nil)
    #expect(list.last == nil)
    list.append(3)
    list.append(objectsIn: [5, 7, 9])
    list.insert(1, at: 0)
    list.insert(contentsOf: [10, 11], at: 5)
    try treasury.everywhere { #expect(Array(list) == [1, 3, 5, 7, 9, 10, 11]) }
    list.remove(at: 1)
    list.removeFirst()
    list.removeLast(2)
    try treasury.everywhere { #expect(Array(list) == [5, 7, 9]) }
    list.append(objectsIn: list)
    list.remove(atOffsets: [0, 2, 4])
    #expect(Array(list) == [7, 5, 9])
    list.removeSubrange(..<2)
    #expect(Array(list) == [9])
    list.removeAll()
    try treasury.everywhere {
      #expect(list.isEmpty)
      #expect(list.count == 0)
    }
  }

  @Test(arguments: CollectionHome.allCases)
  func elementsAreReplacedAndMoved(home: CollectionHome) throws {
    let treasury = try Treasury(home)
    let list = treasury.chest.numbers
    list.append(objectsIn: 0..<6)
    list[2] = 20
    list.replace(index: 3, object: 30)
    list.replaceSubrange(4..., with: [40, 50, 60])
    try treasury.everywhere { #expect(Array(list) == [0, 1, 20, 30, 40, 50, 60]) }
    list.move(from: 0, to: 6)
    list.move(from: 5, to: 1)
    list.swapAt(0, 2)
    try treasury.everywhere { #expect(Array(list) == [20, 60, 1, 30, 40, 50, 0]) }
    list.move(fromOffsets: [0, 2, 5], toOffset: 4)
    #expect(Array(list) == [60, 30, 20, 1, 50, 40, 0])
    list[1..<3] = list[5...]
    #expect(Array(list) == [60, 40, 0, 1, 50, 40, 0])
    #expect(Array(list[2..<4]) == [0, 1])
    #expect(list[2..<4].startIndex == 2)
    var sorted = list
    sorted.sort()
    try treasury.everywhere { #expect(Array(list) == [0, 0, 1, 40, 40, 50, 60]) }
    #expect(list.index(of: 40) == 3)
    #expect(list.index(of: 41) == nil)
    #expect(list.objects(at: [0, 6]) == [0, 60])
  }

  @Test(arguments: CollectionHome.allCases)
  func movingSeveralIsAsInAnArray(home: CollectionHome) throws {
    let treasury = try Treasury(home)
    let list = treasury.chest.numbers
    for mask in 0..<32 {
      for destination in 0...5 {
        list.removeAll()
        list.append(objectsIn: 0..<5)
        let positions = IndexSet((0..<5).filter { mask & 1 << $0 != 0 })
        list.move(fromOffsets: positions, toOffset: destination)
        let before = (0..<destination).filter { !positions.contains($0) }
        let after = (destination..<5).filter { !positions.contains($0) }
        #expect(Array(list) == before + Array(positions) + after, "\(positions) \(destination)")
      }
    }
  }

  @Test(arguments: CollectionHome.allCases)
  func assigningCopies(home: CollectionHome) throws {
    let treasury = try Treasury(home)
    let chest = treasury.chest
    let mine = chest.numbers
    let other = List<Int>()
    other.append(objectsIn: [4, 5])
    chest.numbers = other
    other.append(6)
    try treasury.everywhere {
      #expect(Array(chest.numbers) == [4, 5])
      #expect(Array(mine) == [4, 5])
    }
    #expect(chest.numbers == mine)
    #expect(chest.numbers != other)
    chest.numbers = mine
    #expect(Array(mine) == [4, 5])
    other.removeAll()
    other.append(objectsIn: [4, 5])
    #expect(chest.numbers == other)
    #expect(other == chest.numbers)
  }

  @Test(arguments: CollectionHome.allCases)
  func objectsAreShared(home: CollectionHome) throws {
    let treasury = try Treasury(home)
    let chest = treasury.chest
    let coin = Coin(5)
    chest.coins.append(coin)
    chest.coins.append(coin)
    chest.coins.append(Coin(7))
    coin.value = 6
    #expect((coin.realm != nil) == (home == .realm))
    try treasury.everywhere {
      #expect(chest.coins.map(\.value) == [6, 6, 7])
      #expect(chest.coins[1].isSameObject(as: coin))
      #expect(chest.coins.index(of: coin) == 0)
      #expect(chest.coins.index(of: Coin(6)) == nil)
    }
    chest.coins[0] = chest.coins[2]
    #expect(chest.coins.map(\.value) == [7, 6, 7])
    #expect(chest.coins.index(of: coin) == 1)
  }

  @Test(arguments: CollectionHome.allCases)
  func aggregates(home: CollectionHome) throws {
    let treasury = try Treasury(home)
    let chest = treasury.chest
    #expect(chest.numbers.min() == nil)
    #expect(chest.numbers.sum() == 0)
    #expect(chest.numbers.average() as Double? == nil)
    chest.numbers.append(objectsIn: [4, -2, 7])
    chest.sizes.insert(objectsIn: [nil, 1.5, .nan, 3])
    for value in [3, 9, 5] {
      let coin = Coin(value)
      coin.weight = value == 5 ? nil : Double(value) / 2
      chest.coins.append(coin)
    }
    try treasury.everywhere {
      #expect(chest.numbers.min() == -2)
      #expect(chest.numbers.max() == 7)
      #expect(chest.numbers.sum() == 9)
      #expect(chest.numbers.average() as Double? == 3)
      #expect(chest.sizes.min() == 1.5)
      #expect(chest.sizes.max() == 3)
      #expect(chest.sizes.sum() == 4.5)
      #expect(chest.coins.min(of: \.value) == 3)
      #expect(chest.coins.max(of: \.value) == 9)
      #expect(chest.coins.sum(of: \.weight) == 6)
      #expect(chest.coins.average(of: \.weight) == 3)
      #expect(chest.coins.sum(ofProperty: "value") as Int == 17)
      #expect(chest.coins.average(ofProperty: "value") as Int? == 5)
    }
  }

  @Test func everyTypeOfElementComesBack() throws {
    let shelter = try Shelter()
    let a = try shelter.openChests()
    let all = Elements()
    let date = Date(timeIntervalSince1970: 1_234_567.25)
    let id = ObjectId.generate()
    let uuid = UUID()
    all.ints.append(objectsIn: [.min, 0, .max])
    all.bytes.append(objectsIn: [.min, .max])
    all.bools.append(objectsIn: [true, false])
    all.floats.append(objectsIn: [1.5, .infinity])
    all.doubles.append(objectsIn: [-0.5, .pi])
    all.strings.append(objectsIn: ["", "ä", String(repeating: "x", count: 50)])
    all.data.append(objectsIn: [Data(), Data([1, 2])])
    all.dates.append(date)
    all.ids.append(id)
    all.uuids.append(uuid)
    all.moods.append(objectsIn: [.wild, .sleepy])
    all.optionalInts.append(objectsIn: [nil, 4])
    all.optionalData.append(objectsIn: [nil, Data([7])])
    all.optionalMoods.append(objectsIn: [nil, .wild])
    all.intSet.insert(objectsIn: [3, nil, -1, 3])
    all.dateSet.insert(objectsIn: [date, date + 1, date])
    all.dataSet.insert(objectsIn: [Data([2]), Data([1, 5])])
    all.idSet.insert(id)
    all.floatMap["a"] = 2.5
    all.floatMap.updateValue(nil, forKey: "b")
    all.uuidMap["u"] = uuid
    func check(_ all: Elements) {
      #expect(Array(all.ints) == [.min, 0, .max])
      #expect(Array(all.bytes) == [.min, .max])
      #expect(Array(all.bools) == [true, false])
      #expect(Array(all.floats) == [1.5, .infinity])
      #expect(Array(all.doubles) == [-0.5, .pi])
      #expect(Array(all.strings) == ["", "ä", String(repeating: "x", count: 50)])
      #expect(Array(all.data) == [Data(), Data([1, 2])])
      #expect(Array(all.dates) == [date])
      #expect(Array(all.ids) == [id])
      #expect(Array(all.uuids) == [uuid])
      #expect(Array(all.moods) == [.wild, .sleepy])
      #expect(Array(all.optionalInts) == [nil, 4])
      #expect(Array(all.optionalData) == [nil, Data([7])])
      #expect(Array(all.optionalMoods) == [nil, .wild])
      #expect(Array(all.intSet) == [nil, -1, 3])
      #expect(Array(all.dateSet) == [date, date + 1])
      #expect(Array(all.dataSet) == [Data([1, 5]), Data([2])])
      #expect(Array(all.idSet) == [id])
      #expect(all.floatMap["a"] == 2.5)
      #expect(all.floatMap["b"] == .some(nil))
      #expect(all.floatMap["c"] == nil)
      #expect(all.uuidMap["u"] == uuid)
    }
    check(all)
    a.realm.beginWrite()
    a.realm.add(all)
    check(all)
    try a.realm.commitWrite()
    check(all)
    check(try #require(shelter.openChests().realm.objects(Elements.self).first))
  }
}
