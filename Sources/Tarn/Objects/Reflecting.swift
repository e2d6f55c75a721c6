// What `dump`, `Mirror` and debuggers show: the properties of objects, in place of what the library
// keeps in them. What is deleted or invalidated has none.

extension ObjectBase {
  /// The stored properties by name. What leads to other objects is a text, for objects can lead to
  /// each other in circles.
  final var mirrorOfProperties: Mirror {
    let properties = isGone ? [] : _reflection.properties.filter { !$0.isComputed }
    let children = properties.map { property -> Mirror.Child in
      let value = property.readForText(self)
      return (property.name, MirroredText(ifNotPlain: value) ?? value)
    }
    return Mirror(
      self, children: children, displayStyle: .class, ancestorRepresentation: .suppressed)
  }
}

/// A value that is shown as its text, without anything inside.
private struct MirroredText: CustomStringConvertible, CustomReflectable {
  let description: String
  var customMirror: Mirror { Mirror(self, children: []) }

  /// Nil for what can lead to no object.
  init?(ifNotPlain value: Any) {
    switch flattened(value) {
    case let value as AnyRealmValue:
      switch value {
      case .object, .list, .dictionary: break
      default: return nil
      }
    case is ObjectBase, is any DumpedCollection, is [Any], is [String: Any]: break
    default: return nil
    }
    description = TextDump.text { $0.append(value: value) }
  }
}
