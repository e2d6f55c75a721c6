extension RandomAccessCollection where Self: ThreadConfined {
  /// The content for `dump` and debuggers; empty for an invalidated collection.
  var mirrorOfElements: Mirror {
    isInvalidated
      ? Mirror(self, unlabeledChildren: EmptyCollection<Element>(), displayStyle: .collection)
      : Mirror(self, unlabeledChildren: self, displayStyle: .collection)
  }
}

extension List: CustomReflectable {
  /// The elements; empty for an invalidated list.
  public var customMirror: Mirror { mirrorOfElements }
}

extension MutableSet: CustomReflectable {
  /// The elements; empty for an invalidated set.
  public var customMirror: Mirror { mirrorOfElements }
}

extension Map: CustomReflectable {
  /// The entries; empty for an invalidated map.
  public var customMirror: Mirror {
    Mirror(self, unlabeledChildren: isInvalidated ? [] : Array(self), displayStyle: .dictionary)
  }
}

extension LinkingObjects: CustomReflectable {
  /// The objects; empty if the object that they link to was deleted.
  public var customMirror: Mirror { mirrorOfElements }
}

extension Results: CustomReflectable {
  /// The elements; empty for invalidated results.
  public var customMirror: Mirror { mirrorOfElements }
}

extension AnyRealmCollection: CustomReflectable {
  /// The elements; empty for an invalidated collection.
  public var customMirror: Mirror { mirrorOfElements }
}

extension ProjectedCollection: CustomReflectable {
  /// The values; empty for an invalidated collection.
  public var customMirror: Mirror { mirrorOfElements }
}
