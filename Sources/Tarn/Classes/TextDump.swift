/// The text of an object or a collection over several lines, for logs and debuggers.
///
/// Objects can link to each other in cycles, and each can link to many. Left out are an object
/// within itself, everything deeper than five levels, all but a hundred elements of a collection,
/// and everything after 64 KiB.
struct TextDump {
  private static let depthMax = 5
  private static let elementsMax = 100
  private static let bytesMax = 65_536

  private var text = ""
  private var depth = 0
  /// The objects that are being written, the innermost last.
  private var open: [ObjectBase] = []

  static func text(_ write: (inout TextDump) -> Void) -> String {
    var dump = TextDump()
    write(&dump)
    return dump.text
  }

  private var isFull: Bool { text.utf8.count > Self.bytesMax }

  mutating func append(_ string: String) { text += string }

  /// A value as a line; objects and collections have several.
  mutating func append(value: Any) {
    switch value {
    case let object as ObjectBase: append(object)
    case let value as any Dumped: value.append(to: &self)
    case let optional as any OptionalValue:
      if let content = optional.content { append(value: content) } else { text += "nil" }
    case let array as [Any]: append(elements: array, of: "Array")
    case let dictionary as [String: Any]:
      let pairs = dictionary.sorted { $0.key < $1.key }
      append("Dictionary", count: pairs.count, pairs.lazy.map { ($0.key, $0.value) })
    default: text += "\(value)"
    }
  }

  mutating func append(_ object: ObjectBase) {
    append(object._className, object) {
      object._reflection.properties.lazy.filter { !$0.isComputed }.map {
        ($0.name, $0.readForText(object))
      }
    }
  }

  /// An object under a name, with its properties.
  mutating func append<Properties: Sequence>(
    _ name: String, _ object: ObjectBase, _ properties: () -> Properties
  ) where Properties.Element == (name: String, value: Any) {
    text += name
    if object.isGone {
      text += " [invalidated]"
      return
    }
    if depth > Self.depthMax || isFull || open.contains(where: { $0.isSameObject(as: object) }) {
      text += " { … }"
      return
    }
    text += " {\n"
    depth += 1
    open.append(object)
    for (name, value) in properties() {
      indent()
      text += "\(name) = "
      append(value: value)
      text += ";\n"
    }
    open.removeLast()
    depth -= 1
    indent()
    text += "}"
  }

  mutating func append(elements: some Collection, of name: String) {
    append(
      name, count: elements.count, elements.lazy.enumerated().map { ("\($0)", $1 as Any) })
  }

  /// The first elements, one to a line.
  mutating func append(
    _ name: String, count: Int, _ elements: some Sequence<(label: String, value: Any)>
  ) {
    text += "\(name) (\n"
    depth += 1
    var written = 0
    for (label, value) in elements.prefix(Self.elementsMax) {
      if isFull { break }
      if written > 0 { text += ",\n" }
      indent()
      text += "[\(label)] "
      append(value: value)
      written += 1
    }
    if count > written {
      if written > 0 { text += ",\n" }
      indent()
      text += "… \(count - written) more"
    }
    depth -= 1
    text += "\n"
    indent()
    text += ")"
  }

  private mutating func indent() { text += String(repeating: "\t", count: depth) }
}

/// A value that may take several lines in the description of its owner.
protocol Dumped {
  func append(to dump: inout TextDump)
}

/// The same for a collection, whose own description it is.
protocol DumpedCollection: Dumped {}

extension DumpedCollection {
  /// The first hundred elements, for logs and debuggers.
  public var description: String { TextDump.text { append(to: &$0) } }
}

extension ObjectBase {
  /// True if the object was deleted or its Realm invalidated.
  final var isGone: Bool { _state.contains(.invalidated) || isInvalidated }
}

extension PropertyReflection {
  /// The value to show in a text: the stored value if the property's type refuses it, as an enum
  /// does with an unknown raw value, so that reading it would trap.
  func readForText(_ object: ObjectBase) -> Any {
    guard collection == .none, !isOptional, !isComputed, !isDynamic, type != .link, type != .any,
      let column = object._binding?.column(name),
      let stored = object._storedValue(column), stored != .null,
      wrapper.unboxed(_BoxedValue(stored)) == nil,
      let shown = stored.plain
    else { return read(object) }
    return shown
  }
}
