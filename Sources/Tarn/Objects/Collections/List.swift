public import Foundation
import TarnStore

/// A to-many property: values in the program's order.
///
///     class Person: Object {
///       @Persisted var dogs: List<Dog>
///       @Persisted var scores: List<Int>
///     }
///
/// A list is a reference. The list of an unmanaged object lives in memory; when the object is added
/// to a Realm, the same list becomes a live view of the stored elements. Assigning to the property
/// copies the elements of the assigned list.
///
/// A managed list belongs to its Realm's thread, queue or actor and is changed only in writes.
/// Objects that are inserted are added to its Realm; deleting an object removes it from the list.
public final class List<Element: RealmCollectionValue>: _CollectionProperty {
  public var _handle: _SequenceHandle

  /// A list with existing elements.
  public init(_handle: _SequenceHandle) { self._handle = _handle }

  /// An empty, unmanaged list.
  public convenience init() { self.init(_handle: _SequenceHandle(UnmanagedSequence(.list))) }

  public static var _description: _ColumnDescription {
    Element._elementDescription.collected(.list)
  }

  public static func _canHold(_ boxed: _BoxedValue) -> Bool { Element._canHoldElement(boxed) }
  public static func _fits(_ boxed: _BoxedValue) -> Bool {
    Element._unboxElement(boxed) != nil
  }
}

/// In a query it stands for its elements.
extension List {
  public typealias _QueryValue = Element
  public typealias _Compared = Element._Unwrapped
  public static var _isComparedByElement: Bool { true }
}

extension List: RealmCollection, MutableCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { count }
  /// The number of elements.
  public var count: Int { backing.count }

  /// The element at a position. Traps if it is out of bounds; setting also traps outside of a
  /// write.
  public subscript(position: Int) -> Element {
    get {
      Bounds.check(position, count, of: self)
      return typedElement(backing.element(at: position), backing.title)
    }
    set {
      Bounds.check(position, count, of: self)
      backing.set(newValue._boxElement(), at: position)
    }
  }

  /// The elements of a range, as a view of the list. Setting replaces them. Changes of the view
  /// change the list at once.
  public subscript(bounds: Range<Int>) -> ListSlice<Element> {
    get { ListSlice(self, Bounds.range(bounds, count, of: self)) }
    set {
      let bounds = Bounds.range(bounds, count, of: self)
      let isItself = newValue.base === self && newValue.indices == bounds
      // The changes of the view are in the list already.
      if isItself { return backing.replace(bounds.lowerBound..<bounds.lowerBound, with: []) }
      backing.replace(bounds, with: newValue.map { $0._boxElement() })
    }
  }

  /// Lends the elements of a list of embedded objects to code that reorders them, such as sorting.
  /// All are stored again together, because assigning one to the position of another would remove
  /// it from its own. Nil for other lists.
  public func withContiguousMutableStorageIfAvailable<R>(
    _ body: (inout UnsafeMutableBufferPointer<Element>) throws -> R
  ) rethrows -> R? {
    unsafe try withContiguousMutableStorage(of: 0..<count, body)
  }

  /// The same for some of the elements.
  func withContiguousMutableStorage<R>(
    of bounds: Range<Int>, _ body: (inout UnsafeMutableBufferPointer<Element>) throws -> R
  ) rethrows -> R? {
    let managed = backing as? ManagedSequence
    guard managed?.holdsEmbedded ?? (Element.self is EmbeddedObject.Type) else { return nil }
    let before = Array(self[bounds])
    var elements = before
    let result = unsafe try elements.withUnsafeMutableBufferPointer { unsafe try body(&$0) }
    let isSame = zip(before, elements).allSatisfy {
      ($0 as? ObjectBase) === ($1 as? ObjectBase)
    }
    if !isSame { backing.replace(bounds, with: elements.map { $0._boxElement() }) }
    return result
  }

  /// The same for any kind of range, such as `2...`.
  public subscript<R: RangeExpression>(range: R) -> ListSlice<Element> where R.Bound == Int {
    get { ListSlice(self, Bounds.range(range, count, of: self)) }
    set { replaceSubrange(range, with: Array(newValue)) }
  }

  /// The first element, or nil.
  public var first: Element? { count == 0 ? nil : self[0] }
  /// The last element, or nil.
  public var last: Element? { count == 0 ? nil : self[count - 1] }

  /// Iterates the current elements, whatever happens to the list meanwhile.
  public func makeIterator() -> ElementIterator<Element> { ElementIterator(backing) }

  /// The first position of an element, or nil. Objects are the same if they have the same row.
  /// Traps for a deleted object.
  public func index(of element: Element) -> Int? {
    // A value of a custom type equals others, but the object that it makes is a new one.
    if !Element._isObject, Element._elementDescription.target != nil {
      return firstIndex(of: element)
    }
    return backing.index(of: element._boxElement())
  }
}

