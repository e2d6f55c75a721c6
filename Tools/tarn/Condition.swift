import TarnStore
import ToolSupport

/// A condition as it was given on the command line.
struct Condition {
  private let parsed: ParsedPredicate?
  /// What a message calls it.
  private let name: String
  private let text: String

  /// All objects.
  init() { (parsed, name, text) = (nil, "", "") }

  /// - Parameters:
  ///   - name: where it was given, such as `--where`.
  ///   - names: of the properties that there are, for a message about a text that is wrong.
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

  var predicate: TarnStore.Predicate { parsed?.predicate ?? .constant(true) }

  /// The objects of a class that meet it. Throws what does not fit the class, with the place in the
  /// text.
  func query(
    on classID: ClassID, _ schema: SchemaView, sorted order: [OrderTerm] = []
  ) throws -> CompiledQuery {
    do {
      try parsed?.check(on: classID, in: schema.schema)
    } catch {
      let names = schema[classID].columns.filter { !$0.isRemoved }.map(\.name)
      throw ToolError("\(name): \(error.advising(on: names, in: text))")
    }
    return try CompiledQuery(predicate, order, on: classID, schema)
  }

  /// The properties of the class itself that it names, in its order.
  var propertyNames: [String] { predicate.propertyNames }
}

extension TarnStore.Predicate {
  fileprivate var propertyNames: [String] {
    switch self {
    case .constant: return []
    case .and(let parts), .or(let parts): return parts.flatMap(\.propertyNames)
    case .not(let part): return part.propertyNames
    case .collection(let condition): return Array(condition.path.prefix(1))
    case .comparison(let comparison):
      return [comparison.left, comparison.right].compactMap { operand in
        if case .path(let names) = operand { names.first } else { nil }
      }
    }
  }
}
