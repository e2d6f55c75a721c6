/// A view of one page of a sequence: an image of a cluster whose rows are the elements, in order.
/// It does not own the bytes.
@safe package struct SequencePage {
  package let image: ClusterImage
  package let shape: SequenceShape
  private let valueColumn: ColumnID
  private let isOptional: Bool

  package var count: Int { image.rowCount }

  /// - Parameter count: the number of elements in the row counts.
  init(
    validating bytes: UnsafeRawBufferPointer, _ shape: SequenceShape, count: Int
  ) throws(StorageError) {
    image = try unsafe ClusterImage(validating: bytes)
    self.shape = shape
    valueColumn = shape.valueColumn
    isOptional = shape.isOptional
    guard image.rowCount == count else {
      throw SequenceShape.damaged("a page has another number of elements than its row counts say")
    }
  }

  /// The element in that slot; for a long one only a reference.
  @inline(__always)
  func element(_ slot: Int) throws(StorageError) -> TaggedValue {
    if shape.isTagged { return try tagged(valueColumn, slot) }
    if isOptional && image.isNull(valueColumn, slot) { return .value(.null) }
    return .value(natural(slot))
  }

  private func natural(_ slot: Int) -> Value {
    switch shape.type {
    case .int: .int(image.int(valueColumn, slot))
    case .link: .link(ObjectKey(image.int(valueColumn, slot)))
    case .bool: .bool(image.bool(valueColumn, slot))
    case .float: .float(image.float(valueColumn, slot))
    case .double: .double(image.double(valueColumn, slot))
    case .date: .date(image.date(valueColumn, slot))
    case .objectID: .objectID(image.bytes12(valueColumn, slot))
    case .decimal: .decimal(image.bytes16(valueColumn, slot))
    case .uuid: .uuid(image.bytes16(valueColumn, slot))
    case .string, .data, .any: trap("tagged values have no column of their own")
    }
  }

  private func tagged(_ column: ColumnID, _ slot: Int) throws(StorageError) -> TaggedValue {
    guard case .inline(let bytes) = try image.bytes(column, slot) else {
      throw SequenceShape.damaged("an element has no bytes")
    }
    var reader = unsafe RecordReader(bytes)
    let value = try reader.tagged()
    guard reader.remaining == 0, shape.accepts(value) else {
      throw SequenceShape.damaged("an element is of another type")
    }
    return value
  }

  /// The key in that slot, in a map's page.
  func key(_ slot: Int) throws(StorageError) -> TaggedValue {
    guard case .inline(let bytes) = try image.bytes(shape.keyColumn, slot) else {
      throw SequenceShape.damaged("a key has no bytes")
    }
    var reader = unsafe RecordReader(bytes)
    let key = try reader.tagged()
    guard reader.remaining == 0, key.isString else {
      throw SequenceShape.damaged("a key is not a string")
    }
    return key
  }

  // MARK: - Searching

  /// Compares the number in a slot with another.
  @inline(__always)
  func order(ofNumber slot: Int, to other: Int64) -> Int {
    let number = image.int(valueColumn, slot)
    return number < other ? -1 : number == other ? 0 : 1
  }

  /// Compares the string in a slot, for a map the key, with another, without copying it; nil if
  /// that is not possible.
  func order(ofText slot: Int, to other: SearchKey) throws(StorageError) -> Int? {
    guard let text = other.text, let present = unsafe try self.text(slot) else { return nil }
    return unsafe text.withUnsafeBytes { unsafe compareBytes(present, $0) }
  }

  /// The bytes of a string, for a map those of the key; nil for another type or a long one.
  private func text(_ slot: Int) throws(StorageError) -> UnsafeRawBufferPointer? {
    guard shape.isTagged || shape.isMap else { return nil }
    let column = shape.isMap ? shape.keyColumn : valueColumn
    guard case .inline(let bytes) = try image.bytes(column, slot) else { return nil }
    var reader = unsafe RecordReader(bytes)
    guard try reader.byte() == TaggedValue.Tag.string.rawValue else { return nil }
    let present = unsafe try reader.rest(of: reader.number(Int.self))
    guard reader.remaining == 0 else { return nil }
    return unsafe present
  }

  /// The prefix of the first element, for a map the first key, as in `SearchKey`. Nil if it is
  /// neither a number nor a string, or a long one.
  func firstPrefix() throws(StorageError) -> OrderPrefix? {
    if shape.type == .int, !shape.isOptional, !shape.isMap {
      return OrderPrefix(image.int(valueColumn, 0))
    }
    guard let text = unsafe try text(0) else { return nil }
    return unsafe OrderPrefix(text)
  }

  /// Checks every byte, before an edit uses the elements.
  func verify() throws(StorageError) {
    try image.verifyChecksum()
    try image.checkRows(shape.pages)
  }

  /// The elements in some slots.
  func elements(in slots: Range<Int>) throws(StorageError) -> SequenceElements {
    var elements = SequenceElements()
    if shape.holdsNumbers {
      elements.values = numbers(in: slots)
      return elements
    }
    elements.values.reserveCapacity(slots.count)
    if shape.isMap { elements.keys.reserveCapacity(slots.count) }
    for slot in slots {
      if shape.isMap { elements.keys.append(try key(slot)) }
      elements.values.append(try element(slot))
    }
    return elements
  }

  private func numbers(in slots: Range<Int>) -> ElementValues {
    let numbers = unsafe ContiguousArray<Int64>(unsafeUninitializedCapacity: slots.count) {
      numbers, filled in
      if let first = numbers.baseAddress, !slots.isEmpty {
        unsafe image.decodeInts(valueColumn, in: slots, into: first)
      }
      filled = slots.count
    }
    return ElementValues(numbers: numbers, areLinks: shape.type == .link)
  }
}

