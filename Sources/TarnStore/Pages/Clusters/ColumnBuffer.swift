import CTarn

/// The cell of a string or data in memory: the position of its bytes in the column's arena, and
/// flags.
struct ByteCell {
  /// Offset in the arena; negative for a long value that is only in the file.
  var offset = 0
  private var info: UInt = 0

  init() {}
  init(offset: Int, length: Int) {
    self.offset = offset
    info = UInt(length) << 2
  }
  /// A long value whose pieces are in the file.
  static func elsewhere(length: Int) -> ByteCell {
    var cell = ByteCell(offset: -1, length: length)
    cell.isStored = true
    return cell
  }

  var length: Int { Int(info >> 2) }
  var isInMemory: Bool { offset >= 0 }
  /// The pieces of this value are in the file, or were passed on to be stored there.
  var isStored: Bool {
    get { info & 1 != 0 }
    set { info = newValue ? info | 1 : info & ~1 }
  }
  /// Moved out of the cluster although it is short, because its row would not fit.
  var isSpilled: Bool {
    get { info & 2 != 0 }
    set { info = newValue ? info | 2 : info & ~2 }
  }
  var isLong: Bool {
    offset < 0 || info & 2 != 0 || length > ClusterFormat.inlineBytesMax
  }
  /// Its bytes in an image.
  var imageBytes: Int { isLong ? ClusterFormat.longReferenceBytes : length }
}

/// The bytes of a column's strings, appended and never changed in place: cells of equal values may
/// share them. Unused bytes are removed by the next compaction.
@safe struct ByteArena {
  private(set) var base: UnsafeMutableRawPointer?
  private(set) var count = 0
  private var capacity = 0
  /// Readable bytes after the last one, so that a load of 16 can start anywhere.
  private static let slack = 16
  /// Above this many bytes, compaction is worthwhile.
  private var limit = 8_192

  var wantsCompaction: Bool { count > limit }

  /// Appends the bytes, which may be the arena's own, and returns their offset.
  mutating func append(_ bytes: UnsafeRawBufferPointer) -> Int {
    let start = count
    guard let source = bytes.baseAddress, bytes.count > 0 else { return start }
    if count + bytes.count + Self.slack > capacity {
      let old = unsafe base
      reserve(count + bytes.count)
      unsafe base!.advanced(by: start).copyMemory(from: source, byteCount: bytes.count)
      unsafe old?.deallocate()
    } else {
      unsafe base!.advanced(by: start).copyMemory(from: source, byteCount: bytes.count)
    }
    count = start + bytes.count
    return start
  }

  /// Moves to new memory with that capacity; the caller frees the old.
  private mutating func reserve(_ wanted: Int) {
    capacity = max(wanted + Self.slack, 2 * capacity, 512)
    let new = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    if let base = unsafe base { unsafe new.copyMemory(from: base, byteCount: count) }
    unsafe base = unsafe new
  }

  func bytes(_ cell: ByteCell) -> UnsafeRawBufferPointer {
    guard let base = unsafe base else { return unsafe UnsafeRawBufferPointer(start: nil, count: 0) }
    return unsafe UnsafeRawBufferPointer(start: base + cell.offset, count: cell.length)
  }

  /// Keeps only the bytes of these cells, and moves them.
  mutating func compact(_ cells: UnsafeMutableBufferPointer<ByteCell>) {
    var fresh = ByteArena()
    unsafe fresh.copy(cells, from: self)
    unsafe base?.deallocate()
    fresh.limit = max(8_192, 2 * fresh.count)
    self = fresh
  }

  /// Appends the bytes of cells in another arena, and points the cells here.
  mutating func copy(_ cells: UnsafeMutableBufferPointer<ByteCell>, from other: ByteArena) {
    for index in cells.indices where unsafe cells[index].isInMemory {
      let isEmpty = unsafe cells[index].length == 0
      unsafe cells[index].offset = isEmpty ? 0 : append(other.bytes(cells[index]))
    }
  }

  func deallocate() { unsafe base?.deallocate() }
}

/// One column of rows under edit. Its owner has the number of rows and frees it.
@safe struct ColumnBuffer {
  enum State: UInt8 {
    /// Every row has the default; no memory is allocated.
    case absent
    /// The values are in the image that the cluster was made from.
    case image
    /// The values are in `cells` and `nulls`.
    case loaded
  }

  let storage: ColumnStorage
  let isOptional: Bool
  let stride: Int
  var state = State.absent
  /// False only if no cell is long.
  var mayHaveLong = false
  /// `stride` bytes per row; all zero for a row without a value.
  var cells: UnsafeMutableRawPointer?
  /// A byte per row, 1 for a row without a value. Nil if every row has one.
  var nulls: UnsafeMutablePointer<UInt8>?
  /// The bytes that a string or data column's cells point to.
  var arena = ByteArena()
  /// Memory for the dictionary of the last planned range: a code per row, then for each entry a row
  /// that has it, as 16 bits.
  var dictionary: UnsafeMutableRawPointer?

