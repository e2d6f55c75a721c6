import TarnStore
import TestSupport

@testable import TarnSync

/// Objects with properties of all types, in a store and in a table, and random conditions on them.
struct ConditionRows {
  let count = 60
  let keys: [ObjectKey]
  private let reader: SnapshotReader
  private let snapshot: Snapshot
  private let server: ServerConnection
  private let folder = TemporaryFolder()
  private let database: PostgresDatabase

  private static let id = ClassID(0)
  private static let texts = ["", "a", "b", "ab", "aB", "é", "e\u{301}", "a%b", "a_b", "\\", "zaz"]
  /// The properties that conditions compare, with values that columns hold exactly.
  private static let properties: [(name: String, type: ColumnType, values: [Value])] = [
    ("number", .int, [-2, 0, 1, 5, .max, .min].map { .int($0) }),
    ("flag", .bool, [.bool(true), .bool(false)]),
    ("real", .double, [-.infinity, -1.5, -0.0, 0, 0.1, 2, .infinity, .nan].map { .double($0) }),
    ("half", .float, [-.infinity, -1.5, 0, 0.1, 2, .infinity, .nan].map { .float($0) }),
    ("text", .string, texts.map { .string($0) }),
    ("bytes", .data, [[], [0], [0, 1], [1], [255, 0]].map { .data($0) }),
    ("time", .date, times.map { .date($0) }),
    ("price", .decimal, prices.map(decimal)),
    ("id", .objectID, [0, 1, .max].map { .objectID(Bytes12(high: $0, low: 7)) }),
    ("uuid", .uuid, [0, 1, .max].map { .uuid(Bytes16(high: $0, low: 7)) }),
  ]
  private static let prices = [
    "-1.50", "0", "0.1", "1", "1.00", "NaN", "Infinity", "1E-6176", "-1E-6176", "1.5E-6175",
  ]
  private static let times = [
    Timestamp(seconds: 0, nanoseconds: 0), Timestamp(seconds: -1, nanoseconds: 999_999_000),
    Timestamp(seconds: 1_700_000_000, nanoseconds: 1_000),
    Timestamp(seconds: -60_000_000_000, nanoseconds: 0),
  ]
  /// Constants that no column holds.
  private static let others: [ColumnType: [Value]] = [
    .int: [.double(0.5), .double(-.infinity), .int(3), .double(.nan)],
    .double: [
      .int(1), .double(1e300), decimal("0.1"), decimal("1E-6176"), .double(.leastNonzeroMagnitude),
    ],
    .float: [
      .double(0.1), .int(2), .double(1e300), .double(.leastNonzeroMagnitude), .double(1e-45),
    ],
    .date: [
      .date(Timestamp(seconds: 0, nanoseconds: 1)), .date(Timestamp(seconds: -1, nanoseconds: 1)),
      .date(Timestamp(seconds: .max, nanoseconds: 999_999_999)),
      .date(Timestamp(seconds: .min, nanoseconds: 0)),
      .date(Timestamp(seconds: -300_000_000_000, nanoseconds: 0)),
      .date(Timestamp(seconds: 9_300_000_000_000, nanoseconds: 0)),
    ],
    .decimal: [
      .int(1), .double(0.1), .double(.leastNonzeroMagnitude), .double(-.leastNonzeroMagnitude),
      .double(1e308),
    ]
      + [
        "2E-6176", "1E-6175", "-1E-6143", "1E+6144", "-Infinity",
        "9.999999999999999999999999999999999E+6144", "1.000000000000000000000000000000001",
      ].map(decimal),
    .string: [
      .string("a\0"), .string("\0"), .string("a\0b"), .string("?"), .string("a*"), .string("*b"),
      .string("\\?"),
    ],
  ]

  private static func decimal(_ text: String) -> Value { .decimal(DecimalNumber(text: text)!.cell) }

  private static var definitions: [ClassDefinition] {
    let pairs = properties.flatMap { name, type, _ in
      [
        ClassDefinition.Property(name: name, type: type),
        ClassDefinition.Property(name: name + "2", type: type, isOptional: true),
      ]
    }
    return [
      ClassDefinition(
        name: "Item",
        properties: [.init(name: "_id", type: .int, isPrimaryKey: true)] + pairs + [
          .init(name: "friend", type: .link, isOptional: true, target: "Item"),
          .init(name: "spot", type: .link, isOptional: true, target: "Spot"),
          .init(name: "tags", type: .string, collection: .set),
          .init(name: "any", type: .any, isOptional: true),
        ]),
      ClassDefinition(
        name: "Spot",
        properties: [
          .init(name: "city", type: .string, isOptional: true), .init(name: "rank", type: .int),
          .init(name: "isOpen", type: .bool), .init(name: "weight", type: .double),
        ], isEmbedded: true),
    ]
  }

  init() throws {
    database = try PostgresDatabase()
    server = try database.connect()
    _ = try ServerSetup.run(server)
    var options = Store.Options()
    options.classes = Self.definitions
    let store = try StoreRegistry.open(folder.file("rows"), options)
    try ServerMigration(server).run(store.newestSnapshot().schema.schema)
    var random = SeededRandom(seed: 7)
    var keys: [ObjectKey] = []
    let count = count
    try store.writeInTurn { session in
      for number in 0..<count { keys.append(try Self.create(number, keys, session, &random)) }
    }
    self.keys = keys
    let replica = try Replica(store, classes: ["Item"])
    defer { replica.close() }
    try Replicator(replica, database.connect(as: database.makeClient())).synchronize()
    snapshot = try store.newestSnapshot()
    reader = try SnapshotReader(snapshot)
  }

