import TarnStore
import TarnText

extension ColumnSchema {
  /// A column of single values like the elements.
  fileprivate var element: ColumnSchema {
    var column = self
    column.collection = .none
    return column
  }
}

extension Content {
  /// The same values as values of another type.
  ///
  /// - Parameter misfit: the error for a value, as text, that the type does not hold exactly.
  func widened(to column: ColumnSchema, _ misfit: (String) -> any Error) throws -> Content {
    switch self {
    case .list where column.collection == .none: throw misfit("a list")
    case .map where column.collection == .none: throw misfit("a map")
    case .value(let value):
      guard let widened = Self.widened(value, to: column.type),
        widened != .null || column.isOptional || column.type == .any
      else { throw misfit(ValueText.shown(value)) }
      return .value(widened)
    case .list(let items):
      return .list(try items.map { try $0.widened(to: column.element, misfit) })
    case .map(let pairs):
      return .map(
        try pairs.map { Pair(key: $0.key, value: try $0.value.widened(to: column.element, misfit)) }
      )
    case .object: return self
    }
  }

  /// Nil if the type does not hold the value exactly.
  private static func widened(_ value: Value, to type: ColumnType) -> Value? {
    switch (value, type) {
    case (.null, _), (.string, .string): return value
    case (.link, _), (.object, _), (.list, _), (.map, _): return nil
    case (_, .any): return value
    case (.float(let number), .double): return .double(Double(number))
    case (.bool(let flag), .int): return .int(flag ? 1 : 0)
    case (_, .string): return ValueText.text(value).map { .string($0) }
    default:
      return ValueText.parse(ValueText.json(value), as: type, rounding: false)
        ?? ValueText.text(value).flatMap { ValueText.parse($0, as: type, rounding: false) }
    }
  }
}
