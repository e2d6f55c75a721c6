// What `dump`, `Mirror` and debuggers show: the properties of objects, instead of what the library
// keeps in them. What is deleted or invalidated has none.

extension ObjectBase {
  /// The stored properties by name. What leads to other objects is a text, for objects can lead to
  /// each other in circles.
  final var mirrorOfProperties: Mirror {
    let properties = isGone ? [] : _reflection.properties.filter { !$0.isComputed }
    return Mirror(self, ofProperties: properties.map { ($0.name, $0.readForText(self)) })
  }
}

extension Mirror {
  /// What has those properties.
  init<Subject>(_ subject: Subject, ofProperties properties: [(name: String, value: Any)]) {
    let children = properties.map { name, value -> Mirror.Child in
      (name, MirroredText(ifNotPlain: value) ?? value)
    }
    self.init(
      subject, children: children, displayStyle: .class, ancestorRepresentation: .suppressed)
  }
}

/// A value that is shown as its text, without anything inside.
private struct MirroredText: CustomStringConvertible, CustomReflectable {
  let description: String
  var customMirror: Mirror { Mirror(self, children: []) }

  /// Nil for what can lead to no object.
  init?(ifNotPlain value: Any) {
    switch flattened(value) {
    case let value as any VariantValue: if !value.leadsToObjects { return nil }
    case is ObjectBase, is any DumpedCollection, is [Any], is [String: Any]: break
    default: return nil
    }
    description = TextDump.text { $0.append(value: value) }
  }
}

/// A value of one of several kinds, some of which can lead to objects.
protocol VariantValue {
  var leadsToObjects: Bool { get }
}
