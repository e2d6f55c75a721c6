import TarnStore

/// The extremes, the sum and the number of values that come one after the other. Null and what is
/// no number do not take part.
struct ValueFold {
  private(set) var min = Value.null
  private(set) var max = Value.null
  private(set) var count = 0
  private var whole: Int128 = 0
  private var fraction = 0.0
  private var decimal = DecimalNumber.zero

  mutating func add(_ value: Value) {
    switch value {
    case .int(let number):
      whole += Int128(number)
    case .float(let number):
      if number.isNaN { return }
      fraction += Double(number)
    case .double(let number):
      if number.isNaN { return }
      fraction += number
    case .decimal(let cell):
      let number = DecimalNumber(cell)
      if number.isNaN { return }
      decimal = decimal + number
    case .date: break
    default: return
    }
    count += 1
    if min == .null || ElementOrder.precedes(value, min) { min = value }
    if max == .null || ElementOrder.precedes(max, value) { max = value }
  }

  /// Of whole numbers one, of decimals a decimal, else a double. 0 without a value.
  var sum: Value {
    switch min {
    case .null: .int(0)
    case .int: Int64(exactly: whole).map { .int($0) } ?? .double(Double(whole))
    case .decimal: .decimal(decimal.cell)
    default: .double(fraction)
    }
  }

  /// A decimal for decimals, else a double. Null without a value.
  var average: Value {
    switch min {
    case .null: .null
    case .int: .double(Double(whole) / Double(count))
    case .decimal: .decimal((decimal / DecimalNumber(Int64(count))).cell)
    default: .double(fraction / Double(count))
    }
  }
}

extension ValueFold {
  /// A result in the type that was asked for; nil for null.
  static func typed<T: _Persistable>(_ value: Value, _ name: String) -> T? {
    if value == .null { return nil }
    if let typed = T._unbox(_BoxedValue(value)) { return typed }
    // A sum of a type that is wider than the property's, or an average.
    if let nearest = T.self as? any AddableType.Type {
      switch value {
      case .float(let number): return nearest.init(_nearest: Double(number)) as? T
      case .double(let number): return nearest.init(_nearest: number) as? T
      case .decimal(let cell):
        return nearest.init(_nearest: DecimalNumber(cell).nearestDouble) as? T
      case .int(let number)
      where T.self == Double.self || T.self == Float.self || T.self == Decimal128.self:
        return nearest.init(_nearest: Double(number)) as? T
      default: break
      }
    }
    trap("The result for \(name) is no '\(T.self)'.")
  }
}

extension ValueFold {
  /// The values themselves.
  init<S: Sequence>(of values: S) where S.Element: RealmCollectionValue {
    for value in values { add(value._boxElement().value) }
  }

  /// A property of objects, of those that are there.
  ///
  /// - Parameter type: what the elements are. Traps for other types than classes, and for a class
  ///   without such a property that is a number or a date.
  init<S: Sequence>(of elements: S, elements type: Any.Type, property name: String) {
    guard let type = type as? ObjectBase.Type else {
      trap("Elements of type '\(type)' have no property '\(name)'.")
    }
    if let problem = Aggregate.problem(of: name) { trap("\(problem).") }
    guard let property = ClassReflection.of(type).property(name), property.isFoldable else {
      trap(
        "Class '\(ClassReflection.name(of: type))' has no property '\(name)' that is a number or "
          + "a date.")
    }
    for element in elements {
      if let object = element as? ObjectBase { add(property.readBoxed(object).value) }
    }
  }
}

extension PropertyReflection {
  fileprivate var isFoldable: Bool {
    collection == .none && [.int, .float, .double, .decimal, .date].contains(type)
  }
}
