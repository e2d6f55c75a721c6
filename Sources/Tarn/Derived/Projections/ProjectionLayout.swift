@_spi(Reflection) import Swift
import TarnStore

/// A projected property, from its declaration.
struct ProjectedProperty: Sendable {
  let label: String
  /// The offset of the wrapper in a projection.
  let offset: Int
  @safe nonisolated(unsafe) let wrapper: any AnyProjected.Type  // because: metatypes never change
  @safe nonisolated(unsafe) let keyPath: AnyKeyPath  // because: nor do key paths
  /// The properties on its path, from the object on; for a projected collection the list or set,
  /// followed by the properties of its elements; none for a computed property.
  let path: [PropertyReflection]
  let isProjectedCollection: Bool

  /// Whether its getter is evaluated at each read, because it is not a chain of stored properties.
  var isComputed: Bool { path.isEmpty }

  /// The path's names, with dots.
  var name: String { PathText.text(of: path.map(\.name)) }

  /// The offset of the column in the object's own wrapper, 0 if it is reached through a link, -1
  /// for a computed property.
  var columnOffset: Int {
    if isComputed { return -1 }
    return path.count == 1 ? path[0].offset + path[0].wrapper.columnOffset : 0
  }
}

/// The projected properties of a class of projections, found once in a process and cached.
final class ProjectionLayout: Sendable {
  /// In the order of declaration, those of superclasses first.
  let properties: [ProjectedProperty]
  private let root: ObjectBase.Type
  /// The places in wrappers that receive the offsets of the object's columns.
  private let slots: [(field: Int, columnOffset: Int)]

  private static let known = Lock<[ObjectIdentifier: ProjectionLayout]>(ofProcess: [:])

  /// The layout of a projection's class, found from the first projection.
  static func of<Root>(_ projection: Projection<Root>) -> ProjectionLayout {
    let id = ObjectIdentifier(type(of: projection))
    if let known = known.withLock({ $0[id] }) { return known }
    // Not under the lock: this makes objects of the program's classes.
    let layout = ProjectionLayout(projection)
    return known.withLock { known in
      let first = known[id] ?? layout
      known[id] = first
      return first
    }
  }

  /// The layout of a class that may have no projection yet.
  static func of<P: ProjectionObservable>(_ type: P.Type) -> ProjectionLayout {
    let id = ObjectIdentifier(type)
    if let known = known.withLock({ $0[id] }) { return known }
    _ = P(projecting: P.Root())
    guard let made = known.withLock({ $0[id] }) else {
      trap("'\(type)' is not a projection. Derive it from Projection.")
    }
    return made
  }

  private init<Root>(_ projection: Projection<Root>) {
    let base = unsafe Unmanaged.passUnretained(projection).toOpaque()
    var found: [ProjectedProperty] = []
    // The option 1 is `.classType`, which is a mutable global and so unusable in Swift 6.
    let options = _EachFieldOptions(rawValue: 1)
    _ = unsafe _forEachField(of: type(of: projection), options: options) { name, offset, type, _ in
      guard let wrapper = type as? any AnyProjected.Type else { return true }
      // The wrapper of `name` is `_name`.
      let label = DeclaredName.property(ofWrapper: unsafe String(cString: name))
      let keyPath = unsafe wrapper.keyPath(at: base + offset)
      let path = try? wrapper.path(of: keyPath)
      found.append(
        ProjectedProperty(
          label: label, offset: offset, wrapper: wrapper, keyPath: keyPath, path: path ?? [],
          isProjectedCollection: wrapper.isProjectedCollection))
      return true
    }
    properties = found
    root = Root.self
    slots = found.filter { $0.columnOffset != 0 }.map {
      ($0.offset + $0.wrapper.slotOffset, $0.columnOffset)
    }
  }

  /// Sets the offsets of the object's columns in a new projection's wrappers: not for a subclass,
  /// which may override properties.
  func bind<Root>(_ projection: Projection<Root>) {
    guard type(of: projection.rootObject) == root else { return }
    let base = unsafe Unmanaged.passUnretained(projection).toOpaque()
    for (field, columnOffset) in slots {
      unsafe base.storeBytes(of: columnOffset, toByteOffset: field, as: Int.self)
    }
  }

  /// The current values of a projection's properties.
  func values<Root>(of projection: Projection<Root>) -> [(name: String, value: Any)] {
    properties.map { property in
      let root = projection.rootObject
      if property.path.count == 1 { return (property.label, property.path[0].readForText(root)) }
      return (property.label, root[keyPath: property.keyPath] ?? Any?.none as Any)
    }
  }
}

/// The interface of a wrapper in the storage of a projection, for code that does not know its
/// types.
protocol AnyProjected {
  /// The place of the column's offset in the wrapper.
  static var slotOffset: Int { get }
  static var isProjectedCollection: Bool { get }
  static func keyPath(at field: UnsafeRawPointer) -> AnyKeyPath
  /// The properties on the path of such a key path.
  static func path(of keyPath: AnyKeyPath) throws(KeyPathFault) -> [PropertyReflection]
}

extension Projected: AnyProjected {
  static var slotOffset: Int { MemoryLayout<Self>.offset(of: \._columnOffset)! }
  static var isProjectedCollection: Bool { Value.self is any ProjectedValues.Type }

  static func keyPath(at field: UnsafeRawPointer) -> AnyKeyPath {
    unsafe field.assumingMemoryBound(to: Self.self).pointee._keyPath
  }

  static func path(of keyPath: AnyKeyPath) throws(KeyPathFault) -> [PropertyReflection] {
    guard let keyPath = keyPath as? KeyPath<Root, Value> else {
      trap("internal error: a key path of another type than its wrapper's")
    }
    guard isProjectedCollection else { return try Tracer.steps(of: keyPath) }
    return try Tracer.steps(ofValues: keyPath)
  }
}

/// A projected collection of any element.
protocol ProjectedValues {
  func steps() throws(KeyPathFault) -> [PropertyReflection]
  func isOf(_ collection: Any) -> Bool
}

extension ProjectedCollection: ProjectedValues {}

extension ProjectedCollection: _Projectable {
  public static func _load(_ object: ObjectBase, _ column: UInt16) -> Self {
    trap("internal error: a projected collection without a column")
  }

  public static func _store(_ object: ObjectBase, _ column: UInt16, _ value: Self) {
    trap("internal error: a projected collection without a column")
  }
}
