import Foundation

@testable import Tarn

enum MareMood: String, PersistableEnum { case calm, wild }

/// What generic code knows of a class.
protocol Aged {
  var age: Int { get }
  var years: Int { get }
  var mane: Mane { get }
}

/// Stored as a text that its initializer insists on.
struct Mane: CustomPersistable, Hashable {
  var color: String
  init(color: String) { self.color = color }
  init(persistedValue: String) { color = persistedValue }
  var persistableValue: String { color }
}

/// Stored as an embedded object that its initializer reads.
struct Stable: CustomPersistable, Hashable {
  var street: String
  var boxes: Int
  init(_ street: String, _ boxes: Int) { (self.street, self.boxes) = (street, boxes) }
  init(persistedValue: StableRow) {
    (street, boxes) = (persistedValue.street, persistedValue.boxes)
  }
  var persistableValue: StableRow {
    let row = StableRow()
    (row.street, row.boxes) = (street, boxes)
    return row
  }
}

class StableRow: EmbeddedObject {
  @Persisted var street = ""
  @Persisted var boxes = 0
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class Mare: Object, Aged {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var age = 3
  @Persisted var name = "Mare"
  @Persisted var note: String?
  @Persisted var mood: MareMood
  @Persisted var isOld: Bool
  @Persisted var born: Date
  @Persisted var mother: Mare?
  @Persisted var foals: List<Mare>
  @Persisted var crowd: MutableSet<Mare>
  @Persisted var named: Map<String, Mare?>
  @Persisted var mane = Mane(color: "black")
  @Persisted var stable: Stable
  @Persisted var otherStable: Stable?
  @Persisted var hooves: List<StableRow>
  @Persisted final var weight = 400.5
  @Persisted private(set) var counted = 5
  @Persisted private var secret = 7
  @Persisted var skipped = 9
  @Persisted var counting = 0.0
  @Persisted var flag = false
  @Persisted(originProperty: "foals") var parents: LinkingObjects<Mare>
  var ordinary = 1
  let constant = 2

  // All of these read stored properties, some as they are.
  var negative: Int { -age }
  var years: Int { age < 5 ? age : 5 }
  var same: Int { age }
  var both: Int { age + counted }
  var twice: Int { age + age }
  var changing: Int {
    get { age + 1 }
    set { age = newValue - 1 }
  }
  var isYoung: Bool { !isOld }
  var shouting: String { name.uppercased() }
  var firstFoal: Mare { foals[0] }
  var grandmother: Mare? { mother?.mother }
  var partner: Mare? { mother }
  final var finalNegative: Int { -age }
  lazy var later = age

  static var secretPath: KeyPath<Mare, Int> { \.secret }

  convenience init(_ id: Int, _ name: String = "Mare", age: Int = 3) {
    self.init()
    (self.id, self.name, self.age) = (id, name, age)
  }

  override class func ignoredProperties() -> [String] { ["skipped"] }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

extension Mare {
  var extended: Int {
    get { age * 2 }
    set { age = newValue / 2 }
  }
}

class Pinto: Mare {
  @Persisted var spots = 4
  var lessSpots: Int { spots - 1 }

  override var counting: Double {
    get { super.counting * 2 }
    set { super.counting = newValue / 2 }
  }
  override var flag: Bool {
    get { !super.flag }
    set { super.flag = !newValue }
  }
  override var note: String? {
    didSet { spots += 1 }
  }
}

extension Shelter {
  func openMares() throws -> Instance {
    var configuration = configuration
    configuration.objectTypes = [Mare.self, StableRow.self]
    return try Instance(configuration, self)
  }
}
