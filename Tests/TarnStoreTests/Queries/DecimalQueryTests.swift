import TarnStore
import Testing

/// What constants mean beside decimals, and decimals beside other numbers.
@Suite struct DecimalQueryTests {
  private static let schema: StoreSchema = {
    let types: [(String, ColumnType, Bool)] = [
      ("d", .decimal, false), ("dN", .decimal, true), ("x", .double, false), ("i", .int, false),
      ("f", .float, false),
    ]
    let columns = types.enumerated().map { index, column in
      ColumnSchema(
        id: ColumnID(UInt16(index)), name: column.0, type: column.1, isOptional: column.2)
    }
    return StoreSchema(classes: [ClassSchema(id: ClassID(0), name: "Sum", columns: columns)])
  }()

  /// Whether a row passes that has the decimal in both columns, the double and the integer.
  private func passes(
    _ text: String, d: String = "0", x: Double = 0, i: Int64 = 0
  ) throws -> Bool {
    let predicate = try ResolvedPredicate(
      PredicateParser.parse(text), on: ClassID(0), in: Self.schema)
    let rows = WorkingCluster(Self.schema.classes[0])
    let slot = rows.insert(ObjectKey(1))
    let decimal = Value.decimal(try #require(DecimalNumber(text: d)).cell)
    let values = [decimal, decimal, .double(x), .int(i), .float(Float(x))]
    for (column, value) in values.enumerated() {
      rows.set(ColumnID(UInt16(column)), slot, value)
    }
    let source = Rows(FixtureRows(clusters: [[]], longs: [:], owner: QueryFixture()))
    return try predicate.matches(rows, slot, in: source)
  }

  @Test(arguments: [
    ("d == 0.1", "0.10", true), ("d == 0.1", "0.1000000000000000055511151231257827", false),
    ("d == 0.1000000000000000055511151231257827", "0.1000000000000000055511151231257827", true),
    ("d == '0.10'", "0.1", true), ("d == \"NaN\"", "NaN", true), ("d != \"NaN\"", "1", true),
    ("d < \"Infinity\"", "9E+6144", true), ("d > -1", "NaN", false), ("d <= \"NaN\"", "NaN", false),
    ("d IN {1, 2.50, '1E+3'}", "2.5", true), ("d IN {1, 2.5, '1E+3'}", "1000", true),
    ("d IN {'nan', NULL}", "NaN", true), ("d IN {'nan', NULL}", "0", false),
    ("d == 12345678901234567890123456789", "12345678901234567890123456789", true),
    ("d > 12345678901234567890123456789", "12345678901234567890123456789.5", true),
    ("d == -0", "0.00", true), ("d BETWEEN {1.1, 1.3}", "1.30", true), ("dN != NULL", "1", true),
    ("d == 1e400", "10E+399", true), ("3 < d", "3.000000000000000000000000000000001", true),
    ("d == dN", "NaN", true), ("d < dN", "NaN", false),
  ])
  func constantsBesideDecimals(_ text: String, _ decimal: String, _ expected: Bool) throws {
    #expect(try passes(text, d: decimal) == expected)
  }

  @Test(arguments: [
    ("x == 0.1", true), ("x == 0.10000000000000000000000001", true), ("d == x", false),
    ("d < x", true), ("x > d", true), ("x != d", true), ("d <= i", true), ("i > x", true),
    ("i == 1.00000000000000000000000000001", false), ("i < 1.00000000000000000000000000001", true),
    ("i > 12345678901234567890123", false), ("i < 12345678901234567890123", true),
    ("i >= -12345678901234567890123", true), ("i <= -12345678901234567890123", false),
    ("i <= -0.99999999999999999999999999", false), ("i > -0.99999999999999999999999999", true),
    ("i > 0.99999999999999999999999999", true), ("i < 0.99999999999999999999999999", false),
  ])
  func decimalsBesideOtherNumbers(_ text: String, _ expected: Bool) throws {
    // The double is a little more than a tenth.
    #expect(try passes(text, d: "0.1", x: 0.1, i: 1) == expected)
  }

  /// Also for a float that is the nearest to the double.
  @Test(arguments: [
    ("x == 'Infinity'", Double.infinity, true), ("x == '-Infinity'", -.infinity, true),
    ("x == 'infinity'", 1, false), ("x == '+inf'", .infinity, true),
    ("x < 'Infinity'", .greatestFiniteMagnitude, true), ("x < 'Infinity'", .infinity, false),
    ("x > '-Infinity'", -1, true), ("x > '-Infinity'", -.infinity, false),
    ("x > '-Infinity'", .nan, false), ("x == 'NaN'", .nan, true), ("x == 'NaN'", 1, false),
    ("x != 'NaN'", .nan, false), ("x != 'NaN'", 1, true), ("x <= 'NaN'", .nan, false),
    ("x >= 'NaN'", 1, false), ("x IN {'NaN', 2}", .nan, true), ("x IN {'NaN', 2}", 2, true),
    ("x IN {'Infinity', 'NaN'}", .infinity, true), ("x IN {'Infinity'}", 1, false),
    ("'Infinity' > x", 1, true), ("x BETWEEN {'-Infinity', 0}", -.infinity, true),
    ("x == '2.5'", 2.5, true), ("x == '-3'", -3, true), ("x > '1e3'", 1_000.5, true),
    ("x == '0.1'", 0.1, true),
  ])
  func numbersInQuotesBesideDoubles(_ text: String, _ x: Double, _ expected: Bool) throws {
    #expect(try passes(text, x: x) == expected)
    if x.magnitude == .greatestFiniteMagnitude { return }
    #expect(try passes(text.replacing("x", with: "f"), x: x) == expected)
  }

  @Test(arguments: [
    (
      "x == 'many'",
      "property 'x' of class 'Sum' is of type double, which cannot be compared with \"many\": "
        + "write a number like 2.5 or \"Infinity\""
    ),
    (
      "x == '0x1p3'",
      "property 'x' of class 'Sum' is of type double, which cannot be compared with \"0x1p3\": "
        + "write a number like 2.5 or \"Infinity\""
    ),
    (
      "d == 'ten'",
      "property 'd' of class 'Sum' is of type decimal, which cannot be compared with \"ten\": "
        + "write a decimal like 12.50 or \"12.50\""
    ),
    (
      "d == TRUE",
      "property 'd' of class 'Sum' is of type decimal, which cannot be compared with TRUE"
    ),
    (
      "d CONTAINS '1'",
      "CONTAINS needs a string or data: property 'd' of class 'Sum' is of type decimal"
    ),
  ])
  func aLiteralThatIsNotANumberIsAnError(_ text: String, _ message: String) {
    #expect(throws: PredicateError(message)) { try passes(text) }
  }
}
