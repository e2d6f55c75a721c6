/// Receives the reads of an object while a key path is traced. Such an object holds it in the place
/// of its image.
class PropertyTracing {
  /// The value that a property of the object returns.
  func value<V: _Persistable>(
    of object: ObjectBase, _ number: UInt16, _ keyPath: AnyKeyPath, default make: () -> V
  ) -> V { make() }

  /// The object is about to be read through that property of its projection, which may be a
  /// computed one of the object.
  func noteFront(isComputed: Bool, _ keyPath: () -> AnyKeyPath) {}
}

extension ObjectBase {
  /// The value of a property of an object while a key path is traced.
  @inline(never) @usableFromInline
  final func _trace<V: _Persistable>(_ number: UInt16, _ keyPath: () -> AnyKeyPath) -> V {
    guard let image = unsafe _image else { return V._default() }
    let tracer = unsafe Unmanaged<PropertyTracing>.fromOpaque(image).takeUnretainedValue()
    return tracer.value(of: self, number, keyPath(), default: V._default)
  }

  /// Notes the property of a projection through which this object is about to be read, while a key
  /// path is traced.
  @inline(never) @usableFromInline
  final func _noteFront(isComputed: Bool, _ keyPath: () -> AnyKeyPath) {
    guard let image = unsafe _image else { return }
    let tracer = unsafe Unmanaged<PropertyTracing>.fromOpaque(image).takeUnretainedValue()
    tracer.noteFront(isComputed: isComputed, keyPath)
  }
}
