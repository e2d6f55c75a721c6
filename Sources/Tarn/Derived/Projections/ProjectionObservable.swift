import TarnStore

extension ProjectionObservable {
  public func _objectOrigin(along keyPaths: _ObjectPaths) -> _ObjectOrigin {
    let core = rootObject.coreToObserve
    let layout = ProjectionLayout.of(type(of: self))
    let names =
      switch keyPaths {
      case .texts(let texts): (texts ?? []).map { layout.underlyingPath($0, "\(Self.self)") }
      case .properties(let names): names
      }
    return _ObjectOrigin(core: core, object: rootObject, scope: layout.scope(names, self, core)) {
      [self] in $0 === rootObject ? self : Self._element(of: $0)
    }
  }
}

extension ProjectionLayout {
  /// The scope of a projection's observer, and the form of the changes that it receives.
  ///
  /// - Parameter wanted: paths in the object's class; none for all properties.
  fileprivate func scope<P: ProjectionObservable>(
    _ wanted: [String], _ projection: P, _ core: RealmCore
  ) -> ObjectScope {
    let root = projection.rootObject
    func paths(_ path: String) -> [ScopePath] {
      core.observedPaths(from: root, [path]) ?? []
    }
    var scope = ObjectScope(paths: [])
    for (number, property) in properties.enumerated() {
      if property.isComputed {
        // Its getter may read any of them.
        guard wanted.isEmpty else { continue }
        for read in ClassReflection.of(type(of: root)).properties {
          let path = paths(PathText.text(of: [read.name]))[0]
          scope.paths?.append(
            ScopePath(classID: path.classID, property: number, dependencies: path.dependencies))
          if !read.isComputed { scope.ends[number] = scope.ends[number] ?? path }
        }
        continue
      }
      let own = wanted.isEmpty ? [property.name] : wanted.filter { property.isBegin(of: $0) }
      for path in own.flatMap(paths) {
        scope.paths?.append(
          ScopePath(classID: path.classID, property: number, dependencies: path.dependencies))
      }
      if !own.isEmpty { scope.ends[number] = paths(property.name).first }
    }
    scope.wording = { [unowned core] object, ends in
      guard let root = object as? P.Root else { return [] }
      return ends.sorted { $0.key < $1.key }.map { number, old in
        let property = self.properties[number]
        return PropertyChange(
          name: property.label, oldValue: property.told(old, core),
          newValue: property.told(of: root))
      }
    }
    return scope
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

  /// The path in the objects' class of a key path that begins with a label; nil for others. Traps
  /// for the label of a computed property.
  func path(ofLabel keyPath: String) -> String? {
    let label = keyPath[..<(keyPath.firstASCII(".") ?? keyPath.endIndex)]
    guard let property = properties.first(where: { $0.label == label }) else { return nil }
    require(
      !property.isComputed,
      "'\(label)' projects a computed property, along which a key path cannot go. Name the "
        + "properties that it is computed from.")
    return property.name + keyPath[label.endIndex...]
  }
}

extension ProjectedProperty {
  /// True if a path in the objects' class is the projected one, or continues from there.
  fileprivate func isBegin(of path: String) -> Bool {
    !isComputed && (path == name || path.beginsWithBytes(of: name + "."))
  }

  private var last: PropertyReflection { path[path.count - 1] }

  /// Collections are only named; their changes are reported to their own observers.
  private var isTold: Bool {
    !isComputed && path.allSatisfy { $0.collection == .none && !$0.isComputed }
  }

  /// The old value, in the program's type.
  fileprivate func told(_ old: Value, _ core: RealmCore) -> Any? {
    isTold ? core.swiftValue(old, of: last) : nil
  }

  /// The current value.
  fileprivate func told<Root: ObjectBase>(of root: Root) -> Any? {
    isTold || isComputed && !isProjectedCollection ? flattened(root[keyPath: keyPath] as Any) : nil
  }
}
