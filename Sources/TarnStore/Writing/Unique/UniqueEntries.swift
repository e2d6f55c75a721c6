/// The entries of one unique rule that a commit writes: (combination, object) in separate pages.
///
/// A rule is checked when the write ends: objects may exchange their values within it. So a write
/// keeps no state for rules; the changes are taken from its notes.
struct UniqueEntries {
  let index: PackedIndex
  /// Whether the file's entries are replaced.
  let isAnew: Bool
  private(set) var changes = PackedIndexChanges()

  init(_ index: PackedIndex, isAnew: Bool) {
    self.index = index
    self.isAnew = isAnew
  }

  /// Records an object's new and old key under the rule.
  mutating func note(_ key: ObjectKey, old: UniqueKey?, new: UniqueKey?) {
    if old == new { return }
    if let old { changes.remove(old.order, key) }
    if let new { changes.add(new.order, key) }
  }

  mutating func sort() { changes.sort() }

  func put(_ transaction: borrowing WriteTransaction) throws(StorageError) {
    try index.apply(changes, in: transaction)
  }

  /// Calls `body` with each pair of objects that would have the same entry, at least one of them
  /// new there. `stored` finds the objects of the entry in the file.
  func forEachMeeting(
    _ stored: (OrderKey) throws(StorageError) -> [ObjectKey],
    _ body: (ObjectKey, ObjectKey) throws(StorageError) -> Void
  ) throws(StorageError) {
    try changes.withSorted { sorted throws(StorageError) in
      var position = 0
      while position < sorted.count {
        let bytes = unsafe sorted.key(position)
        var added: [ObjectKey] = []
        while position < sorted.count, unsafe compareBytes(bytes, sorted.key(position)) == 0 {
          if sorted.isAddition(position) { added.append(sorted.object(position)) }
          position += 1
        }
        guard !added.isEmpty else { continue }
        for (number, key) in added.enumerated() {
          for other in added[..<number] { try body(other, key) }
        }
        if isAnew { continue }
        let order = unsafe OrderKey(bytes: UnsafeRawBufferPointer(rebasing: bytes.dropFirst()))
        for other in try stored(order) {
          for key in added where key != other { try body(other, key) }
        }
      }
    }
  }
}

extension SnapshotReader {
  /// An object's key under a rule; nil if it does not exist or one of the values is null.
  package func uniqueKey(
    of key: ObjectKey, in id: ClassID, _ rule: [ColumnID]
  ) throws(StorageError) -> UniqueKey? {
    try UniqueKey(reading: rule, schema[id]) { column throws(StorageError) in
      try value(of: column, at: key, in: id)
    }
  }
}

extension UniqueKey {
  /// Nil as soon as a value is null or missing.
  init?(
    reading rule: [ColumnID], _ described: ClassSchema,
    _ value: (ColumnID) throws(StorageError) -> Value?
  ) throws(StorageError) {
    var values: [Value] = []
    for column in rule {
      guard let value = try value(column), value != .null else { return nil }
      values.append(value)
    }
    self.init(values, rule.map { described[$0] })
  }
}

/// Checking unique rules at the end of a write.
extension WriteSession {
  /// The write's changes under unique rules. Classes without rules cost nothing, others only their
  /// objects that were added, deleted or set in a column of a rule.
  ///
  /// - Throws: `.notUnique` if two objects have the same combination.
  func uniqueEntries(_ notes: ChangeSet) throws(StorageError) -> [UniqueEntries] {
    if schemaChange != nil { return try migratedUniqueEntries() }
    var entries: [UniqueEntries] = []
    for index in notes.classes.indices {
      let rules = schema[notes.classes[index].id].uniqueRules
      for number in rules.indices {
        entries.append(try uniqueEntries(number, rules[number], notes.classes[index]))
      }
    }
    return entries
  }

