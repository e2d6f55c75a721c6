import Tarn

/// Models with types that have fewer values than their columns.
enum Mood: String, PersistableEnum { case calm, wild }
/// Of a later program.
enum LaterMood: String, PersistableEnum { case calm, wild, tired }
/// Zero is the raw value of none.
enum Level: Int, PersistableEnum {
  case low = 1
  case high = 2
}

struct Percent: CustomPersistable {
  var number: Int8
  init(persistedValue: Int8) { number = persistedValue }
  var persistableValue: Int8 { number }
}

final class Dial: EmbeddedObject {
  @Persisted var label: String
  @Persisted var depth: Int32
  @Persisted var mood: Mood
  @Persisted var levels: List<Level>
}

final class Gauge: Object {
  @Persisted(primaryKey: true) var _id: Int
  @Persisted var text: String
  @Persisted var small: Int8
  @Persisted var maybe: Int8?
  @Persisted var percent: Percent
  @Persisted var mood: Mood
  @Persisted var level: Level
  @Persisted var moodMaybe: Mood?
  @Persisted var smalls: List<Int8>
  @Persisted var maybes: MutableSet<Int8?>
  @Persisted var widths: Map<String, Int16>
  @Persisted var moods: List<Mood>
  @Persisted var levels: MutableSet<Level>
  @Persisted var dial: Dial?
  @Persisted var dials: List<Dial>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// The same class in a later program.
final class LaterGauge: Object {
  @Persisted(primaryKey: true) var _id: Int
  @Persisted var text: String
  @Persisted var small: Int
  @Persisted var mood: LaterMood
  @Persisted var moods: List<LaterMood>

  override class func className() -> String { "Gauge" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// A class whose key has 8 bits.
final class Slot: Object {
  @Persisted(primaryKey: true) var _id: Int8
  @Persisted var text: String
  @Persisted var next: Slot?

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
