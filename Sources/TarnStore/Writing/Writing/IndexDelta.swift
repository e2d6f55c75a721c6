/// The changes of an open write to one index: as input for the packed index and, for an index that
/// the write itself searches (of a primary key, of links), also hashed.
final class IndexDelta {
  private struct Operation {
    var value: IndexValue
    var key: ObjectKey
    var adds: Bool
  }

  private(set) var changes = PackedIndexChanges()
  private let isAsked: Bool
  private var operations: [Operation] = []
  /// Positions in `operations` by value, built on demand up to `hashedCount`.
  private var positions: [IndexValue: [Int]] = [:]
  private var hashedCount = 0
  /// The remaining ranges of walks over the file's entries. The entries before them were removed;
  /// any that are added again are among the changes.
  private var walks: [(range: PackedIndexRange, isDescending: Bool, rest: PackedIndexRange)] = []
  private static let walksMax = 4

  init(isAsked: Bool) { self.isAsked = isAsked }

  init(copying other: IndexDelta) {
    isAsked = other.isAsked
    changes = other.changes
    operations = other.operations
    positions = other.positions
    hashedCount = other.hashedCount
  }

  func add(_ value: OrderKey, _ key: ObjectKey) {
    changes.add(value, key)
    if isAsked { operations.append(Operation(value: IndexValue(value), key: key, adds: true)) }
  }

  func remove(_ value: OrderKey, _ key: ObjectKey) {
    changes.remove(value, key)
    if isAsked { operations.append(Operation(value: IndexValue(value), key: key, adds: false)) }
  }

  /// The keys under `value` after this write's operations on the stored ones.
  func apply(to stored: [ObjectKey], for value: OrderKey) -> [ObjectKey] {
    require(isAsked, "internal error: an index that the write does not use")
    for position in hashedCount..<operations.count {
      positions[operations[position].value, default: []].append(position)
    }
    hashedCount = operations.count
    guard let mine = positions[IndexValue(value)] else { return stored }
    var keys = Set(stored)
    for position in mine {
      let operation = operations[position]
      if operation.adds {
        keys.insert(operation.key)
      } else {
        keys.remove(operation.key)
      }
    }
    return keys.sorted()
  }

  /// The part of a range that remains in that direction, after entries of the file that are known
  /// to be removed.
  func rest(of range: PackedIndexRange, descending: Bool) -> PackedIndexRange {
    walks.first { $0.isDescending == descending && $0.range == range }?.rest ?? range
  }

  /// Records that the entries before `rest` are removed.
  func pass(to rest: PackedIndexRange, of range: PackedIndexRange, descending: Bool) {
    walks.removeAll { $0.isDescending == descending && $0.range == range }
    if walks.count == Self.walksMax { walks.removeFirst() }
    walks.append((range, descending, rest))
  }

  /// The changes in the order of the index.
  func sorted() -> PackedIndexChanges {
    changes.sort()
    return changes
  }
}

/// A compact order key: up to sixteen bytes inline, longer ones on the heap.
private struct IndexValue: Hashable {
  private var high: UInt64 = 0
  private var low: UInt64 = 0
  private var byteCount: Int
  private var rest: [UInt8]?

  init(_ key: OrderKey) {
    byteCount = key.byteCount
    unsafe key.withBytes { bytes in
      for unsafe(offset, byte) in unsafe bytes.prefix(16).enumerated() {
        if offset < 8 {
          high = high << 8 | UInt64(byte)
        } else {
          low = low << 8 | UInt64(byte)
        }
      }
      if bytes.count > 16 { rest = unsafe Array(bytes[16...]) }
    }
  }
}
