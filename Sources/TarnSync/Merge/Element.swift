/// The name of an element of a list, which it keeps when others are inserted and removed around it.
///
/// It does not depend on anything that a server assigns: a restored server may assign a number
/// twice. Nor on the version alone: a copied file makes the same version with other elements. A
/// commit that is sent twice, by both copies or again after a restore, inserts its elements once.
package struct ElementID: Hashable, Sendable {
  /// A random number of the replica that inserted it.
  package let author: UInt32
  /// The version of that replica's commit.
  package let version: UInt64
  /// Bits of the commit's random id.
  package let salt: UInt32
  /// Its index among the elements that the commit inserted.
  package let number: UInt32

  /// Whether SQL has written the element, and no replica has named it.
  package var isOfSQL: Bool { author == 0 }

  package init(author: UInt32, version: UInt64, salt: UInt32, number: UInt32) {
    self.author = author
    self.version = version
    self.salt = salt
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
