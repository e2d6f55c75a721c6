import CTarn

extension ClusterImage {
  /// Looks at every row: keys ascend, strings lie inside, codes have entries, and the kinds are
  /// those that the schema asks for. Throws `.corrupted` otherwise. Done before rows are edited,
  /// so that damage is never written back, and when a file is checked.
  package func checkRows(_ schema: ClassSchema) throws(StorageError) {
    let key = schema.keyIsPrimary ? schema.primaryKey : nil
    try checkRows(columnCount: schema.columns.count) { index in
      ColumnStorage(schema.columns[index], isKey: key?.index == index)
    }
  }

  /// The same for columns whose storage the caller knows.
  @inline(__always)
  func checkRows(
    columnCount known: Int, storage: (Int) -> ColumnStorage
  ) throws(StorageError) {
    try checkKeys()
    for index in 0..<columnCount {
      let descriptor = unsafe tarn_cluster_column(base, UInt32(index))
      if descriptor.kind == 0 { continue }
      guard index < known else { throw Self.corrupted("it has more columns than its class") }
      let storage = storage(index)
      if storage == .none { continue }
      guard storage.accepts(descriptor) else {
        throw Self.corrupted("column \(index) is of another type than the schema says")
      }
      if storage == .bytes { try checkBytes(descriptor, index) }
    }
  }

  private func checkKeys() throws(StorageError) {
    guard rowCount > 0 else { return }
    if unsafe base.load(fromByteOffset: 12, as: UInt8.self) == 0 {
      guard key(at: rowCount - 1) >= key(at: 0) else { throw Self.corrupted("keys overflow") }
      return
    }
    var last = key(at: 0)
    for slot in 1..<max(1, rowCount) {
      let key = unsafe ObjectKey(tarn_cluster_key(base, UInt32(truncatingIfNeeded: slot)))
      guard last < key else { throw Self.corrupted("its keys do not ascend") }
      last = key
    }
  }

  private func checkBytes(_ descriptor: tarn_column, _ index: Int) throws(StorageError) {
    let id = ColumnID(UInt16(truncatingIfNeeded: index))
    let aux = Int(descriptor.aux)
    // That the last end lies inside was seen when the image was validated.
    if Int32(descriptor.kind) == Int32(TARN_KIND_BYTES) {
      guard unsafe Self.ascend(base + Int(descriptor.data), rowCount) else {
        throw Self.corrupted("the strings of column \(index) overlap")
      }
      guard descriptor.width != 0 else { return }
      for slot in 0..<rowCount { _ = try bytes(id, slot) }
      return
    }
    let entries = unsafe Little.u16(base, aux)
    guard unsafe Self.ascend(base + aux + 2, entries) else {
      throw Self.corrupted("the dictionary of column \(index) overlaps")
    }
    let codes = unsafe base + Int(descriptor.data)
    var highest: UInt8 = 0
    for slot in 0..<rowCount {
      unsafe highest = max(highest, codes.load(fromByteOffset: slot, as: UInt8.self))
    }
    if Int(highest) < entries { return }
    for slot in 0..<rowCount where !isNull(id, slot) {
      guard unsafe Int(codes.load(fromByteOffset: slot, as: UInt8.self)) < entries else {
        throw Self.corrupted("column \(index) has a code without an entry")
      }
    }
  }

  /// True if `count` offsets of 16 bits and the one behind them never go back. No early exit, so
  /// that it is done many at a time.
  private static func ascend(_ offsets: UnsafeRawPointer, _ count: Int) -> Bool {
    var wrong: UInt16 = 0
    for index in 0..<count {
      let start = unsafe offsets.loadUnaligned(fromByteOffset: 2 &* index, as: UInt16.self)
      let end = unsafe offsets.loadUnaligned(fromByteOffset: 2 &* index &+ 2, as: UInt16.self)
      wrong |= start > end ? 1 : 0
    }
    return wrong == 0
  }
}
