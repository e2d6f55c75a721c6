/// The way from an object to a value, or to several, by names: `mother.age`, `dogs.name`. The empty
/// path is the object itself, or the element for elements without properties.
package typealias Path = [PathStep]

/// A step of a path, from an object or a value to the next.
package enum PathStep: Hashable, Sendable {
  /// The value of a property, the target of its link, or the elements of its collection.
  case property(String)
  /// The objects of a class that link to the object through a property: `@links.Person.dogs`.
  case backlinks(origin: String, property: String)
  /// The keys of a map, and its values. The values are also what a map without such a step is.
  case keys, values
  /// Into a map, or into a list or map within a mixed value.
  case element(ValueStep)

  /// Names are compared byte by byte.
  package static func == (a: PathStep, b: PathStep) -> Bool {
    switch (a, b) {
    case (.property(let a), .property(let b)): a.hasSameBytes(as: b)
    case (.backlinks(let class1, let a), .backlinks(let class2, let b)):
      class1.hasSameBytes(as: class2) && a.hasSameBytes(as: b)
    case (.keys, .keys), (.values, .values): true
    case (.element(let a), .element(let b)): a == b
    default: false
    }
  }

  /// The name of a property; nil for other steps.
  package var propertyName: String? { if case .property(let name) = self { name } else { nil } }

  var element: ValueStep? { if case .element(let step) = self { step } else { nil } }
}

extension PathStep: ExpressibleByStringLiteral {
  package init(stringLiteral name: String) { self = .property(name) }
}

extension Path {
  /// The path through properties with these names.
  package init(names: some Sequence<String>) { self = names.map { .property($0) } }

  /// The path through the properties that a text names, as in `PathText`.
  package init(text: String) { self.init(names: PathText.names(in: text)) }
}

/// A step from a map to its entry under a key, or into a list or map within a mixed value.
package enum ValueStep: Hashable, Sendable {
  /// The element at that position. Negative positions count from the end: -1 is the last one.
  case position(Int)
  /// The entry of a map under that key.
  case key(String)
  /// Each element, or each value of a map.
  case each

  /// Keys are compared byte by byte.
  package static func == (a: ValueStep, b: ValueStep) -> Bool {
    switch (a, b) {
    case (.position(let a), .position(let b)): a == b
    case (.key(let a), .key(let b)): a.hasSameBytes(as: b)
    case (.each, .each): true
    default: false
    }
  }

  /// The problem with the step into a collection of that kind; nil without one.
  func mistake(into collection: CollectionKind) -> String? {
    switch (collection, self) {
    case (.none, _), (.list, .position), (.map, .key), (_, .each): nil
    case (.list, .key): "the elements of a list have positions, not keys"
    case (.map, .position): "the values of a map have keys, not positions"
    case (.set, _): "the elements of a set have neither positions nor keys"
    }
  }
}

// MARK: - As text

extension PathStep: CustomStringConvertible {
  /// Its form in a filter string.
  package var description: String {
    switch self {
    case .property(let name): Self.written(name)
    case .backlinks(let origin, let property):
      "@links.\(Self.written(origin)).\(Self.written(property))"
    case .keys: "@allKeys"
    case .values: "@allValues"
    case .element(let step): step.description
    }
  }

  private static func written(_ name: String) -> String {
    guard PredicateWord.isWord(name) else { return PathText.quoted(name) }
    let isTaken =
      PredicateWord.reserved.contains(name.uppercased()) || PredicateWord.isShape(name)
      || name.utf8.first.map(PredicateWord.isDigit) == true
    return isTaken ? "#" + name : name
  }
}

extension ValueStep: CustomStringConvertible {
  /// Its form after a property in a filter string.
  package var description: String {
    switch self {
    case .position(-1): "[LAST]"
    case .position(let position): "[\(position)]"
    case .key(let key): "[\(Value.string(key).predicateText)]"
    case .each: "[#any]"
    }
  }
}

extension Path {
  /// The path in a filter string.
  ///
  /// - Parameter subject: the variable that stands for the object; empty for the queried one.
  package func text(of subject: String = "") -> String {
    if isEmpty { return subject.isEmpty ? "SELF" : subject }
    return reduce(into: subject) { text, step in
      if !text.isEmpty, step.element == nil { text += "." }
      text += step.description
    }
  }
}

/// The words of a filter string, and those that are not names of properties there.
enum PredicateWord {
  /// These are names of properties only after a `#`. Some have no meaning yet; they are reserved so
  /// that a string that works today keeps its meaning.
  static let reserved: Set<String> = [
    "AND", "OR", "NOT", "IN", "BETWEEN", "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES",
    "TRUE", "FALSE", "YES", "NO", "NULL", "NIL", "TRUEPREDICATE", "FALSEPREDICATE", "ANY", "SOME",
    "ALL", "NONE", "SUBQUERY", "SELF",
  ]

  static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  static func isPart(_ byte: UInt8) -> Bool {
    isDigit(byte) || byte == UInt8(ascii: "_") || byte >= 0x80
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  /// True for a name that can be written without back quotes.
  static func isWord(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.allSatisfy(isPart)
  }

  /// True for a word that denotes a shape after a property and IN, and nothing elsewhere.
  static func isShape(_ name: String) -> Bool {
    ["GEOBOX", "GEOCIRCLE", "GEOPOLYGON"].contains(name.uppercased())
  }
}
