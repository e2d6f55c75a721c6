/// A write's changes to one index: entries to add and to remove, collected in any order. The last
/// of several changes to the same entry counts.
///
/// A value type with all keys in one array of bytes: some forty bytes per change, without an
/// allocation for each.
package struct PackedIndexChanges: Sendable {
  struct Change {
    /// The second to ninth byte of the order key, padded with zeros, as a number: orders most keys
    /// without reading their bytes. (The first byte only distinguishes null from the rest, and
    /// null's zeros sort first as well.)
    var head: UInt64
    var object: ObjectKey
    /// The start of the order key in `keys`. Ascends from change to change.
    var offset: UInt32
    var length: UInt8
    var isAddition: Bool
  }

  private(set) var changes: [Change] = []
  private(set) var keys: [UInt8] = []
  private var isSorted = true

  package init() {}

  /// The number of changes; after `sort()` only those that count.
  package var count: Int { changes.count }
  package var isEmpty: Bool { changes.isEmpty }

  package mutating func reserveCapacity(_ count: Int, keyByteCount: Int) {
    changes.reserveCapacity(count)
    keys.reserveCapacity(count * keyByteCount)
  }

  package mutating func add(_ key: OrderKey, _ object: ObjectKey) {
    append(key, object, isAddition: true)
  }

  package mutating func remove(_ key: OrderKey, _ object: ObjectKey) {
    append(key, object, isAddition: false)
  }

  private mutating func append(_ key: OrderKey, _ object: ObjectKey, isAddition: Bool) {
    require(keys.count < Int(UInt32.max) - OrderKey.byteCountMax, "too many changes at once")
    let offset = keys.count
    unsafe key.withBytes { unsafe keys.append(contentsOf: $0) }
    let change = Change(
      head: key.head, object: object, offset: UInt32(offset), length: UInt8(key.byteCount),
      isAddition: isAddition)
    if isSorted, let last = changes.last {
      isSorted = unsafe keys.withUnsafeBytes { bytes in
        unsafe Self.order(last, change, bytes.baseAddress!) < 0
      }
    }
    changes.append(change)
  }

  /// Calls `body` with each object that an entry was added for, in no particular order.
  func forEachAdded(_ body: (ObjectKey) -> Void) {
    for change in changes where change.isAddition { body(change.object) }
  }

  /// The same with the order key of each entry, which is valid only during the call. A later change
  /// may have removed the entry again.
  func forEachAddition(
    _ body: (UnsafeRawBufferPointer, ObjectKey) throws(StorageError) -> Void
  ) throws(StorageError) {
    try unsafe keys.withUnsafeBufferPointer { (keys) throws(StorageError) in
      let bytes = UnsafeRawBufferPointer(keys)
      for change in changes where change.isAddition {
        let (start, end) = (Int(change.offset), Int(change.offset) + Int(change.length))
        try unsafe body(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), change.object)
      }
    }
  }

  /// Sorts the changes in the order of the index and drops those that a later one overrides.
  package mutating func sort() {
    guard !isSorted else { return }
    var sorted = changes
    changes = []
    unsafe keys.withUnsafeBytes { bytes in
      let base = bytes.baseAddress!
      sorted.sort { a, b in
        let order = unsafe Self.order(a, b, base)
        return order != 0 ? order < 0 : a.offset < b.offset
      }
      var end = 0
      for index in sorted.indices {
        if end > 0, unsafe Self.order(sorted[end - 1], sorted[index], base) == 0 { end -= 1 }
        sorted[end] = sorted[index]
        end += 1
      }
      sorted.removeSubrange(end...)
    }
    changes = sorted
    isSorted = true
  }

  /// Calls `body` with the sorted changes and the bytes that they point into.
  func withSorted<R>(
    _ body: (SortedChanges) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    require(isSorted, "changes must be sorted before they are applied")
    return try unsafe keys.withUnsafeBufferPointer { keys throws(StorageError) -> R in
      try unsafe changes.withUnsafeBufferPointer { changes throws(StorageError) -> R in
        let sorted = unsafe SortedChanges(
          changes: changes, keys: UnsafeRawBufferPointer(keys))
        return try body(sorted)
      }
    }
  }

  @inline(__always)
  private static func order(_ a: Change, _ b: Change, _ keys: UnsafeRawPointer) -> Int {
    if a.head != b.head { return a.head < b.head ? -1 : 1 }
    let order = unsafe compareBytes(
      UnsafeRawBufferPointer(start: keys + Int(a.offset), count: Int(a.length)),
      UnsafeRawBufferPointer(start: keys + Int(b.offset), count: Int(b.length)))
    if order != 0 { return order }
    return a.object == b.object ? 0 : (a.object < b.object ? -1 : 1)
  }
}

/// Changes in the order of the index, each entry once. Valid within `withSorted`.
@safe struct SortedChanges {
  let changes: UnsafeBufferPointer<PackedIndexChanges.Change>
  let keys: UnsafeRawBufferPointer

  var count: Int { unsafe changes.count }

  @inline(__always)
  func key(_ index: Int) -> UnsafeRawBufferPointer {
    let change = unsafe changes[index]
    return unsafe UnsafeRawBufferPointer(
      rebasing: keys[Int(change.offset)..<Int(change.offset) + Int(change.length)])
  }

  @inline(__always)
  func object(_ index: Int) -> ObjectKey { unsafe changes[index].object }

  @inline(__always)
  func isAddition(_ index: Int) -> Bool { unsafe changes[index].isAddition }
}

extension OrderKey {
  fileprivate var head: UInt64 {
    unsafe withUnsafeBytes(of: storage) { bytes in
      unsafe UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
    }
  }
}
