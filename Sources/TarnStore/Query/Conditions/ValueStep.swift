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
}

/// A path consists of names. A step has a name that no property can have: it begins with a NUL.
extension ValueStep {
  private static let everyName = CollectionCondition.marker + "*"
  private static let keyPrefix = CollectionCondition.marker + "'"
  private static let positionPrefix = CollectionCondition.marker + "#"

  /// Nil for the name of a property.
  package init?(_ name: String) {
    // By bytes: a key may begin with a combining mark, which forms one character with the quote
    // before.
    let bytes = name.utf8
    if name == Self.everyName {
      self = .each
    } else if bytes.starts(with: Self.keyPrefix.utf8) {
      self = .key(String(Substring(bytes.dropFirst(Self.keyPrefix.utf8.count))))
    } else if let rest = name.rest(afterBytesOf: Self.positionPrefix), let position = Int(rest) {
      self = .position(position)
    } else {
      return nil
    }
  }

  package var name: String {
    switch self {
    case .position(let position): "\(Self.positionPrefix)\(position)"
    case .key(let key): Self.keyPrefix + key
    case .each: Self.everyName
    }
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
