import Foundation
import Tarn
import TarnStore
import ToolSupport

private enum PowerOld {
  class PowerPet: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted(indexed: true) var age: Int
    @Persisted var friends: List<PowerPet>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

/// Another type, a new property and a new index.
private enum PowerTyped {
  class PowerPet: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted(indexed: true) var name: String
    @Persisted var age: String
    @Persisted var weight: Double
    @Persisted var friends: List<PowerPet>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

/// Another primary key.
private enum PowerKeyed {
  class PowerPet: Object {
    @Persisted(indexed: true) var id: Int
    @Persisted(primaryKey: true) var name: String
    @Persisted var age: String
    @Persisted var friends: List<PowerPet>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

/// Migrations of a file, with writes before and after each.
struct PowerMigrations {
  private let workload: PowerWorkload
  private let path: String

  init(_ workload: PowerWorkload, path: String) {
    self.workload = workload
    self.path = path
  }

  private static func configuration(
    _ path: String, _ type: ObjectBase.Type, _ version: UInt64, _ block: MigrationBlock? = nil
  ) -> Realm.Configuration {
    Realm.Configuration(
      fileURL: URL(fileURLWithPath: path), schemaVersion: version, migrationBlock: block,
      objectTypes: [type])
  }

  func run() throws {
    try Self.fill(path)
    try workload.awaitClosed()
    try workload.begin()
    try type()
    try workload.awaitClosed()
    try rekey()
    try workload.awaitClosed()
  }

  /// Makes the file of the old program.
  static func fill(_ path: String) throws {
    let realm = try Realm(configuration: configuration(path, PowerOld.PowerPet.self, 0))
    try realm.write {
      for id in 0..<200 {
        let pet = realm.create(
          PowerOld.PowerPet.self, value: ["id": id, "name": "pet \(id)", "age": id % 10])
        if id > 0 { pet.friends.append(realm.objects(PowerOld.PowerPet.self)[id / 2]) }
      }
    }
  }

  /// Opens the file as the next program does.
  static func type(_ path: String) throws -> Realm {
    try Realm(
      configuration: configuration(path, PowerTyped.PowerPet.self, 1) { migration, _ in
        migration.enumerateObjects(ofType: "PowerPet") { old, new in
          new?.age = "\(old?.age ?? 0) years"
        }
      })
  }

  private func type() throws {
    let realm = try Self.type(path)
    try workload.acknowledge()
    for id in 0..<5 {
      try realm.write {
        realm.create(PowerTyped.PowerPet.self, value: ["id": 1000 + id, "name": "new \(id)"])
      }
      try workload.acknowledge()
    }
  }

  private func rekey() throws {
    let realm = try Realm(configuration: Self.configuration(path, PowerKeyed.PowerPet.self, 2))
    try workload.acknowledge()
    for id in 0..<5 {
      try realm.write {
        realm.create(PowerKeyed.PowerPet.self, value: ["name": "newer \(id)"])
      }
      try workload.acknowledge()
    }
  }
}
