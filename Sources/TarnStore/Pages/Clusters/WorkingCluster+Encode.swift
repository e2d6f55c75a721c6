import CTarn

extension WorkingCluster {
  /// Receives an encoded image: the first row's key, the number of rows, and the bytes, which are
  /// valid only during the call.
  package typealias EmitImage =
    (_ first: ObjectKey, _ rows: Int, _ image: UnsafeRawBufferPointer) throws(StorageError) -> Void
  /// Receives a long value to store in pieces, before the image that refers to it.
  package typealias EmitLong =
    (_ key: ObjectKey, _ column: ColumnID, _ bytes: UnsafeRawBufferPointer) throws(StorageError) ->
    Void

  /// Encodes all rows into images, in key order: one if they fit, none without rows. The cluster is
  /// not changed and may be edited further, then encoded again.
  ///
  /// Throws the callbacks' errors, and `.limitExceeded` if a single row has too many columns to fit
  /// an image even with all of its strings moved out.
  package func encode(emitLong: EmitLong, emit: EmitImage) throws(StorageError) {
    guard count > 0 else { return }
    if isBacked && !hasLoaded {
      try unsafe emitOwnImage(emit)
      return
    }
    scratch.prepare(columnCount: columnCount)
    if fits(0, count) {
      try unsafe writeImage(0, count, emitLong, emit)
      return
    }
    loadAll()
    if hasAppended && !hasInsertedInside {
      let rest = try unsafe encodeFullImages(leaving: 0, emitLong, emit)
      try unsafe encodeHalves(rest, count, emitLong, emit)
    } else {
      try unsafe encodeHalves(0, count, emitLong, emit)
    }
  }

  /// For a cluster that grows only at its end: encodes as many full images as possible and removes
  /// their rows; the rest stays. Worthwhile once `rowCount` has reached `targetRows`. Throws like
  /// `encode`; then all rows are still here.
  package func sealFullImages(emitLong: EmitLong, emit: EmitImage) throws(StorageError) {
    loadAll()
    scratch.prepare(columnCount: columnCount)
    // Too few rows for an image need not be measured.
    let sealed = try unsafe encodeFullImages(leaving: rowsPerImage * 3 / 4, emitLong, emit)
    // Rows this small are measured again only when there are many more.
    if sealed == 0 { return delaySealing() }
    removeRows(at: 0, removed: sealed)
    for index in 0..<columnCount where unsafe columns[index].storage == .bytes {
      if unsafe sealed > 0 && columns[index].state == .loaded {
        unsafe columns[index].compact(count: count)
      }
    }
  }

  /// The image is finished, except for its checksum.
  private func emitOwnImage(_ emit: EmitImage) throws(StorageError) {
    if imageIsPatched, let memory = unsafe imageMemory {
      unsafe PageSeal.close(memory, byteCount: image.bytes.count)
      imageIsPatched = false
    }
    try unsafe emit(key(at: 0), count, image.bytes)
  }
}

// MARK: - Splitting

extension WorkingCluster {
  /// Encodes full images from the left and returns the first of the remaining rows, which fit one
  /// image or are at most `few`.
  private func encodeFullImages(
    leaving few: Int, _ emitLong: EmitLong, _ emit: EmitImage
  ) throws(StorageError) -> Int {
    var first = 0
    while count - first > few {
      let rows = prefixThatFits(first)
      if rows == count - first { break }
      if rows == 0 {
        try spill(first)
        continue
      }
      try unsafe writeImage(first, rows, emitLong, emit)
      updateTarget(rowsPerImage: rows)
      first += rows
    }
    return first
  }

  /// The most rows from `first` on that fit one image; they are left planned. The search uses the
  /// bytes per row of the last attempt, and ends when less than a row is free.
  ///
  /// While the keys are dense, a byte per row is left free: otherwise the first row removed from a
  /// full image, which makes the keys take that byte, would split it.
  private func prefixThatFits(_ first: Int) -> Int {
    var low = 0
    var high = min(count - first, ClusterFormat.rowsMax) + 1
    var guess = min(rowsPerImage, high - 1)
    while high - low > 1 {
      let limit =
        ClusterFormat.imageBytesMax - (keyWidth(first, guess) == 0 && guess > 1 ? guess : 0)
      let size = plan(first, guess)
      if size <= limit {
        low = guess
        if (limit - size) * guess < size { return low }
        guess += (limit - size) * guess / size
      } else {
        high = guess
        guess -= max(1, (size - limit) * guess / size)
      }
      guess = min(max(guess, low + 1), high - 1)
    }
    if low > 0 { _ = plan(first, low) }
    return low
  }