extension List: CustomStringConvertible, DumpedCollection {
  func append(to dump: inout TextDump) { append("List<\(Element.textOfType)>", to: &dump) }
}

extension List {
  // MARK: - Adding

  /// Appends an element.
  public func append(_ element: Element) {
    backing.insert(element._boxElement(), at: backing.count)
  }

  /// Appends elements, in their order.
  public func append<S: Sequence>(objectsIn elements: S) where S.Element == Element {
    insert(contentsOf: Array(elements), at: count)
  }

  /// Inserts an element before the one at a position, or at the end. Traps if the position is
  /// larger than the count.
  public func insert(_ element: Element, at position: Int) {
    Bounds.check(insertionAt: position, count, of: self)
    backing.insert(element._boxElement(), at: position)
  }

  /// Inserts elements before the one at a position, or at the end. Traps if the position is larger
  /// than the count.
  public func insert<C: Collection>(contentsOf elements: C, at position: Int)
  where C.Element == Element {
    Bounds.check(insertionAt: position, count, of: self)
    backing.replace(position..<position, with: elements.map { $0._boxElement() })
  }

  // MARK: - Removing

  /// Removes the element at a position. Traps if it is out of bounds.
  public func remove(at position: Int) {
    Bounds.check(position, count, of: self)
    backing.replace(position..<position + 1, with: [])
  }

  /// Removes the elements at the positions. Traps if one of them is out of bounds.
  public func remove(atOffsets positions: IndexSet) {
    if let last = positions.last { Bounds.check(last, count, of: self) }
    for range in positions.rangeView.reversed() { backing.replace(range, with: []) }
  }

  /// Removes the elements of a range. Traps if it is out of bounds.
  public func removeSubrange<R: RangeExpression>(_ range: R) where R.Bound == Int {
    replaceSubrange(range, with: EmptyCollection())
  }

  /// Removes the first elements. Traps if there are fewer.
  public func removeFirst(_ number: Int = 1) {
    let end = count
    Bounds.check(number: number, end, of: self)
    backing.replace(0..<number, with: [])
  }

  /// Removes the last elements. Traps if there are fewer.
  public func removeLast(_ number: Int = 1) {
    let end = count
    Bounds.check(number: number, end, of: self)
    backing.replace(end - number..<end, with: [])
  }

  /// Removes all elements. Objects stay in the Realm.
  public func removeAll() { backing.removeAll() }

  // MARK: - Replacing and moving

  /// Replaces the element at a position. Traps if it is out of bounds.
  public func replace(index: Int, object: Element) { self[index] = object }

  /// Replaces the elements of a range. Traps if it is out of bounds.
  public func replaceSubrange<R: RangeExpression, C: Collection>(
    _ range: R, with elements: C
  ) where R.Bound == Int, C.Element == Element {
    let range = Bounds.range(range, count, of: self)
    backing.replace(range, with: elements.map { $0._boxElement() })
  }

  /// Moves the element at `from` so that it ends up at `to`. Traps if one of them is out of bounds.
  public func move(from: Int, to: Int) {
    let end = count
    Bounds.check(from, end, of: self)
    Bounds.check(to, end, of: self)
    if from != to { backing.move(from: from, to: to) }
  }

  /// Moves the elements at the positions, in their order, before the one that is now at
  /// `destination`, or to the end.
  public func move(fromOffsets positions: IndexSet, toOffset destination: Int) {
    let end = count
    Bounds.check(insertionAt: destination, end, of: self)
    if let last = positions.last { Bounds.check(last, end, of: self) }
    // Those before the destination move in reverse order, each past those moved already.
    var target = destination - 1
    for position in positions.reversed() where position < destination {
      if position != target { backing.move(from: position, to: target) }
      target -= 1
    }
    target = destination
    for position in positions where position >= destination {
      if position != target { backing.move(from: position, to: target) }
      target += 1
    }
  }

  /// Exchanges two elements. Traps if one of the positions is out of bounds.
  public func swapAt(_ first: Int, _ second: Int) {
    let end = count
    Bounds.check(first, end, of: self)
    Bounds.check(second, end, of: self)
    if first != second { backing.swap(first, second) }
  }
}

extension List: _Linking where Element: ObjectBase {}

@available(*, unavailable, message: "it belongs to one thread or actor: pass a ThreadSafeReference")
extension List: Sendable {}

extension List: UnmanagedCollection, ArrivingCollection {}
