import TarnStore

extension ProjectionObservable {
  /// Calls `block` whenever one of the projected properties has changed: it was assigned, through
  /// this projection, another one or the object, or a link on its path was; or the object was
  /// deleted. Other properties of the object do not count. Commits in quick succession are reported
  /// in one call.
  ///
  /// Each change has the label of a property of this class, with the values at the last call and
  /// now; those of collections are nil. Labels of the same property are reported together.
  ///
  /// Traps in the same cases as observing the object: if it is unmanaged or invalidated, on a
  /// thread that has no later turns, and in a write that has changed something.
  ///
  /// - Returns: a token; retain it for as long as you want to observe.
  public func observe(_ block: @escaping (ObjectChange<Self>) -> Void) -> NotificationToken {
    observe(along: [], block)
  }

  /// Like `observe(_:)`, but only for changes on one of the key paths. One begins with the label of
  /// a projected property or with the projected path, and may continue: with
  /// `@Projected(\Person.friends) var mates`, `"mates"`, `"friends"` and `"mates.firstName"`.
  ///
  /// Nil and an empty array filter nothing. Traps for a key path that begins with neither, for a
  /// property that a class does not have, and in the same cases as `observe(_:)`.
  ///
  /// - Returns: a token; retain it for as long as you want to observe.
  public func observe(
    keyPaths: [String]?, _ block: @escaping (ObjectChange<Self>) -> Void
  ) -> NotificationToken {
    observe(along: underlyingPaths(keyPaths), block)
  }

  /// The same for key paths of the projection, such as `\PersonCard.name`. A key path through a
  /// collection continues from an element at any index: `\PersonCard.mates[0].firstName` means all.
  @_disfavoredOverload
  public func observe(
    keyPaths: [PartialKeyPath<Self>], _ block: @escaping (ObjectChange<Self>) -> Void
  ) -> NotificationToken {
    observe(along: _names(of: keyPaths), block)
  }

  public func _observe(
    keyPaths: [String]?, _ block: @escaping (ObjectChange<any _PropertyObservable>) -> Void
  ) -> NotificationToken {
    observe(keyPaths: keyPaths) { change in block(change.map { $0 }) }
  }

  /// - Parameter keyPaths: in the object's class; an empty array for all properties.
  private func observe(
    along keyPaths: [String], _ block: @escaping (ObjectChange<Self>) -> Void
  ) -> NotificationToken {
    let core = coreToObserve
    let look = ProjectionLayout.of(type(of: self)).look(keyPaths, self, core)
    return core.observe(rootObject, look) { [self] in block(projected($0)) }
  }

  /// The changes that `observe` delivers, as an asynchronous sequence: commits since the loop last
  /// asked are one change, and `.deleted` is the last. Traps for an unmanaged object; see
  /// ``ChangeSequence`` for where the loop may run.
  public var changes: ChangeSequence<ObjectChange<Self>> { changes(along: []) }

  /// The same for the changes that `observe(keyPaths:)` delivers. Traps at once in the same cases.
  public func changes(keyPaths: [String]?) -> ChangeSequence<ObjectChange<Self>> {
    changes(along: underlyingPaths(keyPaths))
  }

  /// The same for key paths of the projection.
  @_disfavoredOverload
  public func changes(keyPaths: [PartialKeyPath<Self>]) -> ChangeSequence<ObjectChange<Self>> {
    changes(along: _names(of: keyPaths))
  }

  private func changes(along keyPaths: [String]) -> ChangeSequence<ObjectChange<Self>> {
    let core = coreToObserve
    let look = ProjectionLayout.of(type(of: self)).look(keyPaths, self, core)
    return ChangeSequence { [self] in
      core.changes(of: rootObject, look).map { [self] in projected($0) }
    }
  }

  /// The paths in the object's class that such strings mean. Traps for one that begins with a
  /// property that is not projected.
  private func underlyingPaths(_ keyPaths: [String]?) -> [String] {
    let layout = ProjectionLayout.of(type(of: self))
    return (keyPaths ?? []).map { layout.underlyingPath($0, "\(Self.self)") }
  }

  private var coreToObserve: RealmCore {
    guard let core = rootObject._core else {
      trap("Only objects which are managed by a Realm support change notifications; add it first.")
    }
    return core
  }

  private func projected(_ change: ObjectChange<ObjectBase>) -> ObjectChange<Self> {
    change.map { $0 === rootObject ? self : Self._element(of: $0) }
  }
}

extension ProjectionLayout {
  /// What an observer of a projection looks at, and how it is told of it.
  ///
  /// - Parameter wanted: paths in the object's class; none for all properties.
  fileprivate func look<P: ProjectionObservable>(
    _ wanted: [String], _ projection: P, _ core: RealmCore
  ) -> ObjectLook {
    let root = projection.rootObject
    func paths(_ path: String) -> [ScopePath] {
      core.observedPaths(from: root, [path]) ?? []
    }
    var look = ObjectLook(paths: [])
    for (number, property) in properties.enumerated() {
      let own = wanted.isEmpty ? [property.name] : wanted.filter { property.isBegin(of: $0) }
      for path in own.flatMap(paths) {
        look.paths?.append(
          ScopePath(classID: path.classID, property: number, dependencies: path.dependencies))
      }
      if !own.isEmpty { look.ends[number] = paths(property.name).first }
    }
    look.wording = { [unowned core] object, ends in
      guard let root = object as? P.Root else { return [] }
      return ends.sorted { $0.key < $1.key }.map { number, old in
        let property = self.properties[number]
        return PropertyChange(
          name: property.label, oldValue: property.told(old, core),
          newValue: property.told(of: root))
      }
    }
    return look
  }

  /// The path in the objects' class of a key path that begins with a label. Traps for one that
  /// begins with a property that is not projected.
  fileprivate func underlyingPath(_ keyPath: String, _ owner: String) -> String {
    if let path = path(ofLabel: keyPath) { return path }
    if properties.contains(where: { $0.isBegin(of: keyPath) }) { return keyPath }
    let labels = properties.map { "'\($0.label)'" }.joined(separator: ", ")
    trap(
      "'\(owner)' has no projected property at the start of the key path '\(keyPath)'. Name one of "
        + "its properties (\(labels)), or one of the properties that they project.")
  }

  /// The path in the objects' class of a key path that begins with a label; nil for others.
  func path(ofLabel keyPath: String) -> String? {
    let label = keyPath.prefix { $0 != "." }
    guard let property = properties.first(where: { $0.label == label }) else { return nil }
    return property.name + keyPath.dropFirst(label.count)
  }
}

extension ProjectedProperty {
  /// True if a path in the objects' class is the projected one, or continues from there.
  fileprivate func isBegin(of path: String) -> Bool {
    path == name || path.hasPrefix(name + ".")
  }

  private var last: PropertyReflection { path[path.count - 1] }

  /// Collections are only named; their changes are reported to their own observers.
  private var isTold: Bool {
    path.allSatisfy { $0.collection == .none && !$0.isComputed }
  }

  /// The old value, in the program's type.
  fileprivate func told(_ old: Value, _ core: RealmCore) -> Any? {
    isTold ? core.swiftValue(old, of: last) : nil
  }

  /// The current value.
  fileprivate func told<Root: ObjectBase>(of root: Root) -> Any? {
    isTold ? flattened(root[keyPath: keyPath] as Any) : nil
  }
}
