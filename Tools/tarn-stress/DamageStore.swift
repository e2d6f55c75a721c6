import Foundation
import TarnStore

/// A store with every kind of record, as a target for damage: all types of columns and all
/// collections, long values and elements, lists within values, indexes, unique objects, links,
/// embedded objects, change records that are still needed, and a free list.
///
/// With `isLarge` it has instead one class of many rows and a list of many numbers: branch pages of
/// trees, several pages of row counts, a free list that does not fit one page.
struct DamageStore {
  static let className = "Thing"
  /// The input of an import: an existing object, a new one, and invalid values.
  static let imported = """
    {"id": 1, "note": "imported"}
    {"id": 900001, "note": "new"}
    """

  let path: String
  /// The file some commits earlier, for pages that are older than their neighbours.
  let earlier: [UInt8]
  let bytes: [UInt8]

  private static let types = ColumnType.allCases.filter { $0 != .link }

  private static func properties() -> [ClassDefinition.Property] {
    var properties = [
      ClassDefinition.Property(name: "id", type: .int, isPrimaryKey: true),
      ClassDefinition.Property(name: "note", type: .string, isOptional: true, isIndexed: true),
      ClassDefinition.Property(name: "rank", type: .int, isIndexed: true),
      ClassDefinition.Property(name: "code", type: .string, isOptional: true),
    ]
    for type in types {
      for kind in CollectionKind.allCases {
        properties.append(
          .init(name: "\(type)_\(kind)", type: type, collection: kind, isOptional: type != .any))
      }
    }
    for target in ["Target", "Inner"] {
      for kind in CollectionKind.allCases where target == "Target" || kind != .set {
        properties.append(
          .init(
            name: "\(target)_\(kind)", type: .link, collection: kind,
            isOptional: kind == .none || kind == .map, target: target))
      }
    }
    return properties
  }

  static let classes = [
    ClassDefinition(
      name: "Target",
      properties: [.init(name: "name", type: .string, isPrimaryKey: true)]),
    ClassDefinition(
      name: "Inner",
      properties: [
        .init(name: "name", type: .string), .init(name: "value", type: .any),
        .init(name: "numbers", type: .int, collection: .list),
      ], isEmbedded: true),
    ClassDefinition(name: className, properties: properties(), uniqueRules: [["code"]]),
  ]

  static let largeClasses = [
    ClassDefinition(
      name: className,
      properties: [
        .init(name: "id", type: .int, isPrimaryKey: true),
        .init(name: "note", type: .string, isOptional: true, isIndexed: true),
        .init(name: "rank", type: .int, isIndexed: true),
        .init(name: "code", type: .string, isOptional: true),
        .init(name: "numbers", type: .int, collection: .list),
        .init(name: "words", type: .string, collection: .set),
        .init(name: "next", type: .link, isOptional: true, target: className),
        .init(name: "others", type: .link, collection: .list, target: className),
      ])
  ]

  init(path: String, isLarge: Bool, random: inout StressRandom) throws {
    self.path = path
    var options = Store.Options()
    options.classes = isLarge ? Self.largeClasses : Self.classes
    options.isDurable = false
    let store = try StoreRegistry.open(path, options)
    var filler = DamageFiller(random)
    defer { random = filler.random }
    if isLarge {
      try Self.write(store) { try filler.addRows(0..<3000, $0) }
    } else {
      for first in stride(from: 0, to: 30, by: 10) {
        try Self.write(store) { try filler.addThings(first..<first + 10, $0) }
      }
    }
    earlier = try Self.contents(path)
    // While this is held, the change records after it are not pruned.
    let held = try store.newestSnapshot()
    for _ in 0..<6 { try Self.write(store) { try filler.change($0, isLarge: isLarge) } }
    bytes = try Self.contents(path)
    withExtendedLifetime(held) {}
  }

  private static func contents(_ path: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  static func write(_ store: Store, _ body: (WriteSession) throws -> Void) throws {
    let token = try store.acquireGate()
    let session = WriteSession(try SnapshotReader(store.newestSnapshot())) {}
    try body(session)
    try store.commit(session, token)
  }
}

/// Fills everything with random values.
struct DamageFiller {
  var random: StressRandom
  private var nextID = 100_000

  init(_ random: StressRandom) { self.random = random }

  mutating func addRows(_ range: Range<Int>, _ session: WriteSession) throws {
    let described = session.schema.schema.named(DamageStore.className)!
    for number in range {
      let key = try session.create(
        [
          ColumnID(0): .int(Int64(number)), ColumnID(1): .string(text()),
          ColumnID(2): .int(Int64(random.below(500))),
          ColumnID(6): number > 0 ? .link(ObjectKey(Int64(random.below(number)))) : .null,
        ], in: described.id)
      guard number % 100 == 0 else { continue }
      let place = SequencePlace(classID: described.id, key: key, column: ColumnID(4))
      let count = number == 0 ? 20_000 : random.below(300)
      try session.put((0..<count).map { .int(Int64($0 * number)) }, keys: [], in: place)
      let words = SequencePlace(classID: described.id, key: key, column: ColumnID(5))
      try session.put((0..<50).map { .string(text() + "\($0)") }, keys: [], in: words)
      let others = SequencePlace(classID: described.id, key: key, column: ColumnID(7))
      let links = (0..<random.below(40)).map { _ in
        Value.link(ObjectKey(Int64(random.below(number + 1))))
      }
      try session.put(links, keys: [], in: others)
    }
  }

