internal import CTarn

/// A value that is too long for one page, in pieces: every piece but the last is as long as a page
/// allows. It only names the value and has no state; its length is stored where the value is
/// referenced.
///
/// The checksum is one more piece, after the last one. Libraries that do not know it read as many
/// pieces as the length says, and remove or overwrite it with the value, so it is never that of
/// another value. Values that they have written have none.
package enum Pieces: Hashable, Sendable {
  /// The value of an object's column.
  case value(ClassID, ObjectKey, ColumnID)
  /// An element of a list, set or map, or the key of one.
  case element(CollectionID)
  /// A value before a commit, which the commit's change record refers to by number.
  case oldValue(Version, UInt32)

  /// The longest piece, in bytes: for a longer one LMDB would search for adjacent pages.
  package static let byteCountMax = 4_080
  /// The length of a checksum.
  package static let sumByteCount = 4
  /// Memory that is reserved for a length from a file before its bytes were read.
  private static let trustedByteCount = 1 << 20

  /// Stores a value of any length. There must be none under its keys: delete a former one first.
  package func put(
    _ value: UnsafeRawBufferPointer, in transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    var piece: UInt32 = 0
    for start in stride(from: 0, to: value.count, by: Self.byteCountMax) {
      let end = min(start + Self.byteCountMax, value.count)
      try unsafe key(piece).withBytes { key throws(StorageError) in
        try unsafe transaction.put(
          UnsafeRawBufferPointer(rebasing: value[start..<end]), forKey: key)
      }
      piece += 1
    }
    if piece > 0 {
      let sum = unsafe Checksum.of(value, after: seed).littleEndian
      try unsafe withUnsafeBytes(of: sum) { sum throws(StorageError) in
        try unsafe key(piece).withBytes { key throws(StorageError) in
          try unsafe transaction.put(sum, forKey: key)
        }
      }
    }
  }

  /// Removes the value, if there is one.
  package func delete(in transaction: borrowing WriteTransaction) throws(StorageError) {
    var piece: UInt32 = 0
    while true {
      let existed = try unsafe key(piece).withBytes { key throws(StorageError) -> Bool in
        try unsafe transaction.delete(key)
      }
      guard existed else { return }
      piece += 1
    }
  }

  /// The value, which should have that many bytes. Its checksum is compared only in a store that
  /// was opened so (`EnvironmentOptions.comparesSums`).
  /// - Throws: `.corrupted` if the pieces do not form such a value, or its checksum is wrong.
  package func read(
    byteCount: Int, _ cursor: inout Cursor
  ) throws(StorageError) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(min(max(byteCount, 0), Self.trustedByteCount))
    try unsafe forEach(byteCount: byteCount, &cursor) { piece in
      unsafe bytes.append(contentsOf: piece)
    }
    guard cursor.environment.options.comparesSums else { return bytes }
    let sum = unsafe bytes.withUnsafeBytes { unsafe Checksum.of($0, after: seed) }
    _ = try verify(sum, ofBytes: byteCount, &cursor)
    return bytes
  }

  /// Reads the value and compares its checksum.
  /// - Returns: the number of its entries in the tree.
  /// - Throws: like `read`.
  package func check(byteCount: Int, _ cursor: inout Cursor) throws(StorageError) -> Int {
    var sum = seed
    try unsafe forEach(byteCount: byteCount, &cursor) { piece in
      unsafe sum = Checksum.of(piece, after: sum)
    }
    let hasSum = try verify(sum, ofBytes: byteCount, &cursor)
    return Self.count(ofBytes: byteCount) + (hasSum ? 1 : 0)
  }

  /// The checksum begins with the name, so that a value under another one's keys does not fit.
  private var seed: UInt32 {
    unsafe key(0).withBytes { key in unsafe Checksum.of(key) }
  }

  private static func count(ofBytes byteCount: Int) -> Int {
    (byteCount + byteCountMax - 1) / byteCountMax
  }

  /// Compares the checksum that follows the piece at which the cursor is.
  /// - Returns: false if there is none.
  private func verify(
    _ sum: UInt32, ofBytes byteCount: Int, _ cursor: inout Cursor
  ) throws(StorageError) -> Bool {
    guard byteCount > 0, try cursor.next(),
      unsafe number(cursor.key).map(Int.init) == Self.count(ofBytes: byteCount)
    else { return false }
    guard unsafe cursor.value.count == Self.sumByteCount,
      unsafe cursor.value.loadUnaligned(as: UInt32.self) == sum.littleEndian
    else {
      throw damaged("The checksum of a long value \(owner) is wrong.")
    }
    return true
  }

  /// The pieces of such a value in order; the bytes are valid only during the call.
  private func forEach(
    byteCount: Int, _ cursor: inout Cursor, _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(StorageError) {
    guard byteCount >= 0 else { throw incomplete }
    guard byteCount > 0 else { return }
    var found = try unsafe key(0).withBytes { key throws(StorageError) -> Bool in
      try unsafe cursor.seek(atOrAfter: key)
    }
    var rest = byteCount
    var piece: UInt32 = 0
    while rest > 0 {
      guard found, unsafe number(cursor.key) == piece,
        unsafe cursor.value.count == min(rest, Self.byteCountMax)
      else { throw incomplete }
      unsafe body(cursor.value)
      rest -= min(rest, Self.byteCountMax)
      piece += 1
      if rest > 0 { found = try cursor.next() }
    }
  }

  private func key(_ piece: UInt32) -> TreeKey {
    switch self {
    case .value(let id, let object, let column): .longValue(id, object, column, piece: piece)
    case .element(let id): .longElement(id, piece: piece)
    case .oldValue(let version, let number):
      // The longest value has fewer pieces than fit the number.
      .oldValue(version, number: number, piece: UInt16(piece))
    }
  }

  /// The number of the piece under that key, nil if it is not of this value.
  private func number(_ key: UnsafeRawBufferPointer) -> UInt32? {
    switch self {
    case .value(let id, let object, let column):
      guard let parsed = unsafe TreeKey.parseLongValue(key), parsed.classID == id,
        (parsed.object, parsed.column) == (object, column)
      else { return nil }
      return parsed.piece
    case .element(let id):
      guard let parsed = unsafe TreeKey.parseLongElement(key), parsed.id == id else { return nil }
      return parsed.piece
    case .oldValue(let version, let number):
      guard let parsed = unsafe TreeKey.parseOldValue(key),
        (parsed.version, parsed.number) == (version, number)
      else { return nil }
      return UInt32(parsed.piece)
    }
  }

  private var owner: String {
    switch self {
    case .value(_, let object, _): "of object \(object.rawValue)"
    case .element: "in a collection"
    case .oldValue(let version, _): "before the commit of version \(version.rawValue)"
    }
  }

  private var incomplete: StorageError {
    damaged("Pieces of a long value \(owner) are missing or damaged.")
  }

  private func damaged(_ detail: String) -> StorageError {
    StorageError(.corrupted, operation: "read long value", path: "", detail: detail)
  }
}

