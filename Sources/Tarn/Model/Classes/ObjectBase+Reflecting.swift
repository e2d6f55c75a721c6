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
