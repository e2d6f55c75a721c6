import Foundation
import Tarn

// A class that a migration changes: processes with the former one must end, and start with the new
// one. The number of the migrations is in a file beside the store.

/// The class after an even number of migrations.
class StressEvenEra: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var number = 0
  @Persisted var half = 0
  override class func className() -> String { "StressEra" }
}

/// The same after an odd number of migrations: `number` has another type, `half` another name.
class StressOddEra: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var number = ""
  @Persisted(indexed: true) var middle = 0
  override class func className() -> String { "StressEra" }
}

enum StressEra {
  private static let rows = 40

  private static func file(_ path: String) -> String { path + ".era" }

  /// The number of migrations that openers of the file want.
  static func number(_ path: String) -> UInt64 {
    (try? String(contentsOfFile: file(path), encoding: .utf8)).flatMap { UInt64($0) } ?? 0
  }

  /// Lets openers from now on want one more; returns their number.
  static func advance(_ path: String) throws -> UInt64 {
    let next = number(path) + 1
    try String(next).write(toFile: file(path), atomically: true, encoding: .utf8)
    return next
  }

  /// The class that is right for a number of migrations.
  static func type(_ number: UInt64) -> ObjectBase.Type {
    number % 2 == 0 ? StressEvenEra.self : StressOddEra.self
  }

  static func migrate(_ migration: Migration, from old: UInt64, to new: UInt64) {
    guard old % 2 != new % 2 else { return }
    let (from, to) = new % 2 == 0 ? ("middle", "half") : ("half", "middle")
    migration.renameProperty(onType: "StressEra", from: from, to: to)
    migration.enumerateObjects(ofType: "StressEra") { old, row in
      if new % 2 == 0 {
        row?["number"] = (old?["number"] as? String).flatMap { Int($0) } ?? -1
      } else {
        row?["number"] = "\(old?["number"] as? Int ?? -1)"
      }
    }
  }

  static func fill(_ realm: Realm) {
    for id in 0..<rows {
      realm.create(StressEvenEra.self, value: ["id": id, "number": 2 * id, "half": id])
    }
  }

  /// Changes a row, in an open write.
  static func change(_ realm: Realm, _ random: inout StressRandom) {
    let (id, half) = (random.below(rows), random.below(1 << 20))
    if realm.configuration.schemaVersion % 2 == 0 {
      let row = realm.object(ofType: StressEvenEra.self, forPrimaryKey: id)
      row?.number = 2 * half
      row?.half = half
    } else {
      let row = realm.object(ofType: StressOddEra.self, forPrimaryKey: id)
      row?.number = "\(2 * half)"
      row?.middle = half
    }
  }

  /// A mismatch in the rows; nil without one.
  static func problem(_ realm: Realm) -> String? {
    var values: [(id: Int, number: Int?, half: Int)] = []
    if realm.configuration.schemaVersion % 2 == 0 {
      values = realm.objects(StressEvenEra.self).map { ($0.id, $0.number, $0.half) }
    } else {
      values = realm.objects(StressOddEra.self).map { ($0.id, Int($0.number), $0.middle) }
    }
    if values.count != rows { return "there are \(values.count) migrated rows, not \(rows)" }
    for value in values where value.number != 2 * value.half {
      return "migrated row \(value.id) has \(value.number ?? -1), half of it is \(value.half)"
    }
    return nil
  }
}
