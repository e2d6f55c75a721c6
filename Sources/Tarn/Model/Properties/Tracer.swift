import TarnStore

/// Finds the stored properties that a key path passes.
///
/// A key path names no properties, so it is applied to an object of the class whose properties have
/// no values yet: the getter of each property that is read then reports which one it is, and the
/// form of a key path to it. The key path is a chain of stored properties if its parts are those,
/// one by one. A computed property reads stored ones, too, but has its own getter.
///
/// The object is unmanaged. A property is read as an odd value that the key path must return: a
/// subclass may override a stored property by a computed one that uses it. Custom types have the
/// value that they have in a new object, made apart from the traced one, so that their initializers
/// are not traced. A link returns another such object.
///
/// Where a key path continues from an element of a collection, the collection has one such object
/// at every position, or one odd value, from which no key path continues. It means all elements.
///
/// In generic code `\T.age` can mean a protocol's requirement, and then has no getter to compare.
/// Nor does its value help: a property may be computed from another and equal it for all values but
/// one. So it names nothing in the file.
final class Tracer: PropertyTracing {
  /// A property that was read.
  struct Step {
    /// Nil for one that `ignoredProperties()` names.
    let property: PropertyReflection?
    let shape: KeyPathShape.Property?
  }

  /// The parts of a key path, as far as types show.
  struct Path {
    /// All but the elements.
    fileprivate(set) var properties: [KeyPathShape.Property] = []
    /// The number of elements that each collection needs, if the path continues from its elements.
    fileprivate(set) var elementCounts: [Int] = []
  }

  private let path: Path
  /// The numbers of elements of collections that have not been read yet.
  private var elementCounts: ArraySlice<Int>
  private var steps: [Step] = []
  /// The object that the next step must be read from; another one means that a property reads
  /// several.
  private var tip: ObjectBase?
  private var isChain = true
  private var objects: [ObjectBase] = []
  /// The first property that was read from the projection of the object.
  private var front: KeyPathShape.Property?
  /// The value that the last property returned.
  private var lastValue: Any?
  /// The links through which each object was reached.
  private var ways: [ObjectIdentifier: [PropertyReflection]] = [:]
  /// The paths of the properties that were read.
  private var pathsRead: [[PropertyReflection]] = []

  private init(_ path: Path) {
    self.path = path
    elementCounts = path.elementCounts[...]
  }

  /// The properties of a key path, in order.
  ///
  /// - Parameter throughElements: whether it may continue from elements of collections.
  static func steps<Root: ObjectBase>(
    of keyPath: PartialKeyPath<Root>, throughElements: Bool = false
  ) throws(KeyPathFault) -> [PropertyReflection] {
    let path = try Root.propertiesThatMayBeStored(along: keyPath, throughElements)
    if path.properties.contains(where: \.isRequirement) {
      throw KeyPathFault(keyPath, .requirement)
    }
    return try Tracer(path).follow(keyPath)
  }

  private func follow<Root: ObjectBase>(
    _ keyPath: PartialKeyPath<Root>
  ) throws(KeyPathFault) -> [PropertyReflection] {
    let value = read(keyPath) { (root: Root) in root }
    let properties = steps.compactMap(\.property)
    guard wentAlongPath, let last = properties.last, let lastValue,
      KeyPathProbe.isSame(value, lastValue, of: last)
    else { throw KeyPathFault(keyPath, readsFrom: properties) }
    return properties
  }

  /// The value of a key path for a traced object, or for its projection.
  private func read<Root: ObjectBase, Front>(
    _ keyPath: PartialKeyPath<Front>, _ front: (Root) -> Front
  ) -> Any {
    defer { letGoOfObjects() }
    return front(unsafe unsafeDowncast(makeObject(Root.self), to: Root.self))[keyPath: keyPath]
  }

  /// The properties that a key path was seen to read.
  struct Reading {
    let value: Any
    /// The stored properties, one after the other; nil if they are not a chain.
    let steps: [Step]?
    /// The value that the last one returned.
    let lastValue: Any?
    /// The property of the object's projection.
    let front: KeyPathShape.Property?
  }

  /// Reads key paths that begin at a projection or continue from a collection, neither of which is
  /// a stored property; the caller decides whether that is allowed. Elements are those of stored
  /// collections.
  static func reading<Root: ObjectBase, Front>(
    _ keyPath: PartialKeyPath<Front>, along path: Path, _ front: (Root) -> Front
  ) -> Reading {
    let tracer = Tracer(path)
    let value = tracer.read(keyPath, front)
    return Reading(
      value: value, steps: tracer.isChain ? tracer.steps : nil, lastValue: tracer.lastValue,
      front: tracer.front)
  }

