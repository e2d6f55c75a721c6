import CTarn

extension ClusterImage {
  /// Looks at every row: keys ascend, strings lie inside, codes have entries, and the kinds are
  /// those that the schema asks for. Throws `.corrupted` otherwise. Done before rows are edited,
  /// so that damage is never written back, and when a file is checked.
  package func checkRows(_ schema: ClassSchema) throws(StorageError) {
    try checkKeys()
    let isKey = schema.keyIsPrimary
    for index in 0..<columnCount {
      let descriptor = unsafe tarn_cluster_column(base, UInt32(index))
      if descriptor.kind == 0 { continue }
      guard index < schema.columns.count else {
        throw Self.corrupted("it has more columns than its class")
      }
      let column = schema.columns[index]
      if column.isRemoved { continue }
      let storage = ColumnStorage(column, isKey: isKey && schema.primaryKey?.index == index)
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
      let key = key(at: slot)
      guard last < key else { throw Self.corrupted("its keys do not ascend") }
      last = key
    }
  }

  private func checkBytes(_ descriptor: tarn_column, _ index: Int) throws(StorageError) {
    let limit = unsafe bytes.count - ClusterFormat.paddingBytes
    let aux = Int(descriptor.aux)
    if Int32(descriptor.kind) == Int32(TARN_KIND_BYTES) {
      let ends = unsafe base + Int(descriptor.data)
      guard unsafe Self.ascend(ends, rowCount + 1, limit - aux) else {
        throw Self.corrupted("the strings of column \(index) lie outside")
      }
      guard descriptor.width != 0 else { return }
      for slot in 0..<rowCount {
        _ = try bytes(ColumnID(UInt16(truncatingIfNeeded: index)), slot)
      }
      return
    }
    let entries = unsafe Little.u16(base, aux)
    let first = aux + 4 + 2 * entries
    guard unsafe Self.ascend(base + aux + 2, entries + 1, limit - first) else {
      throw Self.corrupted("the dictionary of column \(index) lies outside")
    }
    for slot in 0..<rowCount {
      let code = unsafe Int(base.load(fromByteOffset: Int(descriptor.data) + slot, as: UInt8.self))
      guard code < entries || isNull(ColumnID(UInt16(truncatingIfNeeded: index)), slot) else {
        throw Self.corrupted("column \(index) has a code without an entry")
      }
    }
  }

  /// True if so many offsets of 16 bits never go back nor beyond `room`.
  private static func ascend(_ offsets: UnsafeRawPointer, _ count: Int, _ room: Int) -> Bool {
    var last = unsafe Little.u16(offsets, 0)
    var good = true
    for index in 1..<count {
      let next = unsafe Little.u16(offsets, 2 * index)
      good = good && last <= next
      last = next
    }
    return good && last <= room
  }
}
