import TarnStore

extension ValueFold {
  /// A result in the requested type; nil for null.
  static func typed<T: _Persistable>(_ value: Value, _ name: String) -> T? {
    if value == .null { return nil }
    if let typed: T = held(value) { return typed }
    switch value {
    case .int(let number):
      guard let type = T.self as? any FixedWidthInteger.Type else { break }
      trap(
        "The result for \(name) is \(number), out of the range of '\(T.self)', "
          + "\(range(of: type)). Request the result as Int, or declare the property as Int: a sum "
          + "may be larger than each value, and another program may store larger values.")
    case .float, .double, .decimal:
      guard T.self is any FixedWidthInteger.Type else { break }
      // Elements that are numbers have no property to ask for.
      let wayOut =
        name.beginsWithBytes(of: "property")
        ? "Request it as Double or Decimal128, as sum(ofProperty:) can."
        : "Add the elements as Double."
      trap("The result for \(name) does not fit '\(T.self)': it is \(value). \(wayOut)")
    default: break
    }
    trap(
      "The result for \(name) is not of type '\(T.self)'. Request it as its own type: it is "
        + "\(value).")
  }

  private static func range<Whole: FixedWidthInteger>(of _: Whole.Type) -> String {
    "\(Whole.min) to \(Whole.max)"
  }

  /// The value as `T`; nil for null, and for a value that `T` cannot hold.
  static func held<T: _Persistable>(_ value: Value) -> T? {
    if let typed = T._unbox(_BoxedValue(value)) { return typed }
    // A sum of a type that is wider than the property's, or an average.
    guard let type = T.self as? any AddableType.Type, let nearest = nearest(to: value) else {
      return nil
    }
    if let whole = T.self as? any FixedWidthInteger.Type {
      return isHeld(nearest, by: whole) ? type.init(_nearest: nearest) as? T : nil
    }
    return type.init(_nearest: nearest) as? T
  }

  /// True for a result that the type holds, and for null.
  static func isHeld<T: _Persistable>(_ value: Value, by type: T.Type) -> Bool {
    value == .null || (held(value) as T?) != nil
  }

  private static func isHeld<Whole: FixedWidthInteger>(
    _ number: Double, by type: Whole.Type
  ) -> Bool {
    Whole(exactly: number.rounded(.towardZero)) != nil
  }

  private static func nearest(to value: Value) -> Double? {
    switch value {
    case .int(let number): Double(number)
    case .float(let number): Double(number)
    case .double(let number): number
    case .decimal(let cell): DecimalNumber(cell).nearestDouble
    default: nil
    }
  }
}

extension ValueFold {
  /// The values themselves.
  init<S: Sequence>(
    of values: S, for kind: AggregateTerm.Kind
  ) where S.Element: RealmCollectionValue {
    self.init(kind.part)
    for value in values { add(value._boxElement().value) }
  }

  /// A property of the existing objects among the elements.
  ///
  /// - Parameters:
  ///   - type: the elements' type. Traps for other types than classes, and for a class without
  ///     such a property that is a number, a date or an `AnyRealmValue`.
  ///   - kind: the aggregate. Traps for one that dates do not have.
  init<S: Sequence>(
    of elements: S, elements type: Any.Type, property name: String, for kind: AggregateTerm.Kind
  ) {
    self.init(kind.part)
    guard let type = (type as? any KeypathSortable.Type)?._objectType else {
      trap("Elements of type '\(type)' have no property '\(name)'.")
    }
    if let problem = ColumnPath.problem(ofAggregated: name) { trap("\(problem).") }
    let name = PathText.name(name)
    if type == DynamicObject.self {
      for case let object as DynamicObject in elements {
        let property = object._reflection.foldable(name, kind)
        add((property.readFlat(object) as? any _Persistable)?._box().value ?? .null)
      }
      return
    }
    let property = ClassReflection.of(type).foldable(name, kind)
    for element in elements {
      let object = (element as? any KeypathSortable)?._boxElement().object
      if let object { add(property.readBoxed(object).value) }
    }
  }
}

extension ClassReflection {
  /// The property of that name. Traps if it has no such aggregate.
  fileprivate func foldable(
    _ property: String, _ kind: AggregateTerm.Kind
  ) -> PropertyReflection {
    guard let found = self.property(property), found.collection == .none,
      [.int, .float, .double, .decimal, .date, .any].contains(found.type)
    else {
      trap("Class '\(name)' has no number or date property '\(property)'.")
    }
    found.requireAggregate(kind, property)
    return found
  }
}

extension PropertyReflection {
  /// Traps for the sum and the average of dates.
  func requireAggregate(_ kind: AggregateTerm.Kind, _ name: String) {
    let isTotal = kind == .sum || kind == .average
    require(
      type != .date || !isTotal, "Dates have no \(kind.rawValue): property '\(name)'.")
  }
}

extension AggregateTerm.Kind {
  /// The part of a fold that it needs.
  fileprivate var part: ValueFold.Part { self == .min || self == .max ? .ends : .totals }
}

extension ValueFold {
  /// The aggregate that it was made for; dates have only a minimum and a maximum.
  func value(_ kind: AggregateTerm.Kind) -> Value {
    switch kind {
    case .count: .int(Int64(totals.count))
    case .sum: totals.sum
    case .average: totals.average
    case .min: ends.least
    case .max: ends.greatest
    }
  }
}
