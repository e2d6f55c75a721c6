import TarnStore

/// What predicates and orders mean, written down a second time and as plainly as possible.
struct QueryModel {
  let schema: StoreSchema
  /// The values of an object by column; nil if it is not there.
  let row: (ClassID, Int64) -> [Value]?
  /// The elements of a collection, of a map its values.
  let elements: (ClassID, Int64, ColumnID) -> [Value]
  /// What a map has under a key.
  let entry: (ClassID, Int64, ColumnID, String) -> Value?

  init(
    _ schema: StoreSchema, row: @escaping (ClassID, Int64) -> [Value]?,
    elements: @escaping (ClassID, Int64, ColumnID) -> [Value],
    entry: @escaping (ClassID, Int64, ColumnID, String) -> Value?
  ) {
    self.schema = schema
    self.row = row
    self.elements = elements
    self.entry = entry
  }

  /// A fixture, which has no collections.
  init(fixture: QueryFixture) {
    self.init(QueryFixture.schema) {
      fixture.rows[Int($0.rawValue)][$1]
    } elements: { _, _, _ in
      preconditionFailure("the fixture has no collections")
    } entry: { _, _, _, _ in
      preconditionFailure("the fixture has no collections")
    }
  }

  /// The value at the end of a path; null behind a link that leads nowhere.
  func value(_ names: Path, _ classID: ClassID, _ key: Int64) -> Value {
    switch follow(names, classID, key) {
    case .some(let value): value
    case .none: .null
    }
  }

  /// As `value`, but nil behind a link that leads nowhere. A link itself is the object.
  func follow(_ names: Path, _ classID: ClassID, _ key: Int64) -> Value? {
    guard let row = row(classID, key) else { return nil }
    let column = schema[classID]!.named(names[0].name)!
    if names.count == 2, case .element(.key(let name)) = names[1] {
      return entry(classID, key, column.id, name) ?? .null
    }
    let value = row[column.id.index]
    if names.count == 1 { return object(value, column) }
    guard case .link(let target) = value else { return nil }
    return follow(Array(names.dropFirst()), column.target!, target.rawValue)
  }

  private func isOfAnyType(_ names: Path, _ classID: ClassID) -> Bool {
    type(names, classID) == .any
  }

  private func type(_ names: Path, _ classID: ClassID) -> ColumnType {
    let column = schema[classID]!.named(names[0].name)!
    guard names.count > 1, column.type == .link else { return column.type }
    return type(Array(names.dropFirst()), column.target!)
  }

  /// Whether a side of a comparison has strings only, or null, which precedes them.
  private func isOfStrings(_ operand: Operand, _ classID: ClassID) -> Bool {
    switch operand {
    case .path(let names): type(names, classID) == .string
    case .value(.string), .value(.null): true
    case .value, .values, .range, .figure, .members, .shape: false
    }
  }

  private func object(_ value: Value, _ column: ColumnSchema) -> Value {
    guard case .link(let key) = value, let target = column.target else { return value }
    return .object(target, key)
  }

  func matches(_ predicate: Predicate, _ classID: ClassID, _ key: Int64) -> Bool {
    switch predicate {
    case .constant(let value): value
    case .and(let terms): terms.allSatisfy { matches($0, classID, key) }
    case .or(let terms): terms.contains { matches($0, classID, key) }
    case .not(let term): !matches(term, classID, key)
    case .comparison(let comparison):
      comparison.isOfCollection
        ? matchesElements(comparison, classID, key) : matches(comparison, classID, key)
    }
  }

