import TarnStore
import TestSupport
import Testing

@Suite struct ResolvedPredicateTests {
  private func resolved(_ text: String) throws -> ResolvedPredicate {
    try ResolvedPredicate(
      PredicateParser.parse(text), on: QueryFixture.thing, in: QueryFixture.schema)
  }

  @Test(arguments: [
    ("nothing == 1", "class 'Thing' has no property 'nothing'"),
    ("owner.nothing == 1", "class 'Owner' has no property 'nothing'"),
    ("i.name == 1", "property 'i' of class 'Thing' is not a link: 'i.name' cannot continue there"),
    (
      "i == 'a'",
      "property 'i' of class 'Thing' is of type int, which cannot be compared with \"a\""
    ),
    (
      "owner.name == 1",
      "property 'owner.name' of class 'Owner' is of type string, which cannot be compared with 1"
    ),
    (
      "t == 'soon'",
      "property 't' of class 'Thing' is of type date, which cannot be compared with \"soon\": "
        + "write a date like \"2024-05-01T12:30:00Z\""
    ),
    (
      "b < TRUE", "< needs values that have an order: property 'b' of class 'Thing' is of type bool"
    ),
    (
      "owner > 3",
      "> needs values that have an order: property 'owner' of class 'Thing' is of type "
        + "link to 'Owner'"
    ),
    (
      "i CONTAINS 1",
      "CONTAINS needs a string or data: property 'i' of class 'Thing' is of type int"
    ),
    ("d LIKE 'a'", "LIKE needs a string: property 'd' of class 'Thing' is of type data"),
    ("i LIKE 'a'", "LIKE needs a string: property 'i' of class 'Thing' is of type int"),
    ("d ==[c] 'a'", "[c] needs a string: property 'd' of class 'Thing' is of type data"),
    ("s <[c] 'a'", "< does not support [c]: property 's' of class 'Thing' is of type string"),
    ("s == i", "cannot compare 's' (string) with 'i' (int)"),
    ("owner == next", "cannot compare 'owner' (link to 'Owner') with 'next' (link to 'Thing')"),
    ("1 == 1", "a comparison needs a property on one side: 1 == 1"),
    ("'a' CONTAINS s", "CONTAINS needs a property on its left: \"a\" CONTAINS s"),
  ])
  func `what does not fit the schema is refused by name`(_ text: String, _ message: String) {
    #expect(throws: PredicateError(message)) { try resolved(text) }
  }

  @Test(arguments: [
    ("i < 2.5", "i <= 2"), ("i > -2.5", "i >= -2"), ("i == 2.0", "i == 2"),
    ("2 < i", "i > 2"), ("i <= 1e30", "i >= -9223372036854775808"), ("NOT i == 2", "i != 2"),
    ("i BETWEEN {3, 3}", "i >= 3 AND i <= 3"), ("i IN {2}", "i == 2"),
    ("i IN {3, 2, 3}", "i IN {2, 3}"),
    ("x < 9007199254740993", "x <= 9007199254740992"), ("f == 0.5", "f <= 0.5 AND f >= 0.5"),
    ("t == '2024-01-01'", "t == '2024-01-01T01:00:00+01:00'"), ("b == 1", "b == TRUE"),
    ("NOT (NOT (i == 1 AND TRUEPREDICATE))", "i == 1"), ("d == 'ab'", "d == X'6162'"),
    ("s ==[c] 'ABC'", "s ==[c] 'abc'"), ("s LIKE 'a*'", "s BEGINSWITH 'a'"),
    ("s LIKE '*a*'", "s CONTAINS 'a'"), ("s LIKE[c] '*B'", "s ENDSWITH[c] 'b'"),
    ("s LIKE '**'", "s != NULL"), ("s LIKE ''", "s == ''"), ("s LIKE NULL", "FALSEPREDICATE"),
  ])
  func `comparisons that mean the same resolve to tests that agree`(
    _ a: String, _ b: String
  ) throws {
    let fixture = QueryFixture()
    var random = SeededRandom(seed: 71)
    random.fill(fixture, things: 200, owners: 3, cities: 2)
    try fixture.encode()
    let source = try fixture.source()
    let (a, b) = (try resolved(a), try resolved(b))
    for key in fixture.rows[0].keys {
      let key = ObjectKey(key)
      #expect(try a.matches(key, in: source) == b.matches(key, in: source))
    }
  }

