import TarnStore

// Swift lets go of a chain of objects by recursion: the first goes, and with it the last reference
// to the second, and so on, until the stack ends. That is the program's affair where the program
// has made the chain. Copies that this library has made of one let go of each other by a list.

extension ObjectBase {
  /// Lets go of what the object links to, as it goes itself.
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
  /// True if the property may lead to other objects.
  var leadsOn: Bool { !isComputed && !isDynamic && (target != nil || type == .any) }
}

extension Persisted where Value: _Persistable {
  static func giveUpLinks(
    at field: UnsafeMutableRawPointer, to pending: inout [ObjectBase]
  ) {
    let wrapper = unsafe field.assumingMemoryBound(to: Self.self)
    guard Value._isCollection else {
      // What is in a list or map within a value is as deep as those may be, and goes with it.
      if let object = unsafe wrapper.pointee._value?._box().object { pending.append(object) }
      unsafe wrapper.pointee._value = nil
      return
    }
    var collection: AnyObject? = unsafe takeCollection(wrapper)
    // The program may have it, too.
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