  /// The one stored property that a computed key path reads, maybe several times, and the links
  /// that lead to it. Nil if it reads none, several, or one without an order.
  ///
  /// The getter runs, for an object that is in no Realm.
  static func onlyPropertyRead<Root: ObjectBase, Front>(
    by keyPath: PartialKeyPath<Front>, _ front: (Root) -> Front
  ) -> [PropertyReflection]? {
    let tracer = Tracer(Path())
    _ = tracer.read(keyPath, front)
    guard tracer.steps.allSatisfy({ $0.property != nil }) else { return nil }
    var longest: [PropertyReflection] = []
    for path in tracer.pathsRead where path.count > longest.count { longest = path }
    let names = longest.map(\.name)
    guard let last = longest.last, last.collection == .none, !last.isComputed, last.type != .link,
      tracer.pathsRead.allSatisfy({ names.starts(with: $0.map(\.name)) })
    else { return nil }
    return longest
  }

  /// The same for an object's key path.
  static func onlyPropertyRead<Root: ObjectBase>(
    by keyPath: PartialKeyPath<Root>
  ) -> [PropertyReflection]? {
    onlyPropertyRead(by: keyPath) { (root: Root) in root }
  }

  private var wentAlongPath: Bool {
    isChain && steps.count == path.properties.count
      && zip(steps, path.properties).allSatisfy { step, property in
        guard step.property != nil, let shape = step.shape else { return false }
        return shape.getter == property.getter
      }
  }

  /// The same. Traps for a key path that is not a chain of stored properties.
  static func steps<Root: ObjectBase>(
    of keyPath: PartialKeyPath<Root>, for use: KeyPathFault.Use
  ) -> [PropertyReflection] {
    do throws(KeyPathFault) {
      return try KnownKeyPaths.steps(of: keyPath, throughElements: use.goesThroughElements)
    } catch {
      trap(error.message(for: use))
    }
  }

  private func makeObject(
    _ type: ObjectBase.Type, reachedBy way: [PropertyReflection] = []
  ) -> ObjectBase {
    let object = type.init()
    ClassReflection.of(type).forgetValues(of: object)
    object._state = .tracing
    // Unmanaged objects have no image.
    unsafe object._image = unsafe UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
    objects.append(object)
    ways[ObjectIdentifier(object)] = way
    tip = object
    return object
  }

  /// If the program has retained one, it is an ordinary object from now on.
  private func letGoOfObjects() {
    for object in objects {
      object._state = []
      unsafe object._image = nil
    }
  }

  /// The value that a property of a traced object returns.
  override func value<V: _Persistable>(
    of object: ObjectBase, _ number: UInt16, _ keyPath: AnyKeyPath, default make: () -> V
  ) -> V {
    if object !== tip { isChain = false }
    tip = nil
    let properties = ClassReflection.of(type(of: object)).properties
    let property = properties.indices.contains(Int(number)) ? properties[Int(number)] : nil
    steps.append(Step(property: property, shape: KeyPathShape(keyPath)?.onlyProperty))
    guard let property else { return make() }
    let way = (ways[ObjectIdentifier(object)] ?? []) + [property]
    pathsRead.append(way)
    let value: V
    if let target = property.target, property.isPlainLink {
      value = makeObject(target, reachedBy: way) as! V
    } else if let count = elementCounts.first,
      let collection = collection(V.self, of: property.target, count: count)
    {
      elementCounts.removeFirst()
      return collection
    } else if let odd = KeyPathProbe.value(V.self) {
      value = odd
    } else {
      value = property.read(type(of: object).init()) as! V
    }
    lastValue = value
    return value
  }

  override func noteFront(isComputed: Bool, _ keyPath: () -> AnyKeyPath) {
    if isComputed { isChain = false }
    if front == nil { front = KeyPathShape(keyPath())?.onlyProperty }
  }

  /// A collection with one element everywhere, which becomes the last value read.
  private func collection<V: _Persistable>(
    _: V.Type, of target: ObjectBase.Type?, count: Int
  ) -> V? {
    if let elements = V.self as? any CollectionOfValues.Type, let probe = elements.elementProbe {
      lastValue = probe.value
      return V._traced(element: probe.boxed, count: count)
    }
    guard let target else { return nil }
    let object = makeObject(target)
    lastValue = object
    return V._traced(element: _BoxedValue(.null, object: object), count: count)
  }
}

extension ObjectBase {
  /// The parts of a key path that are properties, if all of their types can be stored: no getter of
  /// another type is called then.
  fileprivate static func propertiesThatMayBeStored<Root: ObjectBase>(
    along keyPath: PartialKeyPath<Root>, _ throughElements: Bool
  ) throws(KeyPathFault) -> Tracer.Path {
    let path = try Tracer.path(of: keyPath, throughElements: throughElements) { property, type, _ in
      guard let owner = type as? ObjectBase.Type else { return .member }
      return ClassReflection.of(owner).mayStore(property) ? nil : .notStored(from: [])
    }
    if path.properties.isEmpty { throw KeyPathFault(keyPath, .object) }
    return path
  }
}

