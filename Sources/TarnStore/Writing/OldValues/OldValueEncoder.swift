/// Encodes the images of one commit.
struct OldValueEncoder {
  private(set) var sections = OldValueSections()
  /// The values that are stored outside of the record, by number.
  private(set) var longValues: [[UInt8]] = []
  private var id = ClassID(0)

  /// A longer section is closed: one more item still fits the chunk.
  private static let fullBytes = 600

  init(_ images: OldValues, _ changes: ChangeSet) {
    for before in images.classes {
      id = before.id
      encode(before, isCleared: changes[before.id]?.isCleared == true)
    }
  }

  private mutating func encode(_ before: ClassOldValues, isCleared: Bool) {
    sections.append(OldValueKind.level.rawValue, [before.level.rawValue], of: id)
    if isCleared { clearedKeys(before.deleted) }
    if let keys = before.primaryKeys { column(keys, .primaryKeys) }
    for values in before.columns { column(values, .values) }
    for sequence in before.sequences { elements(sequence) }
  }

  private mutating func clearedKeys(_ keys: KeySet) {
    var index = 0
    while index < keys.runs.count {
      var writer = RecordWriter(capacity: Self.fullBytes)
      ChangeRecord.writeRuns(keys, from: &index, limit: Self.fullBytes, into: &writer)
      sections.append(OldValueKind.clearedKeys.rawValue, writer.bytes, of: id)
    }
  }

  private mutating func column(_ column: OldColumn, _ kind: OldValueKind) {
    var index = 0
    while index < column.keys.count {
      var writer = RecordWriter(capacity: 32)
      writer.varint(UInt64(column.column.rawValue))
      var last: Int64 = 0
      while index < column.keys.count, writer.bytes.count < Self.fullBytes {
        let key = column.keys[index].rawValue
        writer.zigzag(key &- last)
        value(column.values[index], &writer)
        last = key
        index += 1
      }
      sections.append(kind.rawValue, writer.bytes, of: id)
    }
  }

  private mutating func elements(_ sequence: OldSequence) {
    var flags = sequence.isWhole ? OldValueFlag.isWhole : 0
    if sequence.elements.first?.key != nil { flags |= OldValueFlag.isMap }
    var index = 0
    repeat {
      var writer = RecordWriter(capacity: 64)
      writer.varint(UInt64(sequence.name.column.rawValue))
      writer.zigzag(sequence.name.key.rawValue)
      writer.varint(sequence.name.nested.map { $0.rawValue + 1 } ?? 0)
      writer.byte(flags | (index == 0 ? OldValueFlag.isFirst : 0))
      if index == 0 { writer.varint(UInt64(sequence.oldCount)) }
      var next = 0
      while index < sequence.elements.count, writer.bytes.count < Self.fullBytes {
        let element = sequence.elements[index]
        writer.varint(UInt64(element.position - next))
        if let key = element.key { value(key, &writer) }
        value(element.value, &writer)
        next = element.position + 1
        index += 1
      }
      sections.append(OldValueKind.elements.rawValue, writer.bytes, of: id)
    } while index < sequence.elements.count
  }

  private mutating func value(_ value: OldValue, _ writer: inout RecordWriter) {
    if let (bytes, isString) = value.longBytes {
      let number = CollectionID(UInt64(longValues.count))
      writer.tagged(.long(id: number, byteCount: bytes.count, isString: isString))
      longValues.append(bytes)
    } else if case .value(let value) = value {
      writer.tagged(value)
    } else {
      trap("internal error: images that were read are not written again")
    }
  }
}

/// The kinds of sections of a change record with values before the commit. The raw values are on
/// disk.
///
///     32   column | (key | value) ...       primary keys of deleted objects
///     33   column | (key | value) ...       values of deleted and modified objects
///     34   column | key (zigzag) | nested id plus one, or 0 | flags u8 | [old count] |
///          (distance | [map key] | value) ...         elements of a list, set or map
///     35   key set                          the objects of a class that was cleared
///     36   level u8                         how much of the class is here
///
/// Numbers without a stated width are varints, values as in mixed columns (`TaggedValue`). Object
/// keys of 32 and 33 are distances from the key before, zigzag, the first one from 0. A distance of
/// 34 is the number of positions skipped since the element before. A sequence that does not fit its
/// section continues in the next one, which begins in the same way and counts distances from its
/// start; only the first section of a sequence has its old count.
///
/// The tags of long values (16 and 17) have the number under which the bytes are stored with the
/// record (`TreeKey.oldValue`), counted from 0 in each record, and their length.
enum OldValueKind: UInt8 {
  // `ChangeRecord.Section` names the range and two of the numbers.
  case primaryKeys = 32
  case values = 33
  case elements = 34
  case clearedKeys = 35
  case level = 36
}

/// The flags of a section of elements.
enum OldValueFlag {
  static let isFirst: UInt8 = 1
  static let isWhole: UInt8 = 2
  static let isMap: UInt8 = 4
  static let known: UInt8 = 7
}
