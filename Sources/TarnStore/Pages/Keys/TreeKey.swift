/// The keys of a file's only tree. All entries are in LMDB's main tree, and the first byte gives
/// their kind; numbers follow most significant byte first, signed ones with the sign bit flipped,
/// so that the tree's bytewise order is the order of the numbers:
///
///     0x02 [piece u16]                                  schema, in pieces
///     0x10 [class u32]                                  class record
///     0x20 [class u32][group u8 = 0][first key i64]     cluster of rows
///     0x21 [class u32][first key i64]                   row counts of clusters
///     0x30 [class u32][column u16][entry]               index page, see IndexPageKey
///     0x40 [class u32][object i64][column u16][piece u32]  piece of a long value
///     0x50 [id u64][label i64]                          page of a list, set or map
///     0x51 [id u64][first label i64]                    row counts of such pages
///     0x52 [id u64][piece u32]                          piece of a long element
///     0x53 [class u32][column u16][owner i64][class u32][target i64]   count of its links there
///     0x54 [id u64]                                     cell of a nested collection
///     0x55 [class u32][rule u16][entry]                 page of a unique rule, see IndexPageKey
///     0x60 [kind u8][class u32][number i64][piece u16]  a replica's record
///     0x70 [version u64][class u32][chunk u16]          change record; class 0: its header,
///                                                       else the class id plus one
///     0x72 [version u64][number u32][piece u16]         piece of a long value before that commit
///     0x71 [number u32]                                 0: settings of the feed; else a cursor
///     0x7e                                              head record
///     0x7f                                              reserved
///
/// The head record follows the change records because each commit writes both: so they share the
/// tree's last pages.
///
/// A key has a fixed capacity and is built on the stack, without heap allocation.
package struct TreeKey: Sendable {
  package enum Tag: UInt8, Sendable {
    case schema = 0x02
    case classRecord = 0x10
    case cluster = 0x20
    case rowCounts = 0x21
    case index = 0x30
    case longValue = 0x40
    case sequencePage = 0x50
    case sequenceRowCounts = 0x51
    case longElement = 0x52
    case linkCount = 0x53
    case nested = 0x54
    case unique = 0x55
    case replica = 0x60
    case change = 0x70
    case feed = 0x71
    case oldValue = 0x72
    case head = 0x7e
  }

  private static let capacity = 28
  private var storage = InlineArray<28, UInt8>(repeating: 0)
  private var count = 0

  private init(_ tag: Tag) {
    append(tag.rawValue)
  }

  @inline(__always)
  private mutating func append<T: FixedWidthInteger>(_ number: T) {
    let size = MemoryLayout<T>.size
    assert(count + size <= Self.capacity)
    unsafe withUnsafeMutableBytes(of: &storage) { bytes in
      unsafe bytes.storeBytes(of: number.bigEndian, toByteOffset: count, as: T.self)
    }
    count += size
  }

  /// Calls `body` with the key's bytes, which are valid only during the call.
  @inline(__always)
  package func withBytes<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try unsafe withUnsafeBytes(of: storage) { bytes throws(E) -> R in
      try unsafe body(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
    }
  }

  // MARK: - Building

  package static let head = TreeKey(.head)

  /// The settings of the feed, or a cursor.
  package static func feed(_ number: UInt32) -> TreeKey {
    var key = TreeKey(.feed)
    key.append(number)
    return key
  }

  package static func replica(_ name: ReplicaKey, piece: UInt16) -> TreeKey {
    var key = TreeKey(.replica)
    key.append(name.kind)
    key.append(name.classID.rawValue)
    key.append(ObjectKey(name.number).treeOrder)
    key.append(piece)
    return key
  }

  package static func schema(piece: UInt16) -> TreeKey {
    var key = TreeKey(.schema)
    key.append(piece)
    return key
  }

  package static func classRecord(_ id: ClassID) -> TreeKey {
    var key = TreeKey(.classRecord)
    key.append(id.rawValue)
    return key
  }

  /// The cluster whose first row may have that key.
  package static func cluster(_ id: ClassID, first: ObjectKey) -> TreeKey {
    var key = TreeKey(.cluster)
    key.append(id.rawValue)
    key.append(UInt8(0))
    key.append(first.treeOrder)
    return key
  }

  package static func rowCounts(_ id: ClassID, first: ObjectKey) -> TreeKey {
    var key = TreeKey(.rowCounts)
    key.append(id.rawValue)
    key.append(first.treeOrder)
    return key
  }

  /// A piece of a value that is stored outside of its cluster.
  package static func longValue(
    _ id: ClassID, _ object: ObjectKey, _ column: ColumnID, piece: UInt32
  ) -> TreeKey {
    var key = TreeKey(.longValue)
    key.append(id.rawValue)
    key.append(object.treeOrder)
    key.append(column.rawValue)
    key.append(piece)
    return key
  }

  /// A page of a list, set or map.
  @inline(__always)
  package static func sequencePage(_ id: CollectionID, label: PageLabel) -> TreeKey {
    var key = TreeKey(.sequencePage)
    key.append(id.rawValue)
    key.append(label.treeOrder)
    return key
  }

  package static func sequenceRowCounts(_ id: CollectionID, first: PageLabel) -> TreeKey {
    var key = TreeKey(.sequenceRowCounts)
    key.append(id.rawValue)
    key.append(first.treeOrder)
    return key
  }

  /// A piece of an element that is too long for its page.
  package static func longElement(_ id: CollectionID, piece: UInt32) -> TreeKey {
    var key = TreeKey(.longElement)
    key.append(id.rawValue)
    key.append(piece)
    return key
  }

  /// The cell of a nested collection.
  package static func nested(_ id: CollectionID) -> TreeKey {
    var key = TreeKey(.nested)
    key.append(id.rawValue)
    return key
  }

  /// How often an object's collection or mixed value links to another, if more than once.
  package static func linkCount(_ name: LinkName) -> TreeKey {
    var key = TreeKey(.linkCount)
    key.append(name.classID.rawValue)
    key.append(name.column.rawValue)
    key.append(name.owner.treeOrder)
    key.append(name.target.classID.rawValue)
    key.append(name.target.key.treeOrder)
    return key
  }

  /// The first record of a commit: it sorts before those of single classes.
  package static func changeHeader(_ version: Version, chunk: UInt16 = 0) -> TreeKey {
    var key = TreeKey(.change)
    key.append(version.rawValue)
    key.append(UInt32(0))
    key.append(chunk)
    return key
  }

  /// A piece of a long value that a commit replaced or deleted; numbers count from 0 in each
  /// commit.
  package static func oldValue(_ version: Version, number: UInt32, piece: UInt16) -> TreeKey {
    var key = TreeKey(.oldValue)
    key.append(version.rawValue)
    key.append(number)
    key.append(piece)
    return key
  }

  /// A chunk of a commit's changes to one class. `id` must be less than the largest number.
  package static func change(_ version: Version, _ id: ClassID, chunk: UInt16) -> TreeKey {
    var key = TreeKey(.change)
    key.append(version.rawValue)
    key.append(id.rawValue + 1)
    key.append(chunk)
    return key
  }
}
