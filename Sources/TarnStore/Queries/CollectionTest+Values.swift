extension CollectionTest {
  /// Whether what the steps lead to from a column on meets the test.
  func matches<Rows: RowReading, Source: RowSource>(
    at steps: [ValueStep], _ column: ColumnID, isCollection: Bool, _ rows: Rows, _ slot: Int,
    _ source: Source
  ) throws(StorageError) -> Bool {
    let place = SequencePlace(classID: classID, key: rows.key(at: slot), column: column)
    var isMet = false
    let visit = { (value: Value, place: SequencePlace) throws(StorageError) -> Bool in
      isMet = try self.matches(value, in: place, source)
      return !isMet
    }
    if isCollection {
      _ = try source.forEachValue(at: steps[...], from: place, visit)
    } else {
      let value = try source.anyValue(rows, slot, classID, column)
      _ = try source.forEachValue(at: steps[...], of: value, in: place, visit)
    }
    return isMet
  }

  private func matches<Source: RowSource>(
    _ value: Value, in place: SequencePlace, _ source: Source
  ) throws(StorageError) -> Bool {
    switch test {
    case .value(let node): return node.passes(value)
    case .object(let target, let node):
      return value == .null ? node.holdsBehindNothing : try meets(value, target, node, source)
    case .count(let node):
      switch value {
      case .list(let id), .map(let id):
        return node.passes(.int(Int64(try source.elementCount(of: place.nested(id)))))
      default: return node.passes(.null)
      }
    case .matching(let target, let node, let count):
      switch value {
      case .list(let id), .map(let id):
        var met = 0
        try source.forEachElement(of: place.nested(id)) { (element) throws(StorageError) in
          if try passes(element, target, node, source) { met += 1 }
          return true
        }
        return count.passes(.int(Int64(met)))
      default: return count.passes(.null)
      }
    case .each, .aggregate, .total, .location: return false
    }
  }

  /// The answer behind a link that leads nowhere.
  var holdsBehindNothing: Bool {
    switch (elements, test) {
    // Nothing is there that could be counted or added up.
    case (_, .count(let node)), (_, .aggregate(_, _, _, let node)),
      (_, .matching(_, _, count: let node)):
      node.passes(.null)
    case (.at(_, let steps), .value(let node)) where !steps.contains(.each): node.passes(.null)
    case (.at(_, let steps), .object(_, let node)) where !steps.contains(.each):
      node.holdsBehindNothing
    case (_, .total(_, let op, _)): op == .equal
    case (_, .value), (_, .object), (_, .each), (_, .location): false
    }
  }
}

extension ResolvedNode {
  /// The answer where a path has led nowhere, so that every value is null.
  var holdsBehindNothing: Bool {
    holds { node in
      switch node {
      case .test(let test): test.acceptsNull
      case .pair(let pair): pair.op == .equal
      case .collection(let test): test.holdsBehindNothing
      case .constant, .not, .and, .or: trap("what is put together asks its parts")
      }
    }
  }
}
