import TestSupport
import Testing

@testable import TarnStore

/// Names in back quotes: of paths as text, and in the text of predicates.
@Suite struct QuotedNameTests {
  @Test(arguments: [
    ("mother.age", ["mother", "age"]),
    ("Total Amount", ["Total Amount"]),
    ("`a.b`", ["a.b"]),
    ("`a.b`.c.`d e`", ["a.b", "c", "d e"]),
    ("`a``.b`", ["a`.b"]),
    ("it`s.on", ["it`s", "on"]),
    ("`a`b.c", ["`a`b", "c"]),
    ("``", [""]),
    ("", [""]),
    ("a..b.", ["a", "", "b", ""]),
  ])
  func `a path has these names`(_ text: String, _ names: [String]) {
    #expect(PathText.names(in: text) == names)
    #expect(PathText.names(in: PathText.text(of: names)) == names)
  }

  @Test func `what is quoted is not separated`() {
    let parts = PathText.parts(of: "a,`b,c`,sum:`d,e`:x", separatedBy: ",")
    #expect(parts == ["a", "`b,c`", "sum:`d,e`:x"])
    #expect(PathText.parts(of: "sum:`d:e`:x", separatedBy: ":") == ["sum", "`d:e`", "x"])
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `any names can be read back from their text`(_ seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let pieces = [
      "a", "`", ".", " ", "#", "[", "(", "\"", "é", "1", "OR", "@links", "$x", "-", "{", "\n", "X'",
      "GEOBOX",
    ]
    for _ in 0..<2_000 {
      let names = (0..<1 + random.below(3)).map { _ in
        (0..<1 + random.below(4)).map { _ in random.pick(pieces) }.joined()
      }
      #expect(PathText.names(in: PathText.text(of: names)) == names)
      let path = Path(names: names)
      let predicates: [Predicate] = [
        .comparison(Comparison(.path(path), .equal, .value(.int(1)))),
        .comparison(Comparison(.path(["x"]), .less, .path(path))),
        .any(path, .in, .values([.int(1)])),
        .compare(path, .count, .equal, .path(path)),
        .compare(
          [.backlinks(origin: names[0], property: names.last!)],
          .matching(.comparison(Comparison(.path(path), .like, .value(.string("a"))))), .less,
          .value(.int(1))),
      ]
      for predicate in predicates {
        let text = predicate.description
        #expect(throws: Never.self, "\(text)") { try PredicateParser.parse(text) == predicate }
        #expect(try PredicateParser.parse(text) == predicate, "\(text)")
      }
    }
  }

  @Test(arguments: [
    ("`Total Amount` > 5", ["Total Amount"], "`Total Amount` > 5"),
    ("`Price ($)` > 5", ["Price ($)"], "`Price ($)` > 5"),
    ("`a.b`.c > 5", ["a.b", "c"], "`a.b`.c > 5"),
    ("`it``s` > 5", ["it`s"], "`it``s` > 5"),
    ("`age` > 5", ["age"], "age > 5"),
    ("`or` > 5", ["or"], "#or > 5"),
    ("`@count` > 5", ["@count"], "`@count` > 5"),
  ])
  func `a name in back quotes is one of a property`(
    _ text: String, _ names: [String], _ printed: String
  ) throws {
    let predicate = try PredicateParser.parse(text)
    #expect(
      predicate == .comparison(Comparison(.path(Path(names: names)), .greater, .value(.int(5)))))
    #expect(predicate.description == printed)
  }

  @Test func `a quoted name is no word of the language`() throws {
    let predicate = try PredicateParser.parse("1 IN `GEOBOX` AND NOT `SELF` == 2")
    #expect(try PredicateParser.parse(predicate.description) == predicate)
    #expect(
      try PredicateParser.parse("ANY `my dogs`.`first name` == 'x'")
        == .any(["my dogs", "first name"], .equal, .value(.string("x"))))
    #expect(
      throws: PredicateSyntaxError(
        offset: 2, message: "expected a comparison operator, found 'CONTAINS'")
    ) { try PredicateParser.parse("a `CONTAINS` 'x'") }
    #expect(
      throws: PredicateSyntaxError(
        offset: 10, message: "the name that starts here has no closing back quote")
    ) { try PredicateParser.parse("a == 1 || `b``") }
  }

  @Test(arguments: [
    ("a.b", [["a.b"]], ["a.b"]),
    ("a.b", [], ["a", "b"]),
    ("`a.b`.c", [], ["a.b", "c"]),
    ("a.b.c", [["a.b"]], ["a", "b", "c"]),
  ])
  func `%K is a name or a path`(
    _ argument: String, _ known: [[String]], _ names: [String]
  ) throws {
    let parsed = try PredicateParser.parse(
      "%K == 1", [.value(.string(argument))],
      isProperty: { known.map { Path(names: $0) }.contains($1 + [.property($0)]) })
    #expect(
      parsed.predicate
        == .comparison(Comparison(.path(Path(names: names)), .equal, .value(.int(1)))))
  }

  @Test func `%K behind a link is a name of what it leads to`() throws {
    let parsed = try PredicateParser.parse(
      "owner.%K == 1", [.value(.string("a.b"))], isProperty: { $0 == "a.b" && $1 == ["owner"] })
    #expect(
      parsed.predicate == .comparison(Comparison(.path(["owner", "a.b"]), .equal, .value(.int(1)))))
  }
}
