/// What stands for a placeholder in the text of a predicate.
package enum PredicateArgument: Sendable {
  case value(Value)
  /// What `IN %@` and `BETWEEN %@` take.
  case values([Value])
  /// An object whose members are compared, of that class.
  case members(of: String, Predicate)
  /// What `IN %@` takes for a place.
  case shape(GeoShape)
  /// Something that no property can be compared with; what the message says of it.
  case unusable(String)
}

/// A predicate that was read from a text, and where its parts stand there.
package struct ParsedPredicate: Sendable {
  /// A condition of the predicate, and the bytes of the text where its sides begin.
  struct Condition: Sendable {
    var predicate: Predicate
    var left: Int
    var right: Int
  }

  package let predicate: Predicate
  let conditions: [Condition]
  let lexer: PredicateLexer

  /// Throws what of the text does not fit the class, with its position, as `ResolvedPredicate`
  /// would without one.
  package func check(
    on classID: ClassID, in schema: StoreSchema
  ) throws(PredicateSyntaxError) {
    for condition in conditions {
      if case .comparison(let comparison) = condition.predicate {
        try check(comparison.left, at: condition.left, classID, schema)
        try check(comparison.right, at: condition.right, classID, schema)
      }
      do {
        _ = try ResolvedPredicate(condition.predicate, on: classID, in: schema)
      } catch {
        throw lexer.error(at: condition.left, error.message)
      }
    }
  }

  /// The same for conditions on values, which the column describes.
  package func check(onValuesOf column: ColumnSchema) throws(PredicateSyntaxError) {
    for condition in conditions {
      do {
        _ = try ValueCondition(condition.predicate, column)
      } catch {
        throw lexer.error(at: condition.left, error.message)
      }
    }
  }

  private func check(
    _ operand: Operand, at start: Int, _ classID: ClassID, _ schema: StoreSchema
  ) throws(PredicateSyntaxError) {
    guard case .path(let names) = operand else { return }
    // What leads into values is checked with the whole condition.
    let found = try? CollectionPath.find(names, from: classID, in: schema)
    if found?.hasSteps == true || names.contains(where: { ValueStep($0) != nil }) { return }
    do {
      _ = try ColumnPath(names, from: classID, in: schema)
    } catch {
      throw lexer.error(at: start, error.message)
    }
  }
}
