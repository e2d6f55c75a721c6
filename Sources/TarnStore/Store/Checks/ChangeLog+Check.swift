/// Checks all change records of a file.
extension ChangeLog {
  /// Long values must be there, and columns exist.
  private static func check(
    _ images: OldValues, _ snapshot: Snapshot
  ) throws(StorageError) {
    for before in images.classes {
      guard let described = snapshot.schema.schema[before.id],
        before.columns.allSatisfy({ $0.column.index < described.columns.count }),
        before.sequences.allSatisfy({ $0.name.column.index < described.columns.count })
      else { throw damaged("it has old values of a property that does not exist") }
      for value in before.columns.flatMap(\.values) {
        try value.check(in: snapshot.transaction)
      }
      for element in before.sequences.flatMap(\.elements) {
        try element.value.check(in: snapshot.transaction)
        try element.key?.check(in: snapshot.transaction)
      }
    }
  }

  /// The problems of the file's records, one sentence each.
  package static func problems(in snapshot: Snapshot) -> [String] {
    var check = RecordCheck(snapshot)
    do throws(StorageError) { try check.run() } catch { check.problems.append("\(error)") }
    return check.problems
  }

  private struct RecordCheck {
    let snapshot: Snapshot
    var problems: [String] = []
    private var first: Version?
    private var last: Version?
    /// The number of pieces that the current record must have, and of those found.
    private var expected = 0
    private var found = 0

    init(_ snapshot: Snapshot) { self.snapshot = snapshot }

    mutating func run() throws(StorageError) {
      var cursor = try Cursor(snapshot.transaction)
      var isAtKey = unsafe try TreeKey.changeHeader(.zero).withBytes { key throws(StorageError) in
        unsafe try cursor.seek(atOrAfter: key)
      }
      while isAtKey, unsafe TreeKey.tag(of: cursor.key) == .change {
        if let parsed = unsafe TreeKey.parseChange(cursor.key) {
          take(parsed.version)
        } else {
          problems.append("a change record has an impossible key")
        }
        isAtKey = try cursor.next()
      }
      finish()
      if let last, last != snapshot.version {
        problems.append("the change records end with version \(last.rawValue)")
      }
      try checkOldValues()
    }

    /// Long values of removed records are removed with them.
    private mutating func checkOldValues() throws(StorageError) {
      var cursor = try Cursor(snapshot.transaction)
      let start = TreeKey.oldValue(.zero, number: 0, piece: 0)
      var isAtKey = try unsafe start.withBytes { key throws(StorageError) in
        try unsafe cursor.seek(atOrAfter: key)
      }
      while isAtKey, unsafe TreeKey.tag(of: cursor.key) == .oldValue {
        let version = unsafe TreeKey.parseOldValue(cursor.key)?.version
        guard let version, let first, let last, first <= version, version <= last else {
          problems.append("a value before a commit belongs to no change record")
          return
        }
        isAtKey = try cursor.next()
      }
    }

    private mutating func take(_ version: Version) {
      if version == last {
        found += 1
        return
      }
      finish()
      if let last, version.rawValue != last.rawValue + 1 {
        problems.append("the change records after version \(last.rawValue) are missing")
      }
      (last, found) = (version, 1)
      first = first ?? version
      do throws(StorageError) {
        let (header, changes, oldValues) = try sections(of: version, in: snapshot.transaction)
        expected = header.classes.reduce(Int(max(1, header.headerChunkCount))) {
          $0 + Int($1.chunkCount)
        }
        try check(changes.classes, snapshot.schema.schema)
        try check(OldValueDecoder.images(oldValues, changes), snapshot)
      } catch {
        problems.append("the change record of version \(version.rawValue): \(error)")
      }
    }

    /// The record before is complete.
    private mutating func finish() {
      if let last, expected > 0, found != expected {
        problems.append(
          "the change record of version \(last.rawValue) has \(found) parts of \(expected)")
      }
      expected = 0
    }
  }
}
