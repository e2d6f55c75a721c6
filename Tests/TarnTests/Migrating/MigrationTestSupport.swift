import Foundation
import TarnStore
import TestSupport
import Testing

@testable import Tarn

/// A file with pets of `PetsOld`, in a folder of its own.
struct PetFile {
  let folder = TemporaryFolder()
  var url: URL { folder.url("pets.realm") }
  /// Of another process than the last one.
  var keptErrors: KeptErrors { KeptErrors(in: folder.path) }

  /// Three pets aged 10, 20 and 30, of which the first two have homes; each home knows its pet.
  init() throws {
    let realm = try Realm(configuration: Self.configuration(url, PetsOld.types))
    try realm.write {
      for number in 1...3 {
        let pet = PetsOld.Pet()
        pet.id = number
        pet.name = "pet \(number)"
        pet.age = 10 * number
        pet.nick = number == 2 ? "two" : nil
        pet.tag = number == 2 ? "b" : "a"
        realm.add(pet)
        guard number < 3 else { continue }
        let house = PetsOld.House()
        house.street = "street \(number)"
        house.pet = pet
        pet.home = house
      }
    }
  }

  static func configuration(
    _ url: URL, _ types: [ObjectBase.Type], version: UInt64 = 0, _ block: MigrationBlock? = nil
  ) -> Realm.Configuration {
    Realm.Configuration(
      fileURL: url, schemaVersion: version, migrationBlock: block, objectTypes: types,
      durability: .relaxed)
  }

  func configuration(
    _ types: [ObjectBase.Type], version: UInt64 = 0, _ block: MigrationBlock? = nil
  ) -> Realm.Configuration {
    Self.configuration(url, types, version: version, block)
  }

  /// Opens the file, calls `body` and lets go of it again.
  func open<R>(
    _ types: [ObjectBase.Type], version: UInt64 = 0, _ block: MigrationBlock? = nil,
    _ body: (Realm) throws -> R
  ) throws -> R {
    let realm = try Realm(configuration: configuration(types, version: version, block))
    try realm.checkIndexes()
    return try body(realm)
  }

  /// What the file says, without any class.
  func contents() throws -> String {
    let version = try schemaVersionAtURL(url)
    let realm = try Realm(configuration: configuration([], version: version))
    return "version \(version)\n" + realm.text
  }

  var bytes: Data { get throws { try Data(contentsOf: url) } }
}

extension Realm {
  /// All objects of all classes, by column names.
  var text: String {
    var lines: [String] = []
    for described in Schema(core.shown().schema.schema, .empty).objectSchema {
      for object in dynamicObjects(described.className) {
        lines.append("\(described.className) \(object.line)")
      }
    }
    return lines.joined(separator: "\n")
  }

  /// Every index of the file holds exactly its rows; those of links from collections and values of
  /// any type are not looked at.
  func checkIndexes() throws {
    let reader = core.shown()
    for described in reader.schema.schema.classes {
      let keys = try reader.allKeys(in: described.id)
      #expect(try reader.record(of: described.id).rowCount == keys.count)
      for column in reader.schema.indexed(in: described.id)
      where column.collection == .none && column.type != .any {
        var byValue: [ElementKey: [ObjectKey]] = [:]
        for key in keys {
          let value = try #require(try reader.value(of: column.id, at: key, in: described.id))
          if value == .null, column.type == .link { continue }
          byValue[ElementKey(value), default: []].append(key)
        }
        for (element, keys) in byValue {
          let found = try reader.keys(in: described.id, where: column.id, is: element.value)
          #expect(found == keys, "\(described.name).\(column.name) is \(element.value)")
        }
      }
    }
  }
}

extension DynamicObject {
  /// The values by the names of the columns, links as what they lead to.
  var line: String {
    objectSchema.properties.map(\.name).sorted().map { name in
      switch self[name] {
      case nil: "\(name)=nil"
      case let object as DynamicObject:
        "\(name)=>\(object.objectSchema["street"] == nil ? object["id"]! : object["street"]!)"
      case let value?: "\(name)=\(value)"
      }
    }.joined(separator: " ")
  }
}

/// Waits for what another process does, for at most five minutes: on a busy machine it may start
/// much later than this one.
func waitUntil(_ isDone: () -> Bool) -> Bool {
  let end = ContinuousClock.now + .seconds(300)
  while ContinuousClock.now < end {
    if isDone() { return true }
    sched_yield()
  }
  return false
}
