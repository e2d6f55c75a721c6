import TarnStore
import TestSupport
import Testing

/// Arguments of `%K` in filter strings.
struct PathArgumentTests {
  @Test(arguments: [
    ("%K.@count > 1", ["dogs"], "dogs.@count > 1"),
    ("%K > 1", ["dogs.@count"], "dogs.@count > 1"),
    ("%K > 1", ["dogs.@max.age"], "dogs.@max.age > 1"),
    ("%K BETWEEN {1, 2}", ["ages.@sum"], "ages.@sum BETWEEN {1, 2}"),
    ("ANY %K.age > 1", ["dogs"], "ANY dogs.age > 1"),
    ("a.%K == 1 AND %K.%K == 2", ["b.c", "d", "e"], "a.b.c == 1 AND d.e == 2"),
    ("%K['a'] == 1", ["map"], "map['a'] == 1"),
    ("data[%K] == 1", ["#any"], "data[#any] == 1"),
    ("scores[%K] == 1", ["FIRST"], "scores[FIRST] == 1"),
    ("scores[%K] == 1", ["LAST"], "scores[LAST] == 1"),
    ("%K[%K][%K] == 1", ["map", "a.b", "#any"], "map['a.b'][#any] == 1"),
    (
      "SUBQUERY(%K, $x, $x.%K > 1 AND 'a' IN $x.tags).@count > 2", ["dogs", "age"],
      "SUBQUERY(dogs, $x, $x.age > 1 AND ANY $x.tags == 'a').@count > 2"
    ),
  ])
  func `an argument can be any part of a path`(
    _ text: String, _ paths: [String], _ same: String
  ) throws {
    let parsed = try PredicateParser.parse(text, paths.map { .value(.string($0)) })
    #expect(try parsed.predicate == PredicateParser.parse(same))
  }
}