extension Tracer {
  /// The properties of a key path, and the elements that it continues from.
  ///
  /// - Parameter fault: the reason why a property cannot be read from a type, nil if it can: no
  ///   getter is called in that case. The last argument is the number of properties after it.
  static func path<Root>(
    of keyPath: PartialKeyPath<Root>, throughElements: Bool,
    _ fault: (KeyPathShape.Property, _ type: Any.Type, _ following: Int) -> KeyPathFault.Reason?
  ) throws(KeyPathFault) -> Path {
    guard let shape = KeyPathShape(keyPath) else { throw KeyPathFault(keyPath, .unknown) }
    var path = Path()
    var following = shape.propertyCount
    var type: Any.Type = Root.self
    for part in shape.parts {
      switch part {
      case .property(let property):
        following -= 1
        if throughElements, let count = property.elementCount(in: type) {
          path.elementCounts.append(count)
        } else if let reason = fault(property, type, following) {
          throw KeyPathFault(keyPath, reason)
        } else {
          path.properties.append(property)
        }
        type = property.type
      case .field:
        let isOfObject = path.properties.isEmpty || type is ObjectBase.Type
        throw KeyPathFault(keyPath, isOfObject ? .notStored(from: []) : .member)
      case .chain, .force:
        if let optional = type as? any OptionalProtocol.Type { type = optional.wrappedType }
      case .wrap: break
      }
    }
    return path
  }
}

extension OptionalProtocol {
  fileprivate static var wrappedClass: ObjectBase.Type? { Wrapped.self as? ObjectBase.Type }
}

extension KeyPathShape.Property {
  private static let mostElements = 10_000

  /// The number of elements that a collection needs for this to be one of them; nil if it cannot
  /// be.
  fileprivate func elementCount(in type: Any.Type) -> Int? {
    guard let argument, let collection = type as? any _Persistable.Type,
      let element = collection.tracedElementType,
      KeyPathProbe.bare(element) == KeyPathProbe.bare(self.type)
    else { return nil }
    if collection._description.collection == .map { return 1 }
    return 0..<Self.mostElements ~= argument ? argument + 1 : nil
  }
}

extension _Persistable {
  /// The type of the elements, if this is a collection.
  fileprivate static var tracedElementType: Any.Type? {
    (Self.self as? any CollectionOfValues.Type)?.elementType ?? _description.target
  }

  /// The collection of this type with one element everywhere; nil for other types.
  fileprivate static func _traced(element: _BoxedValue, count: Int) -> Self? {
    if _description.isComputed, let object = element.object {
      return (Self.self as? any AnyLinkingObjects.Type)?.traced(object) as? Self
    }
    let sequence = TracedSequence(_description.collection, of: element, count: count)
    return _collection(_SequenceHandle(sequence))
  }
}

extension PropertyReflection {
  /// A property whose value is an object, not a custom type that is stored as one.
  var isPlainLink: Bool {
    guard collection == .none, !isComputed else { return false }
    return (wrapper.valueType as? any OptionalProtocol.Type)?.wrappedClass != nil
  }
}

extension ClassReflection {
  fileprivate func mayStore(_ part: KeyPathShape.Property) -> Bool {
    properties.contains { $0.wrapper.valueType == part.type }
  }

  /// Removes the values of an object's properties, and numbers these instead of columns.
  fileprivate func forgetValues(of object: ObjectBase) {
    let base = unsafe Unmanaged.passUnretained(object).toOpaque()
    for (number, property) in properties.enumerated() {
      unsafe base.storeBytes(
        of: UInt16(number), toByteOffset: property.offset + property.wrapper.columnOffset,
        as: UInt16.self)
      unsafe property.wrapper.forget(at: base + property.offset)
    }
  }
}

/// The content of a traced object's collection: one element, at every position and under every key.
/// It never changes.
final class TracedSequence: SequenceBacking {
  let kind: CollectionKind
  let count: Int
  private let element: _BoxedValue

  init(_ kind: CollectionKind, of element: _BoxedValue, count: Int) {
    self.kind = kind
    self.count = count
    self.element = element
  }

  var ownInstance: Instance? { nil }
  var isInvalidated: Bool { false }
  var title: String { "a \(kind) reached through a key path" }
  func isEqual(to other: any SequenceBacking) -> Bool { other === self }

  func element(at index: Int) -> _BoxedValue { element }
  var snapshot: SequenceSnapshot { .boxed([element]) }
  var numberPages: NumberPages? { nil }
  func key(at index: Int) -> String { "" }
  func index(of value: _BoxedValue) -> Int? {
    value.object === element.object && value.value == element.value ? 0 : nil
  }
  func find(_ key: String) -> (index: Int, isFound: Bool) { (0, true) }

  func insert(_ value: _BoxedValue, at index: Int) {}
  func replace(_ range: Range<Int>, with values: [_BoxedValue]) {}
  func set(_ value: _BoxedValue, at index: Int) {}
  func move(from: Int, to: Int) {}
  func swap(_ first: Int, _ second: Int) {}
  func insert(_ value: _BoxedValue) {}
  func remove(_ value: _BoxedValue) {}
  func set(_ value: _BoxedValue, for key: String) {}
  func removeValue(for key: String) {}
  func removeAll() {}
  func put(_ values: [_BoxedValue], keys: [String]) {}
}
