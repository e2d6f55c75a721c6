import TarnStore

/// Stores the values that a `ValueReader` made.
extension RealmCore {
  // MARK: - Properties

  /// Sets a property of a managed object, of the program's class or a dynamic one.
  func set(
    _ property: PropertyReflection, of object: ObjectBase, _ given: GivenValue,
    _ reader: ValueReader
  ) {
    if property.isDynamic {
      _ = writing("modify managed objects")
      let column = column(of: property, in: binding(for: object))
      object._binding!.checkAssignable(column, on: object)
      makeRows(for: reader, .error)
      set(column, of: object, property, given, .error)
      return
    }
    var reader = reader
    do { try reader.set(property, of: object, given) } catch { trap(error.description) }
    keepRefused(reader, .error)
  }

  /// Stores values that the types of their properties refuse, once their objects are managed.
  func keepRefused(_ reader: ValueReader, _ update: Realm.UpdatePolicy) {
    for refused in reader.refused {
      let object = refused.object
      let binding = binding(for: object)
      let column = column(of: refused.property, in: binding)
      binding.checkAssignable(column, on: object)
      if let target = refused.value.object {
        setLink(object, column, to: target)
      } else {
        setUnlessEqual(object, column, refused.value.value, update)
      }
    }
  }

  private func setUnlessEqual(
    _ object: ObjectBase, _ column: ColumnID, _ value: Value, _ update: Realm.UpdatePolicy
  ) {
    if update == .modified, object._storedValue(column) == value { return }
    set(object, column, value)
  }

  // MARK: - Creating

  /// Makes a managed object from values by name, in order, or from another object.
  func create<T: ObjectBase>(
    _ type: T.Type, value: Any, update: Realm.UpdatePolicy
  ) -> T {
    _ = writing("create objects")
    let object = type.init()
    var reader = ValueReader(.copied, self, keepsRefused: true)
    do { try reader.fill(object, ClassReflection.of(type), from: value) } catch {
      trap(error.description)
    }
    add(object, reader, update)
    return object
  }

  /// The same from values that must be checked first: throws before anything is written.
  func create<T: ObjectBase>(
    _ type: T.Type, checking value: Any, update: Realm.UpdatePolicy, allowsUnknownKeys: Bool
  ) throws(Realm.InvalidValue) -> T {
    _ = writing("create objects")
    let object = type.init()
    var reader = ValueReader(checking: self, allowsUnknownKeys: allowsUnknownKeys)
    try reader.fill(object, ClassReflection.of(type), from: value)
    try check(reader, update)
    add(object, reader, update)
    return object
  }

  private func add(_ object: ObjectBase, _ reader: ValueReader, _ update: Realm.UpdatePolicy) {
    let named = reader.made.map { (ObjectIdentifier($0.object), $0.names) }
    let outer = intake.use(GivenProperties(named) { $1 })
    add(object, update: update)
    intake.restore(outer)
    keepRefused(reader, update)
  }

  // MARK: - Checking

  /// Looks for reasons why adding would trap, and for missing values.
  private func check(_ reader: ValueReader, _ update: Realm.UpdatePolicy) throws(Realm.InvalidValue)
  {
    var keys: [ClassID: Set<Value>] = [:]
    for (number, made) in reader.made.enumerated() {
      let binding = binding(of: type(of: made.object))
      let key = binding.primaryKey(of: made.object)
      let isThere = key.map { exists($0, binding) } ?? false
      if let key, policy(for: made.object, update) == .error {
        let isNew = keys[binding.classID, default: []].insert(key).inserted
        guard isNew, !isThere else {
          let name = binding.primaryKey?.name ?? ""
          throw duplicate(key, binding, path: reader.path(to: name, number))
        }
      }
      // An embedded object may replace the existing one.
      if isThere || update != .error && made.object is EmbeddedObject { continue }
      try checkComplete(made, number, reader)
    }
  }

  private func checkComplete(
    _ made: ValueReader.Made, _ number: Int, _ reader: ValueReader
  ) throws(Realm.InvalidValue) {
    if made.source is ObjectBase { return }
    for property in made.reflection.properties
    where property.mustBeGiven && !made.names.contains(property.name) {
      throw Realm.InvalidValue(
        .missing, made.reflection.name, property.name, path: reader.path(to: property.name, number),
        value: ShownValue(nil))
    }
  }

  private func exists(_ key: Value, _ binding: ClassBinding) -> Bool {
    let session = writing("create objects")
    let found = trapping { () throws(StorageError) in
      try session.find(primaryKey: key, in: binding.classID)
    }
    return found != nil
  }
}

extension PropertyReflection {
  /// True if a missing value has no default. Missing ids are generated.
  fileprivate var mustBeGiven: Bool {
    !isComputed && !isOptional && !hasOwnDefault && collection == .none
      && ![.any, .objectID, .uuid].contains(type)
  }
}

extension ValueReader {
  /// Assigns a read value to a property of the program's class.
  mutating func set(
    _ property: PropertyReflection, of object: ObjectBase, _ given: GivenValue
  ) throws(Realm.InvalidValue) {
    do {
      _ = try assign(given, property, object)
    } catch {
      guard case .single(let value) = given else { return }
      throw error.invalid(value, object._className, property.name, path: property.name)
    }
  }
}
