import TarnStore
import TestSupport
import Testing

@Suite struct PredicateParserTests {
  private func parsed(_ text: String) throws -> Predicate { try PredicateParser.parse(text) }

  @Test(arguments: [
    ("age == 42", Predicate.compare("age", .equal, .int(42))),
    ("age = 42", .compare("age", .equal, .int(42))),
    ("age <> -1", .compare("age", .notEqual, .int(-1))),
    ("age =< 1.5", .compare("age", .lessOrEqual, .double(1.5))),
    ("age => 0x1F", .compare("age", .greaterOrEqual, .int(31))),
    ("age < -2e3", .compare("age", .less, .double(-2000))),
    ("a.b.c != nil", .compare("a.b.c", .notEqual, .null)),
    ("isOpen == yes", .compare("isOpen", .equal, .bool(true))),
    (
      "name beginswith[C] 'it\\'s'",
      .compare("name", .beginsWith, .string("it's"), .caseInsensitive)
    ),
    ("#in == \"\\u00e9\\n\"", .compare("in", .equal, .string("\u{e9}\n"))),
    ("name IN {'a', \"b\", NULL}", .isIn("name", [.string("a"), .string("b"), .null])),
    ("age IN {}", .isIn("age", [])),
    ("n ==[d] 'a'", .compare("n", .equal, .string("a"), .diacriticInsensitive)),
    (
      "n contains[CD] 'a'",
      .compare("n", .contains, .string("a"), [.caseInsensitive, .diacriticInsensitive])
    ),
    (
      "dogs.@sum.age >= 2",
      .compare(["dogs", "age"], .aggregate(.sum), .greaterOrEqual, .value(.int(2)))
    ),
    (
      "2.5 > ages.@avg",
      .compare(["ages"], .aggregate(.average), .less, .value(.double(2.5)))
    ),
    (
      "subquery(owner.dogs, $d, $d.age > 1 AND ANY $d.toys.name == 'x').@count == 2",
      .compare(
        ["owner", "dogs"],
        .matching(
          .and([
            .compare("age", .greater, .int(1)),
            .any(["toys", "name"], .equal, .value(.string("x"))),
          ])), .equal, .value(.int(2)))
    ),
    (
      "SUBQUERY(bag['k'].ages, $x, $x > 1).@count IN {2, 3}",
      .or(
        [2, 3].map { number in
          .compare(
            ["bag", .element(.key("k")), "ages"],
            .matching(.comparison(Comparison(.path([]), .greater, .value(.int(1))))), .equal,
            .value(.int(number)))
        })
    ),
    (
      "ANY dogs.toys.@count IN {1}",
      .comparison(
        Comparison(.figure(["dogs", "toys"], .count), .equal, .value(.int(1)), quantifier: .any))
    ),
    ("ages.@max IN {}", .constant(false)),
    (
      "SUBQUERY(a, $x, SUBQUERY($x.b, $y, $y.c == 1).@count > 0).@count > 0",
      .compare(
        ["a"],
        .matching(
          .compare(["b"], .matching(.compare("c", .equal, .int(1))), .greater, .value(.int(0)))),
        .greater, .value(.int(0)))
    ),
    ("name like[c] 'a*\\\\?'", .compare("name", .like, .string("a*\\?"), .caseInsensitive)),
    ("bytes == X'0aFf'", .compare("bytes", .equal, .data([10, 255]))),
    ("größe == 1", .compare("größe", .equal, .int(1))),
    (
      "9223372036854775807 == x",
      .comparison(
        Comparison(.value(.int(.max)), .equal, .path(["x"])))
    ),
    ("x == -9223372036854775808", .compare("x", .equal, .int(.min))),
    ("age BETWEEN {1, 3}", .between(.path(["age"]), .value(.int(1)), .value(.int(3)))),
    ("TruePredicate", .constant(true)),
    (
      "ANY dogs.age > 1",
      .any(["dogs", "age"], .greater, .value(.int(1)))
    ),
    (
      "some names in[c] {'a'}",
      .any(["names"], .in, .values([.string("a")]), .caseInsensitive)
    ),
    (
      "NONE ages == 3",
      .not(.any(["ages"], .equal, .value(.int(3))))
    ),
    (
      "3 IN owner.ages",
      .any(["owner", "ages"], .equal, .value(.int(3)))
    ),
    (
      "owner.dogs.@count => 2",
      .compare(["owner", "dogs"], .count, .greaterOrEqual, .value(.int(2)))
    ),
    (
      "2 < dogs.@count",
      .compare(["dogs"], .count, .greater, .value(.int(2)))
    ),
    (
      "any dogs.toys.@count > 2",
      .comparison(
        Comparison(.figure(["dogs", "toys"], .count), .greater, .value(.int(2)), quantifier: .any))
    ),
    (
      "ANY ages between {1, 2.5}",
      .any(["ages"], .in, .range(.int(1), .double(2.5), isClosed: true))
    ),
    (
      "ANY marks.@allKeys LIKE 'a*'",
      .any(["marks", .keys], .like, .value(.string("a*")))
    ),
    (
      "3 IN dog.marks.@allValues",
      .any(["dog", "marks", .values], .equal, .value(.int(3)))
    ),
    (
      "@links.Person.dogs.@count == 0",
      .compare([.backlinks(origin: "Person", property: "dogs")], .count, .equal, .value(.int(0)))
    ),
    (
      "ANY toy.@links.Dog.toys.name == 'x'",
      .any(
        ["toy", .backlinks(origin: "Dog", property: "toys"), "name"], .equal, .value(.string("x")))
    ),
    (
      "ANY dogs.age > limit",
      .any(["dogs", "age"], .greater, .path(["limit"]))
    ),
    (
      "any limit contains[c] dogs.name",
      .any(["limit"], .contains, .path(["dogs", "name"]), .caseInsensitive)
    ),
    (
      "owner.name IN names",
      .any(["names"], .equal, .path(["owner", "name"]))
    ),
    (
      "limit < marks['a'][0]",
      .comparison(
        Comparison(
          .path(["limit"]), .less,
          .path(["marks", .element(.key("a")), .element(.position(0))])))
    ),
    (
      "SUBQUERY(dogs, $x, $x.name IN $x.names).@count > 0",
      .compare(
        ["dogs"], .matching(.any(["names"], .equal, .path(["name"]))), .greater, .value(.int(0)))
    ),
    ("self > 3", .comparison(Comparison(.path([]), .greater, .value(.int(3))))),
  ])
  func `a text gives its tree`(_ text: String, _ expected: Predicate) throws {
    #expect(try parsed(text) == expected)
    #expect(try parsed(expected.description) == expected)
  }

