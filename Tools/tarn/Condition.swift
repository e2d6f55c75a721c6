import TarnStore
import TarnText
import ToolSupport

/// A filter from the command line.
struct Condition {
  private let parsed: ParsedPredicate?
  /// The name of the option or argument, for messages.
  private let name: String
  private let text: String

  /// All objects.
  init() { (parsed, name, text) = (nil, "", "") }

  /// - Parameters:
  /// - name: the option or argument that gave it, such as `--where`.
  /// - names: the class's properties, which a message about a wrong filter lists.
  init(
    _ text: String, givenAs name: String, names: () -> [String] = { [] }
  ) throws(UsageError) {
    (self.name, self.text) = (name, text)
    do {
      parsed = try PredicateParser.parse(text, [])
    } catch {
      throw UsageError("\(name): \(error.advising(on: names(), in: text))")
    }
  }

  /// The text of the filter; nil for all objects.
  var filterText: String? { parsed == nil ? nil : text }

  var predicate: TarnStore.Predicate { parsed?.predicate ?? .constant(true) }

  /// The query for the class's objects that match. Throws an error with the place in the text if
  /// the filter does not fit the class.
  func query(
    on classID: ClassID, _ schema: SchemaView, sorted order: [OrderTerm] = []
  ) throws -> CompiledQuery {
    do {
      try parsed?.check(on: classID, in: schema.schema)
    } catch {
      let names = schema[classID].shownColumns.map(\.name)
      throw ToolError("\(name): \(error.advising(on: names, in: text))")
    }
    return try CompiledQuery(predicate, order, on: classID, schema)
  }

  /// The properties of the class itself that the filter names, in its order.
  var propertyNames: [String] { predicate.propertyNames }
}

extension Operand {
  /// The first property of a path.
  fileprivate var propertyName: String? {
    switch self {
    case .path(let path), .figure(let path, _):
      path.first?.propertyName
    case .value, .values, .range, .members, .shape: nil
    }
  }
}

extension TarnStore.Predicate {
  fileprivate var propertyNames: [String] {
    switch self {
    case .constant: return []
    case .and(let parts), .or(let parts): return parts.flatMap(\.propertyNames)
    case .not(let part): return part.propertyNames
    case .comparison(let comparison):
      return [comparison.left, comparison.right].compactMap(\.propertyName)
    }
  }
}