  /// Of an object's own collection.
  private func matchesElements(_ comparison: Comparison, _ classID: ClassID, _ key: Int64) -> Bool {
    let (path, op, right) = (comparison.path, comparison.op, comparison.right)
    let column = schema[classID]!.named(path[0].name)!
    let elements = elements(classID, key, column.id)
    let rest = Array(path.dropFirst())
    let values = elements.map { element in
      guard !rest.isEmpty, case .link(let key) = element else { return object(element, column) }
      return value(rest, column.target!, key.rawValue)
    }
    switch (comparison.left, right) {
    case (.figure(_, .count), _):
      return compares(.int(Int64(elements.count)), op, right, classID, key)
    case (.figure(_, .aggregate(let aggregate)), _):
      return compares(Self.total(aggregate, values), op, right, classID, key)
    case (.figure(_, .matching(let predicate)), _):
      let met = elements.filter { element in
        guard case .link(let key) = element else { return false }
        return matches(predicate, column.target!, key.rawValue)
      }
      return compares(.int(Int64(met.count)), op, right, classID, key)
    case (.path, .value(let constant)):
      let isAny = isOfAnyType(path, classID)
      let areStrings = type(path, classID) == .string
      return values.contains {
        compares($0, op, constant, comparison.options, ofAnyType: isAny, areStrings: areStrings)
      }
    case (.path, .path(let names)):
      let right = value(names, classID, key)
      let areStrings = [path, names].allSatisfy { type($0, classID) == .string }
      let ignoresCase = comparison.options.contains(.caseInsensitive)
      return values.contains {
        Self.compares($0, op, right, ignoresCase, areStrings: areStrings)
      }
    default: preconditionFailure("a condition that nobody makes here")
    }
  }

  /// Of numbers whose sums are exact.
  private static func total(_ aggregate: CollectionAggregate, _ values: [Value]) -> Value {
    let numbers = values.filter { !hasNoOrder($0) }
    func least(_ numbers: [Value]) -> Value {
      numbers.min { compare($0, $1) < 0 } ?? .null
    }
    let doubles = numbers.map { number in
      switch number {
      case .int(let value): Double(value)
      case .double(let value): value
      default: preconditionFailure("only these are added up here")
      }
    }
    let sum = doubles.reduce(0, +)
    switch aggregate {
    case .minimum: return least(numbers)
    case .maximum: return numbers.max { compare($0, $1) < 0 } ?? .null
    case .sum: return .double(sum)
    case .average: return numbers.isEmpty ? .null : .double(sum / Double(numbers.count))
    }
  }

  /// What a collection comes to, with a constant or a property of the object.
  private func compares(
    _ left: Value, _ op: ComparisonOperator, _ right: Operand, _ classID: ClassID, _ key: Int64
  ) -> Bool {
    switch right {
    case .path(let names): Self.compares(left, op, value(names, classID, key), false)
    case .value(let constant): compares(left, op, constant)
    case .values, .range, .figure, .members, .shape:
      preconditionFailure("a total compares with none of these")
    }
  }

  private func compares(
    _ left: Value, _ op: ComparisonOperator, _ right: Value, _ options: StringOptions = [],
    ofAnyType: Bool = false, areStrings: Bool = false
  ) -> Bool {
    let right = Self.literal(right, beside: left, ofAnyType: ofAnyType)
    return Self.compares(
      left, op, right, options.contains(.caseInsensitive), areStrings: areStrings)
  }

  private func matches(_ comparison: Comparison, _ classID: ClassID, _ key: Int64) -> Bool {
    func literal(_ constant: Value, _ value: Value, _ operand: Operand) -> Value {
      guard case .path(let names) = operand else { return constant }
      return Self.literal(constant, beside: value, ofAnyType: isOfAnyType(names, classID))
    }
    func value(_ operand: Operand) -> Value {
      switch operand {
      case .path(let names): self.value(names, classID, key)
      case .value(let value): value
      case .values, .range, .figure, .members, .shape: .null
      }
    }
    let folds = comparison.options.contains(.caseInsensitive)
    if comparison.op == .like {
      guard case .string(let text) = value(comparison.left),
        case .string(let pattern) = value(comparison.right)
      else { return false }
      let (a, b) = folds ? (text.lowercased(), pattern.lowercased()) : (text, pattern)
      return Self.isLike(Array(a.unicodeScalars)[...], Array(b.unicodeScalars)[...])
    }
    var left = value(comparison.left)
    if case .values(let values) = comparison.right {
      return values.contains { Self.areEqual(left, literal($0, left, comparison.left), folds) }
    }
    var right = value(comparison.right)
    if case .value = comparison.left { left = literal(left, right, comparison.right) }
    if case .value = comparison.right { right = literal(right, left, comparison.left) }
    let areStrings = [comparison.left, comparison.right].allSatisfy { isOfStrings($0, classID) }
    return Self.compares(left, comparison.op, right, folds, areStrings: areStrings)
  }

