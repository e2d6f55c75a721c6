/// One change of a page, with its position among the page's former entries.
struct IndexPageEdit {
  var position: Int
  /// The index of the change among all changes.
  var change: Int
  /// True to insert before `position`, false to remove the entry there.
  var isInsertion: Bool
}

extension IndexPage {
  /// The changes of that range that alter this page. Adding an existing entry or removing a missing
  /// one does not.
  func edits(
    _ changes: SortedChanges, _ range: Range<Int>, into edits: inout [IndexPageEdit]
  ) throws(StorageError) {
    edits.removeAll(keepingCapacity: true)
    var low = 0
    for change in range {
      let key = unsafe changes.key(change)
      let object = changes.object(change)
      low = try unsafe position(of: key, object, after: false, from: low)
      let isThere = try unsafe holds(key, object, at: low)
      let isInsertion = changes.isAddition(change)
      if isThere != isInsertion {
        edits.append(IndexPageEdit(position: low, change: change, isInsertion: isInsertion))
      }
    }
  }

  /// The length of this page with those edits if its prefix and widths stay, nil if an edit does
  /// not fit them or the page. Removals alone always fit, unless nothing remains.
  func splicedByteCount(_ edits: [IndexPageEdit], _ changes: SortedChanges) -> Int? {
    var size = byteCount
    var entries = count
    let head = unsafe UnsafeRawBufferPointer(start: base + Self.headerByteCount, count: prefixCount)
    for edit in edits {
      guard edit.isInsertion else {
        guard keyWidth > 0, let (_, length) = try? suffix(edit.position) else { return nil }
        entries -= 1
        size -= length + keyWidth + (isVariable ? 2 : 0)
        continue
      }
      let key = unsafe changes.key(edit.change)
      let length = key.count - prefixCount
      guard length >= 0, isVariable || length == suffixWidth,
        unsafe compareBytes(UnsafeRawBufferPointer(rebasing: key[..<prefixCount]), head) == 0,
        fits(changes.object(edit.change), at: edit.position, entries)
      else { return nil }
      entries += 1
      size += length + keyWidth + (isVariable ? 2 : 0)
    }
    guard entries > 0, entries <= Self.entryCountMax, size <= Self.byteCountMax else { return nil }
    return size
  }

  /// True if the width of this page's object keys also fits that one.
  private func fits(_ object: ObjectKey, at position: Int, _ entries: Int) -> Bool {
    guard object.rawValue >= keyBase else { return false }
    let offset = UInt64(bitPattern: object.rawValue &- keyBase)
    switch keyWidth {
    case 0: return position == count && offset == UInt64(entries)
    case 8: return true
    default: return offset >> (8 * UInt64(keyWidth)) == 0
    }
  }

  /// Writes this page with those edits, for which `splicedByteCount` returned a length. Runs of
  /// kept entries are copied unchanged.
  func splice(
    _ edits: [IndexPageEdit], _ changes: SortedChanges, byteCount newByteCount: Int,
    to target: UnsafeMutableRawPointer
  ) throws(StorageError) {
    let newCount = edits.reduce(count) { $0 + ($1.isInsertion ? 1 : -1) }
    unsafe target.copyMemory(from: base, byteCount: Self.headerByteCount + prefixCount)
    var cursor = endsStart
    if isVariable {
      try unsafe spliceEnds(edits, changes, to: target)
      cursor += 2 * newCount
    }
    try walk(edits) { run, inserted throws(StorageError) in
      if !run.isEmpty {
        let start = try suffix(run.lowerBound).start
        let (last, length) = try suffix(run.upperBound - 1)
        unsafe (target + cursor).copyMemory(from: base + start, byteCount: last + length - start)
        cursor += last + length - start
      }
      guard let inserted else { return }
      let tail = unsafe UnsafeRawBufferPointer(rebasing: changes.key(inserted)[prefixCount...])
      if let bytes = tail.baseAddress {
        unsafe (target + cursor).copyMemory(from: bytes, byteCount: tail.count)
        cursor += tail.count
      }
    }
    try walk(edits) { run, inserted throws(StorageError) in
      unsafe (target + cursor).copyMemory(
        from: base + keysStart + run.lowerBound * keyWidth, byteCount: run.count * keyWidth)
      cursor += run.count * keyWidth
      guard let inserted else { return }
      let offset = UInt64(bitPattern: changes.object(inserted).rawValue &- keyBase)
      unsafe IndexPageEncoder.storeOffset(offset, width: keyWidth, target + cursor)
      cursor += keyWidth
    }
    require(cursor == newByteCount, "a spliced page must have the predicted length")
    unsafe IndexPageEncoder.writeHeader(
      target, count: newCount, byteCount: cursor, prefixCount: prefixCount,
      suffixWidth: suffixWidth, keyWidth: keyWidth, keyBase: keyBase)
  }

  private func spliceEnds(
    _ edits: [IndexPageEdit], _ changes: SortedChanges, to target: UnsafeMutableRawPointer
  ) throws(StorageError) {
    var end = 0
    var cursor = unsafe target + endsStart
    try walk(edits) { run, inserted throws(StorageError) in
      if !run.isEmpty {
        let shift = end - (try suffix(run.lowerBound).start - suffixStart)
        let ends = unsafe base + endsStart + 2 * run.lowerBound
        for offset in stride(from: 0, to: 2 * run.count, by: 2) {
          let old = unsafe ends.loadUnaligned(fromByteOffset: offset, as: UInt16.self)
          let new = UInt16(littleEndian: old) &+ UInt16(truncatingIfNeeded: shift)
          unsafe cursor.storeBytes(of: new.littleEndian, toByteOffset: offset, as: UInt16.self)
        }
        unsafe cursor += 2 * run.count
        let (last, length) = try suffix(run.upperBound - 1)
        end = last + length - suffixStart + shift
      }
      guard let inserted else { return }
      end += unsafe changes.key(inserted).count - prefixCount
      unsafe IndexPageEncoder.storeU16(end, cursor, 0)
      unsafe cursor += 2
    }
  }

  /// Walks the new contents of the page: runs of kept entries, each followed by the index of an
  /// added change or nil.
  func walk(
    _ edits: [IndexPageEdit], _ body: (Range<Int>, Int?) throws(StorageError) -> Void
  ) throws(StorageError) {
    var from = 0
    for edit in edits {
      guard edit.position >= from else { throw Self.damaged("its entries are out of order") }
      try body(from..<edit.position, edit.isInsertion ? edit.change : nil)
      from = edit.position + (edit.isInsertion ? 0 : 1)
    }
    try body(from..<count, nil)
  }
}