  @Test func `AND binds closer than OR and NOT closer than both`() throws {
    let a = Predicate.compare("a", .equal, .int(1))
    let b = Predicate.compare("b", .equal, .int(2))
    let c = Predicate.compare("c", .equal, .int(3))
    #expect(try parsed("a=1 or b=2 and not c=3") == .or([a, .and([b, .not(c)])]))
    #expect(try parsed("(a=1||b=2)&&!c=3") == .and([.or([a, b]), .not(c)]))
    #expect(try parsed("a=1 AND b=2 AND c=3") == .and([a, b, c]))
    #expect(try parsed("NOT (a=1 OR b=2)") == .not(.or([a, b])))
    #expect((a && b && c) == .and([a, b, c]))
    #expect((a || (b || c)) == .or([a, b, c]))
    #expect(!(!a) == a)
  }

  @Test(arguments: [
    ("", 0, "expected a property or a value, found the end"),
    ("age", 3, "expected a comparison operator, found the end"),
    ("age == ", 7, "expected a property or a value, found the end"),
    ("age == 1 name", 9, "expected AND, OR or the end, found 'name'"),
    ("owner. == 1", 7, "expected a property after '.', found '=='"),
    (
      "dogs.@median.age > 1", 5,
      "@median is not supported: for collections use ANY, NONE, IN, SUBQUERY, @count, @min, @max, "
        + "@sum and @avg"
    ),
    ("l IN GEOCIRCLE([1, 2, -3], 1)", 15, "the altitude of a place must be 0 or more"),
    ("(age == 1", 9, "expected AND, OR or ')', found the end"),
    ("n == 'é' && x ? 1", 14, "'?' has no meaning here"),
    ("n == 'abc", 5, "the string that starts here has no closing quote"),
    ("n == 'a\\q'", 7, "unknown escape: use \\\\, \\\", \\', \\n, \\r, \\t or \\uXXXX"),
    (
      "n == 'a\\ud800'", 7,
      "expected four hexadecimal digits of a character after \\u, or two such escapes that are a "
        + "surrogate pair"
    ),
    (
      "n == 'a\\ud800\\u0041'", 7,
      "expected four hexadecimal digits of a character after \\u, or two such escapes that are a "
        + "surrogate pair"
    ),
    (
      "n ==[x] 'a'", 5,
      "expected 'c' to ignore case, 'd' to ignore diacritics, or 'cd', found 'x'"
    ),
    (
      "n LIKE[] 'a'", 7,
      "expected 'c' to ignore case, 'd' to ignore diacritics, or 'cd', found ']'"
    ),
    ("age BETWEEN {1}", 12, "expected two values after BETWEEN, found 1"),
    ("age IN 3", 7, "expected '{' and a list of values, found 3"),
    ("age BETWEEN ages", 12, "expected '{' and a list of values, found 'ages'"),
    ("age IN {1, }", 11, "expected a value, found '}'"),
    (
      "age == 12345678901234567890123456789012345", 7,
      "12345678901234567890123456789012345 has more digits than a number can have"
    ),
    ("age == 12x", 9, "expected a space or an operator after the number 12"),
    ("age == 0x", 7, "expected a hexadecimal number of at most 64 bits"),
    ("d == X'0a0'", 5, "expected pairs of hexadecimal digits between X' and '"),
    (
      "a == 1 AND ALL dogs.age == 1", 11,
      "ALL is not supported: write NONE and the opposite, or compare @min or @max"
    ),
    (
      "SUBQUERY(dogs, $x, $x.age > 1) > 2", 31,
      "expected '.@count' after the SUBQUERY, found '>'"
    ),
    (
      "SUBQUERY(dogs, $x, age > 1).@count > 2", 19,
      "inside SUBQUERY every path starts with $x"
    ),
    (
      "SUBQUERY(dogs, $x, $y.age > 1).@count > 2", 19,
      "inside SUBQUERY every path starts with $x"
    ),
    ("SUBQUERY(dogs, x, $x.age > 1).@count > 2", 15, "expected a variable such as $x, found 'x'"),
    ("$x.age > 1", 0, "$x is allowed only inside a SUBQUERY"),
    (
      "dogs.@sum.@max.age > 2", 10,
      "@max must follow a collection, once in a path: dogs.@max.age, or ages.@max"
    ),
    (
      "dogs.@sum.age > ages.@max", 0,
      "compare a collection operator with a number or a property by ==, !=, <, <=, > or >=, "
        + "or by IN"
    ),
    (
      "@max.dogs > 2", 0,
      "@max must follow a collection, once in a path: dogs.@max.age, or ages.@max"
    ),
    ("dogs.@count.x > 2", 11, "expected a comparison operator, found '.'"),
    (
      "dogs.@count > ages.@sum", 0,
      "compare @count with a number or a property by ==, !=, <, <=, > or >=, or by IN"
    ),
    (
      "dogs.@count CONTAINS 1", 0,
      "compare @count with a number or a property by ==, !=, <, <=, > or >=, or by IN"
    ),
    ("ANY 3 == dogs.age", 4, "expected a collection, or a property of its elements"),
    (
      "ANY dogs.age == x.@count", 16, "a condition through a collection needs a value or a property"
    ),
    ("ANY dogs.age BETWEEN {1}", 21, "expected two values after BETWEEN, found 1"),
    (
      "ANY dogs.@count == age", 4,
      "compare ANY @count with a number by ==, !=, <, <=, > or >=, or by IN"
    ),
    (
      "ANY @links.Person > 1", 18,
      "expected a class and a property of it, as in @links.Person.dogs, found '>'"
    ),
    ("SELF.age > 1", 4, "expected a comparison operator, found '.'"),
    ("map[x] == 1", 4, "expected a key in quotes, a position from 0, or #any"),
    ("n MATCHES 'a.*'", 2, "MATCHES is not supported: use LIKE with * and ?"),
    ("age == %@", 7, "there is no argument 1 for %@"),
    (
      "age == %q", 7,
      "unknown placeholder: use %@, %K, %d, %i, %u, %ld, %lld or %f followed by a space"
    ),
    (
      "age == %dx", 7,
      "unknown placeholder: use %@, %K, %d, %i, %u, %ld, %lld or %f followed by a space"
    ),
    ("# == 1", 1, "expected a name after '#'"),
    ("n STARTSWITH 'a'", 2, "expected a comparison operator, found 'STARTSWITH': write BEGINSWITH"),
    ("n contians 'a'", 2, "expected a comparison operator, found 'contians': write CONTAINS"),
    ("n x 'a'", 2, "expected a comparison operator, found 'x'"),
    (
      "a > like", 4,
      "expected a property or a value, found LIKE: write '#' before a property of that name"
    ),
    (
      "any == 1", 4,
      "expected a property that is a collection, found '==': write '#' before a property with a "
        + "name like ANY"
    ),
    ("a === 1", 4, "expected a property or a value, found '=': write equality as =="),
    ("a == 1 & b == 2", 7, "'&' has no meaning here: write && or AND"),
  ])
  func `an error names its position and what was expected`(
    _ text: String, _ offset: Int, _ message: String
  ) {
    #expect(throws: PredicateSyntaxError(offset: offset, message: message)) {
      try PredicateParser.parse(text)
    }
  }

  @Test func `placeholders take the arguments in their order`() throws {
    let parsed = try PredicateParser.parse(
      "%K > %d AND name IN %@ OR %f < x AND y BETWEEN %@ AND z IN {%ld, %@}",
      [
        .value(.string("a.b")), .value(.int(1)), .values([.string("'"), .null]),
        .value(.double(0.5)), .values([.int(1), .int(2)]), .value(.bool(true)), .value(.null),
      ])
    let expected = Predicate.or([
      .and([.compare("a.b", .greater, .int(1)), .isIn("name", [.string("'"), .null])]),
      .and([
        .comparison(Comparison(.value(.double(0.5)), .less, .path(["x"]))),
        .between(.path(["y"]), .value(.int(1)), .value(.int(2))),
        .isIn("z", [.bool(true), .null]),
      ]),
    ])
    #expect(parsed.predicate == expected)
    let renamed = try PredicateParser.parse("a.b == c AND %K == 1", [.value(.string("d"))]) {
      path in
      path.map { .property($0.description.uppercased()) }
    }
    let upper = Comparison(.path(["A", "B"]), .equal, .path(["C"]))
    #expect(renamed.predicate == .and([.comparison(upper), .compare("D", .equal, .int(1))]))
  }

  @Test(arguments: ["@count", "dogs.@count.age", "dogs.@sum.@max.age", "dogs.@max.age.@count"])
  func `a collection operator stands behind a collection in an argument, too`(_ path: String) {
    let error = #expect(throws: PredicateSyntaxError.self) {
      try PredicateParser.parse("a == 1 AND %K > 1", [.value(.string(path))])
    }
    #expect(error?.offset == 11, "\(error)")
    #expect(error?.message.contains("once in a path") == true, "\(error)")
  }

  @Test(
    arguments: [
      ("a == %d", [.value(.double(0.5))], 5, "argument 1 is 0.5, but %d needs a whole number"),
      ("a == %f", [.value(.string("1"))], 5, "argument 1 is \"1\", but %f needs a number"),
      (
        "%K == 1", [.value(.int(1))], 0,
        "argument 1 is not a string, but %K needs the path of a property"
      ),
      (
        "a[%K] == 1", [.value(.int(-1))], 2,
        "argument 1 is neither a key nor a position, but [%K] needs one"
      ),
      (
        "a == %@ AND b == %@", [.value(.int(1)), .values([])], 17,
        "argument 2 is a list, allowed only after IN and BETWEEN"
      ),
      ("a IN %@", [.value(.int(1))], 5, "argument 1 is 1, but IN needs a list of values"),
      ("a IN %@", [.unusable("a map")], 5, "argument 1 is a map"),
      ("a BETWEEN %@", [.values([.int(1)])], 10, "expected two values after BETWEEN, found 1"),
      ("a == %@", [], 5, "there is no argument 1 for %@"),
      ("é == 1", [.value(.int(1))], 6, "1 arguments were given, but the filter has 0 placeholders"),
    ] as [(String, [PredicateArgument], Int, String)])
  func `an argument that does not fit is named`(
    _ text: String, _ arguments: [PredicateArgument], _ offset: Int, _ message: String
  ) {
    #expect(throws: PredicateSyntaxError(offset: offset, message: message)) {
      try PredicateParser.parse(text, arguments)
    }
  }

  @Test(arguments: [
    ("i == 1 AND nothing == 1", 11, "class 'Thing' has no property 'nothing'"),
    ("(i == nothing)", 6, "class 'Thing' has no property 'nothing'"),
    ("i == 1 OR NOT s > 1", 14, "compared with 1"),
    ("1 < i AND i BETWEEN {1, 'x'}", 10, "compared with \"x\""),
    ("i.name == 1", 0, "'i.name' cannot continue there"),
    ("i == 1 OR owner.nmae == 'x'", 10, "has no property 'nmae': the nearest name is 'name'"),
    ("s == Rex", 5, "class 'Thing' has no property 'Rex'; write a string in quotes"),
    ("s['k'] == 1", 0, "'s' is not a list, map or AnyRealmValue, so [\"k\"] cannot follow it"),
  ])
  func `what does not fit the class has its position`(
    _ text: String, _ offset: Int, _ message: String
  ) throws {
    let parsed = try PredicateParser.parse(text, [])
    let error = #expect(throws: PredicateSyntaxError.self) {
      try parsed.check(on: QueryFixture.thing, in: QueryFixture.schema)
    }
    #expect(error?.offset == offset, "\(error)")
    #expect(error?.message.contains(message) == true, "\(error)")
  }

  @Test func `deep nesting is an error and long chains are not`() throws {
    let deep = String(repeating: "(", count: 100_000) + "a == 1"
    #expect(throws: PredicateSyntaxError(offset: 100, message: "nested deeper than 100 levels")) {
      try PredicateParser.parse(deep)
    }
    #expect(throws: PredicateSyntaxError.self) {
      try PredicateParser.parse(String(repeating: "!", count: 100_000) + "a == 1")
    }
    let chain = Array(repeating: "a == 1", count: 10_000).joined(separator: " OR ")
    guard case .or(let terms) = try parsed(chain) else { throw CancellationError() }
    #expect(terms.count == 10_000)
    let fair = String(repeating: "!(", count: 50) + "a == 1" + String(repeating: ")", count: 50)
    _ = try parsed(fair)
  }

  @Test(arguments: [1, 2, 3, 4, 5] as [UInt64])
  func `a description reads back as the same tree`(_ seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    for _ in 0..<400 {
      let predicate = random.predicate(depth: 4)
      #expect(try parsed(predicate.description) == predicate)
    }
  }

  @Test(arguments: [6, 7] as [UInt64])
  func `a damaged text never traps`(_ seed: UInt64) {
    var random = SeededRandom(seed: seed)
    for _ in 0..<2000 {
      var bytes = Array(random.predicate(depth: 3).description.utf8)
      for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
        let position = Int.random(in: 0..<bytes.count, using: &random)
        if Bool.random(using: &random) {
          bytes.remove(at: position)
        } else {
          bytes[position] = "\"'()[]{}.,=<>!&|\\x-0eX#%@\u{7f}".utf8.randomElement(using: &random)!
        }
      }
      _ = try? PredicateParser.parse(String(decoding: bytes, as: UTF8.self))
    }
  }

  @Test(arguments: [
    ("1970-01-01", 0, 0, "1970-01-01T00:00:00Z"),
    ("2024-02-29T23:59:59Z", 1_709_251_199, 0, "2024-02-29T23:59:59Z"),
    ("2024-05-01 12:30+02:00", 1_714_559_400, 0, "2024-05-01T10:30:00Z"),
    ("1969-12-31T23:59:59.5Z", -1, 500_000_000, "1969-12-31T23:59:59.500Z"),
    ("2000-01-01T00:00:00.000000001-0030", 946_686_600, 1, "2000-01-01T00:30:00.000000001Z"),
    ("-0001-03-01", -62_193_657_600, 0, "-0001-03-01T00:00:00Z"),
    ("292277026596-12-04T15:30:07Z", .max, 0, "292277026596-12-04T15:30:07Z"),
    ("-292277022657-01-27T08:29:52Z", .min, 0, "-292277022657-01-27T08:29:52Z"),
  ])
  func `dates read and print as ISO 8601`(
    _ text: String, _ seconds: Int64, _ nanoseconds: Int32, _ printed: String
  ) {
    let date = Timestamp(seconds: seconds, nanoseconds: nanoseconds)
    #expect(Timestamp(iso8601: text) == date)
    #expect(date.iso8601 == printed)
  }

  @Test(arguments: [
    "", "2024", "2024-13-01", "2023-02-29", "2024-04-31", "2024-1-1", "2024-01-01T",
    "2024-01-01T25:00",
    "292277026596-12-04T15:30:08Z", "-292277022657-01-27T08:29:51Z", "2024-01-01T00:00:60",
    "2024-01-01T00:00:00.", "2024-01-01T00:00Zx", "2024-01-01Z",
  ])
  func `other texts are no dates`(_ text: String) {
    #expect(Timestamp(iso8601: text) == nil)
  }

  @Test func `ids read and print`() {
    let id = Bytes12(high: 0x0123_4567_89ab_cdef, low: 0x0a0b_0c0d)
    #expect(id.hexadecimal == "0123456789abcdef0a0b0c0d")
    #expect(Bytes12(hexadecimal: id.hexadecimal) == id)
    #expect(Bytes12(hexadecimal: "0123456789abcdef0a0b0c0") == nil)
    let uuid = Bytes16(high: 0x0011_2233_4455_6677, low: 0x8899_aabb_ccdd_eeff)
    #expect(uuid.uuidText == "00112233-4455-6677-8899-AABBCCDDEEFF")
    #expect(Bytes16(uuidText: uuid.uuidText.lowercased()) == uuid)
    #expect(Bytes16(uuidText: "00112233-4455-6677-8899-AABBCCDDEEFG") == nil)
  }
}
