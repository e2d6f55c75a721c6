/// The values of a column that the type of a program's property has, where it has fewer than the
/// column: the program cannot read others.
///
/// A file keeps them for what others put into it: a program that exchanges it with a server has no
/// model classes.
package indirect enum ValueDomain: Hashable, Sendable {
  /// Those of an integer type with fewer bits.
  case integers(ClosedRange<Int64>)
  /// The raw values of an enum's cases.
  case values(Set<Value>)

  /// Whether a value is one of them. Null is for the column to decide.
  package func contains(_ value: Value) -> Bool {
    switch (self, value) {
    case (_, .null): true
    case (.integers(let range), .int(let number)): range.contains(number)
    case (.integers, _): false
    case (.values(let values), _):
      values.contains(value) || values.contains { Self.isSameRawValue($0, value) }
    }
  }

  /// As `init(rawValue:)` of an enum compares them: texts by their characters, numbers by value.
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
  /// Whether both are the same apart from the domains.
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