  mutating func addThings(_ range: Range<Int>, _ session: WriteSession) throws {
    let target = session.schema.schema.named("Target")!
    let described = session.schema.schema.named(DamageStore.className)!
    for number in range {
      try session.create([ColumnID(0): .string("target \(number)")], in: target.id)
      let key = try session.create(
        [ColumnID(0): .int(Int64(number)), ColumnID(3): .string("code \(number)")],
        in: described.id)
      try fill(described, key, from: 1, session)
    }
  }

  /// Changes, adds and deletes some objects, or many.
  mutating func change(_ session: WriteSession, isLarge: Bool) throws {
    let described = session.schema.schema.named(DamageStore.className)!
    for number in 0..<(isLarge ? 200 : 12) where !random.chance(40) {
      let key = ObjectKey(Int64(number * (isLarge ? 7 : 1)))
      guard try session.location(of: key, in: described.id) != nil else { continue }
      if random.chance(isLarge ? 70 : 15) {
        _ = try session.delete(key, in: described.id)
      } else if isLarge {
        try session.set(ColumnID(1), at: key, in: described.id, to: .string(text()))
      } else {
        try fill(described, key, from: 4, session)
      }
    }
    let next = nextID
    nextID += isLarge ? 50 : 2
    if isLarge {
      try addRows(next..<nextID, session)
    } else {
      try addThings(next..<nextID, session)
    }
  }

  private mutating func fill(
    _ described: ClassSchema, _ key: ObjectKey, from first: Int, _ session: WriteSession
  ) throws {
    for column in described.columns[first...] where column.name != "code" && !random.chance(10) {
      let place = SequencePlace(classID: described.id, key: key, column: column.id)
      guard column.collection != .none else {
        let value = try value(column, place, session)
        try session.set(column.id, at: key, in: described.id, to: value)
        continue
      }
      let isEmbedded = column.target.map(session.schema.isEmbedded) == true
      let count = isEmbedded ? random.below(3) : random.chance(4) ? 150 : random.below(6)
      var values: [Value] = []
      for _ in 0..<count { values.append(try value(column, place, session)) }
      try session.put(values, keys: (0..<count).map { text() + "\($0)" }, in: place)
    }
  }

  private mutating func value(
    _ column: ColumnSchema, _ place: SequencePlace, _ session: WriteSession
  ) throws -> Value {
    if column.type == .any {
      return try any(place, session, depth: 0, mayNest: column.collection != .set)
    }
    if column.isOptional, random.chance(15) { return .null }
    guard let target = column.target else { return plain(column.type) }
    guard session.schema[target].isEmbedded else {
      return .link(ObjectKey(Int64(random.below(5))))
    }
    let key = try session.create([:], in: target)
    try fill(session.schema[target], key, from: 0, session)
    return .link(key)
  }

  private mutating func any(
    _ place: SequencePlace, _ session: WriteSession, depth: Int, mayNest: Bool
  ) throws -> Value {
    switch random.below(8) {
    case 0: return .null
    case 1: return .object(ClassID(0), ObjectKey(Int64(random.below(5))))
    case 2...3 where mayNest && depth < 3:
      let kind: CollectionKind = random.chance(50) ? .list : .map
      let id = try session.makeNested(kind, in: place)
      let inner = place.nested(id)
      for index in 0..<random.below(5) {
        let value = try any(inner, session, depth: depth + 1, mayNest: true)
        if kind == .list {
          try session.insert(value, at: index, in: inner)
        } else {
          try session.set(value, forKey: text(), inMap: inner)
        }
      }
      return kind == .list ? .list(id) : .map(id)
    default:
      let types = ColumnType.allCases.filter { $0 != .any && $0 != .link }
      return plain(types[random.below(types.count)])
    }
  }

  private mutating func plain(_ type: ColumnType) -> Value {
    switch type {
    case .int: .int(Int64(bitPattern: random.next()) >> Int64(random.below(64)))
    case .bool: .bool(random.chance(50))
    case .string: .string(text())
    case .data: .data((0..<random.below(3) * 150).map { UInt8(truncatingIfNeeded: $0) })
    case .date:
      .date(
        Timestamp(
          seconds: Int64(random.below(2_000_000_000)),
          nanoseconds: Int32(random.chance(50) ? 0 : random.below(1_000_000_000))))
    case .float: .float(Float(random.below(1000)) / 8)
    case .double: .double(Double(random.below(1_000_000)) / 64)
    case .objectID: .objectID(Bytes12(high: random.next(), low: 7))
    case .uuid: .uuid(Bytes16(high: random.next(), low: random.next()))
    case .decimal:
      .decimal(
        DecimalNumber(
          isNegative: random.chance(50), coefficient: UInt128(random.next()),
          exponent: random.below(20) - 10
        ).cell)
    case .link, .any: .null
    }
  }

  private mutating func text() -> String {
    let words = ["a", "dog", "é", "🐕", "long ", "\n"]
    let text = (0..<random.below(5)).map { _ in words[random.below(words.count)] }.joined()
    let isLong = random.chance(6)
    return isLong
      ? text
        + String(repeating: "many words ", count: 20 + random.below(random.chance(10) ? 500 : 30))
      : text
  }
}
