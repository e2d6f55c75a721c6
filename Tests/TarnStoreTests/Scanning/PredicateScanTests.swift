import TarnStore
import TestSupport
import Testing

@Suite struct PredicateScanTests {
  /// The keys that a scan finds, and that single rows and rows under edit give.
  private func found(
    _ predicate: ResolvedPredicate, _ fixture: QueryFixture, _ source: Rows
  ) throws -> [Int64] {
    let scan = PredicateScan(predicate, source: source)
    var keys: [Int64] = []
    for image in try fixture.clusters(predicate.classID) {
      let count = try scan.evaluate(image)
      let before = keys.count
      scan.forEachMatch { keys.append(image.key(at: $0).rawValue) }
      #expect(keys.count - before == count)
      for slot in 0..<image.rowCount {
        let key = image.key(at: slot)
        #expect(
          try predicate.matches(image, slot, in: source) == (keys[before...].contains(key.rawValue))
        )
      }
    }
    return keys
  }

  @Test(arguments: Seeds.of([11, 12, 13, 14, 15, 16] as [UInt64]))
  func `random predicates find what a naive evaluation finds`(_ seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let fixture = QueryFixture()
    random.fill(fixture, things: 150, owners: 20, cities: 5)
    try fixture.encode()
    let source = try fixture.source()
    let model = QueryModel(fixture: fixture)
    let keys = fixture.rows[0].keys.sorted()
    var matched = 0
    for _ in 0..<250 {
      let predicate = random.fittingPredicate(depth: 2)
      let resolved = try ResolvedPredicate(
        predicate, on: QueryFixture.thing, in: QueryFixture.schema)
      let expected = keys.filter { model.matches(predicate, QueryFixture.thing, $0) }
      let keys = try found(resolved, fixture, source)
      #expect(keys == expected, "\(predicate)")
      matched += expected.count
    }
    #expect(matched > 1000)
  }

  @Test(arguments: Seeds.of([21, 22] as [UInt64]))
  func `rows under edit and absent objects evaluate the same`(_ seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let fixture = QueryFixture()
    random.fill(fixture, things: 60, owners: 10, cities: 3)
    try fixture.encode()
    let source = try fixture.source()
    let model = QueryModel(fixture: fixture)
    let keys = fixture.rows[0].keys.sorted()
    let working = fixture.working(keys, QueryFixture.schema.classes[0])
    for _ in 0..<200 {
      let predicate = random.fittingPredicate(depth: 1)
      let resolved = try ResolvedPredicate(
        predicate, on: QueryFixture.thing, in: QueryFixture.schema)
      let scan = PredicateScan(resolved, source: source)
      var found: [Int64] = []
      #expect(try scan.evaluate(cluster: working) <= keys.count)
      scan.forEachMatch { found.append(working.key(at: $0).rawValue) }
      #expect(found == keys.filter { model.matches(predicate, QueryFixture.thing, $0) })
      #expect(try resolved.matches(ObjectKey(1 << 50), in: source) == false)
      for key in keys.prefix(5) {
        #expect(try resolved.matches(ObjectKey(key), in: source) == found.contains(key))
      }
    }
  }

  @Test func `text of any length is found by all of it and by its beginning`() throws {
    var random = SeededRandom(seed: 41)
    let texts = (0..<150).map { number in
      let same = String(repeating: "abcdefgh", count: number % 4)
      return same + String("xyzxyzxyz".prefix(random.below(10)))
    }
    try expectFound(texts, by: Set(texts).filter { !$0.isEmpty })
  }

  @Test(arguments: [0, 1, 7, 8, 9, 16, 23])
  func `text that is all of one length is found by all of it and by its beginning`(
    _ length: Int
  ) throws {
    var random = SeededRandom(seed: UInt64(length))
    // More different ones than a dictionary is made for.
    let texts = (0..<150).map { _ in
      String((0..<length).map { _ in "abcdefghijklmnop".randomElement(using: &random)! })
    }
    let parts = texts.prefix(20).flatMap { [$0, String($0.dropLast()), $0 + "a"] }
    try expectFound(texts, by: Set(parts + ["zz"]).filter { !$0.isEmpty })
  }

  /// Asks for each of the needles, as the whole text and as its beginning.
  private func expectFound(_ texts: [String], by needles: Set<String>) throws {
    var random = SeededRandom(seed: 42)
    let fixture = QueryFixture()
    random.fill(fixture, things: texts.count, owners: 2, cities: 2)
    let column = try #require(QueryFixture.schema.classes[0].columns.first { $0.name == "s" })
    let keys = fixture.rows[0].keys.sorted()
    for (key, text) in zip(keys, texts) { fixture.rows[0][key]![column.id.index] = .string(text) }
    try fixture.encode()
    let source = try fixture.source()
    for needle in needles {
      for op in [ComparisonOperator.equal, .notEqual, .beginsWith] {
        let predicate = Predicate.comparison(
          Comparison(Operand(path: "s"), op, .value(.string(needle)), []))
        let resolved = try ResolvedPredicate(
          predicate, on: QueryFixture.thing, in: QueryFixture.schema)
        let expected = zip(keys, texts).filter { _, text in
          switch op {
          case .equal: text == needle
          case .notEqual: text != needle
          default: text.hasPrefix(needle)
          }
        }
        #expect(try found(resolved, fixture, source) == expected.map(\.0), "\(op) \(needle)")
      }
    }
  }

  @Test func `a predicate's text and its tree mean the same to a scan`() throws {
    var random = SeededRandom(seed: 31)
    for _ in 0..<300 {
      let predicate = random.fittingPredicate(depth: 2)
      let text = predicate.description
      let resolved = try ResolvedPredicate(
        predicate, on: QueryFixture.thing, in: QueryFixture.schema)
      let parsed = try ResolvedPredicate(
        PredicateParser.parse(text), on: QueryFixture.thing, in: QueryFixture.schema)
      #expect(resolved == parsed, "\(text)")
    }
  }
}

