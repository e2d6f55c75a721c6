import Foundation
import TarnStore

extension Query {
  func compare(
    _ op: ComparisonOperator, _ right: Operand, _ options: StringOptions = []
  ) -> Query<Bool> {
    switch (content, right) {
    case (.any(let path), _):
      Query<Bool>(.any(path, op, right, options.store), of: scope)
    case (.figure(let path, let figure), .values(let values)):
      Query<Bool>(.or(values.map { .compare(path, figure, .equal, .value($0)) }), of: scope)
    case (.figure(let path, let figure), _):
      Query<Bool>(.compare(path, figure, op, right), of: scope)
    case (.anyCount(let path), .values(let numbers)):
      Query<Bool>(.or(numbers.map { Self.anyCount(path, .equal, .value($0)) }), of: scope)
    case (.anyCount(let path), .value):
      Query<Bool>(Self.anyCount(path, op, right), of: scope)
    default:
      Query<Bool>(.comparison(Comparison(operand, op, right, options.store)), of: scope)
    }
  }

  private static func anyCount(
    _ path: Path, _ op: ComparisonOperator, _ number: Operand
  ) -> TarnStore.Predicate {
    .comparison(Comparison(.figure(path, .count), op, number, quantifier: .any))
  }

  /// Compares two properties; or a property with some element of a collection, or with an
  /// aggregate, on either side.
  func compare<U>(
    _ op: ComparisonOperator, with other: Query<U>, _ options: StringOptions = []
  ) -> Query<Bool> {
    if let condition = compareElement(op, with: other, options) { return condition }
    if case (.path, .figure) = (content, other.content), let mirrored = op.mirrored {
      return other.compare(mirrored, operand)
    }
    return compare(op, other.operand, options)
  }

  /// True if the property has one of the values.
  func isOne(of values: [Operand]) -> Query<Bool> {
    var constants: [Value] = []
    var conditions: [TarnStore.Predicate] = []
    for value in values {
      if case .value(let constant) = value {
        constants.append(constant)
      } else {
        conditions.append(compare(.equal, value).predicate)
      }
    }
    if conditions.isEmpty { return compare(.in, .values(constants)) }
    if !constants.isEmpty { conditions.append(compare(.in, .values(constants)).predicate) }
    return Query<Bool>(.or(conditions), of: scope)
  }

  /// True if the property is between `low` and `high`; for a collection, if some element is.
  func isWithin(_ low: Operand, _ high: Operand, isClosed: Bool) -> Query<Bool> {
    let end = isClosed ? ComparisonOperator.lessOrEqual : .less
    switch (content, low, high) {
    case (.any(let path), .value(let low), .value(let high)):
      return Query<Bool>(.any(path, .in, .range(low, high, isClosed: isClosed)), of: scope)
    case (.anyCount, _, _):
      trap("Compare a number of elements inside another collection with one number, not a range.")
    default: return compare(.greaterOrEqual, low) && compare(end, high)
    }
  }

  /// A value to compare with: for a link, the object's key; for an embedded object, its properties.
  /// No stored link refers to an unmanaged object.
  func constant(_ value: some _Persistable) -> Operand {
    let boxed = value._box()
    require(
      boxed.nested == nil,
      "A query cannot compare with a list or map: compare with its elements, as in $0.value[0].")
    if let embedded = boxed.object as? EmbeddedObject {
      do throws(MemberMistake) {
        return try embedded.membersToCompare()
      } catch {
        trap("A query cannot compare with \(embedded): \(error.message).")
      }
    }
    guard let object = boxed.object else { return .value(boxed.value) }
    if unsafe object._context == nil { return .value(.unmanagedObject) }
    checkStore(of: object)
    guard value is AnyRealmValue, let binding = object._binding else { return .value(boxed.value) }
    return .value(.object(binding.classID, ObjectKey(object._key)))
  }

  /// Traps for an object of another Realm, whose key has no meaning here.
  private func checkStore(of object: ObjectBase) {
    guard let core = object._core else { return }
    require(
      storeOfObjects == nil || storeOfObjects == ObjectIdentifier(core.store),
      "A query cannot compare with an object of another Realm, here one of class "
        + "'\(object._className)': look it up in this Realm by its primary key.")
    require(
      !object._isInvalidated,
      "A query cannot compare with a deleted object, here one of class "
        + "'\(object._className)': check isInvalidated first.")
  }
}

extension Query where T: _Persistable {
  /// True if the property has one of the values.
  public func `in`<S: Sequence<T>>(_ values: S) -> Query<Bool> {
    isOne(of: values.map { constant($0) })
  }
}

extension Query where T: _Persistable & _QueryComparable & Comparable {
  /// True if the property's value is in the range.
  public func contains(_ range: Range<T>) -> Query<Bool> {
    isWithin(constant(range.lowerBound), constant(range.upperBound), isClosed: false)
  }
  /// True if the property's value is in the range.
  public func contains(_ range: ClosedRange<T>) -> Query<Bool> {
    isWithin(constant(range.lowerBound), constant(range.upperBound), isClosed: true)
  }
}

extension Query {
  /// True if the property's value is in the range; nil never is.
  public func contains<W: _OptionalPersistable & _QueryComparable & Comparable>(
    _ range: Range<W>
  ) -> Query<Bool> where T == W? {
    isWithin(
      constant(Optional(range.lowerBound)), constant(Optional(range.upperBound)), isClosed: false)
  }
  /// True if the property's value is in the range; nil never is.
  public func contains<W: _OptionalPersistable & _QueryComparable & Comparable>(
    _ range: ClosedRange<W>
  ) -> Query<Bool> where T == W? {
    isWithin(
      constant(Optional(range.lowerBound)), constant(Optional(range.upperBound)), isClosed: true)
  }
}
