extension PredicateBuilder {
  /// Two properties with embedded objects: they are equal if their members are, one by one, or if
  /// both are nil. Nil for other properties.
  func embeddedPair(
    _ comparison: Comparison, _ left: [String], _ right: [String], _ depth: Int
  ) throws(PredicateError) -> ResolvedNode? {
    // Errors in paths are reported where all pairs are bound.
    guard let first = try? ColumnPath(left, from: classID, in: schema),
      let second = try? ColumnPath(right, from: classID, in: schema),
      let target = first.target, target == second.target,
      let members = schema[target], members.isEmbedded
    else { return nil }
    guard comparison.op == .equal || comparison.op == .notEqual else {
      throw PredicateError("compare embedded objects only with == and !=: \(comparison)")
    }
    var both = [first, second].map { ResolvedNode.test(ColumnTest($0, .isNull, isNegated: true)) }
    for column in members.columns where !column.isRemoved {
      guard column.collection == .none, column.type != .any else {
        let kind = column.collection == .none ? "an AnyRealmValue" : "a collection"
        throw PredicateError(
          "'\(Operand.path(left))' and '\(Operand.path(right))' cannot be compared as a whole: "
            + "'\(members.name).\(column.name)' is \(kind). Compare their other properties")
      }
      let pair = Comparison(.path(left + [column.name]), .equal, .path(right + [column.name]))
      both.append(try node(.comparison(pair), depth: depth + 1))
    }
    let neither = [first, second].map { ResolvedNode.test(ColumnTest($0, .isNull)) }
    let areEqual = ResolvedNode.any([.all(neither), .all(both)])
    return comparison.op == .equal ? areEqual : !areEqual
  }
}
