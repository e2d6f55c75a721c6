/// The ids in a file, each with its own type so that they cannot be confused. In the file all of
/// them are permanent: an id is never reused.

/// Identifies a class of objects. Assigned in the order in which classes first appear in the file.
package struct ClassID: RawRepresentable, Hashable, Comparable, Sendable {
  package let rawValue: UInt32
  package init(rawValue: UInt32) { self.rawValue = rawValue }
  package init(_ rawValue: UInt32) { self.rawValue = rawValue }
  package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// Identifies a column of a class: its position among all columns that the class ever had.
package struct ColumnID: RawRepresentable, Hashable, Comparable, Sendable {
  package let rawValue: UInt16
  package init(rawValue: UInt16) { self.rawValue = rawValue }
  package init(_ rawValue: UInt16) { self.rawValue = rawValue }
  package var index: Int { Int(rawValue) }
  package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// Identifies an object within its class. In a class with a non-optional integer primary key it is
/// that key's value; otherwise it comes from a counter that never goes back.
package struct ObjectKey: RawRepresentable, Hashable, Comparable, Sendable, BitwiseCopyable {
  package let rawValue: Int64
  package init(rawValue: Int64) { self.rawValue = rawValue }
  package init(_ rawValue: Int64) { self.rawValue = rawValue }
  package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

extension ObjectKey {
  /// An unsigned number with the same order, for keys of the tree.
  @inline(__always)
  package var treeOrder: UInt64 { UInt64(bitPattern: rawValue) ^ (1 << 63) }

  @inline(__always)
  package init(treeOrder: UInt64) {
    self.init(Int64(bitPattern: treeOrder ^ (1 << 63)))
  }

  package static let smallest = ObjectKey(Int64.min)
  package static let largest = ObjectKey(Int64.max)

  /// The next smaller key, if there is one.
  var predecessor: ObjectKey { self == .smallest ? self : ObjectKey(rawValue - 1) }
}

/// An object that something links to.
package struct ObjectRef: Hashable, Sendable {
  package var classID: ClassID
  package var key: ObjectKey
  package init(classID: ClassID, key: ObjectKey) {
    self.classID = classID
    self.key = key
  }
}

/// All links from one object's column to one other object.
package struct LinkName: Hashable, Sendable {
  package var classID: ClassID
  package var column: ColumnID
  package var owner: ObjectKey
  package var target: ObjectRef
  package init(classID: ClassID, column: ColumnID, owner: ObjectKey, target: ObjectRef) {
    self.classID = classID
    self.column = column
    self.owner = owner
    self.target = target
  }
}

/// Identifies data stored outside of its object's cluster: a collection, a nested collection, a
/// long element. Assigned by one counter for the whole file; never 0.
package struct CollectionID: RawRepresentable, Hashable, Comparable, Sendable {
  package let rawValue: UInt64
  package init(rawValue: UInt64) { self.rawValue = rawValue }
  package init(_ rawValue: UInt64) { self.rawValue = rawValue }
  package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// The position of a page of a collection among the others. Only the order counts: labels have
/// gaps, so that a page can be inserted between two others without moving them.
package typealias PageLabel = ObjectKey

/// A committed state of the file: 1 for the first commit, one more for each later one. The
/// library's own counter; LMDB's transaction ids are not used for this, because they restart and
/// repeat.
package struct Version: RawRepresentable, Hashable, Comparable, Sendable {
  package let rawValue: UInt64
  package init(rawValue: UInt64) { self.rawValue = rawValue }
  package init(_ rawValue: UInt64) { self.rawValue = rawValue }
  package static let zero = Version(0)
  package var next: Version { Version(rawValue + 1) }
  package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
