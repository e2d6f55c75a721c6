import TarnStore

/// Why a key path leads nowhere.
struct KeyPathMistake: Error {
  let message: String
}

/// Resolves key paths of the program to columns of the file.
struct KeyPathResolver {
  private let core: RealmCore
  private let keyPath: String

  /// One resolution of a key path, as far as it has been read. Through an `AnyRealmValue` a key
  /// path can lead to objects of several classes.
  private struct Way {
    let root: ClassBinding
    var binding: ClassBinding
    var property = 0
    var links: [LinkStep] = []
    var dependencies: [QueryDependency] = []
    /// The property read last, and the classes that it links to.
    var last: PropertyReflection?
    var targets: [ClassBinding] = []
  }

  /// Nil without key paths, which means no filter.
  ///
  /// - Parameter roots: the classes of the objects at which the key paths begin.
  /// - Throws: for a key path that these classes do not have.
  static func scope(
    _ keyPaths: [String]?, from roots: [ClassBinding], _ core: RealmCore
  ) throws(KeyPathMistake) -> Scope? {
    guard let keyPaths, !keyPaths.isEmpty else { return nil }
    var paths: [ScopePath] = []
    for keyPath in keyPaths {
      paths += try KeyPathResolver(core: core, keyPath: keyPath).paths(from: roots)
    }
    return .paths(paths)
  }

  /// The same for key paths that the program has written: traps where those are wrong.
  static func observedScope(
    _ keyPaths: [String]?, from roots: [ClassBinding], _ core: RealmCore
  ) -> Scope? {
    do throws(KeyPathMistake) {
      return try scope(keyPaths, from: roots, core)
    } catch {
      trap(error.message)
    }
  }

  private func paths(from roots: [ClassBinding]) throws(KeyPathMistake) -> [ScopePath] {
    let names = PathText.names(in: keyPath)
    if let objection = PathLimit.objection(toNames: names.count) {
      throw KeyPathMistake(message: "Cannot observe: \(objection).")
    }
    var ways: [Way] = []
    for (number, name) in names.enumerated() {
      let from = number == 0 ? roots.map { Way(root: $0, binding: $0) } : ways.flatMap(entered)
      if from.isEmpty { throw noLink(ways, name) }
      ways = from.compactMap { going($0, to: name) }
      if ways.isEmpty { throw unknown(name, names[number...], from.map(\.binding)) }
    }
    return ways.map {
      ScopePath(classID: $0.root.classID, property: $0.property, dependencies: $0.dependencies)
    }
  }

  /// The way continued by a property of its current class; nil if that class does not have it.
  private func going(_ way: Way, to name: String) -> Way? {
    guard let number = way.binding.reflection.number(name) else { return nil }
    var next = way
    let property = way.binding.reflection.properties[number]
    if way.dependencies.isEmpty { next.property = number }
    next.last = property
    if property.isComputed {
      let origin = core.binding(of: property.target!)
      guard let column = property.originProperty.flatMap({ origin.column($0) }) else { return nil }
      next.dependencies.append(
        QueryDependency(
          links: way.links, classID: way.binding.classID, column: column, origin: origin.classID))
      next.targets = [origin]
    } else {
      let column = core.column(of: property, in: way.binding)
      next.dependencies.append(
        QueryDependency(links: way.links, classID: way.binding.classID, column: column))
      next.targets = targets(of: property)
    }
    return next
  }

  private func targets(of property: PropertyReflection) -> [ClassBinding] {
    if let name = property.dynamicTarget { return [core.dynamicBinding(name)] }
    if let target = property.target { return [core.binding(of: target)] }
    if property.type != .any { return [] }
    let all = core.schemaToBind().schema.classes.map(\.id)
    return core.bindings(of: Set(all), isDynamic: property.isDynamic)
  }

  /// The ways into the objects that the last property links to; empty if it is not a link.
  private func entered(_ way: Way) -> [Way] {
    way.targets.map { target in
      let dependency = way.dependencies[way.dependencies.count - 1]
      var next = way
      next.binding = target
      next.links.append(
        dependency.origin.map {
          LinkStep(
            classID: $0, column: dependency.column, target: dependency.classID, isBackwards: true)
        }
          ?? LinkStep(
            classID: dependency.classID, column: dependency.column, target: target.classID))
      return next
    }
  }

  // MARK: - Refusing

  private func unknown(
    _ name: String, _ rest: ArraySlice<String>, _ owners: [ClassBinding]
  ) -> KeyPathMistake {
    let known = owners.flatMap { $0.reflection.properties.map(\.name) }
    let hint =
      if let advice = PathText.advice(for: rest, among: known) {
        " Note: \(advice)."
      } else if let near = nearestName(to: name, among: known) {
        " The nearest name is '\(near)'."
      } else {
        ""
      }
    guard owners.count == 1 else {
      return KeyPathMistake(
        message: "No class has the property '\(name)' of the key path '\(keyPath)'.\(hint)")
    }
    return KeyPathMistake(
      message: "Class '\(owners[0].reflection.name)' has no property '\(name)', which is in the "
        + "key path '\(keyPath)'.\(hint)")
  }

  private func noLink(_ ways: [Way], _ name: String) -> KeyPathMistake {
    guard let way = ways.first, let property = way.last else {
      return KeyPathMistake(
        message: "Key paths need objects: the elements of this collection are values.")
    }
    let owner = way.binding.reflection.name
    return KeyPathMistake(
      message: "Property '\(property.name)' of class '\(owner)' is not a link and has no "
        + "property '\(name)', which is in the key path '\(keyPath)'.")
  }
}

extension RealmCore {
  /// The bindings of classes in the file; without classes that the program does not have.
  func bindings(of ids: Set<ClassID>, isDynamic: Bool) -> [ClassBinding] {
    let schema = schemaToBind().schema
    let described = ids.sorted().compactMap { schema[$0] }.filter { !$0.isVacant }
    if isDynamic { return described.map { dynamicBinding($0.name) } }
    return described.compactMap { described in
      classes.model[described.name].map { binding(of: $0.type) }
    }
  }
}