/// Packs elements into pages.
enum SequencePacker {
  /// Packs these elements into pages, in order. No value is too long for a page.
  ///
  /// - Parameter isEnd: elements may be added at the end later: pages are filled, not halved.
  static func pack(
    _ parts: [SequenceElements], _ shape: SequenceShape, isEnd: Bool
  ) throws(StorageError) -> [(bytes: [UInt8], count: Int)] {
    var pages: [(bytes: [UInt8], count: Int)] = []
    let cluster = WorkingCluster(shape.pages)
    let noLong: WorkingCluster.EmitLong = { _, _, _ throws(StorageError) in
      trap("internal error: an element too long for its page was left in it")
    }
    let emit: WorkingCluster.EmitImage = { _, count, bytes throws(StorageError) in
      pages.append((unsafe [UInt8](bytes), count))
    }
    var rest = parts.reduce(0) { $0 + $1.count }
    var next: Int64 = 0
    for part in parts {
      var index = 0
      while index < part.count {
        var added = 1
        if shape.holdsNumbers {
          // As many as fit before rows may be sealed.
          let room = cluster.targetRows - cluster.rowCount
          added = room > 0 ? min(room, part.count - index) : part.count - index
          add(part, index..<index + added, to: cluster, ObjectKey(next))
        } else {
          add(part, index, to: cluster, ObjectKey(next), shape)
        }
        index += added
        next += Int64(added)
        rest -= added
        // The last rows are kept back for an even division.
        if cluster.rowCount >= cluster.targetRows, isEnd || rest > cluster.targetRows {
          try unsafe cluster.sealFullImages(emitLong: noLong, emit: emit)
        }
      }
    }
    // Halves of equal bytes, so that later insertions in between find room.
    if !isEnd { cluster.hasInsertedInside = true }
    try unsafe cluster.encode(emitLong: noLong, emit: emit)
    return pages
  }

  /// Adds numbers, many at a time.
  private static func add(
    _ elements: SequenceElements, _ range: Range<Int>, to cluster: WorkingCluster,
    _ key: ObjectKey
  ) {
    let areAdded: Void? = unsafe elements.values.withNumbers(in: range) {
      unsafe cluster.append($0, from: key)
    }
    if areAdded != nil { return }
    unsafe withUnsafeTemporaryAllocation(of: Int64.self, capacity: range.count) { numbers in
      for (place, index) in range.enumerated() {
        switch elements.values[index] {
        case .value(.int(let number)): unsafe numbers[place] = number
        case .value(.link(let target)): unsafe numbers[place] = target.rawValue
        default: trap("internal error: an element that is not a number")
        }
      }
      unsafe cluster.append(UnsafeBufferPointer(numbers), from: key)
    }
  }

  private static func add(
    _ elements: SequenceElements, _ index: Int, to cluster: WorkingCluster, _ key: ObjectKey,
    _ shape: SequenceShape
  ) {
    let slot = cluster.insert(key)
    if shape.isMap { set(elements.keys[index], shape.keyColumn, slot, cluster) }
    if shape.isTagged {
      set(elements.values[index], shape.valueColumn, slot, cluster)
    } else if case .value(let value) = elements.values[index] {
      cluster.set(shape.valueColumn, slot, value)
    }
  }

  private static func set(
    _ value: TaggedValue, _ column: ColumnID, _ slot: Int, _ cluster: WorkingCluster
  ) {
    var writer = RecordWriter(capacity: 16)
    writer.tagged(value)
    unsafe writer.bytes.withUnsafeBytes { unsafe cluster.setBytes(column, slot, $0) }
  }
}
