// What `dump`, `Mirror` and debuggers show: the properties of objects, in place of what the library
// keeps in them. What is deleted or invalidated has none.

extension ObjectBase {
  /// True if the object was deleted or its Realm invalidated.
  final var isGone: Bool { _state.contains(.invalidated) || isInvalidated }

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

extension PropertyReflection {
  /// The value to be shown in a text: what is stored where the property's type refuses it, as an
  /// enum without such a case does, and reading it would trap.
  func readForText(_ object: ObjectBase) -> Any {
    guard collection == .none, !isOptional, !isComputed, !isDynamic, type != .link, type != .any,
      let core = object._core, let column = core.binding(for: object).column(name),
      let stored = core.storedValue(object, column), stored != .null,
      wrapper.unboxed(_BoxedValue(stored)) == nil,
      let shown = DynamicValue.unboxed(_BoxedValue(stored))
    else { return read(object) }
    return shown
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