  /// Encodes the rows into one image, or splits them so that both sides have about equal bytes.
  private func encodeHalves(
    _ first: Int, _ rows: Int, _ emitLong: EmitLong, _ emit: EmitImage
  ) throws(StorageError) {
    let end = rows
    guard first < end else { return }
    if fits(first, end - first) {
      try unsafe writeImage(first, end - first, emitLong, emit)
    } else if end - first == 1 {
      try spill(first)
      try unsafe encodeHalves(first, end, emitLong, emit)
    } else {
      let middle = middle(first, end)
      try unsafe encodeHalves(first, middle, emitLong, emit)
      try unsafe encodeHalves(middle, end, emitLong, emit)
    }
  }

  /// The row at about half of the bytes; never the first.
  private func middle(_ first: Int, _ end: Int) -> Int {
    var fixed = 4
    for index in 0..<columnCount { unsafe fixed += columns[index].stride / 2 }
    var total = 0
    for slot in first..<end { total += fixed + stringBytes(slot) }
    var left = 0
    for slot in first..<end - 1 {
      left += fixed + stringBytes(slot)
      if 2 * left >= total { return slot + 1 }
    }
    return end - 1
  }

  private func stringBytes(_ slot: Int) -> Int {
    var sum = 0
    for index in 0..<columnCount {
      let column = unsafe columns + index
      if unsafe column.pointee.storage == .bytes && column.pointee.state == .loaded {
        unsafe sum += column.pointee.byteCells[slot].imageBytes
      }
    }
    return sum
  }

  /// Moves the longest of a row's strings out of the cluster, so that the row may fit an image.
  private func spill(_ slot: Int) throws(StorageError) {
    var longest = ClusterFormat.longReferenceBytes
    var found: Int?
    for index in 0..<columnCount {
      let column = unsafe columns + index
      guard unsafe column.pointee.storage == .bytes, unsafe column.pointee.state == .loaded
      else { continue }
      let cell = unsafe column.pointee.byteCells[slot]
      if cell.imageBytes > longest {
        longest = cell.imageBytes
        found = index
      }
    }
    guard let index = found else {
      throw StorageError(
        .limitExceeded, operation: "write", path: "", detail: schema.tooWide)
    }
    unsafe columns[index].byteCells[slot].isSpilled = true
    unsafe columns[index].mayHaveLong = true
  }
}

// MARK: - One image

extension WorkingCluster {
  private func fits(_ first: Int, _ rows: Int) -> Bool {
    rows <= ClusterFormat.rowsMax && plan(first, rows) <= ClusterFormat.imageBytesMax
  }

  /// Plans all columns for these rows and returns the size of their image.
  private func plan(_ first: Int, _ rows: Int) -> Int {
    assert(rows > 0 && rows <= ClusterFormat.rowsMax)
    var size = ClusterFormat.headerBytes + ClusterFormat.paddingBytes
    size += rows * keyWidth(first, rows)
    var described = 0
    for index in 0..<columnCount {
      let plan: ColumnPlan
      if unsafe columns[index].state == .image {
        plan = image.copyPlan(ColumnID(UInt16(truncatingIfNeeded: index)))
      } else {
        plan = unsafe columns[index].plan(first, rows, capacity: capacity, table: scratch.table)
      }
      unsafe scratch.plans[index] = plan
      size += plan.size
      if plan.kind != .absent { described = index + 1 }
    }
    return size + described * ClusterFormat.descriptorBytes
  }

  private func keyWidth(_ first: Int, _ rows: Int) -> Int {
    let span = key(at: first + rows - 1).rawValue &- key(at: first).rawValue
    return span == rows - 1 ? 0 : Little.width(of: UInt64(bitPattern: span))
  }

  /// Writes the image of the last planned rows and passes it on, after their new long values.
  private func writeImage(
    _ first: Int, _ rows: Int, _ emitLong: EmitLong, _ emit: EmitImage
  ) throws(StorageError) {
    for index in 0..<columnCount where unsafe scratch.plans[index].hasLong {
      try unsafe emitLongs(index, first, rows, emitLong)
    }
    let out = unsafe scratch.output!
    var described = 0
    for index in 0..<columnCount where unsafe scratch.plans[index].kind != .absent {
      described = index + 1
    }
    var at = ClusterFormat.headerBytes + described * ClusterFormat.descriptorBytes
    unsafe writeHeader(out, first, rows, described, &at)
    for index in 0..<described {
      let plan = unsafe scratch.plans[index]
      let column: tarn_column
      if plan.isCopied {
        column = unsafe image.copyColumn(ColumnID(UInt16(truncatingIfNeeded: index)), out, &at)
      } else {
        column = unsafe columns[index].write(plan, first, rows, capacity: capacity, out, &at)
      }
      let position = ClusterFormat.headerBytes + index * ClusterFormat.descriptorBytes
      unsafe Little.put(column, out, position)
    }
    unsafe Little.put(UInt64(0), out, at)
    unsafe Little.put(UInt64(0), out, at + 8)
    at += ClusterFormat.paddingBytes
    assert(at <= ClusterFormat.imageBytesMax)
    unsafe Little.put(UInt16(truncatingIfNeeded: at), out, 6)
    unsafe PageSeal.close(out, byteCount: at)
    try unsafe emit(key(at: first), rows, UnsafeRawBufferPointer(start: out, count: at))
  }