  private static func compares(
    _ left: Value, _ op: ComparisonOperator, _ right: Value, _ folds: Bool,
    areStrings: Bool = false
  ) -> Bool {
    switch op {
    case .equal: return areEqual(left, right, folds)
    case .notEqual: return !areEqual(left, right, folds)
    case .less, .lessOrEqual, .greater, .greaterOrEqual:
      let isNull = [left, right].map { $0 == .null }
      if isNull[0] != isNull[1], !areStrings { return false }
      if !isNull[0], !isNull[1] {
        guard !hasNoOrder(left), !hasNoOrder(right), kind(left) == kind(right) else { return false }
      }
      let order = compare(left, right)
      switch op {
      case .less: return order < 0
      case .lessOrEqual: return order <= 0
      case .greater: return order > 0
      default: return order >= 0
      }
    default: return search(op, left, right, folds)
    }
  }

  // MARK: - Order

  /// Below, equal to or above zero, as the terms mean it, by comparing whole values.
  func compare(_ a: Int64, _ b: Int64, _ terms: [OrderTerm], _ classID: ClassID) -> Int {
    for term in terms {
      let (x, y) = (follow(term.path, classID, a), follow(term.path, classID, b))
      var order = 0
      if let x, let y {
        order = Self.compare(x, y)
      } else {
        // A broken link comes after everything.
        order = (x == nil ? 1 : 0) - (y == nil ? 1 : 0)
      }
      if order != 0 { return term.isAscending ? order : -order }
    }
    return 0
  }

  /// Keys in that order, equal ones as they are.
  func sorted(_ keys: [Int64], _ terms: [OrderTerm], _ classID: ClassID) -> [Int64] {
    let positions = keys.indices.sorted { a, b in
      let order = compare(keys[a], keys[b], terms, classID)
      return order == 0 ? a < b : order < 0
    }
    return positions.map { keys[$0] }
  }

  /// The first of each group of equal ones, without those whose links lead nowhere.
  func distinct(_ keys: [Int64], _ paths: [Path], _ classID: ClassID) -> [Int64] {
    var seen: [[Value]] = []
    return keys.filter { key in
      let values = paths.map { follow($0, classID, key) }
      if values.contains(nil) { return false }
      let group = values.compactMap { $0 }
      let isKnown = seen.contains { other in
        zip(other, group).allSatisfy { Self.compare($0, $1) == 0 }
      }
      if !isKnown { seen.append(group) }
      return !isKnown
    }
  }

  /// What a constant stands for beside a value of a column.
  private static func literal(
    _ constant: Value, beside value: Value, ofAnyType: Bool
  ) -> Value {
    switch (constant, value) {
    case (.string(let text), .data) where !ofAnyType: .data(Array(text.utf8))
    case (.int(let key), .object(let id, _)): .object(id, ObjectKey(key))
    case (.link(let key), .object(let id, _)): .object(id, key)
    case (.double(let constant), .decimal):
      .decimal((DecimalNumber(text: "\(constant)") ?? .nan).cell)
    case (.float(let constant), .decimal):
      .decimal((DecimalNumber(text: "\(constant)") ?? .nan).cell)
    case (.string(let text), .decimal): .decimal((DecimalNumber(text: text) ?? .nan).cell)
    case (.decimal(let cell), .double): .double(DecimalNumber(cell).nearestDouble)
    case (.int(let value), .float): Self.float(Float(value), constant)
    case (.double(let value), .float): Self.float(Float(value), constant)
    case (.decimal(let cell), .float):
      Self.float(
        Float(DecimalNumber(cell).nearestDouble), .double(DecimalNumber(cell).nearestDouble))
    default: constant
    }
  }

  /// The float nearest to a constant; beyond all floats or nearer to zero the constant itself.
  private static func float(_ nearest: Float, _ constant: Value) -> Value {
    nearest.isFinite && nearest != 0 ? .float(nearest) : constant
  }

  private static func search(
    _ op: ComparisonOperator, _ left: Value, _ right: Value, _ folds: Bool
  ) -> Bool {
    guard let text = bytes(left, folds), let part = bytes(right, folds), !part.isEmpty,
      part.count <= text.count, kind(left) == kind(right)
    else { return false }
    switch op {
    case .beginsWith: return text.starts(with: part)
    case .endsWith: return text.suffix(part.count) == part[...]
    default:
      return (0...(text.count - part.count)).contains { text[$0...].starts(with: part) }
    }
  }

