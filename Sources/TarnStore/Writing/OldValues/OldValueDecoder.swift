/// Decodes the images of one commit. Throws `.corrupted` for malformed bytes.
struct OldValueDecoder {
  private let version: Version
  private var before: ClassOldValues
  private var isLevelKnown = false

  static func images(
    _ sections: OldValueSections, _ changes: ChangeSet
  ) throws(StorageError) -> OldValues {
    var images = OldValues()
    for entry in changes.classes {
      let sections = sections[entry.id]
      if sections.isEmpty, entry.levelWithoutImages == .oldValues { continue }
      var decoder = OldValueDecoder(entry, changes.to)
      for section in sections {
        try unsafe withBytes(of: section) { bytes throws(StorageError) in
          var reader = unsafe RecordReader(bytes, from: OldValueSections.startBytes)
          try decoder.read(section[0], &reader)
        }
      }
      images.classes.append(try decoder.finish(entry))
    }
    return images
  }

  private init(_ entry: ClassChanges, _ version: Version) {
    self.version = version
    before = ClassOldValues(entry.id, entry.levelWithoutImages)
    before.deleted = entry.deleted
  }

  private func finish(_ entry: ClassChanges) throws(StorageError) -> ClassOldValues {
    guard isLevelKnown || before.columns.isEmpty && before.sequences.isEmpty else {
      throw .damagedRecord("it has old values without their level")
    }
    for sequence in before.sequences where sequence.isWhole {
      guard sequence.elements.count == sequence.oldCount else {
        throw .damagedRecord("it lacks elements of a collection")
      }
    }
    return before
  }

  private mutating func read(
    _ kind: UInt8, _ reader: inout RecordReader
  ) throws(StorageError) {
    switch OldValueKind(rawValue: kind) {
    case .level:
      guard let level = OldValueLevel(rawValue: try reader.byte()), reader.remaining == 0 else {
        throw .newerRecord("an unknown level of old values")
      }
      before.level = level
      isLevelKnown = true
    case .clearedKeys:
      var keys = KeySet()
      try ChangeRecord.readKeys(&reader, into: &keys)
      before.deleted.formUnion(keys)
    case .primaryKeys:
      var columns: [OldColumn] = before.primaryKeys.map { [$0] } ?? []
      try readColumn(&reader, into: &columns)
      guard columns.count == 1 else { throw .damagedRecord("it has two primary keys") }
      before.primaryKeys = columns[0]
    case .values: try readColumn(&reader, into: &before.columns)
    case .elements: try readElements(&reader)
    case nil: throw .newerRecord("an unknown kind of section")
    }
  }

  private func readColumn(
    _ reader: inout RecordReader, into columns: inout [OldColumn]
  ) throws(StorageError) {
    let id = ColumnID(try reader.number(UInt16.self))
    if columns.last?.column != id {
      if let last = columns.last, last.column > id {
        throw .damagedRecord("columns out of order")
      }
      columns.append(OldColumn(id))
    }
    var key: Int64 = 0
    while reader.remaining > 0 {
      key &+= try reader.zigzag()
      if let last = columns[columns.count - 1].keys.last, last.rawValue >= key {
        throw .damagedRecord("objects out of order")
      }
      columns[columns.count - 1].append(ObjectKey(key), try value(&reader))
    }
  }

  private mutating func readElements(_ reader: inout RecordReader) throws(StorageError) {
    let column = ColumnID(try reader.number(UInt16.self))
    let key = ObjectKey(try reader.zigzag())
    let nested = try reader.varint()
    let name = SequenceName(
      column: column, key: key, nested: nested == 0 ? nil : CollectionID(nested - 1))
    let flags = try reader.byte()
    if flags & ~OldValueFlag.known != 0 { throw .newerRecord("an unknown flag of elements") }
    if flags & OldValueFlag.isFirst != 0 {
      if let last = before.sequences.last, last.name >= name {
        throw .damagedRecord("collections out of order")
      }
      let count: Int = try reader.number()
      guard count <= EditScript.countMax else { throw .damagedRecord("a collection is too long") }
      before.sequences.append(
        OldSequence(
          name: name, oldCount: count, isWhole: flags & OldValueFlag.isWhole != 0))
    }
    guard let last = before.sequences.indices.last, before.sequences[last].name == name else {
      throw .damagedRecord("elements without their beginning")
    }
    var next = 0
    while reader.remaining > 0 {
      let distance: Int = try reader.number()
      guard distance < before.sequences[last].oldCount - next else {
        throw .damagedRecord("an element is out of bounds")
      }
      let position = next + distance
      if let former = before.sequences[last].elements.last, former.position >= position {
        throw .damagedRecord("elements out of order")
      }
      let key = flags & OldValueFlag.isMap == 0 ? nil : try value(&reader)
      before.sequences[last].elements
        .append(.init(position: position, key: key, value: try value(&reader)))
      next = position + 1
    }
  }

  private func value(_ reader: inout RecordReader) throws(StorageError) -> OldValue {
    switch try reader.tagged() {
    case .value(let value): return .value(value)
    case .long(let id, let byteCount, let isString):
      guard let number = UInt32(exactly: id.rawValue) else {
        throw .damagedRecord("the number of a long value is too large")
      }
      return .long(version, number: number, byteCount: byteCount, isString: isString)
    }
  }
}