  private func uniqueEntries(
    _ number: Int, _ rule: [ColumnID], _ changes: ClassChanges
  ) throws(StorageError) -> UniqueEntries {
    let id = changes.id
    // The commit removes all entries of an emptied class, like those of its indexes.
    let isAnew = changes.isCleared
    var entries = UniqueEntries(PackedIndex(id, uniqueRule: number), isAnew: isAnew)
    var keys = changes.inserted.union(changes.deleted)
    for column in rule { keys.formUnion(changes.touchedKeys(in: column)) }
    for key in keys {
      entries.note(
        key, old: isAnew ? nil : try reader.uniqueKey(of: key, in: id, rule),
        new: try uniqueKey(of: key, in: id, rule))
    }
    entries.sort()
    try check(entries, rule, id)
    return entries
  }

  /// The entries of a rule from all rows, for a rule that is new in the file.
  ///
  /// - Throws: `.notUnique` if two objects have the same combination.
  func allUniqueEntries(of id: ClassID, rule number: Int) throws(StorageError) -> UniqueEntries {
    let rule = schema[id].uniqueRules[number]
    var entries = UniqueEntries(PackedIndex(id, uniqueRule: number), isAnew: true)
    try forEachRow(in: id) { key throws(StorageError) in
      entries.note(key, old: nil, new: try uniqueKey(of: key, in: id, rule))
    }
    entries.sort()
    try check(entries, rule, id)
    return entries
  }

  /// A migration rebuilds the entries that it may have changed: columns may have other ids.
  private func migratedUniqueEntries() throws(StorageError) -> [UniqueEntries] {
    var entries: [UniqueEntries] = []
    for id in classesWithOtherUniqueEntries {
      for number in schema[id].uniqueRules.indices {
        entries.append(try allUniqueEntries(of: id, rule: number))
      }
    }
    return entries
  }

  /// Removes the file's entries of rules that a migration rebuilds or drops.
  func deleteFormerUniqueEntries(
    in transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    for id in classesWithOtherUniqueEntries { try transaction.deleteAll(.unique, of: id) }
  }

  /// The classes whose rules a migration rebuilds or drops.
  private var classesWithOtherUniqueEntries: [ClassID] {
    schema.schema.classes.filter { described in
      let former = reader.schema.schema[described.id]?.uniqueRules ?? []
      let isEdited = classes[described.id] != nil
      return described.uniqueRules != former || isEdited && !former.isEmpty
    }.map(\.id)
  }

  private func uniqueKey(
    of key: ObjectKey, in id: ClassID, _ rule: [ColumnID]
  ) throws(StorageError) -> UniqueKey? {
    try UniqueKey(reading: rule, schema[id]) { column throws(StorageError) in
      try value(of: column, at: key, in: id)
    }
  }

  private func check(
    _ entries: UniqueEntries, _ rule: [ColumnID], _ id: ClassID
  ) throws(StorageError) {
    try entries.forEachMeeting { order throws(StorageError) in
      try reader.withCursor { cursor throws(StorageError) in
        try entries.index.lookup(order, &cursor)
      }
    } _: { first, second throws(StorageError) in
      // Compared as the write leaves them: the stored combination may have changed.
      guard let mine = try uniqueKey(of: second, in: id, rule),
        try uniqueKey(of: first, in: id, rule) == mine
      else { return }
      throw try violation(of: rule, id, first, second)
    }
  }

  private func violation(
    of rule: [ColumnID], _ id: ClassID, _ first: ObjectKey, _ second: ObjectKey
  ) throws(StorageError) -> StorageError {
    let described = schema[id]
    let names = rule.map { "'\(described[$0].name)'" }.joined(separator: ", ")
    var values: [String] = []
    for column in rule {
      let text = try value(of: column, at: first, in: id)?.predicateText ?? ""
      values.append(text.count > 80 ? text.prefix(80) + "…" : text)
    }
    var keys = [first, second].sorted().map { "\($0.rawValue)" }
    if let primary = described.primaryKey {
      for (index, key) in [first, second].sorted().enumerated() {
        keys[index] = try value(of: primary, at: key, in: id)?.predicateText ?? keys[index]
      }
    }
    return StorageError(
      .notUnique, operation: "commit", path: "",
      detail: "two objects of class '\(described.name)' have the same \(names): "
        + "\(values.joined(separator: ", ")). They are those with the "
        + "\(described.primaryKey == nil ? "object" : "primary") keys "
        + "\(keys[0]) and \(keys[1]).")
  }
}
