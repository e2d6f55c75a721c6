/// The cell of a list, set or map: the elements themselves while they are few, otherwise a
/// reference to their pages.
///
///     (no bytes)                              no elements
///     u8 1 | elements                         up to 200 bytes in total: consecutive tagged values;
///                                             for a map keys and values alternate
///     u8 2 | u8 flags | id u64 | count u64    pages under that id
///
/// Flag 1: a page may have long elements or collections, so its elements must be read before it is
/// removed.
enum CollectionCell: Equatable {
  case empty
  case small(SequenceElements)
  case large(LargeSequence)

  /// Elements with more bytes move to pages.
  static let smallBytesMax = 200
  /// Pages whose elements take at most this many bytes move back into the cell.
  static let shrunkBytesMax = 100
  static let largeBytes = 18
  private static let smallForm: UInt8 = 1
  private static let largeForm: UInt8 = 2

  init(decoding bytes: UnsafeRawBufferPointer, _ shape: SequenceShape) throws(StorageError) {
    var reader = unsafe RecordReader(bytes)
    guard reader.remaining > 0 else {
      self = .empty
      return
    }
    switch try reader.byte() {
    case Self.smallForm: self = .small(try Self.elements(&reader, shape))
    case Self.largeForm:
      let flags = try reader.byte()
      let id = CollectionID(try reader.word())
      let count: UInt64 = try reader.word()
      guard flags <= 1, reader.remaining == 0, id.rawValue > 0, count > 0,
        count <= UInt64(SequenceShape.countMax)
      else { throw SequenceShape.damaged("its reference is invalid") }
      self = .large(LargeSequence(id: id, count: Int(count), hasOutside: flags == 1))
    default: throw SequenceShape.damaged("its cell has an unknown form")
    }
  }

  private static func elements(
    _ reader: inout RecordReader, _ shape: SequenceShape
  ) throws(StorageError) -> SequenceElements {
    guard reader.remaining < smallBytesMax else {
      throw SequenceShape.damaged("its cell is too long")
    }
    var elements = SequenceElements()
    while reader.remaining > 0 {
      if shape.isMap {
        let key = try reader.tagged()
        guard key.isString else { throw SequenceShape.damaged("a key is not a string") }
        elements.keys.append(key)
      }
      let value = try reader.tagged()
      guard shape.accepts(value) else {
        throw SequenceShape.damaged("an element is of another type")
      }
      elements.values.append(value)
    }
    guard elements.count > 0 else { throw SequenceShape.damaged("its cell has no elements") }
    return elements
  }

  /// The bytes, nil if the elements are too many for a cell. No single value is too long for a
  /// cell.
  static func encode(_ elements: SequenceElements, limit: Int) -> [UInt8]? {
    if elements.count == 0 { return [] }
    if elements.count >= limit { return nil }
    var writer = RecordWriter(capacity: limit)
    writer.byte(smallForm)
    for index in 0..<elements.count {
      if !elements.keys.isEmpty { writer.tagged(elements.keys[index]) }
      writer.tagged(elements.values[index])
      if writer.bytes.count > limit { return nil }
    }
    return writer.bytes
  }

  static func encode(_ large: LargeSequence) -> [UInt8] {
    var writer = RecordWriter(capacity: largeBytes)
    writer.byte(largeForm)
    writer.byte(large.hasOutside ? 1 : 0)
    writer.word(large.id.rawValue)
    writer.word(UInt64(large.count))
    return writer.bytes
  }
}

/// The pages of a sequence.
struct LargeSequence: Equatable {
  var id: CollectionID
  var count: Int
  /// Whether a page may have elements whose bytes or elements are stored elsewhere.
  var hasOutside: Bool
}

extension TaggedValue {
  var isString: Bool {
    switch self {
    case .value(.string): true
    case .long(_, _, let isString): isString
    case .value: false
    }
  }
}

/// A nested list or map: the cell that a property would have, under a separate key.
///
///     0  u8   format, 1
///     1  u8   kind: 1 list, 3 map
///     2  u16  0
///     4  u32  checksum of the bytes from 8 on, exclusive or the kind
///     8  ...  the cell
enum NestedRecord {
  static let headerBytes = 8
  private static let format: UInt8 = 1

  static func encode(_ kind: CollectionKind, _ cell: [UInt8]) -> [UInt8] {
    var writer = RecordWriter(capacity: headerBytes + cell.count)
    writer.byte(format)
    writer.byte(kind.rawValue)
    writer.word(UInt16(0))
    writer.word(unsafe cell.withUnsafeBytes { unsafe checksum($0, kind) })
    writer.bytes.append(contentsOf: cell)
    return writer.bytes
  }

  static func decode(
    _ bytes: UnsafeRawBufferPointer
  ) throws(StorageError) -> (shape: SequenceShape, cell: CollectionCell) {
    var reader = unsafe RecordReader(bytes)
    let format = try reader.byte()
    guard format == Self.format, let kind = CollectionKind(rawValue: try reader.byte()),
      kind == .list || kind == .map, try reader.word(UInt16.self) == 0
    else { throw SequenceShape.damaged("the record of a nested one is invalid") }
    let sum: UInt32 = try reader.word()
    let cell = unsafe UnsafeRawBufferPointer(rebasing: bytes[headerBytes...])
    guard unsafe checksum(cell, kind) == sum else {
      throw SequenceShape.damaged("the checksum of a nested one is wrong")
    }
    let shape = SequenceShape.nested(kind)
    return (shape, try unsafe CollectionCell(decoding: cell, shape))
  }

  private static func checksum(_ cell: UnsafeRawBufferPointer, _ kind: CollectionKind) -> UInt32 {
    unsafe Checksum.of(cell) ^ UInt32(kind.rawValue)
  }
}
