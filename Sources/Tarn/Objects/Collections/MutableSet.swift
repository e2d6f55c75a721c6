import TarnStore

/// A to-many property without duplicates; the store determines the order.
///
///     class Person: Object {
///       @Persisted var tags: MutableSet<String>
///     }
///
/// The elements are in the order of their values (nil first, strings bytewise), objects in the
/// order in which they were added to their class. An unmanaged set distinguishes objects by
/// identity and keeps them in insertion order. Otherwise like `List`: the set of an unmanaged
/// object becomes a live view when the object is added, and assigning copies.
public final class MutableSet<Element: RealmCollectionValue>: _CollectionProperty {
  public var _handle: _SequenceHandle

  /// A set with existing elements.
  public init(_handle: _SequenceHandle) { self._handle = _handle }

  /// An empty, unmanaged set.
  public convenience init() { self.init(_handle: _SequenceHandle(UnmanagedSequence(.set))) }

  public var _isSet: Bool { true }
  public static var _description: _ColumnDescription {
    Element._elementDescription.collected(.set)
  }

  public static func _canHold(_ boxed: _BoxedValue) -> Bool { Element._canHoldElement(boxed) }
  public static func _fits(_ boxed: _BoxedValue) -> Bool { Element._unboxElement(boxed) != nil }
}

/// In a query it stands for its elements.
extension MutableSet {
  public typealias _QueryValue = Element
  public typealias _Compared = Element._Unwrapped
  public static var _isComparedByElement: Bool { true }
}

extension MutableSet: RealmCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { count }
  /// The number of elements.
  public var count: Int { backing.count }

  /// The element at a position. Traps if it is out of bounds.
  public subscript(position: Int) -> Element {
    Bounds.check(position, count, of: self)
    return typedElement(backing.element(at: position), backing.title)
  }

  /// The first element, or nil.
  public var first: Element? { count == 0 ? nil : self[0] }
  /// The last element, or nil.
  public var last: Element? { count == 0 ? nil : self[count - 1] }

  /// Iterates the current elements, whatever happens to the set meanwhile.
  public func makeIterator() -> ElementIterator<Element> { ElementIterator(backing) }

  /// The position of an element, or nil. Traps for a deleted object.
  public func index(of element: Element) -> Int? { backing.index(of: element._boxElement()) }

  /// True if the set contains the element. Traps for a deleted object.
  public func contains(_ element: Element) -> Bool { index(of: element) != nil }
}

extension MutableSet: CustomStringConvertible, DumpedCollection {
  func append(to dump: inout TextDump) { append("MutableSet<\(Element.textOfType)>", to: &dump) }
}

extension MutableSet {
  /// True if the other set contains every element.
  public func isSubset(of other: MutableSet<Element>) -> Bool {
    allSatisfy { other.contains($0) }
  }

  /// True if both sets have an element in common.
  public func intersects(_ other: MutableSet<Element>) -> Bool {
    contains { other.contains($0) }
  }

  /// Inserts an element. If the set already contains it, nothing happens, and observers are not
  /// called.
  public func insert(_ element: Element) { backing.insert(element._boxElement()) }

  /// Inserts the elements that the set does not contain yet.
  public func insert<S: Sequence>(objectsIn elements: S) where S.Element == Element {
    for element in Array(elements) { insert(element) }
  }

  /// Removes an element, if the set contains it. Traps for a deleted object.
  public func remove(_ element: Element) { backing.remove(element._boxElement()) }

  /// Removes all elements. Objects stay in the Realm.
  public func removeAll() { backing.removeAll() }

  /// Keeps the elements that are in both sets.
  public func formIntersection(_ other: MutableSet<Element>) {
    for element in Array(self) where !other.contains(element) { remove(element) }
  }

  /// Inserts every element of the other set.
  public func formUnion(_ other: MutableSet<Element>) { insert(objectsIn: other) }

  /// Removes every element that is in the other set.
  public func subtract(_ other: MutableSet<Element>) {
    for element in Array(other) { remove(element) }
  }
}

extension MutableSet: _Linking where Element: ObjectBase {}

@available(*, unavailable, message: "it belongs to one thread or actor: pass a ThreadSafeReference")
extension MutableSet: Sendable {}

extension MutableSet: UnmanagedCollection, ArrivingCollection {}
