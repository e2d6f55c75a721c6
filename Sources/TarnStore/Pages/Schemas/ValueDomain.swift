/// The values of a column that the program's type for the property can represent, if it can
/// represent only some: the program cannot read others.
///
/// A store keeps domains for code that writes without the model classes, such as one that exchanges
/// objects with a server.
package indirect enum ValueDomain: Hashable, Sendable {
  /// The values of an integer type with fewer bits.
  case integers(ClosedRange<Int64>)
  /// The raw values of an enum's cases.
  case values(Set<Value>)

  /// Whether a value is in the domain. The column decides about null.
  package func contains(_ value: Value) -> Bool {
    switch (self, value) {
    case (_, .null): true
    case (.integers(let range), .int(let number)): range.contains(number)
    case (.integers, _): false
    case (.values(let values), _):
      values.contains(value) || values.contains { Self.isSameRawValue($0, value) }
    }
  }

  /// Compares like `init(rawValue:)` of an enum: strings by their characters, numbers by value.
  private static func isSameRawValue(_ a: Value, _ b: Value) -> Bool {
    switch (a, b) {
    case (.string(let a), .string(let b)): a == b
    case (.float(let a), .float(let b)): a == b
    case (.double(let a), .double(let b)): a == b
    default: false
    }
  }
}

extension StoreSchema {
  /// Whether both are equal apart from the domains.
  func isEqualWithoutDomains(_ other: StoreSchema) -> Bool {
    withoutDomains == other.withoutDomains
  }

  private var withoutDomains: StoreSchema {
    var schema = self
    for index in classes.indices where classes[index].hasDomains {
      for column in classes[index].columns.indices {
        schema.classes[index].columns[column].domain = nil
      }
    }
    return schema
  }
}

extension ClassSchema {
  var hasDomains: Bool { columns.contains { $0.domain != nil } }
}
