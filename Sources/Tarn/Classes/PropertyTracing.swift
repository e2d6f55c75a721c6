/// Receives the reads of an object that a key path is traced with. Such an object holds it where
/// others hold their image.
class PropertyTracing {
  /// The value that a property of the object is read as.
  func value<V: _Persistable>(
    of object: ObjectBase, _ number: UInt16, _ keyPath: AnyKeyPath, default make: () -> V
  ) -> V { make() }

  /// The object is about to be read through that property of something else.
  func noteFront(_ keyPath: () -> AnyKeyPath) {}
}

extension ObjectBase {
  /// The value of a property of an object that a key path is traced with.
  @inline(never) @usableFromInline
  final func _trace<V: _Persistable>(_ number: UInt16, _ keyPath: () -> AnyKeyPath) -> V {
    guard let image = unsafe _image else { return V._default() }
    let tracer = unsafe Unmanaged<PropertyTracing>.fromOpaque(image).takeUnretainedValue()
    return tracer.value(of: self, number, keyPath(), default: V._default)
  }

  /// Notes through which property of something else this object, which a key path is traced with,
  /// is about to be read.
  @inline(never) @usableFromInline
  final func _noteFront(_ keyPath: () -> AnyKeyPath) {
    guard let image = unsafe _image else { return }
    let tracer = unsafe Unmanaged<PropertyTracing>.fromOpaque(image).takeUnretainedValue()
    tracer.noteFront(keyPath)
  }
}
