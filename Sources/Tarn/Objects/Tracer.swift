import CTarn
import TarnStore

/// Finds out which properties a key path goes through, by reading it from an object that is no
/// row but notes what is asked of it. Such an object has the tracer's context, which agrees with
/// it, and no image, so that each load comes to the slow path, and there to `note`. A link leads
/// to another such object.
final class Tracer {
  private var steps: [PropertyReflection] = []
  /// The object that the next step must be read from; another one means that the key path is a
  /// computed property that looks at several.
  private var tip: ObjectBase?
  private var isChain = true
  private let place: UnsafeMutablePointer<Place>

  /// What traced objects take for their Realm's context; leads back to the tracer.
  private struct Place {
    var context: tarn_context
    var tracer: Unmanaged<Tracer>
  }

  private init() {
    place = .allocate(capacity: 1)
    place.initialize(
      to: Place(
        context: tarn_context(generation: 0, thread: tarn_thread_id()),
        tracer: .passUnretained(self)))
  }

  deinit { place.deallocate() }

  /// The properties that a key path goes through, in order; nil if it is not a chain of
  /// persisted properties.
  static func steps<Root: ObjectBase>(of keyPath: PartialKeyPath<Root>) -> [PropertyReflection]? {
    let tracer = Tracer()
    let root = tracer.makeObject(Root.self)
    // The traced objects point to the tracer without keeping it.
    return withExtendedLifetime(tracer) {
      _ = root[keyPath: keyPath]
      return tracer.isChain && !tracer.steps.isEmpty ? tracer.steps : nil
    }
  }

  private func makeObject<T: ObjectBase>(_ type: T.Type) -> T {
    let object = type.init()
    ClassReflection.of(type).numberProperties(of: object)
    object._state = .tracing
    object._context = UnsafeMutableRawPointer(place).assumingMemoryBound(to: tarn_context.self)
    object._image = tarn_cluster_empty()
    tip = object
    return object
  }

  private static func of(_ object: ObjectBase) -> Tracer {
    UnsafeRawPointer(object._context!).assumingMemoryBound(to: Place.self)
      .pointee.tracer.takeUnretainedValue()
  }

  /// A property of a traced object was read.
  static func note(_ object: ObjectBase, _ column: UInt16) {
    let tracer = of(object)
    if object !== tracer.tip { tracer.isChain = false }
    tracer.tip = nil
    tracer.steps.append(ClassReflection.of(type(of: object)).properties[Int(column)])
  }

  /// What a link of a traced object leads to.
  static func follow<T: ObjectBase>(_ object: ObjectBase, to type: T.Type) -> T {
    of(object).makeObject(type)
  }
}

extension ClassReflection {
  /// Gives the wrappers of an object the properties' numbers in place of columns.
  func numberProperties(of object: ObjectBase) {
    let base = Unmanaged.passUnretained(object).toOpaque()
    for (number, property) in properties.enumerated() {
      base.storeBytes(
        of: UInt16(number), toByteOffset: property.offset + property.wrapper.columnOffset,
        as: UInt16.self)
    }
  }
}

/// The name of the property that a key path leads to, with dots after links: "mother.age" for
/// `\Dog.mother?.age`. Traps if the path is not made of persisted properties only.
public func _name<Root: ObjectBase>(for keyPath: PartialKeyPath<Root>) -> String {
  guard let steps = Tracer.steps(of: keyPath) else {
    trap(
      """
      The key path \(keyPath) of \(Root.self) is no chain of @Persisted properties. Computed \
      properties have no place in the file to look at.
      """)
  }
  return steps.map(\.name).joined(separator: ".")
}
