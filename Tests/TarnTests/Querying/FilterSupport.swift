import Foundation
import TestSupport

@testable import Tarn

/// An object with a property of every type that conditions can be on.
class Record: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var text = ""
  @Persisted var note: String?
  @Persisted var flag = false
  @Persisted(indexed: true) var number = 0
  @Persisted var size: Int?
  @Persisted var ratio = 0.0
  @Persisted var part: Float?
  @Persisted var price: Decimal128?
  @Persisted var day: Date
  @Persisted var bytes: Data?
  @Persisted var code: ObjectId
  @Persisted var token: UUID?
  @Persisted var mood: ModelMood
  @Persisted var `in` = 0
  @Persisted var anything: AnyRealmValue
  @Persisted var next: Record?
  @Persisted var folder: Folder?
  @Persisted var friends: List<Record>
}

class Folder: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var color = ""
  @Persisted var records: List<Record>

  override class func propertiesMapping() -> [String: String] { ["color": "colour"] }
}

/// A Realm with random records.
struct Archive {
  let shelter: Shelter
  let instance: Instance
  var records: Results<Record> { instance.realm.objects(Record.self) }
  func record(_ id: Int) -> Record {
    instance.realm.object(ofType: Record.self, forPrimaryKey: id)!
  }
  func folder(_ id: Int) -> Folder {
    instance.realm.object(ofType: Folder.self, forPrimaryKey: id)!
  }

  static let codes = (1...3).map { try! ObjectId(string: String(repeating: "\($0)", count: 24)) }
  static let tokens = (1...3).map {
    UUID(uuidString: "00000000-0000-0000-0000-00000000000\($0)")!
  }
  static let days = (0..<4).map { Date(timeIntervalSince1970: Double($0) * 86_400) }

  init(_ shelter: Shelter, seed: UInt64, count: Int = 150) throws {
    self.shelter = shelter
    var configuration = shelter.configuration
    configuration.fileURL = URL(fileURLWithPath: shelter.folder + "/records.realm")
    configuration.objectTypes = [Record.self, Folder.self]
    instance = try Instance(configuration, shelter)
    var random = SeededRandom(seed: seed)
    try instance.write {
      for id in 0..<4 {
        instance.realm.create(
          Folder.self, value: ["id": id, "color": ["red", "blue", "Red", "étoile"][id]])
      }
      for id in 0..<count { instance.realm.add(random.record(id)) }
      for id in 0..<count {
        if random.chance(70) { record(id).next = record(random.below(count)) }
        if random.chance(70) { record(id).folder = folder(random.below(4)) }
      }
    }
  }
}

extension SeededRandom {
  private mutating func word() -> String {
    ["", "a", "A", "ab", "Abc", "é", "É", "it's", "say \"x\"", "a*b", "100%", "%@", "x OR 1 == 1"]
      .randomElement(using: &self)!
  }

  fileprivate mutating func record(_ id: Int) -> Record {
    let record = Record()
    record.id = id
    record.text = word()
    record.note = chance(30) ? nil : word()
    record.flag = chance(50)
    record.number = below(6) - 2
    record.size = chance(30) ? nil : below(5)
    record.ratio = chance(10) ? .nan : Double(below(6)) / 2
    record.part = chance(30) ? nil : Float(below(6)) / 4
    record.price = chance(30) ? nil : Decimal128(floatLiteral: Double(below(5)) / 10)
    record.day = Archive.days.randomElement(using: &self)!
    record.bytes = chance(30) ? nil : Data((0..<below(3)).map { _ in UInt8(below(3)) })
    record.code = Archive.codes.randomElement(using: &self)!
    record.token = chance(30) ? nil : Archive.tokens.randomElement(using: &self)!
    record.mood = chance(50) ? .calm : .wild
    record.in = below(3)
    return record
  }
}
