extension CollectionTest {
  /// Whether the values at the end of the steps pass the test.
  func matches<Source: RowSource>(
    _ value: Value, in place: SequencePlace, _ source: Source
  ) throws(StorageError) -> Bool {
    switch test {
    case .value(let node): return node.passes(value)
    case .object(let target, let node):
      return value == .null ? node.holdsBehindNothing : try meets(value, target, node, source)
    case .count(let node): return node.passes(try source.elementCount(of: value, in: place))
    case .matching(let target, let node, let count):
      guard let id = value.collection else { return count.passes(.null) }
      var met = 0
      try source.forEachElement(of: place.nested(id)) { (element) throws(StorageError) in
        if try passes(element, target, node, source) { met += 1 }
        return true
      }
      return count.passes(.int(Int64(met)))
    case .each, .aggregate, .location: return false
    }
  }

  /// The result behind a nil link.
  var holdsBehindNothing: Bool {
    switch (way.namesOne, test) {
    // Nothing exists to be counted or aggregated.
    case (_, .count(let node)), (_, .aggregate(_, _, _, let node)),
      (_, .matching(_, _, count: let node)):
      node.passes(.null)
    case (true, .value(let node)): node.passes(.null)
    case (true, .object(_, let node)): node.holdsBehindNothing
    case (_, .value), (_, .object), (_, .each), (_, .location): false
    }
  }
}

extension ResolvedNode {
  /// The result if a path leads nowhere, so that every value is null.
  var holdsBehindNothing: Bool {
    holds { node in
      switch node {
      case .test(let test): test.acceptsNull
      case .pair(let pair): pair.holdsBehindNothing
      case .collection(let test): test.holdsBehindNothing
      case .constant, .not, .and, .or: trap("a compound condition is evaluated by its parts")
      }
    }
  }
}
