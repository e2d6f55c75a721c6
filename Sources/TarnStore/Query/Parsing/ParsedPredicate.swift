/// A predicate parsed from a string, and the positions of its parts.
package struct ParsedPredicate: Sendable {
  /// A condition of the predicate, and the byte offsets of its sides in the string.
  struct Condition: Sendable {
    var predicate: Predicate
    var left: Int
    var right: Int
    /// In a SUBQUERY, the path to the collection.
    var subject: [String] = []
  }

  package let predicate: Predicate
  let conditions: [Condition]
  let lexer: PredicateLexer
}
