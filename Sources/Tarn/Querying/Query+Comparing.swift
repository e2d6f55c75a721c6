import Foundation
import TarnStore

/// A type whose values have an order in queries, or an optional of one.
public protocol _QueryComparable {}
extension Int: _QueryComparable {}
extension Int8: _QueryComparable {}
extension Int16: _QueryComparable {}
extension Int32: _QueryComparable {}
extension Int64: _QueryComparable {}
extension Float: _QueryComparable {}
extension Double: _QueryComparable {}
extension Decimal128: _QueryComparable {}
extension String: _QueryComparable {}
extension Date: _QueryComparable {}
extension ObjectId: _QueryComparable {}
extension UUID: _QueryComparable {}
extension Optional: _QueryComparable where Wrapped: _QueryComparable {}

/// A type of text or bytes, or an optional of one.
public protocol _QueryText {}
extension String: _QueryText {}
extension Data: _QueryText {}
extension Optional: _QueryText where Wrapped: _QueryText {}

/// A type of text, or an optional of one.
public protocol _QueryString: _QueryText {}
extension String: _QueryString {}
extension Optional: _QueryString where Wrapped: _QueryString {}

extension Query {
  private func compare(
    _ op: ComparisonOperator, _ right: Operand, _ options: StringOptions = []
  ) -> Query<Bool> {
    switch (content, right) {
    case (.any(let path), .value), (.any(let path), .values):
      Query<Bool>(.collection(CollectionCondition(path, .any(op, right, options.store))))
    case (.count(let path), .value(let number)):
      Query<Bool>(.collection(CollectionCondition(path, .count(op, number))))
    case (.count(let path), .values(let numbers)):
      Query<Bool>(
        .or(numbers.map { .collection(CollectionCondition(path, .count(.equal, $0))) }))
    default: Query<Bool>(.comparison(Comparison(operand, op, right, options.store)))
    }
  }

  /// A value to compare with; for a link, the object's key.
  func constant(_ value: some _Persistable) -> Operand { .value(constantValue(value)) }

  func constantValue(_ value: some _Persistable) -> Value {
    let boxed = value._box()
    if let object = boxed.object, object._context == nil {
      trap("A query can only compare with an object that is in a Realm: \(object)")
    }
    return boxed.value
  }
}

extension Query where T: _Persistable {
  /// True if the property has the value. For links: if it points to that object.
  public static func == (property: Query, value: T) -> Query<Bool> {
    property.compare(.equal, property.constant(value))
  }
  public static func != (property: Query, value: T) -> Query<Bool> {
    property.compare(.notEqual, property.constant(value))
  }
  public static func == (value: T, property: Query) -> Query<Bool> { property == value }
  public static func != (value: T, property: Query) -> Query<Bool> { property != value }
  /// True if both properties have the same value.
  public static func == (a: Query, b: Query) -> Query<Bool> { a.compare(.equal, b.operand) }
  public static func != (a: Query, b: Query) -> Query<Bool> { a.compare(.notEqual, b.operand) }

  /// True if the property has one of the values.
  public func `in`<S: Sequence<T>>(_ values: S) -> Query<Bool> {
    compare(.in, .values(values.map { constantValue($0) }))
  }
}

extension Query where T: _Persistable & _QueryComparable {
  public static func < (property: Query, value: T) -> Query<Bool> {
    property.compare(.less, property.constant(value))
  }
  public static func <= (property: Query, value: T) -> Query<Bool> {
    property.compare(.lessOrEqual, property.constant(value))
  }
  public static func > (property: Query, value: T) -> Query<Bool> {
    property.compare(.greater, property.constant(value))
  }
  public static func >= (property: Query, value: T) -> Query<Bool> {
    property.compare(.greaterOrEqual, property.constant(value))
  }

  public static func < (value: T, property: Query) -> Query<Bool> { property > value }
  public static func <= (value: T, property: Query) -> Query<Bool> { property >= value }
  public static func > (value: T, property: Query) -> Query<Bool> { property < value }
  public static func >= (value: T, property: Query) -> Query<Bool> { property <= value }

