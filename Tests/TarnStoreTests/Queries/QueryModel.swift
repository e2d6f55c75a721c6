import TarnStore

/// What predicates and orders mean, written down a second time and as plainly as possible.
struct QueryModel {
  let fixture: QueryFixture

  /// The value at the end of a path; null behind a link that leads nowhere.
  func value(_ names: [String], _ classID: ClassID, _ key: Int64) -> Value {
    switch follow(names, classID, key) {
    case .some(let value): value
    case .none: .null
    }
  }

  /// As `value`, but nil behind a link that leads nowhere.
  func follow(_ names: [String], _ classID: ClassID, _ key: Int64) -> Value? {
    guard let row = fixture.rows[Int(classID.rawValue)][key] else { return nil }
    let column = QueryFixture.schema[classID]!.named(names[0])!
    let value = row[column.id.index]
    if names.count == 1 { return value }
    guard case .link(let target) = value else { return nil }
    return follow(Array(names.dropFirst()), column.target!, target.rawValue)
  }

  func matches(_ predicate: Predicate, _ classID: ClassID, _ key: Int64) -> Bool {
    switch predicate {
    case .constant(let value): value
    case .and(let terms): terms.allSatisfy { matches($0, classID, key) }
    case .or(let terms): terms.contains { matches($0, classID, key) }
    case .not(let term): !matches(term, classID, key)
    case .comparison(let comparison): matches(comparison, classID, key)
    case .collection: preconditionFailure("the fixture has no collections")
    }
  }

  private func matches(_ comparison: Comparison, _ classID: ClassID, _ key: Int64) -> Bool {
    func value(_ operand: Operand) -> Value {
      switch operand {
      case .path(let names): self.value(names, classID, key)
      case .value(let value): value
      case .values, .members, .shape: .null
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
      return values.contains { Self.areEqual(left, Self.literal($0, beside: left), folds) }
    }
    var right = value(comparison.right)
    if case .value = comparison.left { left = Self.literal(left, beside: right) }
    if case .value = comparison.right { right = Self.literal(right, beside: left) }
    switch comparison.op {
    case .equal: return Self.areEqual(left, right, folds)
    case .notEqual: return !Self.areEqual(left, right, folds)
    case .less, .lessOrEqual, .greater, .greaterOrEqual:
      guard !Self.hasNoOrder(left), !Self.hasNoOrder(right) else { return false }
      let order = Self.compare(left, right)
      switch comparison.op {
      case .less: return order < 0
      case .lessOrEqual: return order <= 0
      case .greater: return order > 0
      default: return order >= 0
      }
    default: return Self.search(comparison.op, left, right, folds)
    }
  }

  /// What a constant stands for beside a value of a column.
  private static func literal(_ constant: Value, beside value: Value) -> Value {
    switch (constant, value) {
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
      part.count <= text.count
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
    case .null: true
    case .double(let value): value.isNaN
    case .float(let value): value.isNaN
    case .decimal(let cell): DecimalNumber(cell).isNaN
    default: false
    }
  }

  private static func areEqual(_ a: Value, _ b: Value, _ folds: Bool) -> Bool {
    if let a = bytes(a, folds), let b = bytes(b, folds) { return a == b }
    return compare(a, b) == 0
  }

  /// Null, NaN, numbers by exact value, the rest by its bytes.
  static func compare(_ a: Value, _ b: Value) -> Int {
    if a == .null || b == .null { return (a == .null ? 0 : 1) - (b == .null ? 0 : 1) }
    if let order = DecimalModel.compare(a, b) { return order }
    if let a = Exact(a), let b = Exact(b) { return a < b ? -1 : (b < a ? 1 : 0) }
    switch (a, b) {
    case (.bool(let a), .bool(let b)): return (a ? 1 : 0) - (b ? 1 : 0)
    case (.date(let a), .date(let b)): return a < b ? -1 : (a == b ? 0 : 1)
    case (.objectID(let a), .objectID(let b)): return a < b ? -1 : (a == b ? 0 : 1)
    case (.uuid(let a), .uuid(let b)): return a < b ? -1 : (a == b ? 0 : 1)
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
