import Foundation
import Tarn

/// A stored enum.
enum StressPattern: String, PersistableEnum { case plain, striped, dotted }

/// A part of an item, in a property, a list and a map of it.
class StressPart: EmbeddedObject {
  @Persisted var size = 0
  @Persisted var name: String?
  @Persisted var marks: List<Int>
}

/// An object with a property of every kind. Its values follow from its id and its stamp.
class StressItem: Object {
  @Persisted(primaryKey: true) var id = 0
  /// The step of the stock that set the values.
  @Persisted var stamp = 0
  /// Unique. Items of a stock exchange their codes.
  @Persisted var code = 0
  @Persisted var friend: StressItem?
  @Persisted(originProperty: "friend") var friends: LinkingObjects<StressItem>

  @Persisted(indexed: true) var shade = 0
  @Persisted(indexed: true) var label: String?
  @Persisted(indexed: true) var moment: Date?
  @Persisted(indexed: true) var mixed: AnyRealmValue
  @Persisted var isFlat: Bool?
  @Persisted var tiny: Int8 = 0
  @Persisted var small: Int16 = 0
  @Persisted var middle: Int32?
  @Persisted var large: Int64 = 0
  @Persisted var single: Float = 0
  @Persisted var double: Double?
  @Persisted var amount: Decimal128
  @Persisted var objectID: ObjectId?
  @Persisted var uuid: UUID
  @Persisted var pattern = StressPattern.plain
  @Persisted var text = ""
  @Persisted var bytes: Data?
  @Persisted var part: StressPart?
  @Persisted var parts: List<StressPart>
  @Persisted var named: Map<String, StressPart?>
  @Persisted var numbers: List<Int?>
  @Persisted var moments: MutableSet<Date>
  @Persisted var amounts: Map<String, Decimal128>
  @Persisted var mixes: List<AnyRealmValue>

  override class func uniqueProperties() -> [[String]] { [["code"]] }

  static let shades = 5
}

/// The values of an item.
struct StressContent: Equatable {
  /// A line for each property but the two long ones.
  private let lines: [String]
  private let text: String
  private let bytes: Data?

  init(_ item: StressItem) {
    func part(_ part: StressPart?) -> String {
      part.map { "\($0.size) \($0.name ?? "-") \(Array($0.marks))" } ?? "-"
    }
    var lines = ["shade \(item.shade)", "label \(item.label ?? "-")"]
    lines.append("moment \(item.moment?.timeIntervalSinceReferenceDate ?? -1)")
    lines.append("mixed \(Self.text(item.mixed))")
    lines.append("flat \(item.isFlat.map(String.init) ?? "-")")
    lines.append("integers \(item.tiny) \(item.small) \(item.middle ?? -1) \(item.large)")
    lines.append("floats \(item.single.bitPattern) \(item.double?.bitPattern ?? 1)")
    lines.append("amount \(item.amount)")
    lines.append("ids \(item.objectID.map { "\($0)" } ?? "-") \(item.uuid)")
    lines.append("pattern \(item.pattern.rawValue)")
    lines.append("part \(part(item.part))")
    lines.append("parts \(item.parts.map { part($0) })")
    let named = item.named.asKeyValueSequence().map { "\($0.key) \(part($0.value))" }
    lines.append("named \(named.sorted())")
    lines.append("numbers \(item.numbers.map { $0 ?? -1 })")
    lines.append("moments \(item.moments.map(\.timeIntervalSinceReferenceDate).sorted())")
    let amounts = item.amounts.asKeyValueSequence().map { "\($0.key) \($0.value)" }
    lines.append("amounts \(amounts.sorted())")
    lines.append("mixes \(item.mixes.map(Self.text))")
    self.lines = lines
    text = item.text
    bytes = item.bytes
  }

  /// A difference, for people; nil without one.
  func difference(from right: StressContent) -> String? {
    for (line, wanted) in zip(lines, right.lines) where line != wanted {
      return "'\(line)', not '\(wanted)'"
    }
    if text != right.text { return "a text of \(text.count), not of \(right.text.count)" }
    if bytes != right.bytes {
      return "\(bytes?.count ?? -1) bytes, not \(right.bytes?.count ?? -1)"
    }
    return nil
  }

  private static func text(_ value: AnyRealmValue) -> String {
    switch value {
    case .list(let list): "list \(list.map(text))"
    case .dictionary(let map):
      "map \(map.asKeyValueSequence().map { "\($0.key) \(text($0.value))" }.sorted())"
    case .double(let number): "double \(number.bitPattern)"
    case .data(let data): "data \(Array(data))"
    case .date(let date): "date \(date.timeIntervalSinceReferenceDate)"
    default: "\(value)"
    }
  }

  /// What an item must have.
  static func expected(_ id: Int, stamp: Int) -> StressContent {
    StressContent(StressItem(value: values(id, stamp: stamp)))
  }

