import TarnStore
import ToolSupport

/// Turns inferred columns into columns of classes. Nested objects become embedded classes, named
/// after the class and the column.
struct InferredClasses {
  /// The embedded classes to create.
  private(set) var embedded: [ClassDefinition] = []
  private var taken: Set<String>

  /// - Parameter taken: names of other classes.
  init(taken: Set<String>) { self.taken = taken }

  mutating func reading(_ column: InferredColumn, in className: String) -> ColumnReading {
    switch column.type {
    case .list(let element, let hasNull):
      return single(element, .list, hasNull, column.name, className)
    case .map(let element, let hasNull):
      return single(element, .map, hasNull, column.name, className)
    case let type: return single(type, .none, column.isOptional, column.name, className)
    }
  }

  private mutating func single(
    _ type: InferredType, _ collection: CollectionKind, _ isOptional: Bool, _ name: String,
    _ className: String
  ) -> ColumnReading {
    guard case .object(let columns) = type else {
      return ColumnReading(
        name: name, type: Self.plain(type), collection: collection, isOptional: isOptional)
    }
    let target = freeName("\(className)_\(name)")
    let readings = columns.map { reading($0, in: target) }
    embedded.append(
      ClassDefinition(name: target, properties: readings.map(\.property), isEmbedded: true))
    return ColumnReading(
      name: name, type: .link, collection: collection, isOptional: collection != .list,
      targetName: target)
  }

  private static func plain(_ type: InferredType) -> ColumnType {
    switch type {
    case .bool: .bool
    case .int: .int
    case .double: .double
    case .decimal: .decimal
    case .date: .date
    case .string: .string
    case .any, .list, .map, .object: .any
    }
  }

  private mutating func freeName(_ name: String) -> String {
    var found = name
    var number = 1
    while !taken.insert(found).inserted {
      number += 1
      found = "\(name)\(number)"
    }
    return found
  }
}

extension ColumnReading {
  /// The property for a new column, without traits that only its class determines.
  var property: ClassDefinition.Property {
    ClassDefinition.Property(
      name: name, type: type, collection: collection, isOptional: isOptional && type != .any,
      target: targetName)
  }
}
