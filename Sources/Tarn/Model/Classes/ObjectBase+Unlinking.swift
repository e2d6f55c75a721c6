import TarnStore

// Swift releases a chain of objects recursively: releasing the first releases the last reference to
// the second, and so on, until the stack ends. If the program has made the chain, it is responsible
// for that. Copies made by this library are released with a list instead.

extension ObjectBase {
  /// Releases the object's links when it is deallocated itself.
  final func unlink() {
    var pending: [ObjectBase] = []
    giveUpLinks(to: &pending)
    while var next = pending.popLast() {
      if isKnownUniquelyReferenced(&next) { next.giveUpLinks(to: &pending) }
    }
  }

  private final func giveUpLinks(to pending: inout [ObjectBase]) {
    guard _state.contains(.unlinksWhenItGoes), unsafe _context == nil else { return }
    for property in ClassReflection.of(type(of: self)).properties where property.leadsOn {
      unsafe property.wrapper.giveUpLinks(at: property.field(of: self), to: &pending)
    }
  }
}

extension PropertyReflection {
  /// True if the property may link to other objects.
  var leadsOn: Bool { !isComputed && !isDynamic && (target != nil || type == .any) }
}

extension Persisted where Value: _Persistable {
  static func giveUpLinks(
    at field: UnsafeMutableRawPointer, to pending: inout [ObjectBase]
  ) {
    let wrapper = unsafe field.assumingMemoryBound(to: Self.self)
    guard Value._isCollection else {
      // The contents of a list or map within a value have a limited depth, and are released with
      // it.
      if let object = unsafe wrapper.pointee._value?._box().object { pending.append(object) }
      unsafe wrapper.pointee._value = nil
      return
    }
    var collection: AnyObject? = unsafe takeCollection(wrapper)
    // The program may hold it, too.
    guard isKnownUniquelyReferenced(&collection),
      let elements = (collection as? any UnmanagedCollection)?.unmanagedElements
    else { return }
    pending += elements.compactMap(\.object)
  }

  private static func takeCollection(
    _ wrapper: UnsafeMutablePointer<Self>
  ) -> (any UnmanagedCollection)? {
    defer { unsafe wrapper.pointee._value = nil }
    return unsafe wrapper.pointee._value as? any UnmanagedCollection
  }
}
