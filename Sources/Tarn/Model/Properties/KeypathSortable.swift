import TarnStore

/// Elements that are objects or represent them: key paths name their stored properties. The library
/// provides the conformances.
public protocol KeypathSortable: RealmCollectionValue {
  /// The class of the objects.
  static var _objectType: ObjectBase.Type { get }
  /// The properties of a key path of this type. Throws for one that is not a chain of stored
  /// properties.
  ///
  /// - Parameter throughElements: whether it may continue from elements of collections.
  static func _properties(
    along keyPath: AnyKeyPath, throughElements: Bool
  ) throws -> _PropertyPath
  /// The one stored property that a key path to a computed value reads; nil if it reads none or
  /// several. Runs the getter.
  static func _propertyRead(by keyPath: AnyKeyPath) -> _PropertyPath?
  /// The key path in the objects' class that this one means.
  static func _underlyingPath(_ keyPath: String) -> String
}

extension KeypathSortable {
  public static func _underlyingPath(_ keyPath: String) -> String { keyPath }
}

/// Properties of objects' classes, each but the last one a link to the next one's.
public struct _PropertyPath {
  let steps: [PropertyReflection]

  /// With the program's names.
  var name: String { PathText.text(of: steps.map(\.name)) }
  /// With the file's names.
  var columnName: String { PathText.text(of: steps.map(\.columnName)) }
}

extension ObjectBase: KeypathSortable {
  public static var _objectType: ObjectBase.Type { self }

  public static func _properties(
    along keyPath: AnyKeyPath, throughElements: Bool
  ) throws -> _PropertyPath {
    guard let keyPath = keyPath as? PartialKeyPath<Self> else {
      trap("internal error: a key path of another class than \(Self.self)")
    }
    return _PropertyPath(steps: try Tracer.steps(of: keyPath, throughElements: throughElements))
  }

  public static func _propertyRead(by keyPath: AnyKeyPath) -> _PropertyPath? {
    guard let keyPath = keyPath as? PartialKeyPath<Self> else { return nil }
    return Tracer.onlyPropertyRead(by: keyPath).map { _PropertyPath(steps: $0) }
  }
}

extension KeypathSortable {
  /// The same. Traps where that throws.
  static func properties(along keyPath: AnyKeyPath, for use: KeyPathFault.Use) -> _PropertyPath {
    do {
      return try _properties(along: keyPath, throughElements: use.goesThroughElements)
    } catch {
      trap((error as? KeyPathFault)?.message(for: use) ?? "internal error: \(error)")
    }
  }
}

/// The name of the property at the end of a key path, with dots after links: "mother.age" for
/// `\Dog.mother?.age`, and "puppies.age" for `\Dog.puppies[0].age`: an element means all elements.
/// A name with a dot is in back quotes. Traps if the path does not consist of persisted properties.
public func _name<Root: KeypathSortable>(for keyPath: PartialKeyPath<Root>) -> String {
  _name(for: keyPath, .name)
}

/// The same, with the use that the trap's message names.
func _name<Root: KeypathSortable>(
  for keyPath: PartialKeyPath<Root>, _ use: KeyPathFault.Use
) -> String {
  Root.properties(along: keyPath, for: use).name
}

/// The names of observed key paths. Traps in the same cases.
func _names<Root: KeypathSortable>(of keyPaths: [PartialKeyPath<Root>]) -> [String] {
  keyPaths.map { _name(for: $0, .observing) }
}

/// The properties of known key paths. Programs use the same few again and again, and tracing one
/// takes some microseconds.
enum KnownKeyPaths {
  private struct Name: Hashable {
    let keyPath: AnyKeyPath
    let throughElements: Bool
  }

  private struct Table: @unchecked Sendable {
    // because: a key path of a class's properties never changes, and is only hashed and compared.
    var steps: [Name: [PropertyReflection]] = [:]
  }

  /// Key paths may contain values, such as positions, so there may be any number.
  private static let most = 1000

  private static let table = Lock(ofProcess: Table())

  /// The properties of a key path, in order.
  static func steps<Root: ObjectBase>(
    of keyPath: PartialKeyPath<Root>, throughElements: Bool
  ) throws(KeyPathFault) -> [PropertyReflection] {
    // because: see the table.
    nonisolated(unsafe) let name = Name(keyPath: keyPath, throughElements: throughElements)
    if let known = table.withLock({ unsafe $0.steps[name] }) { return known }
    let steps = try Tracer.steps(of: keyPath, throughElements: throughElements)
    table.withLock { table in
      if table.steps.count >= most { table.steps = [:] }
      table.steps[unsafe name] = steps
    }
    return steps
  }
}
