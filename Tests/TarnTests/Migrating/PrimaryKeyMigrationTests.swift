import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Primary keys that come, go and change: the rows of integer keys lie elsewhere then.
struct PrimaryKeyMigrationTests {
  private func expectMismatch(_ types: [ObjectBase.Type], _ message: String) throws {
    let file = try PetFile()
    let before = try file.contents()
    let error = #expect(throws: Realm.Error.self) { try file.open(types) { _ in } }
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    #expect(try file.contents() == before)
  }

  @Test func removed() throws {
    try expectMismatch(
      PetsKeyless.types, "The primary key of class 'Pet' is 'id' in the file but none")
    let file = try PetFile()
    let block: MigrationBlock = { migration, _ in
      migration.create("Pet", value: ["id": 2, "name": "twin"])
    }
    try file.open(PetsKeyless.types, version: 1, block) { realm in
      let pets = realm.objects(PetsKeyless.Pet.self)
      #expect(pets.map(\.id) == [1, 2, 3, 2])
      #expect(pets.map(\.home?.street) == ["street 1", "street 2", nil, nil])
      #expect(realm.objects(PetsKeyless.House.self).map(\.pet?.id) == [1, 2])
      try realm.write {
        realm.create(PetsKeyless.Pet.self, value: ["id": 7])
        pets[0].id = 8
      }
      try realm.checkIndexes()
      #expect(pets.map(\.id) == [8, 2, 3, 2, 7])
    }
    // And back again: now the keys are not unique until the block makes them so.
    let error = #expect(throws: Realm.Error.self) {
      try file.open(PetsOld.types, version: 2) { _ in }
    }
    #expect(error?.message.contains("two objects of class 'Pet' have 2") == true)
    #expect(try schemaVersionAtURL(file.url) == 1)
    let fix: MigrationBlock = { migration, _ in
      var next = 100
      migration.enumerateObjects(ofType: "Pet") { _, new in
        new!["id"] = next
        next -= 1
      }
    }
    try file.open(PetsOld.types, version: 2, fix) { realm in
      #expect(realm.objects(PetsOld.Pet.self).map(\.id) == [96, 97, 98, 99, 100])
      #expect(realm.objects(PetsOld.House.self).map(\.pet?.id) == [100, 99])
      let pet = realm.object(ofType: PetsOld.Pet.self, forPrimaryKey: 100)
      #expect(pet?.name == "pet 1")
      #expect(pet?.home?.street == "street 1")
    }
  }

  @Test func toAString() throws {
    try expectMismatch(
      PetsNamed.types, "The primary key of class 'Pet' is 'id' in the file but 'name'")
    let file = try PetFile()
    try file.open(PetsNamed.types, version: 1) { realm in
      let pet = realm.object(ofType: PetsNamed.Pet.self, forPrimaryKey: "pet 2")
      #expect(pet?.id == 2)
      #expect(pet?.age == 20)
      #expect(realm.objects(PetsNamed.House.self).map(\.pet?.name) == ["pet 1", "pet 2"])
      try realm.write {
        realm.create(PetsNamed.Pet.self, value: ["name": "pet 2", "id": 9], update: .modified)
        realm.create(PetsNamed.Pet.self, value: ["name": "pet 9"])
      }
      try realm.checkIndexes()
      #expect(pet?.id == 9)
    }
    let another = try PetFile()
    let before = try another.contents()
    let block: MigrationBlock = { migration, _ in
      migration.enumerateObjects(ofType: "Pet") { _, new in new?.name = "same" }
    }
    let error = #expect(throws: Realm.Error.self) {
      try another.open(PetsNamed.types, version: 1, block) { _ in }
    }
    #expect(error?.code == .invalidInput)
    #expect(error?.message.contains("two objects of class 'Pet'") == true)
    #expect(try another.contents() == before)
  }

  @Test func toAnotherInteger() throws {
    let file = try PetFile()
    let long = String(repeating: "long ", count: 3000)
    let block: MigrationBlock = { migration, _ in
      migration.enumerateObjects(ofType: "Pet") { old, new in
        guard let id = old?.id as? Int, id < 3 else { return migration.delete(new!) }
        // Each takes the other's key.
        new!["age"] = 3 - id
        new!["tag"] = long + "\(id)"
      }
    }
    try file.open(PetsAged.types, version: 1, block) { realm in
      let pets = realm.objects(PetsAged.Pet.self)
      #expect(pets.map(\.id) == [2, 1])
      #expect(pets.map(\.tag) == [long + "2", long + "1"])
      #expect(pets.map(\.home?.street) == ["street 2", "street 1"])
      #expect(realm.objects(PetsAged.House.self).map(\.pet?.id) == [1, 2])
      #expect(realm.object(ofType: PetsAged.Pet.self, forPrimaryKey: 1)?.id == 2)
    }
  }

  @Test func manyRowsFindTheirNewPositions() throws {
    let file = try PetFile()
    let count = 5_000
    try file.open(PetsOld.types) { realm in
      try realm.write {
        realm.deleteAll()
        var last: PetsOld.House?
        for number in 0..<count {
          let pet = realm.create(
            PetsOld.Pet.self,
            value: ["id": number, "name": "\(number)", "age": (number * 7919) % count])
          let house = realm.create(PetsOld.House.self, value: ["street": "\(number)"])
          house.pet = pet
          pet.home = last
          last = house
        }
      }
    }
    try file.open(PetsAged.types, version: 1) { realm in
      let pets = realm.objects(PetsAged.Pet.self)
      #expect(pets.count == count)
      var wrong = 0
      for (age, pet) in pets.enumerated() {
        let id = pet.id
        if pet.age != age || (id * 7919) % count != age || pet.name != "\(id)" { wrong += 1 }
        if id > 0, pet.home?.street != "\(id - 1)" { wrong += 1 }
      }
      for house in realm.objects(PetsAged.House.self) where house.pet?.name != house.street {
        wrong += 1
      }
      #expect(wrong == 0)
    }
  }
}