  private func writeHeader(
    _ out: UnsafeMutableRawPointer, _ first: Int, _ rows: Int, _ described: Int, _ at: inout Int
  ) {
    let base = key(at: first).rawValue
    let width = keyWidth(first, rows)
    unsafe Little.put(UInt16(TARN_CLUSTER_FORMAT), out, 0)
    unsafe Little.put(UInt16(truncatingIfNeeded: rows), out, 2)
    unsafe Little.put(UInt16(truncatingIfNeeded: described), out, 4)
    unsafe Little.put(UInt16(truncatingIfNeeded: width), out, 12)
    unsafe Little.put(UInt16(truncatingIfNeeded: at), out, 14)
    unsafe Little.put(base, out, 16)
    if width == 0 { return }
    for index in 0..<rows {
      let offset = key(at: first + index).rawValue &- base
      let position = at + index * width
      switch width {
      case 1: unsafe Little.put(UInt8(truncatingIfNeeded: offset), out, position)
      case 2: unsafe Little.put(UInt16(truncatingIfNeeded: offset), out, position)
      case 4: unsafe Little.put(UInt32(truncatingIfNeeded: offset), out, position)
      default: unsafe Little.put(offset, out, position)
      }
    }
    at += rows * width
  }

  private func emitLongs(
    _ index: Int, _ first: Int, _ rows: Int, _ emitLong: EmitLong
  ) throws(StorageError) {
    guard unsafe columns[index].state == .loaded else { return }
    let cells = unsafe columns[index].byteCells
    let column = ColumnID(UInt16(truncatingIfNeeded: index))
    for slot in first..<first + rows {
      let cell = unsafe cells[slot]
      guard cell.isLong && cell.isInMemory && !cell.isStored else { continue }
      try unsafe emitLong(key(at: slot), column, columns[index].arena.bytes(cell))
      unsafe cells[slot].isStored = true
    }
  }
}

/// The form and size of a column in the image of some rows.
struct ColumnPlan {
  var kind = ClusterColumnKind.absent
  /// As in the descriptor: the bytes of a packed number or of a fixed value.
  var width = 0
  var base: Int64 = 0
  var hasNulls = false
  /// Some values are long: a bitmap marks them.
  var hasLong = false
  /// For a date: bytes of nanoseconds per row, and their base.
  var fineWidth = 0
  var fineBase: Int32 = 0
  /// The number of a dictionary's entries.
  var entryCount = 0
  /// The bytes of the strings, or of a dictionary's entries.
  var byteCount = 0
  /// The column's parts are copied from the image that the cluster was made from.
  var isCopied = false
  /// The bytes of all parts, without the descriptor.
  var size = 0
}

/// Memory for encoding that is reused from image to image.
@safe struct EncodingScratch {
  /// A plan per column.
  private(set) var plans: UnsafeMutablePointer<ColumnPlan>!
  /// The image being written, at most `imageBytesMax` long.
  private(set) var output: UnsafeMutableRawPointer!
  /// Hash table of dictionary entries: the entry's number plus one, or zero.
  private(set) var table: UnsafeMutablePointer<UInt8>!

  static let tableCount = 512

  mutating func prepare(columnCount: Int) {
    guard unsafe plans == nil else { return }
    unsafe plans = UnsafeMutablePointer<ColumnPlan>.allocate(capacity: columnCount)
    unsafe plans.initialize(repeating: ColumnPlan(), count: columnCount)
    unsafe output = UnsafeMutableRawPointer.allocate(
      byteCount: ClusterFormat.imageBytesMax, alignment: 16)
    unsafe table = UnsafeMutablePointer<UInt8>.allocate(capacity: Self.tableCount)
  }

  func deallocate() {
    unsafe plans?.deallocate()
    unsafe output?.deallocate()
    unsafe table?.deallocate()
  }
}
