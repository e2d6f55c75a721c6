import TarnStore

// Collection literals in source code: unmanaged collections, whose elements are copied when they
// are assigned to a property of a managed object.

extension List: ExpressibleByArrayLiteral {
  /// An unmanaged list of the elements.
  public convenience init(arrayLiteral elements: Element...) {
    self.init()
    append(objectsIn: elements)
  }
}

extension MutableSet: ExpressibleByArrayLiteral {
  /// An unmanaged set of the elements; equal ones become one.
  public convenience init(arrayLiteral elements: Element...) {
    self.init()
    insert(objectsIn: elements)
  }
}

extension Map: ExpressibleByDictionaryLiteral {
  /// An unmanaged map of the keys and values. Traps for a key that is given twice.
  public convenience init(dictionaryLiteral entries: (Key, Value)...) {
    self.init()
    insert(unique: entries)
  }
}

extension Map {
  /// Sets values under new keys. Traps for an existing key.
  func insert(unique entries: [(Key, Value)]) {
    for (key, value) in entries {
      require(
        !backing.find(key._mapKey).isFound,
        "A map was given the key '\(key)' twice. Remove one of the two.")
      updateValue(value, forKey: key)
    }
  }
}