  @Test(arguments: [
    ("i == 2.5", false), ("i != 2.5", true), ("i > 1e30", false),
    ("i < 1e30 OR TRUEPREDICATE", true),
    ("i == NULL", false), ("i != NULL", true), ("#iN < NULL", false), ("#iN > NULL", false),
    ("s CONTAINS ''", false), ("s BEGINSWITH NULL", false), ("NOT s ENDSWITH ''", true),
    ("i IN {}", false), ("f == 1e300", false), ("b IN {TRUE, FALSE}", true),
    ("i == 1 AND FALSEPREDICATE", false),
  ])
  func `what no row can change is a constant`(_ text: String, _ value: Bool) throws {
    #expect(try resolved(text).constant == value)
    #expect(try resolved(text).dependencies.isEmpty)
  }

  @Test func `dependencies name every column and every link on the way`() throws {
    let predicate = try resolved("owner.home.name == 'x' AND i == 1 AND owner.age > i")
    let owner = LinkStep(
      classID: QueryFixture.thing, column: ColumnID(21), target: QueryFixture.owner)
    let home = LinkStep(
      classID: QueryFixture.owner, column: ColumnID(4), target: QueryFixture.city)
    let expected: Set<QueryDependency> = [
      QueryDependency(links: [], classID: QueryFixture.thing, column: ColumnID(1)),
      QueryDependency(links: [], classID: QueryFixture.thing, column: ColumnID(21)),
      QueryDependency(links: [owner], classID: QueryFixture.owner, column: ColumnID(1)),
      QueryDependency(links: [owner], classID: QueryFixture.owner, column: ColumnID(4)),
      QueryDependency(links: [owner, home], classID: QueryFixture.city, column: ColumnID(0)),
    ]
    #expect(Set(predicate.dependencies) == expected)
    #expect(predicate.dependencies.count == expected.count)
  }

  @Test func `equal predicates are equal keys and deep ones an error`() throws {
    let a = try resolved("s == 'a' AND i IN {1, 2}")
    #expect(try a == resolved("s == 'a' && i IN {2, 1}"))
    #expect(try a.hashValue == resolved("s == 'a' && i IN {2, 1}").hashValue)
    #expect(try a != resolved("s == 'a' AND i IN {1, 3}"))
    var deep = Predicate.compare("i", .equal, .int(1))
    for _ in 0..<1000 { deep = .not(.and([deep, .constant(true)])) }
    #expect(throws: PredicateError("the predicate is nested deeper than 200 levels")) {
      try ResolvedPredicate(deep, on: QueryFixture.thing, in: QueryFixture.schema)
    }
    var ofValues = Predicate.comparison(Comparison(.path([]), .equal, .value(.int(1))))
    for _ in 0..<1000 { ofValues = .not(.and([ofValues, .constant(true)])) }
    #expect(throws: PredicateError("the predicate is nested deeper than 200 levels")) {
      try ValueCondition(ofValues, QueryFixture.schema[QueryFixture.thing]![ColumnID(1)])
    }
  }

  /// Each row of the table: the left value, then the results of == != < <= > >= with the right one.
  @Test func `null and NaN compare as stated`() throws {
    let values: [(String, Value)] = [("null", .null), ("NaN", .double(.nan)), ("one", .double(1))]
    let table: [(String, String, String)] = [
      ("null", "null", "TFFTFT"), ("null", "NaN", "FTFFFF"), ("null", "one", "FTFFFF"),
      ("NaN", "null", "FTFFFF"), ("NaN", "NaN", "TFFFFF"), ("NaN", "one", "FTFFFF"),
      ("one", "null", "FTFFFF"), ("one", "NaN", "FTFFFF"), ("one", "one", "TFFTFT"),
    ]
    let fixture = QueryFixture()
    var random = SeededRandom(seed: 81)
    random.fill(fixture, things: 2, owners: 1, cities: 1)
    let keys = fixture.rows[0].keys.sorted()
    let operators: [ComparisonOperator] = [
      .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
    ]
    let column = QueryFixture.schema.classes[0].named("xN")!.id.index
    for (left, right, results) in table {
      let value = values.first { $0.0 == left }!.1
      let constant = values.first { $0.0 == right }!.1
      fixture.rows[0][keys[0]]![column] = value
      let working = fixture.working(keys, QueryFixture.schema.classes[0])
      let source = try QueryFixture().source()
      for (op, result) in zip(operators, results) {
        let predicate = try ResolvedPredicate(
          .compare("xN", op, constant), on: QueryFixture.thing, in: QueryFixture.schema)
        #expect(
          try predicate.matches(working, 0, in: source) == (result == "T"),
          "\(left) \(op) \(right)")
      }
    }
  }
}
