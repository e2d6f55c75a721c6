/// One key to sort by, by name: a property, reached through to-one links or not.
package struct OrderTerm: Hashable, Sendable {
  package var path: [String]
  package var isAscending: Bool

  package init(path: [String], isAscending: Bool = true) {
    self.path = path
    self.isAscending = isAscending
  }

  /// A dotted path.
  package init(_ path: String, isAscending: Bool = true) {
    self.path = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    self.isAscending = isAscending
  }
}

/// An order of a class's rows, bound to its columns. Immutable; any thread may use it.
///
/// Ascending: null, NaN, then by value (numbers exactly, text byte by byte), and last the rows for
/// which a link along the path leads nowhere. Descending is the reverse of all of that. Rows that
/// are equal in all terms follow each other by ascending object key, whatever the directions, so
/// the order of two different rows is always decided.
package struct ResolvedOrder: Hashable, Sendable {
  package struct Term: Hashable, Sendable {
    package var path: ColumnPath
    package var isAscending: Bool
  }

  package let classID: ClassID
  package let terms: [Term]

  /// Throws, with the names of class and property, for a property that does not exist or has
  /// no order of its own (a link).
  package init(
    _ terms: [OrderTerm], on classID: ClassID, in schema: StoreSchema
  ) throws(PredicateError) {
    self.classID = classID
    var resolved: [Term] = []
    for term in terms {
      let path = try ColumnPath(term.path, from: classID, in: schema, for: .order)
      guard path.type != .link else {
        throw PredicateError(
          "cannot sort by property '\(term.path.joined(separator: "."))' of class "
            + "'\(schema[path.classID]?.name ?? "")': it is a link, which has no order; "
            + "name a property behind it")
      }
      resolved.append(Term(path: path, isAscending: term.isAscending))
    }
    self.terms = resolved
  }

  /// True if rows whose prefixes have the same high word are equal, so that their keys decide.
  var isDecidedByFirstWord: Bool { terms.count == 1 && !SortColumn(terms[0]).hasLows }

  /// Every column that can change the order, each once.
  package var dependencies: [QueryDependency] {
    var seen: Set<QueryDependency> = []
    return terms.flatMap(\.path.dependencies).filter { seen.insert($0).inserted }
  }
}

/// The beginning of a value as two numbers that order as the values do, null and broken links
/// included: what sorting compares. Only where `isExact` is false on both sides may equal numbers
/// stand for different values.
struct OrderPrefix {
  var high: UInt64
  var low: UInt64
  var isExact: Bool

  /// Behind a link that leads nowhere: above all values.
  static let broken = OrderPrefix(high: .max, low: .max, isExact: true)
  /// Below all values.
  static let null = OrderPrefix(high: 0, low: 0, isExact: true)

  /// The order of the values turned around.
  @inline(__always)
  func reversed(if isReversed: Bool) -> OrderPrefix {
    isReversed ? OrderPrefix(high: ~high, low: ~low, isExact: isExact) : self
  }

  @inline(__always)
  init(high: UInt64, low: UInt64, isExact: Bool) {
    self.high = high
    self.low = low
    self.isExact = isExact
  }

  /// The low word is 1 for values whose high word may equal that of null or broken.
  @inline(__always)
  init(_ value: Int64) {
    self.init(high: UInt64(bitPattern: value) ^ (1 << 63), low: 1, isExact: true)
  }

  @inline(__always)
  init(_ value: Double) {
    // NaN comes out as zero, which the low word tells from null.
    self.init(high: value.treeOrder, low: 1, isExact: true)
  }

  @inline(__always)
  init(_ value: DecimalNumber) {
    // NaN is zero there, and infinity leaves room above: one up tells both from null and broken.
    let above = value.order.bits + 1
    self.init(
      high: UInt64(truncatingIfNeeded: above >> 64), low: UInt64(truncatingIfNeeded: above),
      isExact: true)
  }

  @inline(__always)
  init(_ value: Bool) {
    self.init(high: value ? 2 : 1, low: 1, isExact: true)
  }

  @inline(__always)
  init(_ value: Timestamp) {
    let fine = UInt64(UInt32(bitPattern: value.nanoseconds) ^ (1 << 31))
    self.init(high: UInt64(bitPattern: value.seconds) ^ (1 << 63), low: fine + 1, isExact: true)
  }

  @inline(__always)
  init(_ value: Bytes12) {
    self.init(high: value.high, low: UInt64(value.low) + 1, isExact: true)
  }

  /// All 128 bits are taken: null and broken are told apart by giving up the last bit.
  @inline(__always)
  init(_ value: Bytes16, mayBeNull: Bool) {
    if mayBeNull {
      let low = (value.high << 63) | (value.low >> 1)
      self.init(high: value.high >> 1, low: low, isExact: false)
      // A value's high word is below 2^63; moving values up by one keeps null below them.
      self.low &+= 1
      if self.low == 0 { self.high += 1 }
    } else {
      self.init(high: value.high, low: value.low, isExact: true)
    }
  }

  /// Fifteen bytes, zeros after a shorter text, and the length where that decides.
  @inline(__always)
  init(first: UInt64, second: UInt64, length: Int) {
    let tail = UInt64(truncatingIfNeeded: min(length, 16) &+ 1)
    self.init(high: first, low: (second & ~0xff) | tail, isExact: length <= 15)
  }

  /// Any text, read within its bounds.
  init(_ bytes: UnsafeRawBufferPointer) {
    var words: (UInt64, UInt64) = (0, 0)
    unsafe withUnsafeMutableBytes(of: &words) { target in
      unsafe target.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes.prefix(15)))
    }
    self.init(first: words.0.bigEndian, second: words.1.bigEndian, length: bytes.count)
  }

  init(_ scalar: Scalar, mayBeNull: Bool) {
    switch scalar {
    case .null: self = .null
    case .int(let value): self.init(value)
    case .bool(let value): self.init(value)
    case .double(let value): self.init(value)
    case .date(let value): self.init(value)
    case .bytes12(let value): self.init(value)
    case .bytes16(let value): self.init(value, mayBeNull: mayBeNull)
    case .decimal(let value): self.init(value)
    }
  }
}

extension RowSource {
  /// The prefix of a row's value for a term, turned around for a descending one.
  func orderPrefix<Rows: RowReading>(
    _ rows: Rows, _ slot: Int, _ term: ResolvedOrder.Term
  ) throws(StorageError) -> OrderPrefix {
    let prefix: OrderPrefix
    if term.path.links.isEmpty {
      prefix = try valuePrefix(rows, slot, term.path)
    } else {
      let found = try withTarget(rows, slot, term.path.links, from: 0) {
        (rows, slot) throws(StorageError) in try valuePrefix(rows, slot, term.path)
      }
      prefix = found ?? .broken
    }
    return prefix.reversed(if: !term.isAscending)
  }

  private func valuePrefix<Rows: RowReading>(
    _ rows: Rows, _ slot: Int, _ path: ColumnPath
  ) throws(StorageError) -> OrderPrefix {
    guard path.type == .string || path.type == .data else {
      return OrderPrefix(rows.scalar(path, slot), mayBeNull: path.mayBeNull)
    }
    return try unsafe withText(rows, slot, path) { bytes in
      guard let bytes = unsafe bytes else { return .null }
      return unsafe OrderPrefix(bytes)
    }
  }
}