  init(_ column: borrowing ColumnSchema, isKey: Bool) {
    storage = ColumnStorage(column, isKey: isKey)
    isOptional = column.isOptional
    stride = storage.stride
  }

  @inline(__always)
  func typed<T>(_: T.Type) -> UnsafeMutablePointer<T> {
    assert(state == .loaded)
    return unsafe cells!.assumingMemoryBound(to: T.self)
  }

  var byteCells: UnsafeMutablePointer<ByteCell> { unsafe typed(ByteCell.self) }

  /// Allocates memory for `capacity` rows and fills `count` with the default.
  mutating func materialize(count: Int, capacity: Int) {
    assert(state != .loaded && stride > 0)
    let bytes = capacity * stride
    let memory = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 16)
    unsafe memory.initializeMemory(as: UInt8.self, repeating: 0, count: count * stride)
    unsafe cells = unsafe memory
    if isOptional {
      unsafe nulls = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
      unsafe nulls!.initialize(repeating: 1, count: count)
    }
    state = .loaded
  }

  /// Moves to memory for `capacity` rows.
  mutating func grow(count: Int, capacity: Int) {
    guard state == .loaded, let old = unsafe cells else { return }
    let new = UnsafeMutableRawPointer.allocate(byteCount: capacity * stride, alignment: 16)
    unsafe new.copyMemory(from: old, byteCount: count * stride)
    unsafe old.deallocate()
    unsafe cells = unsafe new
    if let old = unsafe nulls {
      unsafe nulls = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
      unsafe nulls!.initialize(from: old, count: count)
      unsafe old.deallocate()
    }
    unsafe dictionary?.deallocate()
    unsafe dictionary = nil
  }

  /// Inserts a row with the default at `slot`, into `count` rows.
  @inline(__always)
  mutating func openRow(at slot: Int, count: Int) {
    guard state == .loaded, let cells = unsafe cells else { return }
    let cell = unsafe cells + slot * stride
    if slot < count {
      unsafe (cell + stride).copyMemory(from: cell, byteCount: (count - slot) * stride)
    }
    if stride == 8 {
      unsafe cell.storeBytes(of: 0, as: UInt64.self)
    } else {
      unsafe cell.initializeMemory(as: UInt8.self, repeating: 0, count: stride)
    }
    if let nulls = unsafe nulls {
      if slot < count {
        unsafe UnsafeMutableRawPointer(nulls + slot + 1)
          .copyMemory(from: nulls + slot, byteCount: count - slot)
      }
      unsafe nulls[slot] = isOptional ? 1 : 0
    }
  }

  /// Removes `removed` rows from `slot` on, of `count` rows.
  mutating func closeRows(at slot: Int, removed: Int, count: Int) {
    guard state == .loaded, let cells = unsafe cells else { return }
    let kept = count - slot - removed
    let cell = unsafe cells + slot * stride
    unsafe cell.copyMemory(from: cell + removed * stride, byteCount: kept * stride)
    if let nulls = unsafe nulls {
      unsafe UnsafeMutableRawPointer(nulls + slot)
        .copyMemory(from: nulls + slot + removed, byteCount: kept)
    }
  }

  /// Becomes a copy of `count` rows of `other` from `slot` on, with room for `capacity`.
  mutating func take(_ other: ColumnBuffer, from slot: Int, count: Int, capacity: Int) {
    guard other.state == .loaded, let source = unsafe other.cells else { return }
    materialize(count: 0, capacity: capacity)
    unsafe cells!.copyMemory(from: source + slot * stride, byteCount: count * stride)
    if let source = unsafe other.nulls {
      ensureNulls(capacity: capacity)
      unsafe nulls!.initialize(from: source + slot, count: count)
    }
    if storage == .bytes {
      mayHaveLong = other.mayHaveLong
      unsafe arena.copy(
        UnsafeMutableBufferPointer(start: byteCells, count: count), from: other.arena)
    }
  }

  /// Allocates the null marks, which the caller fills.
  mutating func ensureNulls(capacity: Int) {
    guard unsafe nulls == nil else { return }
    unsafe nulls = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
  }

  mutating func compact(count: Int) {
    unsafe arena.compact(UnsafeMutableBufferPointer(start: byteCells, count: count))
  }

  func deallocate() {
    unsafe cells?.deallocate()
    unsafe nulls?.deallocate()
    unsafe dictionary?.deallocate()
    arena.deallocate()
  }
}
