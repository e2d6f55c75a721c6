/// Collects the values that a committing write removed or replaced: from the version at which it
/// began, by the changes that it recorded.
struct OldValueCollector {
  private let reader: SnapshotReader
  /// The class as the write has it, perhaps with more columns.
  private let described: ClassSchema
  /// Whether the write removed a nested list or map.
  private let isGone: (CollectionID) -> Bool
  private var before: ClassOldValues
  /// The former values of each column of the class, by its number.
  private var columns: [OldColumn?]
  private var sequences: [SequenceName: OldSequence] = [:]

  /// The images for a commit, at the level given for each class.
  ///
  /// - Parameter schema: the schema of the write.
  static func images(
    _ changes: ChangeSet, _ reader: SnapshotReader, _ schema: SchemaView,
    _ level: (ClassID) -> OldValueLevel, isGone: @escaping (CollectionID) -> Bool
  ) throws(StorageError) -> OldValues {
    var images = OldValues()
    // A class that the write has added had no objects before.
    for entry in changes.classes where reader.schema.schema[entry.id] != nil {
      let level = level(entry.id)
      guard level > entry.levelWithoutImages else { continue }
      var collector = OldValueCollector(schema[entry.id], level, reader, isGone)
      try collector.collect(entry)
      images.classes.append(collector.finish())
    }
    return images
  }

  private init(
    _ described: ClassSchema, _ level: OldValueLevel, _ reader: SnapshotReader,
    _ isGone: @escaping (CollectionID) -> Bool
  ) {
    self.reader = reader
    self.described = described
    self.isGone = isGone
    before = ClassOldValues(described.id, level)
    columns = Array(repeating: nil, count: described.columns.count)
  }

  private consuming func finish() -> ClassOldValues {
    before.columns = columns.compactMap(\.self)
    before.sequences = sequences.values.sorted { $0.name < $1.name }
    return before
  }

  private mutating func collect(_ entry: ClassChanges) throws(StorageError) {
    before.deleted = entry.isCleared ? try allKeys() : entry.deleted
    if before.level == .keys {
      try collectPrimaryKeys()
    } else {
      // Ascending within a column: a touched object is not among the deleted ones.
      var touched = entry.touched
      if before.level < .oldValues { touched = [] }
      if !before.deleted.isEmpty { try collectDeleted() }
      for entry in touched { try collect(entry) }
      if before.level == .oldValues {
        for change in entry.sequences { try collectLost(change) }
      }
    }
  }

  private func allKeys() throws(StorageError) -> KeySet {
    var keys: [ObjectKey] = []
    try reader.forEachCluster(in: before.id) { found in
      for slot in 0..<found.image.rowCount { keys.append(found.image.key(at: slot)) }
      return true
    }
    return KeySet(keys)
  }

  // MARK: - Objects

  private mutating func collectPrimaryKeys() throws(StorageError) {
    guard let primary = reader.schema.primaryKey(of: before.id), !primary.isObjectKey else {
      return
    }
    var keys = OldColumn(primary.column)
    for key in before.deleted {
      guard let value = try reader.value(of: primary.column, at: key, in: before.id) else {
        continue
      }
      keys.append(key, .value(value))
    }
    before.primaryKeys = keys
  }

  private mutating func collectDeleted() throws(StorageError) {
    let described = reader.schema[before.id]
    for key in before.deleted {
      for column in described.columns where !column.isRemoved {
        if described.keyIsPrimary && column.id == described.primaryKey { continue }
        let place = SequencePlace(classID: before.id, key: key, column: column.id)
        guard column.collection == .none else {
          try collectWhole(place)
          continue
        }
        guard let value = try reader.value(of: column.id, at: key, in: before.id), value != .null
        else { continue }
        columns[column.id.index, default: OldColumn(column.id)].append(key, .value(value))
        if let nested = value.collection { try collectWhole(place.atAnyDepth(nested)) }
      }
    }
  }

  /// The old values of a column of modified objects.
  private mutating func collect(_ touched: ClassChanges.Touched) throws(StorageError) {
    let column = touched.column
    guard described[column].collection == .none else { return }
    var found = OldColumn(column)
    let isAdded = column.index >= reader.schema[before.id].columns.count
    for key in touched.keys {
      if isAdded {
        found.append(key, .value(.null))
        continue
      }
      guard let value = try reader.value(of: column, at: key, in: before.id) else { continue }
      found.append(key, .value(value))
      let place = SequencePlace(classID: before.id, key: key, column: column)
      try collectGone(value, at: place)
    }
    let deleted = columns[column.index] ?? OldColumn(column)
    columns[column.index] = deleted.merging(found) { _ in true }
  }

  // MARK: - Collections

  /// The elements that a change of a list, set or map drops or overwrites.
  private mutating func collectLost(_ change: SequenceChange) throws(StorageError) {
    let lost = change.script.lostPositions
    guard !lost.isEmpty, sequences[change.name] == nil else { return }
    let place = SequencePlace(
      classID: before.id, key: change.name.key, column: change.name.column,
      nested: change.name.nested)
    guard let sequence = try reader.sequence(at: place),
      sequence.count == change.script.oldCount
    else { return }
    var former = OldSequence(name: change.name, oldCount: sequence.count, isWhole: false)
    for position in lost {
      let element = try element(Int(position.rawValue), of: sequence)
      former.elements.append(element)
      if case .value(let value) = element.value { try collectGone(value, at: place) }
    }
    sequences[change.name] = former
  }

  /// The contents of a former value, if it is a list or map that the write has removed.
  private mutating func collectGone(
    _ value: Value, at place: SequencePlace
  ) throws(StorageError) {
    if let nested = value.collection, isGone(nested) {
      try collectWhole(place.atAnyDepth(nested))
    }
  }

  /// All elements of a list, set or map, and of those nested in it: iteratively and each once,
  /// because a damaged file may have them nested in each other.
  private mutating func collectWhole(_ start: SequencePlace) throws(StorageError) {
    var pending = [start]
    while let place = pending.popLast() {
      let name = SequenceName(column: place.column, key: place.key, nested: place.nested)
      if sequences[name]?.isWhole == true { continue }
      guard let sequence = try reader.sequence(at: place), sequence.count > 0 else { continue }
      var former = OldSequence(name: name, oldCount: sequence.count, isWhole: true)
      for position in 0..<sequence.count {
        let element = try element(position, of: sequence)
        former.elements.append(element)
        if case .value(let value) = element.value, let nested = value.collection {
          pending.append(place.atAnyDepth(nested))
        }
      }
      sequences[name] = former
    }
  }

  private func element(
    _ position: Int, of sequence: StoredSequence
  ) throws(StorageError) -> OldSequence.Element {
    OldSequence.Element(
      position: position,
      key: sequence.shape.isMap ? .value(.string(try sequence.key(at: position))) : nil,
      value: .value(try sequence.value(at: position)))
  }
}

extension [OldColumn?] {
  /// The values of a column, made when first used.
  fileprivate subscript(index: Int, default made: @autoclosure () -> OldColumn) -> OldColumn {
    get { self[index] ?? made() }
    _modify {
      var column = self[index] ?? made()
      self[index] = nil
      defer { self[index] = column }
      yield &column
    }
  }
}
