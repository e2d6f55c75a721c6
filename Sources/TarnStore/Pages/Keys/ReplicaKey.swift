/// The name of a record that a replica of a server keeps in addition to the objects.
package struct ReplicaKey: Hashable, Comparable, Sendable {
  /// The purpose of the record; from 128 on it may be long.
  package let kind: UInt8
  package let classID: ClassID
  package let number: Int64

  package init(_ kind: UInt8, _ classID: ClassID, _ number: Int64) {
    self.kind = kind
    self.classID = classID
    self.number = number
  }

  /// The kind of the records with the domains of columns, which files that are not replicas have,
  /// too. It sorts last.
  package static let domains: UInt8 = 255

  package var isLong: Bool { kind >= 128 }

  package static func < (a: ReplicaKey, b: ReplicaKey) -> Bool {
    (a.kind, a.classID, a.number) < (b.kind, b.classID, b.number)
  }
}
