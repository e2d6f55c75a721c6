/// The arguments of a predicate string, consumed one per placeholder.
struct PredicateArguments {
  /// An argument that is wrong or missing.
  struct Mistake: Error {
    var message: String
  }

  private let all: [PredicateArgument]
  private var used = 0

  init(_ all: [PredicateArgument]) { self.all = all }

  /// The message if some were not used.
  var tooMany: String? {
    used == all.count
      ? nil : "\(all.count) arguments were given, but the filter has \(used) placeholders"
  }

  mutating func next(for kind: String) throws(Mistake) -> PredicateArgument {
    guard used < all.count else {
      throw Mistake(message: "there is no argument \(used + 1) for %\(kind)")
    }
    used += 1
    let argument = all[used - 1]
    if case .unusable(let what) = argument { throw wrong(what) }
    return argument
  }

  /// A sentence on the last argument used.
  func wrong(_ what: String) -> Mistake { Mistake(message: "argument \(used) is \(what)") }

  /// The argument for `%@`, or for a placeholder of a number.
  mutating func value(_ kind: String) throws(Mistake) -> Value {
    let value: Value
    switch try next(for: kind) {
    case .value(let given): value = given
    case .members: throw wrong("an embedded object, allowed only after == and !=")
    case .shape: throw wrong("a shape, allowed only after IN and GEOWITHIN")
    case .objects: throw wrong("a list, allowed only after IN")
    case .values, .unusable: throw wrong("a list, allowed only after IN and BETWEEN")
    }
    switch kind {
    case "@": return value
    case "f", "lf":
      switch value {
      case .int, .float, .double, .decimal: return value
      default: throw wrong("\(value.predicateText), but %\(kind) needs a number")
      }
    default:
      switch value {
      case .int, .bool: return value
      default: throw wrong("\(value.predicateText), but %\(kind) needs a whole number")
      }
    }
  }

  /// The argument for `%@` if it is an object whose members are compared, otherwise nil.
  mutating func members() -> Operand? {
    guard used < all.count, case .members(let name, let members) = all[used] else { return nil }
    used += 1
    return .members(of: name, members)
  }

  /// The argument for `%@` if it is a list with objects whose members are compared, otherwise nil.
  mutating func objects() -> [Operand]? {
    guard used < all.count, case .objects(let objects) = all[used] else { return nil }
    used += 1
    return objects
  }

  /// The argument for `%@` if it is a shape, otherwise nil.
  mutating func shape() -> GeoShape? {
    guard used < all.count, case .shape(let shape) = all[used] else { return nil }
    used += 1
    return shape
  }

  /// The argument for `%@` after IN or BETWEEN.
  mutating func values(_ word: String) throws(Mistake) -> [Value] {
    switch try next(for: "@") {
    case .values(let values): return values
    case .value(let value):
      throw wrong("\(value.predicateText), but \(word) needs a list of values")
    case .members: throw wrong("an object, but \(word) needs a list of values")
    case .objects: throw wrong("a list of embedded objects, but \(word) needs a list of values")
    case .shape: throw wrong("a shape, but \(word) needs a list of values")
    case .unusable(let what): throw wrong(what)
    }
  }

  /// The argument for `%K`: a path as a string, or the whole name of a property.
  mutating func path() throws(Mistake) -> String {
    guard case .value(.string(let path)) = try next(for: "K") else {
      throw wrong("not a string, but %K needs the path of a property")
    }
    return path
  }
}

/// A predicate parsed from a string, and the positions of its parts.
package struct ParsedPredicate: Sendable {
  /// A condition of the predicate, and the byte offsets of its sides in the string.
  struct Condition: Sendable {
    var predicate: Predicate
    var left: Int
    var right: Int
    /// In a SUBQUERY, the path to the collection.
    var subject: Path = []
  }

  package let predicate: Predicate
  let conditions: [Condition]
  let lexer: PredicateLexer
}

/// The argument of a placeholder in a predicate string.
package enum PredicateArgument: Sendable {
  case value(Value)
  /// For `IN %@` and `BETWEEN %@`.
  case values([Value])
  /// An object whose members are compared, of that class.
  case members(of: String, Predicate)
  /// For `IN %@` with links, if some of them are objects compared member by member.
  case objects([Operand])
  /// For `IN %@` with a place.
  case shape(GeoShape)
  /// An argument that cannot be compared with a property; its description for the message.
  case unusable(String)
}
