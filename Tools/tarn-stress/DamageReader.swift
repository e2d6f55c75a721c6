import Foundation
import Tarn
import ToolSupport

/// `tarn-stress worker look FILE`: uses a store as a program does, in a process that may crash:
/// reads all objects and their contents, sorts, filters, changes and deletes.
enum DamageReader {
  static func run(_ path: String) {
    do {
      let realm = try Realm(
        configuration: Realm.Configuration(
          fileURL: URL(fileURLWithPath: path), objectTypes: [], durability: .relaxed))
      // Damage that makes another valid schema cannot be detected.
      guard hasThings(realm) else { return WorkerLine.say("error another schema") }
      var bytes = 0
      for name in realm.schema.objectSchema.map(\.className) {
        for object in realm.dynamicObjects(name) { bytes &+= String(describing: object).utf8.count }
      }
      bytes &+= look(realm)
      try realm.write { change(realm) }
      bytes &+= look(realm)
      WorkerLine.say("fine \(bytes)")
    } catch let error as Realm.Error {
      WorkerLine.say("error \(error.code) \(error.message)")
    } catch {
      WorkerLine.say("error other \(error)")
    }
  }

  private static func hasThings(_ realm: Realm) -> Bool {
    guard let found = realm.schema[DamageStore.className] else { return false }
    func has(_ name: String, _ type: PropertyType, isOptional: Bool) -> Bool {
      guard let property = found[name] else { return false }
      return property.type == type && property.isOptional == isOptional
        && !property.isArray && !property.isSet && !property.isMap
    }
    return found.primaryKeyProperty?.name == "id" && has("id", .int, isOptional: false)
      && has("note", .string, isOptional: true) && has("rank", .int, isOptional: false)
  }

  private static func look(_ realm: Realm) -> Int {
    let things = realm.dynamicObjects(DamageStore.className)
    let sorted = things.sorted(byKeyPath: "note")
    var bytes = things.filter("rank > 100 OR note CONTAINS 'dog'").count
    for object in sorted { bytes &+= (object["note"] as? String)?.utf8.count ?? 0 }
    let average: Double? = things.average(ofProperty: "rank")
    return bytes &+ (average == nil ? 0 : 1)
  }

  private static func change(_ realm: Realm) {
    let things = Array(realm.dynamicObjects(DamageStore.className))
    for (index, object) in things.enumerated() {
      switch index % 4 {
      case 0: object["note"] = "looked at"
      case 1: object["rank"] = index
      case 2: realm.delete(object)
      default: break
      }
    }
    realm.dynamicCreate(DamageStore.className, value: ["id": 900_002])
  }
}
