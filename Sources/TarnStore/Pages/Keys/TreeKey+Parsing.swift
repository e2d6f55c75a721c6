/// Parsing keys. Each function returns nil for bytes that are not a key of its kind: the caller
/// knows whether that means the end of a walk or a damaged file.
extension TreeKey {
  /// The kind of the entry under that key, nil for an unknown kind.
  package static func tag(of key: UnsafeRawBufferPointer) -> Tag? {
    guard let first = unsafe key.first else { return nil }
    return Tag(rawValue: first)
  }

  package static func parseSchema(_ key: UnsafeRawBufferPointer) -> UInt16? {
    guard unsafe has(key, .schema, length: 3) else { return nil }
    return unsafe number(key, at: 1)
  }

  package static func parseClassRecord(_ key: UnsafeRawBufferPointer) -> ClassID? {
    guard unsafe has(key, .classRecord, length: 5) else { return nil }
    return unsafe ClassID(number(key, at: 1))
  }

  @inline(__always)
  package static func parseCluster(
    _ key: UnsafeRawBufferPointer
  ) -> (classID: ClassID, first: ObjectKey)? {
    guard unsafe has(key, .cluster, length: 14), unsafe key[5] == 0 else { return nil }
    return unsafe (ClassID(number(key, at: 1)), ObjectKey(treeOrder: number(key, at: 6)))
  }

  @inline(__always)
  package static func parseRowCounts(
    _ key: UnsafeRawBufferPointer
  ) -> (classID: ClassID, first: ObjectKey)? {
    guard unsafe has(key, .rowCounts, length: 13) else { return nil }
    return unsafe (ClassID(number(key, at: 1)), ObjectKey(treeOrder: number(key, at: 5)))
  }

  package static func parseLongValue(
    _ key: UnsafeRawBufferPointer
  ) -> (classID: ClassID, object: ObjectKey, column: ColumnID, piece: UInt32)? {
    guard unsafe has(key, .longValue, length: 19) else { return nil }
    return unsafe (
      ClassID(number(key, at: 1)), ObjectKey(treeOrder: number(key, at: 5)),
      ColumnID(number(key, at: 13)), number(key, at: 15)
    )
  }

  @inline(__always)
  package static func parseSequencePage(
    _ key: UnsafeRawBufferPointer
  ) -> (id: CollectionID, label: PageLabel)? {
    guard unsafe has(key, .sequencePage, length: 17) else { return nil }
    return unsafe (CollectionID(number(key, at: 1)), PageLabel(treeOrder: number(key, at: 9)))
  }

  package static func parseSequenceRowCounts(
    _ key: UnsafeRawBufferPointer
  ) -> (id: CollectionID, first: PageLabel)? {
    guard unsafe has(key, .sequenceRowCounts, length: 17) else { return nil }
    return unsafe (CollectionID(number(key, at: 1)), PageLabel(treeOrder: number(key, at: 9)))
  }

  package static func parseLongElement(
    _ key: UnsafeRawBufferPointer
  ) -> (id: CollectionID, piece: UInt32)? {
    guard unsafe has(key, .longElement, length: 13) else { return nil }
    return unsafe (CollectionID(number(key, at: 1)), number(key, at: 9))
  }

  package static func parseNested(_ key: UnsafeRawBufferPointer) -> CollectionID? {
    guard unsafe has(key, .nested, length: 9) else { return nil }
    return unsafe CollectionID(number(key, at: 1))
  }

  /// `classID` is nil for a chunk of the record's header.
  package static func parseChange(
    _ key: UnsafeRawBufferPointer
  ) -> (version: Version, classID: ClassID?, chunk: UInt16)? {
    guard unsafe has(key, .change, length: 15) else { return nil }
    let field: UInt32 = unsafe number(key, at: 9)
    let version = unsafe Version(number(key, at: 1))
    return unsafe (version, field == 0 ? nil : ClassID(field - 1), number(key, at: 13))
  }

  package static func parseOldValue(
    _ key: UnsafeRawBufferPointer
  ) -> (version: Version, number: UInt32, piece: UInt16)? {
    guard unsafe has(key, .oldValue, length: 15) else { return nil }
    return unsafe (Version(number(key, at: 1)), number(key, at: 9), number(key, at: 13))
  }

  /// The cursor's number, 0 for the settings of the feed.
  package static func parseFeed(_ key: UnsafeRawBufferPointer) -> UInt32? {
    guard unsafe has(key, .feed, length: 5) else { return nil }
    return unsafe number(key, at: 1)
  }

  package static func parseReplica(
    _ key: UnsafeRawBufferPointer
  ) -> (name: ReplicaKey, piece: UInt16)? {
    guard unsafe has(key, .replica, length: 16) else { return nil }
    let object = unsafe ObjectKey(treeOrder: number(key, at: 6))
    return unsafe (
      ReplicaKey(key[1], ClassID(number(key, at: 2)), object.rawValue), number(key, at: 14)
    )
  }

  @inline(__always)
  private static func has(_ key: UnsafeRawBufferPointer, _ tag: Tag, length: Int) -> Bool {
    unsafe key.count == length && key[0] == tag.rawValue
  }

  @inline(__always)
  private static func number<T: FixedWidthInteger & BitwiseCopyable>(
    _ key: UnsafeRawBufferPointer, at offset: Int
  ) -> T {
    unsafe T(bigEndian: key.loadUnaligned(fromByteOffset: offset, as: T.self))
  }
}

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

extension WriteTransaction {
  /// Removes everything of one kind that belongs to a class.
  func deleteAll(_ tag: TreeKey.Tag, of id: ClassID) throws(StorageError) {
    try deleteAll(under: Self.prefix(tag, id.rawValue))
  }

  /// Removes a column's index.
  func deleteIndex(_ id: ClassID, _ column: ColumnID) throws(StorageError) {
    for tag in [TreeKey.Tag.index, .linkCount] {
      let number = unsafe withUnsafeBytes(of: column.rawValue.bigEndian) { unsafe Array($0) }
      try deleteAll(under: Self.prefix(tag, id.rawValue) + number)
    }
  }

  /// Removes everything of one kind that belongs to a collection.
  func deleteAll(_ tag: TreeKey.Tag, of id: CollectionID) throws(StorageError) {
    try deleteAll(under: Self.prefix(tag, id.rawValue))
  }

  private static func prefix(_ tag: TreeKey.Tag, _ id: some FixedWidthInteger) -> [UInt8] {
    unsafe withUnsafeBytes(of: id.bigEndian) { unsafe [tag.rawValue] + Array($0) }
  }

  private func deleteAll(under prefix: [UInt8]) throws(StorageError) {
    unsafe try withBytes(of: prefix) { start throws(StorageError) in
      unsafe try deleteAll(from: start) { unsafe $0.starts(with: prefix) }
    }
  }
}
