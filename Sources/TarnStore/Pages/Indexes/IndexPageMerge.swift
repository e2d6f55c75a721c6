/// The entries of one or more pages with their changes, in memory, for packing a page that cannot
/// be spliced. Owns the unpacked keys; those of added entries belong to the changes.
@safe final class IndexPageMerge {
  private(set) var items: [IndexItem] = unsafe []
  private var scratch: [UnsafeMutableRawPointer] = unsafe []

  deinit {
    for index in unsafe scratch.indices { unsafe scratch[index].deallocate() }
  }

  var isEmpty: Bool { unsafe items.isEmpty }

  func append(_ item: IndexItem) {
    unsafe items.append(item)
  }

  /// Adds the entries of a page with the edits applied.
  func append(
    _ page: IndexPage, _ edits: [IndexPageEdit], _ changes: SortedChanges
  ) throws(StorageError) {
    let kept = try unsafe unpack(page)
    try page.walk(edits) { run, inserted in
      unsafe items.append(contentsOf: kept[run])
      guard let inserted else { return }
      unsafe items.append(
        IndexItem(key: changes.key(inserted), object: changes.object(inserted)))
    }
  }

  /// Inserts the entries of a page before the others.
  func prepend(_ page: IndexPage) throws(StorageError) {
    unsafe items.insert(contentsOf: try unpack(page), at: 0)
  }

  private func unpack(_ page: IndexPage) throws(StorageError) -> [IndexItem] {
    let capacity = page.count * page.prefixCount + (page.keysStart - page.suffixStart)
    let memory = UnsafeMutableRawPointer.allocate(byteCount: max(capacity, 1), alignment: 8)
    unsafe scratch.append(memory)
    var unpacked: [IndexItem] = unsafe []
    unsafe unpacked.reserveCapacity(page.count)
    var offset = 0
    for index in 0..<page.count {
      let (_, length) = try page.suffix(index)
      require(offset + page.prefixCount + length <= capacity)
      let count = try unsafe page.copyOrderKey(index, to: memory + offset)
      let key = unsafe UnsafeRawBufferPointer(start: memory + offset, count: count)
      unsafe unpacked.append(IndexItem(key: key, object: page.objectKey(index)))
      offset += count
    }
    return unsafe unpacked
  }

  /// The size of one page of all entries.
  var byteCount: Int {
    guard let first = unsafe items.first else { return 0 }
    var shape = IndexPageShape()
    for index in unsafe items.indices { unsafe shape.add(items[index], after: first) }
    return shape.byteCount
  }

  /// True if each entry sorts before the next one.
  var isSorted: Bool {
    for index in unsafe items.indices.dropFirst() {
      let (a, b) = unsafe (items[index - 1], items[index])
      let order = unsafe compareBytes(a.key, b.key)
      let isBefore = unsafe a.object < b.object
      guard order < 0 || (order == 0 && isBefore) else { return false }
    }
    return true
  }
}
