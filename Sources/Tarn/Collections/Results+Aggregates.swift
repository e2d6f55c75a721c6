import Foundation
import TarnStore

/// A type whose values have a least and a greatest one among objects: numbers and dates.
public protocol MinMaxType: _Persistable {}
/// A type whose values can be summed up: numbers.
public protocol AddableType: _Persistable {
  /// The nearest value; whole numbers are truncated.
  init(_nearest value: Double)
}

extension Int: MinMaxType, AddableType {}
extension Int8: MinMaxType, AddableType {}
extension Int16: MinMaxType, AddableType {}
extension Int32: MinMaxType, AddableType {}
extension Int64: MinMaxType, AddableType {}
extension Float: MinMaxType, AddableType {
  /// The nearest value; whole numbers are truncated.
  public init(_nearest value: Double) { self.init(value) }
}
extension Double: MinMaxType, AddableType {
  /// The nearest value; whole numbers are truncated.
  public init(_nearest value: Double) { self = value }
}
extension Decimal128: MinMaxType, AddableType {
  /// The decimal that the number prints as.
  public init(_nearest value: Double) { self.init(value) }
}
extension Date: MinMaxType {}

extension AddableType where Self: FixedWidthInteger {
  /// The nearest value; whole numbers are truncated.
  public init(_nearest value: Double) { self.init(value) }
}

extension Results {
  // MARK: - By key path

  /// The least value of a property, nil without any. Nil values and NaN do not take part.
  public func min<T: MinMaxType>(of keyPath: KeyPath<Element, T>) -> T? {
    min(ofProperty: name(of: keyPath))
  }
  /// The same for an optional property.
  public func min<T: MinMaxType>(of keyPath: KeyPath<Element, T?>) -> T? {
    min(ofProperty: name(of: keyPath))
  }

  /// The greatest value of a property, nil without any. Nil values and NaN do not take part.
  public func max<T: MinMaxType>(of keyPath: KeyPath<Element, T>) -> T? {
    max(ofProperty: name(of: keyPath))
  }
  /// The same for an optional property.
  public func max<T: MinMaxType>(of keyPath: KeyPath<Element, T?>) -> T? {
    max(ofProperty: name(of: keyPath))
  }

  /// The sum of a property's values, 0 without any. Traps if the type cannot hold it.
  public func sum<T: AddableType>(of keyPath: KeyPath<Element, T>) -> T {
    sum(ofProperty: name(of: keyPath))
  }
  /// The same for an optional property.
  public func sum<T: AddableType>(of keyPath: KeyPath<Element, T?>) -> T {
    sum(ofProperty: name(of: keyPath))
  }

  /// The average of a property's values, nil without any.
  public func average<T: AddableType>(of keyPath: KeyPath<Element, T>) -> Double? {
    average(ofProperty: name(of: keyPath))
  }
  /// The same for an optional property.
  public func average<T: AddableType>(of keyPath: KeyPath<Element, T?>) -> Double? {
    average(ofProperty: name(of: keyPath))
  }

  /// The average of a property's values as a decimal, nil without any.
  public func average(of keyPath: KeyPath<Element, Decimal128>) -> Decimal128? {
    average(ofProperty: name(of: keyPath))
  }
  /// The same for an optional property.
  public func average(of keyPath: KeyPath<Element, Decimal128?>) -> Decimal128? {
    average(ofProperty: name(of: keyPath))
  }

  // MARK: - By name

  /// The least value of the property with that name, nil without any. Traps if the class has no
  /// such property or it is of another type.
  public func min<T: MinMaxType>(ofProperty name: String) -> T? {
    typed(aggregate(name).min, name)
  }

  /// The greatest value of the property with that name, nil without any. Traps if the class has
  /// no such property or it is of another type.
  public func max<T: MinMaxType>(ofProperty name: String) -> T? {
    typed(aggregate(name).max, name)
  }

  /// The sum of the property with that name, 0 without a value. Traps if the class has no such
  /// property, it is of another type, or the type cannot hold the sum.
  public func sum<T: AddableType>(ofProperty name: String) -> T {
    guard let sum: T = typed(aggregate(name).sum, name) else {
      preconditionFailure("Dates have no sum: property '\(name)'.")
    }
    return sum
  }

  /// The average of the property with that name, nil without a value; truncated if a whole number
  /// is asked for. Traps if the class has no such property or it is no number.
  public func average<T: AddableType>(ofProperty name: String) -> T? {
    let aggregate = aggregate(name)
    precondition(aggregate.path.type != .date, "Dates have no average: property '\(name)'.")
    return typed(aggregate.average, name)
  }

  private func name(of keyPath: PartialKeyPath<Element>) -> String {
    SortDescriptor(keyPath: keyPath).keyPath
  }

  private func typed<T: _Persistable>(_ value: Value, _ name: String) -> T? {
    if value == .null { return nil }
    let boxed = _BoxedValue(value)
    if let typed = T._unbox(boxed) { return typed }
    // A sum of a type that is wider than the property's, or an average.
    if let nearest = T.self as? any AddableType.Type {
      switch value {
      case .float(let number): return nearest.init(_nearest: Double(number)) as? T
      case .double(let number): return nearest.init(_nearest: number) as? T
      case .decimal(let cell):
        return nearest.init(_nearest: DecimalNumber(cell).nearestDouble) as? T
      case .int(let number) where T.self == Double.self || T.self == Float.self:
        return nearest.init(_nearest: Double(number)) as? T
      default: break
      }
    }
    preconditionFailure("The result for property '\(name)' is no '\(T.self)'.")
  }

  private func aggregate(_ property: String) -> Aggregate {
    check()
    let query = live.query
    let name = core.binding(of: spec).reflection.property(property)?.columnName ?? property
    var aggregate: Aggregate
    do {
      aggregate = try Aggregate(name, on: query.classID, in: core.shown().schema.schema)
    } catch {
      fatalError("Invalid aggregate on '\(spec.type)': \(error)")
    }
    trapping { () throws(StorageError) in try query.feed(&aggregate, core.rows()) }
    return aggregate
  }
}
