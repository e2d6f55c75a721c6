import TarnStore

/// Properties by their names.
extension ObjectBase {
  /// The property of that name, nil for null. Assigning follows the rules of the property.
  ///
  /// Traps if the class has no such property, for a value that is not of its type, and wherever
  /// the property itself would: for an invalidated object, on another thread, outside of a write.
  public subscript(key: String) -> Any? {
    get { value(forKey: key) }
    set { setValue(newValue, forKey: key) }
  }

  /// The value of the property of that name, nil for null. Traps if the class has no such one.
  public func value(forKey key: String) -> Any? {
    flattened(property(key).read(self))
  }

  /// Sets the property of that name. Traps if the class has no such one, if it cannot be set, or
  /// if the value is not of its type.
  public func setValue(_ value: Any?, forKey key: String) {
    let property = property(key)
    guard !property.isComputed else {
      trap(
        "'\(_className).\(key)' is computed and cannot be set. Set the links of the objects that "
          + "shall link here.")
    }
    if property.isDynamic {
      guard let core = _core else { trap("no dynamic object is unmanaged: bug in this package") }
      return core.setDynamicValue(self, property, value)
    }
    let fits: Bool
    if let content = value.flatMap({ flattened($0) }) {
      fits = property.write(any: content, self)
    } else {
      fits = property.write(_BoxedValue(.null), self)
    }
    guard fits else { trapUnfit(value, property) }
  }

  /// The value at the end of a path of names with dots, such as `mother.age`; nil if a link on the
  /// way is nil. What comes behind a collection is asked of its elements, such as `dogs.@max.age`.
  /// Traps if a class on the way has no such property, or a name that is neither a link nor a
  /// collection has something behind it.
  public func value(forKeyPath path: String) -> Any? {
    let (name, rest) = PathStep.split(path)
    let value = value(forKey: name)
    guard let rest else { return value }
    return PathStep(value)
      .value(behind: rest, "'\(_className).\(name)' in the path '\(path)' is no link.")
  }

  /// Sets the property at the end of a path of names with dots, such as `mother.age`; behind a
  /// collection that of each element. Does nothing where a link on the way is nil, as `?.` does.
  /// Traps where `setValue(_:forKey:)` and `value(forKeyPath:)` do.
  public func setValue(_ value: Any?, forKeyPath path: String) {
    let (name, rest) = PathStep.split(path)
    guard let rest else { return setValue(value, forKey: name) }
    PathStep(self.value(forKey: name))
      .set(value, behind: rest, "'\(_className).\(name)' in the path '\(path)' is no link.")
  }

  private final func property(_ name: String) -> PropertyReflection {
    if let core = _core, core.isInvalidated(self) { core.trapInvalid(self) }
    let reflection = _core?.binding(for: self).reflection ?? _reflection
    guard let property = reflection.property(name) else {
      trap("Class '\(reflection.name)' has no property '\(name)'.")
    }
    return property
  }

  final func trapUnfit(_ value: Any?, _ property: PropertyReflection) -> Never {
    let given = value.flatMap { flattened($0) }
    let text = given.map { "'\($0)' of type '\(Swift.type(of: $0))'" } ?? "nil"
    trap("Invalid value \(text) for property '\(_className).\(property.name)'.")
  }
}
