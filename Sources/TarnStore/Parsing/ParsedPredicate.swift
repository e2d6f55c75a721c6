/// A predicate that was read from a text, and where its parts stand there.
package struct ParsedPredicate: Sendable {
  /// A condition of the predicate, and the bytes of the text where its sides begin.
  struct Condition: Sendable {
    var predicate: Predicate
    var left: Int
    var right: Int
    /// Within a SUBQUERY the path to the collection whose elements it is about.
    var subject: [String] = []
  }

  package let predicate: Predicate
  let conditions: [Condition]
  let lexer: PredicateLexer
}
