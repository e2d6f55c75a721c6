/// An order of a class's rows, bound to its columns. Immutable; any thread may use it.
///
/// Ascending: null, NaN, then by value (numbers exactly, strings bytewise), and last the rows with
/// a nil link on the path. Mixed values are ordered by kind first, as in `SequenceOrder`.
/// Descending is the reverse of all of that. Strings that are equal under a collation are ordered
/// bytewise after all terms. Rows that are equal in all of that are ordered by ascending object
/// key, whatever the directions, so the order of two different rows is always defined.
package struct ResolvedOrder: Hashable, Sendable {
  package struct Term: Hashable, Sendable {
    package var path: ColumnPath
    package var isAscending: Bool
    /// Nil for the order of the values themselves, which is that of indexes.
    var collator: Collator?
  }

  package let classID: ClassID
  package let terms: [Term]

  /// Throws, with the names of class and property, for a property that does not exist or has no
  /// order (a link).
  package init(
    _ terms: [OrderTerm], on classID: ClassID, in schema: StoreSchema
  ) throws(PredicateError) {
    self.classID = classID
    var resolved: [Term] = []
    for term in terms {
      let path = try ColumnPath(term.path, from: classID, in: schema, for: .order)
      guard path.type != .link else {
        throw PredicateError(
          "cannot sort by property '\(term.path.text())' of class "
            + "'\(schema[path.classID]?.name ?? "")': it is a link, which has no order; "
            + "name a property of its target")
      }
      let collator = Collator(term.collation)
      guard collator == nil || path.type == .string else {
        throw PredicateError(
          "cannot sort property '\(term.path.text())' of class "
            + "'\(schema[path.classID]?.name ?? "")' by a collation: it is of type \(path.type), "
            + "and only strings have one")
      }
      resolved.append(Term(path: path, isAscending: term.isAscending, collator: collator))
    }
    // Strings that are equal under a collation are finally ordered by their bytes.
    self.terms =
      resolved
      + resolved.filter { $0.collator != nil }.map {
        Term(path: $0.path, isAscending: $0.isAscending)
      }
  }

  init(_ terms: [Term], on classID: ClassID) {
    self.classID = classID
    self.terms = terms
  }

  /// The same order without terms that the object keys decide anyway: a primary key that is the
  /// object key.
  func withoutKeys(of schema: ClassSchema) -> ResolvedOrder {
    guard schema.keyIsPrimary,
      let end = terms.firstIndex(where: {
        $0.path.links.isEmpty && $0.path.column == schema.primaryKey && $0.isAscending
      })
    else { return self }
    return ResolvedOrder(Array(terms[..<end]), on: classID)
  }

  /// True if the rows are sorted by descending object keys: by a primary key that is the object
  /// key, whatever terms follow.
  func isThatOfKeysReversed(_ schema: ClassSchema) -> Bool {
    guard schema.keyIsPrimary, let first = terms.first, !first.isAscending else { return false }
    return first.path.links.isEmpty && first.path.column == schema.primaryKey
  }

  /// True if rows whose prefixes have the same high word are equal, so that their keys decide.
  var isDecidedByFirstWord: Bool { terms.count == 1 && !SortColumn(terms[0]).hasLows }

  /// Every column that can change the order, each once.
  package var dependencies: [QueryDependency] {
    var seen: Set<QueryDependency> = []
    return terms.flatMap(\.path.dependencies).filter { seen.insert($0).inserted }
  }
}

extension Rows {
  /// The prefix of a row's value for a term, inverted for a descending one.
  func orderPrefix<Cluster: RowReading>(
    _ cluster: Cluster, _ slot: Int, _ term: ResolvedOrder.Term
  ) throws(StorageError) -> OrderPrefix {
    let prefix: OrderPrefix
    if term.path.links.isEmpty {
      prefix = try valuePrefix(cluster, slot, term)
    } else {
      let found = try withTarget(cluster, slot, term.path.links, from: 0) {
        (cluster, slot) throws(StorageError) in try valuePrefix(cluster, slot, term)
      }
      prefix = found ?? .broken
    }
    return prefix.reversed(if: !term.isAscending)
  }

  private func valuePrefix<Cluster: RowReading>(
    _ cluster: Cluster, _ slot: Int, _ term: ResolvedOrder.Term
  ) throws(StorageError) -> OrderPrefix {
    let path = term.path
    if path.type == .any {
      return OrderPrefix(ofAny: try anyValue(cluster, slot, path.classID, path.column))
    }
    guard path.type == .string || path.type == .data else {
      return OrderPrefix(cluster.scalar(path, slot), mayBeNull: path.mayBeNull)
    }
    return try unsafe withText(cluster, slot, path) { bytes in
      guard let bytes = unsafe bytes else { return .null }
      if let collator = term.collator { return unsafe OrderPrefix(collator.key(of: bytes)) }
      return unsafe OrderPrefix(bytes)
    }
  }
}

/// One sort key, by name: a property, possibly reached through to-one links.
package struct OrderTerm: Hashable, Sendable {
  package var path: Path
  package var isAscending: Bool
  /// For strings.
  package var collation: Collation

  package init(path: Path, isAscending: Bool = true, collation: Collation = .bytes) {
    self.path = path
    self.isAscending = isAscending
    self.collation = collation
  }

  /// A path as a string.
  package init(_ path: String, isAscending: Bool = true, collation: Collation = .bytes) {
    self.init(path: Path(text: path), isAscending: isAscending, collation: collation)
  }
}