/// Values that are too long for a cluster, in pieces under separate keys: every piece but the last
/// is as long as a page allows. The row has the length of the value.
///
/// It only names one column's long values and has no state.
package struct LongValues: Hashable, Sendable {
  package let classID: ClassID
  package let column: ColumnID

  package init(_ classID: ClassID, _ column: ColumnID) {
    self.classID = classID
    self.column = column
  }

  /// Stores a value of any length. The object must have none: a former one is deleted first.
  package func put(
    _ value: UnsafeRawBufferPointer, _ object: ObjectKey,
    in transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    try unsafe pieces(object).put(value, in: transaction)
  }

  /// Removes the object's value, if there is one.
  package func delete(
    _ object: ObjectKey, in transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    try pieces(object).delete(in: transaction)
  }

  /// The object's value, whose length the row states.
  /// - Throws: `.corrupted` if the pieces do not form such a value.
  package func read(
    _ object: ObjectKey, byteCount: Int, _ cursor: inout Cursor
  ) throws(StorageError) -> [UInt8] {
    try pieces(object).read(byteCount: byteCount, &cursor)
  }

  /// Reads such a value and compares its checksum.
  /// - Returns: the number of its entries in the tree.
  package func check(
    _ object: ObjectKey, byteCount: Int, _ cursor: inout Cursor
  ) throws(StorageError) -> Int {
    try pieces(object).check(byteCount: byteCount, &cursor)
  }

  private func pieces(_ object: ObjectKey) -> Pieces { .value(classID, object, column) }
}
