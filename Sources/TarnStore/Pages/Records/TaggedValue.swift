/// Values whose bytes include their type: the cells of mixed columns, the elements of small
/// collections, and elements in pages without a column of a fixed width.
///
///     u8 tag, then
///      0 null
///      1 int           zigzag varint
///      2 false         3 true
///      4 float         u32 bits
///      5 double        u64 bits
///      6 string        length varint, UTF-8
///      7 data          length varint, bytes
///      8 date          seconds as zigzag varint, nanoseconds as zigzag varint
///      9 object id     12 bytes
///     10 decimal       16 bytes
///     11 UUID          16 bytes
///     12 link          key as zigzag varint; the class is the column's target
///     13 object        class varint, key as zigzag varint
///     14 list          id varint
///     15 map           id varint
///     16 long string   id varint, length varint: the bytes are under that id, in pieces
///     17 long data     as above
///
/// Words are little endian, the bytes of ids most significant first. An empty cell is null.
enum TaggedValue: Equatable {
  case value(Value)
  /// A string or data value that is stored elsewhere.
  case long(id: CollectionID, byteCount: Int, isString: Bool)

  enum Tag: UInt8 {
    case null, int, no, yes, float, double, string, data, date, objectID, decimal, uuid
    case link, object, list, map, longString, longData
  }
}

extension RecordWriter {
  private mutating func tag(_ tag: TaggedValue.Tag) { byte(tag.rawValue) }

  mutating func tagged(_ value: Value) {
    switch value {
    case .null: tag(.null)
    case .int(let number):
      tag(.int)
      zigzag(number)
    case .bool(let value): tag(value ? .yes : .no)
    case .float(let value):
      tag(.float)
      word(value.bitPattern)
    case .double(let value):
      tag(.double)
      word(value.bitPattern)
    case .string(let text):
      tag(.string)
      self.text(text)
    case .data(let data):
      tag(.data)
      varint(UInt64(data.count))
      bytes.append(contentsOf: data)
    case .date(let date):
      tag(.date)
      zigzag(date.seconds)
      zigzag(Int64(date.nanoseconds))
    case .objectID(let id):
      tag(.objectID)
      word(id.high.bigEndian)
      word(id.low.bigEndian)
    case .decimal(let bits):
      tag(.decimal)
      word16(bits)
    case .uuid(let id):
      tag(.uuid)
      word16(id)
    case .link(let key):
      tag(.link)
      zigzag(key.rawValue)
    case .object(let id, let key):
      tag(.object)
      varint(UInt64(id.rawValue))
      zigzag(key.rawValue)
    case .list(let id):
      tag(.list)
      varint(id.rawValue)
    case .map(let id):
      tag(.map)
      varint(id.rawValue)
    }
  }

  mutating func tagged(_ value: TaggedValue) {
    switch value {
    case .value(let value): tagged(value)
    case .long(let id, let byteCount, let isString):
      tag(isString ? .longString : .longData)
      varint(id.rawValue)
      varint(UInt64(byteCount))
    }
  }

  private mutating func word16(_ bytes: Bytes16) {
    word(bytes.high.bigEndian)
    word(bytes.low.bigEndian)
  }
}

extension RecordReader {
  private mutating func word16() throws(StorageError) -> Bytes16 {
    Bytes16(high: try word(UInt64.self).bigEndian, low: try word(UInt64.self).bigEndian)
  }

  private mutating func span() throws(StorageError) -> UnsafeRawBufferPointer {
    try unsafe rest(of: number(Int.self))
  }

  /// The next value. Throws `.corrupted` for malformed bytes.
  mutating func tagged() throws(StorageError) -> TaggedValue {
    guard let tag = TaggedValue.Tag(rawValue: try byte()) else {
      throw .damagedRecord("a value has an unknown type")
    }
    switch tag {
    case .null: return .value(.null)
    case .int: return .value(.int(try zigzag()))
    case .no: return .value(.bool(false))
    case .yes: return .value(.bool(true))
    case .float: return .value(.float(Float(bitPattern: try word())))
    case .double: return .value(.double(Double(bitPattern: try word())))
    case .string: return .value(.string(try text()))
    case .data: return unsafe .value(.data([UInt8](try span())))
    case .date: return .value(.date(try timestamp()))
    case .objectID:
      let high = try word(UInt64.self).bigEndian
      return .value(.objectID(Bytes12(high: high, low: try word(UInt32.self).bigEndian)))
    case .decimal: return .value(.decimal(try word16()))
    case .uuid: return .value(.uuid(try word16()))
    case .link: return .value(.link(ObjectKey(try zigzag())))
    case .object:
      let id = ClassID(try number(UInt32.self))
      return .value(.object(id, ObjectKey(try zigzag())))
    case .list: return .value(.list(CollectionID(try varint())))
    case .map: return .value(.map(CollectionID(try varint())))
    case .longString, .longData:
      let id = CollectionID(try varint())
      return .long(id: id, byteCount: try number(Int.self), isString: tag == .longString)
    }
  }

  private mutating func timestamp() throws(StorageError) -> Timestamp {
    let seconds = try zigzag()
    guard let nanoseconds = Int32(exactly: try zigzag()), (0..<1_000_000_000) ~= nanoseconds else {
      throw .damagedRecord("a date has too many nanoseconds")
    }
    return Timestamp(seconds: seconds, nanoseconds: nanoseconds)
  }
}

extension Value {
  /// The bytes of a cell of a mixed column.
  package var taggedBytes: [UInt8] {
    var writer = RecordWriter(capacity: 16)
    writer.tagged(self)
    return writer.bytes
  }

  /// The value of a cell of a mixed column. An empty cell is null.
  package init(tagged bytes: UnsafeRawBufferPointer) throws(StorageError) {
    var reader = unsafe RecordReader(bytes)
    guard reader.remaining > 0 else {
      self = .null
      return
    }
    guard case .value(let value) = try reader.tagged(), reader.remaining == 0 else {
      throw .damagedRecord("a mixed value has impossible bytes")
    }
    self = value
  }
}
