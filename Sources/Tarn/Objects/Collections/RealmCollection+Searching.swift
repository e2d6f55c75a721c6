import TarnStore

// The standard library calls these first in `contains(_:)`, `firstIndex(of:)` and `lastIndex(of:)`,
// also in code that is generic over collections. Values are then the same if they are the same
// element of a set. By `==`, two spellings of the same letters would be one value, and NaN would
// never be found.

/// Searching values in collections.
enum StoredSearch {
  /// An element in stored form; nil if Swift's `==` decides: for objects, for custom types, and for
  /// values where it gives the same result.
  static func boxed<Element: RealmCollectionValue>(_ element: Element) -> _BoxedValue? {
    if Element._isObject || KeyPathProbe.isCustom(Element.self) { return nil }
    switch Element._elementDescription.type {
    case .string, .float, .double, .decimal, .any: break
    case .int, .bool, .data, .date, .objectID, .uuid, .link: return nil
    }
    let boxed = element._boxElement()
    return boxed.object == nil ? boxed : nil
  }

  static func first<C: Collection>(_ boxed: _BoxedValue, in elements: C) -> C.Index?
  where C.Element: RealmCollectionValue {
    elements.firstIndex { $0._boxElement().isSameElement(as: boxed) }
  }

  static func last<C: BidirectionalCollection>(_ boxed: _BoxedValue, in elements: C) -> C.Index?
  where C.Element: RealmCollectionValue {
    elements.lastIndex { $0._boxElement().isSameElement(as: boxed) }
  }
}

extension RealmCollection {
  public func _customContainsEquatableElement(_ element: Element) -> Bool? {
    StoredSearch.boxed(element) == nil ? nil : index(of: element) != nil
  }

  public func _customIndexOfEquatableElement(_ element: Element) -> Int?? {
    StoredSearch.boxed(element) == nil ? nil : .some(index(of: element))
  }

  public func _customLastIndexOfEquatableElement(_ element: Element) -> Int?? {
    StoredSearch.boxed(element).map { StoredSearch.last($0, in: self) }
  }
}

extension ListSlice {
  public func _customContainsEquatableElement(_ element: Element) -> Bool? {
    StoredSearch.boxed(element).map { StoredSearch.first($0, in: self) != nil }
  }

  public func _customIndexOfEquatableElement(_ element: Element) -> Int?? {
    StoredSearch.boxed(element).map { StoredSearch.first($0, in: self) }
  }

  public func _customLastIndexOfEquatableElement(_ element: Element) -> Int?? {
    StoredSearch.boxed(element).map { StoredSearch.last($0, in: self) }
  }
}
