// Values are found as in `RealmCollection+Searching`.

extension ProjectedCollection {
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
