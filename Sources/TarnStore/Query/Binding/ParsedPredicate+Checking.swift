extension ParsedPredicate {
  /// Throws the error of `ResolvedPredicate` for a filter that does not fit the class, with the
  /// position in the text.
  package func check(
    on classID: ClassID, in schema: StoreSchema
  ) throws(PredicateSyntaxError) {
    for condition in conditions {
      // Nil if the collection itself is wrong, which the check of the SUBQUERY reports later.
      guard let classID = classID.elements(at: condition.subject, in: schema) else { continue }
      switch condition.predicate {
      case .comparison(let comparison): try check(comparison, condition, classID, schema)
      case .constant, .and, .or, .not: break
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
    for condition in conditions where condition.subject.isEmpty {
      do {
        _ = try ValueCondition(condition.predicate, column)
      } catch {
        throw lexer.error(at: condition.left, error.message)
      }
    }
  }

  private func check(
    _ comparison: Comparison, _ condition: Condition, _ classID: ClassID, _ schema: StoreSchema
  ) throws(PredicateSyntaxError) {
    guard comparison.quantifier == nil else {
      return try checkElements(comparison, condition, classID, schema)
    }
    if case .figure = comparison.left { return }
    if let mistake = mistake(in: comparison.left, classID, schema) {
      throw lexer.error(at: condition.left, mistake)
    }
    guard let mistake = mistake(in: comparison.right, classID, schema) else { return }
    // A single word after an operator was probably meant as a string.
    let isWord =
      if case .path(let path) = comparison.right { path.count == 1 } else { false }
    throw lexer.error(
      at: condition.right, mistake + (isWord ? "; write a string in quotes" : ""))
  }

  /// For any element and a property: checks both paths.
  private func checkElements(
    _ comparison: Comparison, _ condition: Condition, _ classID: ClassID, _ schema: StoreSchema
  ) throws(PredicateSyntaxError) {
    guard case (.path(let left), .path(let right)) = (comparison.left, comparison.right) else {
      return
    }
    for (path, position) in [(left, condition.left), (right, condition.right)] {
      do {
        guard try NamedCollectionPath.find(path, from: classID, in: schema) == nil else {
          continue
        }
        _ = try ColumnPath(path, from: classID, in: schema)
      } catch {
        throw lexer.error(at: position, error.message)
      }
    }
  }

  /// The error of a path that does not lead to a single value.
  private func mistake(
    in operand: Operand, _ classID: ClassID, _ schema: StoreSchema
  ) -> String? {
    guard case .path(let path) = operand else { return nil }
    // Paths into values are checked with the whole condition.
    let found = try? NamedCollectionPath.find(path, from: classID, in: schema)
    if found?.hasSteps == true || path.contains(where: { $0.element != nil }) { return nil }
    do {
      _ = try ColumnPath(path, from: classID, in: schema)
      return nil
    } catch {
      return error.message
    }
  }
}

extension StoreSchema {
  /// Whether the objects that a path from a class leads to have a property with that name.
  package func hasProperty(_ name: String, behind path: Path, _ id: ClassID) -> Bool {
    id.elements(at: path, in: self).flatMap { self[$0]?.named(name) } != nil
  }
}

extension ClassID {
  /// The class of the objects that a path through links and collections leads to; nil if it does
  /// not lead to objects.
  fileprivate func elements(at path: Path, in schema: StoreSchema) -> ClassID? {
    var id = self
    for step in path {
      let next: ClassID?
      switch step {
      case .backlinks(let origin, _): next = schema.classes.first { $0.name == origin }?.id
      case .property(let name): next = schema[id]?.named(name)?.target
      case .element: continue
      case .keys, .values: return nil
      }
      guard let next else { return nil }
      id = next
    }
    return id
  }
}