  public static func < (a: Query, b: Query) -> Query<Bool> { a.compare(.less, b.operand) }
  public static func <= (a: Query, b: Query) -> Query<Bool> {
    a.compare(.lessOrEqual, b.operand)
  }
  public static func > (a: Query, b: Query) -> Query<Bool> { a.compare(.greater, b.operand) }
  public static func >= (a: Query, b: Query) -> Query<Bool> {
    a.compare(.greaterOrEqual, b.operand)
  }
}

extension Query where T: _Persistable & _QueryComparable & Comparable {
  /// True if the property's value is in the range.
  public func contains(_ range: Range<T>) -> Query<Bool> {
    self >= range.lowerBound && self < range.upperBound
  }
  /// True if the property's value is in the range.
  public func contains(_ range: ClosedRange<T>) -> Query<Bool> {
    self >= range.lowerBound && self <= range.upperBound
  }
}

extension Query {
  /// True if the property's value is in the range; nil never is.
  public func contains<W: _OptionalPersistable & _QueryComparable & Comparable>(
    _ range: Range<W>
  ) -> Query<Bool> where T == W? {
    self >= range.lowerBound && self < range.upperBound
  }
  /// True if the property's value is in the range; nil never is.
  public func contains<W: _OptionalPersistable & _QueryComparable & Comparable>(
    _ range: ClosedRange<W>
  ) -> Query<Bool> where T == W? {
    self >= range.lowerBound && self <= range.upperBound
  }
}

extension Query where T: _Persistable & _QueryText {
  /// True if the text occurs in the property's. An empty or nil text occurs nowhere.
  public func contains(_ text: T, options: StringOptions = []) -> Query<Bool> {
    compare(.contains, constant(text), options)
  }
  /// True if the property's text starts with it; never for an empty or nil text.
  public func starts(with text: T, options: StringOptions = []) -> Query<Bool> {
    compare(.beginsWith, constant(text), options)
  }
  /// True if the property's text ends with it; never for an empty or nil text.
  public func ends(with text: T, options: StringOptions = []) -> Query<Bool> {
    compare(.endsWith, constant(text), options)
  }
  /// As `contains` with the text of another property.
  public func contains<U: _QueryText>(
    _ other: Query<U>, options: StringOptions = []
  ) -> Query<Bool> {
    compare(.contains, other.operand, options)
  }
  /// As `starts(with:)` with the text of another property.
  public func starts<U: _QueryText>(
    with other: Query<U>, options: StringOptions = []
  ) -> Query<Bool> {
    compare(.beginsWith, other.operand, options)
  }
  /// As `ends(with:)` with the text of another property.
  public func ends<U: _QueryText>(
    with other: Query<U>, options: StringOptions = []
  ) -> Query<Bool> {
    compare(.endsWith, other.operand, options)
  }
}

extension Query where T: _Persistable & _QueryString {
  /// True if the property's text is that text, as the options compare.
  public func equals(_ text: T, options: StringOptions = []) -> Query<Bool> {
    compare(.equal, constant(text), options)
  }
  /// True if the property's text is another one, as the options compare.
  public func notEquals(_ text: T, options: StringOptions = []) -> Query<Bool> {
    compare(.notEqual, constant(text), options)
  }
  /// True if all of the property's text fits a pattern, in which `*` stands for any text, also for
  /// none, `?` for one character (a Unicode scalar), and what is behind a backslash for itself.
  /// Never for a nil pattern.
  public func like(_ pattern: T, caseInsensitive: Bool = false) -> Query<Bool> {
    compare(.like, constant(pattern), caseInsensitive ? .caseInsensitive : [])
  }
  /// As `equals` with the text of another property.
  public func equals<U: _QueryString>(
    _ other: Query<U>, options: StringOptions = []
  ) -> Query<Bool> {
    compare(.equal, other.operand, options)
  }
  /// As `notEquals` with the text of another property.
  public func notEquals<U: _QueryString>(
    _ other: Query<U>, options: StringOptions = []
  ) -> Query<Bool> {
    compare(.notEqual, other.operand, options)
  }
  /// As `like` with the pattern in another property.
  public func like<U: _QueryString>(
    _ other: Query<U>, caseInsensitive: Bool = false
  ) -> Query<Bool> {
    compare(.like, other.operand, caseInsensitive ? .caseInsensitive : [])
  }
}