  private static func create(
    _ number: Int, _ keys: [ObjectKey], _ session: WriteSession, _ random: inout SeededRandom
  ) throws -> ObjectKey {
    let described = session.schema[id]
    var values = [ColumnID(0): Value.int(Int64(number))]
    for (name, _, pool) in properties {
      values[described.named(name)!.id] = random.pick(pool)
      if random.chance(70) { values[described.named(name + "2")!.id] = random.pick(pool) }
    }
    if !keys.isEmpty, random.chance(70) {
      values[described.named("friend")!.id] = .link(random.chance(50) ? keys[0] : random.pick(keys))
    }
    let key = try session.create(values, in: id)
    if random.chance(70) {
      let city: Value = random.chance(30) ? .null : .string(random.pick(texts))
      let spot = try session.create(
        [
          ColumnID(0): city, ColumnID(1): .int(Int64(random.below(3))),
          ColumnID(2): .bool(random.chance(50)),
        ], in: ClassID(1))
      try session.set(described.named("spot")!.id, at: key, in: id, to: .link(spot))
    }
    return key
  }

  // MARK: - Conditions

  /// - Parameter depth: how far `&&`, `||` and `!` may nest.
  func condition(_ random: inout SeededRandom, depth: Int) -> Predicate {
    if depth > 0, random.chance(60) {
      let a = condition(&random, depth: depth - 1)
      switch random.below(3) {
      case 0: return !a
      case 1: return a && condition(&random, depth: depth - 1)
      default: return a || condition(&random, depth: depth - 1)
      }
    }
    switch random.below(12) {
    case 0:
      return .compare(
        "friend._id", random.pick([.equal, .less, .notEqual]), .int(Int64(random.below(3))))
    case 1: return .compare("friend", random.pick([.equal, .notEqual]), .null)
    case 2: return spot(&random)
    default: return comparison(&random)
    }
  }

  private func spot(_ random: inout SeededRandom) -> Predicate {
    switch random.below(4) {
    case 0: .compare("spot", random.pick([.equal, .notEqual]), .null)
    case 1: .compare("spot.rank", random.pick(Self.orders), .int(Int64(random.below(4))))
    case 2: .compare("spot.isOpen", .equal, .bool(random.chance(50)))
    default:
      .compare(
        "spot.city", random.pick(Self.orders + [.contains]),
        random.chance(20) ? .null : .string(random.pick(Self.texts)))
    }
  }

  private static let orders: [ComparisonOperator] = [
    .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
  ]
  private static let searches: [ComparisonOperator] = [.contains, .beginsWith, .endsWith]

  private func comparison(_ random: inout SeededRandom) -> Predicate {
    let (name, type, values) = random.pick(Self.properties)
    var operators = type == .bool ? [.equal, .notEqual] : Self.orders
    if type == .string || type == .data { operators += Self.searches }
    let path = random.chance(50) ? name : name + "2"
    let constants = values + (Self.others[type] ?? [])
    switch random.below(10) {
    case 0: return .compare(path, random.pick(operators), .null)
    case 1:
      return .isIn(
        path,
        (0..<random.below(4)).map { _ in random.pick(constants) }
          + (random.chance(50) ? [.null] : []))
    case 2, 3, 4:
      return .comparison(
        Comparison(Operand(path: name), random.pick(operators), Operand(path: name + "2")))
    default:
      if type == .string { operators.append(.like) }
      return .compare(path, random.pick(operators), random.pick(constants))
    }
  }

  // MARK: - Answers

  func translated(_ predicate: Predicate) throws -> SQLCondition {
    try ConditionSQL(reader.schema.schema) { id, key in
      id == Self.id ? .int(key.rawValue) : nil
    }.translated(predicate, on: Self.id)
  }

  /// The condition that a file has as texts, translated again.
  func translatedAgain(_ condition: String, _ kept: String) -> SQLCondition? {
    Subscription(
      name: nil, className: "Item", condition: condition, sql: kept, created: 0, updated: 0
    ).translated(in: snapshot)
  }

  /// The objects for which the store says yes.
  func matches(_ predicate: Predicate) throws -> [Int64] {
    let resolved = try ResolvedPredicate(predicate, on: Self.id, in: reader.schema.schema)
    return try keys.filter { try resolved.matches($0, in: Rows(reader)) }.map(\.rawValue)
  }

  /// The objects for which the server says yes, for each condition.
  func answers(_ conditions: [SQLCondition]) throws -> [[Int64]] {
    var parameters: [WireParameter] = []
    let columns = conditions.map { Self.column($0.text(adding: &parameters)) }
    let statement = "SELECT \(columns.joined(separator: ", ")) FROM \"Item\""
    return Self.numbers(try server.binary(statement, parameters, for: "test").texts[0])
  }

  /// The same for conditions as a file keeps them.
  func answers(kept conditions: [String]) throws -> [[Int64]] {
    let columns = conditions.map(Self.column)
    return Self.numbers(
      try server.rows("SELECT \(columns.joined(separator: ", ")) FROM \"Item\"")[0])
  }

  private static func column(_ condition: String) -> String {
    "(array_agg(_id ORDER BY _id) FILTER (WHERE \(condition)))::text"
  }

  private static func numbers(_ row: [String?]) -> [[Int64]] {
    row.map { text in (text ?? "").split { "{},".contains($0) }.compactMap { Int64($0) } }
  }
}