extension SeededRandom {
  private static let paths: [(String, ColumnType)] = {
    let own = QueryFixture.schema.classes[0].columns.map { ($0.name, $0.type) }
    return own + [
      ("owner.name", .string), ("owner.age", .int), ("owner.weight", .double), ("owner.id", .uuid),
      ("owner.price", .decimal), ("owner.home", .link), ("owner.home.name", .string),
      ("owner.home.size", .int),
      ("next.s", .string), ("next.next.iN", .int), ("next.f", .float),
    ]
  }()

  /// A predicate on the fixture's first class whose types fit.
  mutating func fittingPredicate(depth: Int) -> Predicate {
    switch depth == 0 ? 9 : below(8) {
    case 0, 1: .and((0..<(2 + below(2))).map { _ in fittingPredicate(depth: depth - 1) })
    case 2, 3: .or((0..<(2 + below(2))).map { _ in fittingPredicate(depth: depth - 1) })
    case 4: .not(fittingPredicate(depth: depth - 1))
    default: .comparison(fittingComparison())
    }
  }

  private mutating func fittingComparison() -> Comparison {
    let (name, type) = Self.paths.randomElement(using: &self)!
    let op = operators(type).randomElement(using: &self)!
    let isEquality = op == .equal || op == .notEqual || op.isTextSearch || op == .in || op == .like
    let options: StringOptions =
      type == .string && isEquality && chance(30) ? .caseInsensitive : []
    let path = Operand(path: name)
    if op == .in {
      let values = (0..<below(5)).map { _ in chance(10) ? Value.null : fittingConstant(type) }
      return Comparison(path, op, .values(values), options)
    }
    let others = Self.paths.filter {
      $0.1 == type && (type != .link || $0.0.hasSuffix("owner") == name.hasSuffix("owner"))
        && (type != .link || $0.0.hasSuffix("home") == name.hasSuffix("home"))
    }
    if chance(20), let other = others.randomElement(using: &self) {
      return Comparison(path, op, Operand(path: other.0), options)
    }
    let numbers: [ColumnType] = [.int, .float, .double, .decimal]
    let numeric = Self.paths.filter { numbers.contains($0.1) }
    if chance(10), numbers.contains(type) {
      return Comparison(path, op, Operand(path: numeric.randomElement(using: &self)!.0), options)
    }
    let fitting = op == .like ? .string(pattern()) : fittingConstant(type)
    let constant = Operand.value(chance(10) ? .null : fitting)
    if let mirrored = op.mirrored, chance(10) {
      return Comparison(constant, mirrored, path, options)
    }
    return Comparison(path, op, constant, options)
  }

  private func operators(_ type: ColumnType) -> [ComparisonOperator] {
    switch type {
    case .bool, .link: [.equal, .notEqual, .in]
    case .string: ComparisonOperator.allCases
    case .data: ComparisonOperator.allCases.filter { $0 != .like }
    default: [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .in]
    }
  }

  /// A constant that compares with a column of that type, of that type or a related one.
  private mutating func fittingConstant(_ type: ColumnType) -> Value {
    switch type {
    case .link: .link(ObjectKey(Int64(below(20))))
    case .int, .float, .double: number(for: type)
    case .decimal where chance(20): .string(decimalText())
    case .decimal where chance(40): number(for: type)
    case .string where chance(40):
      .string(["a", "b", "x", "Ab", "yA"].randomElement(using: &self)!)
    default: constant(type)
    }
  }

  /// Of any numeric type; decimals that are no numbers beside decimals only.
  private mutating func number(for type: ColumnType) -> Value {
    let value = constant([.int, .float, .double, .decimal].randomElement(using: &self)!)
    guard case .decimal(let cell) = value, type != .decimal else { return value }
    return DecimalNumber(cell).isFinite ? value : .int(1)
  }

  /// Text with some of the signs that stand for any other.
  private mutating func pattern() -> String {
    var pattern = ""
    for character in text().prefix(20) {
      switch below(6) {
      case 0: pattern += "?"
      case 1 where pattern.count { $0 == "*" } < 3: pattern += "*"
      case 2: pattern += "\\\(character)"
      default: pattern.append(character)
      }
    }
    return pattern + (chance(40) ? "*" : chance(10) ? "\\" : "")
  }

  private mutating func decimalText() -> String {
    guard case .decimal(let cell) = constant(.decimal) else { return "0" }
    return DecimalNumber(cell).text
  }
}