  /// The values of the properties that follow from the id and the stamp.
  static func values(_ id: Int, stamp: Int) -> [String: Any] {
    var random = StressRandom(UInt64(id) << 32 | UInt64(stamp))
    var values: [String: Any] = ["id": id, "stamp": stamp]
    func optional(_ value: Any) -> Any { random.chance(25) ? NSNull() : value }
    values["shade"] = stamp % StressItem.shades
    values["label"] = optional("label \(random.below(20))")
    values["moment"] = optional(moment(&random))
    values["mixed"] = mixed(&random, depth: 0)
    values["isFlat"] = optional(random.chance(50))
    values["tiny"] = Int8.random(in: .min ... .max, using: &random)
    values["small"] = Int16.random(in: .min ... .max, using: &random)
    values["middle"] = optional(Int32.random(in: .min ... .max, using: &random))
    values["large"] = Int64.random(in: .min ... .max, using: &random)
    values["single"] = [0, -0.0, .infinity, Float(random.below(1000)) / 8][random.below(4)]
    values["double"] = optional([0, -0.0, .nan, Double(random.below(1000)) / 8][random.below(4)])
    values["amount"] = Decimal128("\(random.below(1 << 40)).\(random.below(1000))")
    values["objectID"] = optional(objectID(&random))
    values["uuid"] = uuid(&random)
    values["pattern"] = StressPattern.allCases[random.below(3)].rawValue
    let isLong = random.chance(8)
    values["text"] = String(repeating: "é", count: random.below(isLong ? 20_000 : 60))
    let byte = UInt8(random.below(256))
    values["bytes"] = optional(Data(repeating: byte, count: random.below(isLong ? 60_000 : 60)))
    values["part"] = optional(part(&random))
    values["parts"] = (0..<random.below(4)).map { _ in part(&random) }
    values["named"] = Dictionary(
      uniqueKeysWithValues: (0..<random.below(4)).map { ("key \($0)", optional(part(&random))) })
    values["numbers"] = (0..<random.below(isLong ? 900 : 5)).map { optional($0) }
    values["moments"] = (0..<random.below(4)).map {
      Date(timeIntervalSinceReferenceDate: Double($0))
    }
    values["amounts"] = Dictionary(
      uniqueKeysWithValues: (0..<random.below(4)).map { ("key \($0)", Decimal128($0)) })
    values["mixes"] = (0..<random.below(4)).map { _ in mixed(&random, depth: 0) }
    return values
  }

  private static func moment(_ random: inout StressRandom) -> Date {
    Date(timeIntervalSinceReferenceDate: Double(random.below(1 << 30)) + 0.5)
  }

  private static func objectID(_ random: inout StressRandom) -> ObjectId {
    let digits = String(random.next() | 1 << 63, radix: 16)
    return (try? ObjectId(string: "00000000" + digits)) ?? ObjectId()
  }

  private static func uuid(_ random: inout StressRandom) -> UUID {
    let (a, b) = (random.next(), random.next())
    func byte(_ word: UInt64, _ index: UInt64) -> UInt8 {
      UInt8(truncatingIfNeeded: word >> (8 * index))
    }
    return UUID(
      uuid: (
        byte(a, 0), byte(a, 1), byte(a, 2), byte(a, 3), byte(a, 4), byte(a, 5), byte(a, 6),
        byte(a, 7), byte(b, 0), byte(b, 1), byte(b, 2), byte(b, 3), byte(b, 4), byte(b, 5),
        byte(b, 6), byte(b, 7)
      ))
  }

  private static func part(_ random: inout StressRandom) -> [String: Any] {
    [
      "size": random.below(100), "name": random.chance(50) ? "part \(random.below(9))" : NSNull(),
      "marks": (0..<random.below(4)).map { $0 },
    ]
  }

  private static func mixed(_ random: inout StressRandom, depth: Int) -> AnyRealmValue {
    switch random.below(depth < 3 ? 13 : 11) {
    case 0: return .none
    case 1: return .int(random.below(1000))
    case 2: return .bool(random.chance(50))
    case 3: return .float(Float(random.below(1000)) / 8)
    case 4: return .double(Double(random.below(1000)) / 8)
    case 5: return .string("text \(random.below(20))")
    case 6: return .data(Data(repeating: UInt8(random.below(256)), count: random.below(20)))
    case 7: return .date(moment(&random))
    case 8: return .objectId(objectID(&random))
    case 9: return .decimal128(Decimal128(random.below(1000)))
    case 10: return .uuid(uuid(&random))
    case 11:
      let list = List<AnyRealmValue>()
      for _ in 0..<random.below(4) { list.append(mixed(&random, depth: depth + 1)) }
      return .list(list)
    default:
      let map = Map<String, AnyRealmValue>()
      for index in 0..<random.below(4) { map["key \(index)"] = mixed(&random, depth: depth + 1) }
      return .dictionary(map)
    }
  }
}
