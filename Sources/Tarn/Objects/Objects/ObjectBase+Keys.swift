import TarnStore

/// Properties by their names.
extension ObjectBase {
  /// The property of that name, nil for null, as `value(forKey:)` returns it. Assigning follows the
  /// rules of the property.
  ///
  /// Traps if the class has no such property, for a value of another type, and wherever the
  /// property itself does: for an invalidated object, on another thread, outside of a write.
  public subscript(key: String) -> Any? {
    get { value(forKey: key) }
    set { setValue(newValue, forKey: key) }
  }

  /// The value of the property of that name, nil for null. Traps if the class has no such property.
  ///
  /// The value has the type that is stored, whether or not the program declares the class: an enum
  /// is its raw value, a custom type its stored value, and an `AnyRealmValue` the value that it
  /// holds, with nil for `.none`. A collection is the collection itself.
  public func value(forKey key: String) -> Any? {
    storedContent(of: property(key).read(self))
  }

  /// Sets the property of that name. Accepts the same values as `init(value:)`, so nil empties a
  /// collection and a dictionary makes an object; objects are stored themselves.
  ///
  /// Traps if the class has no such property, if it cannot be set, or if the value does not fit.
  public func setValue(_ value: Any?, forKey key: String) {
    let property = property(key)
    guard !property.isComputed else {
      trap(
        "'\(_className).\(key)' is computed and cannot be set. Set the links of the objects that "
          + "should link here.")
    }
    if property.isDynamic, _core == nil {
      trap("internal error: an unmanaged dynamic object")
    }
    var reader = ValueReader(.taken, _core, keepsRefused: _core != nil)
    do throws(Realm.InvalidValue) {
      let given = try reader.read(value as Any, for: property, of: self)
      if let core = _core {
        core.set(property, of: self, given, reader)
      } else {
        try reader.set(property, of: self, given)
      }
    } catch {
      trap(error.description)
    }
  }

  /// The value at the end of a path of names separated by dots, such as `mother.age`; nil if a link
  /// on the path is nil. A name that has dots itself is written in back quotes: \`a.b\`.age. A path
  /// through a collection applies to its elements, such as `dogs.@max.age`. Traps if a class on the
  /// path has no such property, or if a name is followed by another but is neither a link nor a
  /// collection.
  public func value(forKeyPath path: String) -> Any? {
    let (owner, name, rest, step) = follow(path)
    guard let rest else { return owner.value(forKey: name) }
    return step.value(behind: rest, owner.noLink(name, in: path))
  }

  /// Sets the property at the end of a path like `mother.age`; see `value(forKeyPath:)`. Through a
  /// collection, it sets the property of each element. Does nothing if a link on the path is nil,
  /// like `?.`. Traps in the same cases as `setValue(_:forKey:)` and `value(forKeyPath:)`.
  public func setValue(_ value: Any?, forKeyPath path: String) {
    let (owner, name, rest, step) = follow(path)
    guard let rest else { return owner.setValue(value, forKey: name) }
    step.set(value, behind: rest, owner.noLink(name, in: path))
  }

  /// Follows the path as far as names are links to objects, with a loop and without copying the
  /// rest: a path may have thousands of names.
  ///
  /// - Returns: the last object, and the name there; for a name that is not the last one its value,
  ///   and the rest of the path.
  private final func follow(
    _ path: String
  ) -> (owner: ObjectBase, name: String, rest: String?, step: KeyedTarget) {
    var owner = self
    var rest = path[...]
    while true {
      let (name, behind) = PathText.first(of: rest)
      guard let behind else { return (owner, name, nil, .nothing) }
      let step = KeyedTarget(flattened(owner.property(name, before: behind).read(owner)))
      guard case .object(let next) = step else { return (owner, name, String(behind), step) }
      owner = next
      rest = behind
    }
  }

  private final func noLink(_ name: String, in path: String) -> String {
    "'\(_className).\(name)' in the path '\(path)' is not a link."
  }

  /// - Parameter rest: the path after the name.
  private final func property(
    _ name: String, before rest: Substring? = nil
  ) -> PropertyReflection {
    if _isInvalidated { _trapInvalid() }
    let reflection = _core?.binding(for: self).reflection ?? _reflection
    guard let property = reflection.property(name) else {
      let names = [name] + (rest.map { PathText.names(in: String($0)) } ?? [])
      let advice = PathText.advice(for: names, among: reflection.properties.lazy.map(\.name))
      trap(
        "Class '\(reflection.name)' has no property '\(name)'\(advice.map { "; \($0)" } ?? "").")
    }
    return property
  }
}

extension DynamicObject {
  /// The property of that name; see `subscript(_:)`.
  public subscript(dynamicMember name: String) -> Any? {
    get { self[name] }
    set { self[name] = newValue }
  }
}
