/// The name of an element of a list, which it keeps when others come and go around it.
package struct ElementID: Hashable, Sendable {
  /// The number of the replica that inserted it.
  package let replica: UInt32
  /// The version of that replica's commit.
  package let version: UInt64
  /// The place among the elements that the commit inserted.
  package let number: UInt32

  package init(replica: UInt32, version: UInt64, number: UInt32) {
    self.replica = replica
    self.version = version
    self.number = number
  }
}

/// An element of a list, or the value under a key of a map.
package struct Stamped<Value: Equatable & Sendable>: Equatable, Sendable {
  package var value: Value
  package var stamp: Stamp

  package init(_ value: Value, _ stamp: Stamp) {
    self.value = value
    self.stamp = stamp
  }

  /// The one that was written later.
  static func later(_ a: Stamped, _ b: Stamped) -> Stamped { a.stamp < b.stamp ? b : a }
}

/// An element of a list with its name.
package struct ListElement<Value: Equatable & Sendable>: Equatable, Sendable {
  package let id: ElementID
  package var content: Stamped<Value>

  package init(_ id: ElementID, _ value: Value, _ stamp: Stamp) {
    self.id = id
    content = Stamped(value, stamp)
  }
}