  private static func isLike(
    _ text: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Unicode.Scalar>
  ) -> Bool {
    guard let head = pattern.first else { return text.isEmpty }
    let rest = pattern.dropFirst()
    switch head {
    case "*": return isLike(text, rest) || !text.isEmpty && isLike(text.dropFirst(), pattern)
    case "?": return !text.isEmpty && isLike(text.dropFirst(), rest)
    case "\\" where !rest.isEmpty:
      return text.first == rest.first && isLike(text.dropFirst(), rest.dropFirst())
    default: return text.first == head && isLike(text.dropFirst(), rest)
    }
  }

  private static func bytes(_ value: Value, _ folds: Bool) -> [UInt8]? {
    switch value {
    case .string(let text): Array((folds ? text.lowercased() : text).utf8)
    case .data(let bytes): bytes
    default: nil
    }
  }

  private static func hasNoOrder(_ value: Value) -> Bool {
    switch value {
    case .null, .bool, .object: true
    case .double(let value): value.isNaN
    case .float(let value): value.isNaN
    case .decimal(let cell): DecimalNumber(cell).isNaN
    default: false
    }
  }

  private static func areEqual(_ a: Value, _ b: Value, _ folds: Bool) -> Bool {
    guard kind(a) == kind(b) else { return false }
    if let a = bytes(a, folds), let b = bytes(b, folds) { return a == b }
    return compare(a, b) == 0
  }

  /// Where values of a kind stand among others.
  private static func kind(_ value: Value) -> Int {
    switch value {
    case .null: 0
    case .bool: 1
    case .int, .float, .double, .decimal, .link: 2
    case .string: 3
    case .data: 4
    case .date: 5
    case .objectID: 6
    case .uuid: 7
    case .object: 8
    case .list, .map: preconditionFailure("values have no collections here")
    }
  }

  /// Null, NaN, numbers by exact value, the rest by its bytes; of different kinds by these.
  static func compare(_ a: Value, _ b: Value) -> Int {
    guard kind(a) == kind(b) else { return kind(a) - kind(b) }
    if a == .null { return 0 }
    if let order = DecimalModel.compare(a, b) { return order }
    if let a = Exact(a), let b = Exact(b) { return a < b ? -1 : (b < a ? 1 : 0) }
    switch (a, b) {
    case (.bool(let a), .bool(let b)): return (a ? 1 : 0) - (b ? 1 : 0)
    case (.date(let a), .date(let b)): return a < b ? -1 : (a == b ? 0 : 1)
    case (.objectID(let a), .objectID(let b)): return a < b ? -1 : (a == b ? 0 : 1)
    case (.uuid(let a), .uuid(let b)): return a < b ? -1 : (a == b ? 0 : 1)
    case (.object(let x, let a), .object(let y, let b)):
      return (x, a) < (y, b) ? -1 : (x, a) == (y, b) ? 0 : 1
    default:
      let (a, b) = (bytes(a, false)!, bytes(b, false)!)
      return a == b ? 0 : (a.lexicographicallyPrecedes(b) ? -1 : 1)
    }
  }

  /// A number as whole part and fraction, none of which is rounded.
  private struct Exact: Comparable {
    var rank: Int
    var whole: Int128
    var fraction: Double

    init?(_ value: Value) {
      switch value {
      case .int(let value): self.init(whole: Int128(value))
      case .link(let key): self.init(whole: Int128(key.rawValue))
      case .float(let value): self.init(Double(value))
      case .double(let value): self.init(value)
      default: return nil
      }
    }

    private init(whole: Int128) {
      (rank, self.whole, fraction) = (2, whole, 0)
    }

    private init(_ value: Double) {
      (rank, whole, fraction) = (2, 0, value)
      if value.isNaN { (rank, fraction) = (0, 0) }
      if value > 0x1p100 { rank = 3 }
      if value < -0x1p100 { rank = 1 }
      if rank == 2 {
        // Both have the number's sign.
        whole = Int128(value)
        fraction = value - Double(whole)
      }
    }

    static func < (a: Self, b: Self) -> Bool {
      (a.rank, a.whole, a.fraction) < (b.rank, b.whole, b.fraction)
    }
  }
}

extension Comparison {
  fileprivate var isOfCollection: Bool {
    if case .figure = left { true } else { quantifier != nil }
  }

  fileprivate var path: Path {
    switch left {
    case .path(let path), .figure(let path, _): path
    default: preconditionFailure("a condition that nobody makes here")
    }
  }
}

extension PathStep {
  fileprivate var name: String { propertyName ?? description }
}
