import Foundation
import TarnStore

/// The text of an object or a collection over several lines, for logs and debuggers, in the form
/// that Realm Swift prints, without addresses.
///
/// Objects can link to each other in cycles, and each can link to many. It leaves out everything
/// deeper than five levels, all but a hundred elements of a collection, and all after 64 KiB.
struct TextDump {
  private static let depthMax = 5
  private static let elementsMax = 100
  private static let bytesMax = 65_536
  private static let tooDeep = "<Maximum depth exceeded>"

  private var text = ""
  private var depth = 0

  static func text(_ write: (inout TextDump) -> Void) -> String {
    var dump = TextDump()
    write(&dump)
    return dump.text
  }

  private var isFull: Bool { text.utf8.count > Self.bytesMax }

  mutating func append(_ string: String) { text += string }

  /// A value as a line; objects and collections have several.
  mutating func append(value: Any) {
    guard let content = storedContent(of: value) else {
      text += "(null)"
      return
    }
    switch content {
    case let object as ObjectBase: append(object)
    case let value as any Dumped: value.append(to: &self)
    case let array as [Any]: append(elements: array, of: "Array")
    case let dictionary as [String: Any]:
      let pairs = dictionary.sorted { $0.key < $1.key }
      append("Dictionary", count: pairs.count, pairs.lazy.map { ($0.key, $0.value) })
    case let flag as Bool: text += flag ? "1" : "0"
    case let number as any BinaryFloatingPoint: text += TextForm.text(of: number)
    case let data as Data: text += TextForm.text(of: data)
    default: text += "\(content)"
    }
  }

  mutating func append(_ object: ObjectBase) {
    if object.isGone {
      text += "[invalid object]"
      return
    }
    append(object._className) {
      object._reflection.properties.lazy.filter { !$0.isComputed }.map {
        ($0.name, $0.readForText(object))
      }
    }
  }

  /// An object under a name, with its properties.
  mutating func append<Properties: Sequence>(
    _ name: String, _ properties: () -> Properties
  ) where Properties.Element == (name: String, value: Any) {
    if depth >= Self.depthMax {
      text += Self.tooDeep
      return
    }
    if isFull {
      text += "\(name) { … }"
      return
    }
    text += "\(name) {\n"
    depth += 1
    for (name, value) in properties() {
      indent()
      text += "\(name) = "
      append(value: value)
      text += ";\n"
    }
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
    if depth >= Self.depthMax {
      text += Self.tooDeep
      return
    }
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
      if written > 0 { text += "\n" }
      indent()
      text += "... \(count - written) objects skipped."
    }
    depth -= 1
    text += "\n"
    indent()
    text += ")"
  }

  private mutating func indent() { text += String(repeating: "\t", count: depth) }
}

/// Values as Foundation writes those of Objective-C.
private enum TextForm {
  /// The most bytes of data that are shown.
  private static let bytesMax = 24

  static func text(of number: some BinaryFloatingPoint) -> String {
    let text = "\(number)"
    return text.utf8.suffix(2).elementsEqual(".0".utf8) ? String(text.utf8.dropLast(2))! : text
  }

  static func text(of data: Data) -> String {
    let shown = data.prefix(bytesMax).enumerated().map { place, byte in
      (place > 0 && place % 4 == 0 ? " " : "") + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    return "<\(shown.joined()) — \(data.count) total bytes>"
  }
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

// The content for `dump`, `Mirror` and debuggers: the properties of objects, instead of the
// library's fields in them. Deleted and invalidated objects have none.

extension ObjectBase {
  /// The stored properties by name. Links to other objects are shown as text, because objects can
  /// link to each other in cycles.
  final var mirrorOfProperties: Mirror {
    let properties = isGone ? [] : _reflection.properties.filter { !$0.isComputed }
    return Mirror(self, ofProperties: properties.map { ($0.name, $0.readForText(self)) })
  }
}

extension Mirror {
  /// A mirror with those properties.
  init<Subject>(_ subject: Subject, ofProperties properties: [(name: String, value: Any)]) {
    let children = properties.map { name, value -> Mirror.Child in
      (name, MirroredText(ifNotPlain: value) ?? value)
    }
    self.init(
      subject, children: children, displayStyle: .class, ancestorRepresentation: .suppressed)
  }
}

/// A value shown as its text, without contents.
private struct MirroredText: CustomStringConvertible, CustomReflectable {
  let description: String
  var customMirror: Mirror { Mirror(self, children: []) }

  /// Nil for a value that cannot link to an object.
  init?(ifNotPlain value: Any) {
    switch flattened(value) {
    case let value as any VariantValue: if !value.leadsToObjects { return nil }
    case is ObjectBase, is any DumpedCollection, is [Any], is [String: Any]: break
    default: return nil
    }
    description = TextDump.text { $0.append(value: value) }
  }
}

/// A value of one of several kinds, some of which can link to objects.
protocol VariantValue {
  var leadsToObjects: Bool { get }
}
