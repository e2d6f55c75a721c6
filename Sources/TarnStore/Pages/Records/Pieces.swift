/// A value that is too long for one page, in pieces: every piece but the last is as long as a page
/// allows. It only names the value and has no state; its length is stored where the value is
/// referenced.
package enum Pieces: Hashable, Sendable {
  /// The value of an object's column.
  case value(ClassID, ObjectKey, ColumnID)
  /// An element of a list, set or map, or the key of one.
  case element(CollectionID)
  /// A value before a commit, which the commit's change record refers to by number.
  case oldValue(Version, UInt32)

  /// The longest piece, in bytes: for a longer one LMDB would search for adjacent pages.
  package static let byteCountMax = 4_080
  /// Memory that is reserved for a length from a file before its bytes were read.
  private static let trustedByteCount = 1 << 20

  /// Replaces the value with one of any length.
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
    try delete(from: piece, in: transaction)
  }

  /// Removes the value, if there is one.
  package func delete(in transaction: borrowing WriteTransaction) throws(StorageError) {
    try delete(from: 0, in: transaction)
  }

  private func delete(
    from first: UInt32, in transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    var piece = first
    while true {
      let existed = try unsafe key(piece).withBytes { key throws(StorageError) -> Bool in
        try unsafe transaction.delete(key)
      }
      guard existed else { return }
      piece += 1
    }
  }

  /// The value, which should have that many bytes.
  /// - Throws: `.corrupted` if the pieces do not form such a value.
  package func read(
    byteCount: Int, _ cursor: inout Cursor
  ) throws(StorageError) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(min(max(byteCount, 0), Self.trustedByteCount))
    try unsafe forEach(byteCount: byteCount, &cursor) { piece in
      unsafe bytes.append(contentsOf: piece)
      return true
    }
    return bytes
  }

  /// The pieces of such a value in order, until `body` returns false; the bytes are valid only
  /// during the call.
  package func forEach(
    byteCount: Int, _ cursor: inout Cursor,
    _ body: (UnsafeRawBufferPointer) throws(StorageError) -> Bool
  ) throws(StorageError) {
    guard byteCount >= 0 else { throw damaged }
    guard byteCount > 0 else { return }
    var found = try unsafe key(0).withBytes { key throws(StorageError) -> Bool in
      try unsafe cursor.seek(atOrAfter: key)
    }
    var rest = byteCount
    var piece: UInt32 = 0
    while rest > 0 {
      guard found, unsafe number(cursor.key) == piece,
        unsafe cursor.value.count == min(rest, Self.byteCountMax)
      else { throw damaged }
      guard try unsafe body(cursor.value) else { return }
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

  private var damaged: StorageError {
    let owner: String
    switch self {
    case .value(_, let object, _): owner = "of object \(object.rawValue)"
    case .element: owner = "in a collection"
    case .oldValue(let version, _): owner = "before the commit of version \(version.rawValue)"
    }
    return StorageError(
      .corrupted, operation: "read long value", path: "",
      detail: "Pieces of a long value \(owner) are missing or damaged.")
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

  /// Replaces the object's value with one of any length.
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

  /// The pieces of such a value in order, until `body` returns false; the bytes are valid only
  /// during the call.
  package func forEachPiece(
    _ object: ObjectKey, byteCount: Int, _ cursor: inout Cursor,
    _ body: (UnsafeRawBufferPointer) throws(StorageError) -> Bool
  ) throws(StorageError) {
    try unsafe pieces(object).forEach(byteCount: byteCount, &cursor, body)
  }

  private func pieces(_ object: ObjectKey) -> Pieces { .value(classID, object, column) }
}
