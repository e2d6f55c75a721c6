import Foundation
import Testing

@testable import Tarn

/// A property of each kind.
class Glacier: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name = ""
  @Persisted(indexed: true) var age = 0
  @Persisted var size: Double?
  @Persisted var map: Data
  @Persisted var mood: CatMood
  @Persisted var anything: AnyRealmValue
  @Persisted var drill: Drill?
  @Persisted var largest: Stone?
  @Persisted var stones: List<Stone>
  @Persisted var found: MutableSet<Stone>
  @Persisted var named: Map<String, Stone?>
  @Persisted var drills: List<Drill>
  @Persisted var depths: List<Int>
  @Persisted var words: MutableSet<String>
  @Persisted var scores: Map<String, Int?>

  /// One whose values follow from its number.
  convenience init(_ id: Int, depths count: Int = 3) {
    self.init()
    self.id = id
    change(to: id, depths: count)
  }

  func change(to number: Int, depths count: Int = 3) {
    name = "glacier \(number)"
    age = number
    size = Double(number) / 4
    map = Data(repeating: UInt8(truncatingIfNeeded: number), count: number % 2 == 0 ? 30 : 9_000)
    mood = number % 2 == 0 ? .sleepy : .wild
    anything = ["number": .int(number), "list": [.int(number), [.string("deep \(number)")]]]
    drill = Drill(number)
    depths.removeAll()
    depths.append(objectsIn: (0..<count).map { $0 * 7 + number })
    words.removeAll()
    words.insert(objectsIn: ["ice", "word \(number)", String(repeating: "long", count: 300)])
    scores.removeAll()
    for score in 0..<3 { scores["\(number) \(score)"] = score == 1 ? .some(nil) : .some(score) }
    drills.removeAll()
    drills.append(objectsIn: [Drill(number), Drill(number + 1)])
  }

  /// Puts stones everywhere.
  func fill(with new: [Stone]) {
    largest = new.last
    stones.removeAll()
    stones.append(objectsIn: new + new.prefix(1))
    found.removeAll()
    found.insert(objectsIn: new)
    named.removeAll()
    for stone in new { named["stone \(stone.weight)"] = stone }
    named["none"] = .some(nil)
  }

  /// Everything that can be read, as text.
  var text: String {
    func text(_ stone: Stone?) -> String {
      guard let stone else { return "-" }
      let around = "\(stone.glaciers.map(\.id)) \(stone.holders.count)"
      return "\(stone.weight) \(stone.note ?? "") \(around)"
    }
    let values = "\(name) \(age) \(size ?? -1) \(map.count) \(map.first ?? 0) \(mood) \(anything)"
    let objects = stones.map(text) + found.map(text) + named.map { "\($0.key) \(text($0.value))" }
    let depths = "\(depths.map { $0 }) \(drills.map(\.depth)) \(drill?.depth ?? -1)"
    let words = "\(words.map { $0 }) \(scores.map { "\($0.key) \($0.value ?? -1)" })"
    let keys = "\(self["name"] ?? "nil") \(value(forKeyPath: "stones.@max.weight") ?? "nil")"
    return "\(values) \(text(largest)) \(objects) \(depths) \(words) \(keys)"
  }
}

class Stone: Object, Codable {
  @Persisted var weight = 0
  @Persisted var note: String?
  @Persisted(originProperty: "stones") var glaciers: LinkingObjects<Glacier>
  @Persisted(originProperty: "largest") var holders: LinkingObjects<Glacier>

  convenience init(_ weight: Int) {
    self.init()
    self.weight = weight
    note = "stone \(weight)"
  }

  private enum CodingKeys: CodingKey { case weight, note }
}

class Drill: EmbeddedObject, Codable {
  @Persisted var depth = 0

  convenience init(_ depth: Int) {
    self.init()
    self.depth = depth
  }
}

extension Shelter {
  var iceConfiguration: Realm.Configuration {
    var configuration = configuration
    configuration.fileURL = URL(fileURLWithPath: folder + "/ice.realm")
    configuration.objectTypes = [Glacier.self, Stone.self, Drill.self]
    return configuration
  }

  func openIce() throws -> Instance { try Instance(iceConfiguration, self) }

  /// An instance with glaciers of the ids 1... and three stones in each.
  func openIce(glaciers count: Int, depths: Int = 3) throws -> Instance {
    let instance = try openIce()
    try instance.write {
      for id in 1...count {
        let glacier = Glacier(id, depths: depths)
        instance.realm.add(glacier)
        glacier.fill(with: (0..<3).map { Stone(10 * id + $0) })
      }
    }
    return instance
  }
}

extension Instance {
  func glacier(_ id: Int) -> Glacier? { realm.object(ofType: Glacier.self, forPrimaryKey: id) }
  var glaciers: Results<Glacier> { realm.objects(Glacier.self) }
  var stones: Results<Stone> { realm.objects(Stone.self) }
}

extension Realm {
  /// How many versions of the file are in use in this process.
  var activeVersions: Int { core.store.activeVersionCount() }
}
