/// Scripts of sequences as sections of a change record. A script that does not fit the rest of a
/// chunk continues in adjacent sections, which name the same sequence.
///
///     section   column | key (zigzag) | nested id plus one, or 0 | flags u8 |
///               [old count | new count] | runs u16 | runs | [key set of modified positions]
///     run       (length, shifted left by one, the low bit set if it is fresh) |
///               [distance from the end of the last old run, zigzag]
///
/// Numbers without a stated width are varints. The counts are only in the first part, a key set
/// only if the flags say so, a distance only in old runs; the first one starts at 0. Distances and
/// modified positions continue where the part before ended.
enum SequencePart {
  enum Flag {
    static let isFirst: UInt8 = 1
    static let isLast: UInt8 = 2
    static let hasModified: UInt8 = 4
    static let known: UInt8 = 7
  }

  /// Bytes before the runs with numbers of maximum length, including the start of the section.
  static let startBytesMax = 3 + 3 + 10 + 10 + 1 + 2 * 7 + 2
  /// The same for one run; its numbers are at most twice the largest count.
  static let runBytesMax = 2 * 8

  /// An upper bound of the script's bytes in one section.
  static func bytesMax(_ script: EditScript) -> Int {
    startBytesMax + 80 + script.runs.count * runBytesMax + script.modified.runs.count * 30
  }
}

extension SectionSink {
  mutating func script(of change: SequenceChange) {
    let script = change.script.limited
    var run = 0
    var oldEnd = 0
    var modifiedRun = 0
    var next = Int64.min
    let asBitmaps = ChangeRecord.prefersBitmaps(script.modified)
    var isFirst = true
    var isLast = false
    while !isLast {
      let needed = SequencePart.startBytesMax + SequencePart.runBytesMax + 32
      if writer.bytes.count + needed > ChangeRecord.chunkBytesMax { beginChunk() }
      let start = beginSection(ChangeRecord.Section.sequence)
      let flagsAt = startPart(of: change.name)
      if isFirst {
        writer.varint(UInt64(script.oldCount))
        writer.varint(UInt64(script.newCount))
      }
      runs(of: script, from: &run, &oldEnd)
      var flags = isFirst ? SequencePart.Flag.isFirst : 0
      let limit = ChangeRecord.chunkBytesMax - writer.bytes.count
      if run == script.runs.count && modifiedRun < script.modified.runs.count && limit >= 31 {
        flags |= SequencePart.Flag.hasModified
        if asBitmaps {
          ChangeRecord.writeBitmaps(
            script.modified, from: &modifiedRun, next: &next, limit: limit, into: &writer)
        } else {
          ChangeRecord.writeRuns(
            script.modified, from: &modifiedRun, limit: limit, into: &writer)
        }
      }
      isLast = run == script.runs.count && modifiedRun == script.modified.runs.count
      writer.bytes[flagsAt] = flags | (isLast ? SequencePart.Flag.isLast : 0)
      endSection(start)
      isFirst = false
    }
  }

  /// Writes the name and a placeholder for the flags, and returns its offset.
  private mutating func startPart(of name: SequenceName) -> Int {
    writer.varint(UInt64(name.column.rawValue))
    writer.zigzag(name.key.rawValue)
    writer.varint(name.nested.map { $0.rawValue + 1 } ?? 0)
    writer.byte(0)
    return writer.bytes.count - 1
  }

  /// Writes the runs from `index` on while they fit the chunk.
  private mutating func runs(
    of script: EditScript, from index: inout Int, _ oldEnd: inout Int
  ) {
    let countAt = writer.bytes.count
    writer.word(UInt16(0))
    let start = index
    while index < script.runs.count
      && writer.bytes.count + SequencePart.runBytesMax <= ChangeRecord.chunkBytesMax
    {
      switch script.runs[index] {
      case .fresh(let count): writer.varint(UInt64(count) << 1 | 1)
      case .old(let first, let count):
        writer.varint(UInt64(count) << 1)
        writer.zigzag(Int64(first - oldEnd))
        oldEnd = first + count
      }
      index += 1
    }
    writer.patch(UInt16(index - start), at: countAt)
  }
}

/// Joins the parts of scripts while the sections of one class are read.
struct SequenceReader {
  /// A script whose last part was not read yet.
  private var open: Open?

  private struct Open {
    var name: SequenceName
    var oldCount: Int
    var newCount: Int
    var runs: ContiguousArray<EditScript.Run> = []
    var oldEnd = 0
    var modified = KeySet()
  }

  /// Reads a section of kind `sequence` and adds the script if this is its end.
  mutating func read(
    _ part: inout RecordReader, into sequences: inout [SequenceChange]
  ) throws(StorageError) {
    let column = ColumnID(try part.number(UInt16.self))
    let key = ObjectKey(try part.zigzag())
    let nested = try part.varint()
    let name = SequenceName(
      column: column, key: key, nested: nested == 0 ? nil : CollectionID(nested - 1))
    let flags = try part.byte()
    if flags & ~SequencePart.Flag.known != 0 { throw .newerRecord("an unknown flag of a script") }
    if flags & SequencePart.Flag.isFirst != 0 {
      try finish()
      if let last = sequences.last, last.name >= name {
        throw .damagedRecord("scripts out of order")
      }
      open = Open(name: name, oldCount: try part.number(), newCount: try part.number())
    }
    // Removed while it grows, so that its arrays are not copied.
    guard var script = open.take(), script.name == name else {
      throw .damagedRecord("a script has no beginning")
    }
    try Self.readRuns(&part, into: &script)
    if flags & SequencePart.Flag.hasModified != 0 {
      try ChangeRecord.readKeys(&part, into: &script.modified)
    }
    if part.remaining != 0 { throw .damagedRecord("a script is longer than its stated length") }
    guard flags & SequencePart.Flag.isLast != 0 else {
      open = script
      return
    }
    guard
      let checked = EditScript(
        checking: script.oldCount, script.newCount, script.runs, script.modified),
      !checked.isIdentity
    else { throw .damagedRecord("a script contradicts itself") }
    sequences.append(SequenceChange(name: name, script: checked))
  }

  /// Call it where a script must have ended.
  func finish() throws(StorageError) {
    if open != nil { throw .damagedRecord("a script has no end") }
  }

  private static func readRuns(
    _ part: inout RecordReader, into script: inout Open
  ) throws(StorageError) {
    for _ in 0..<(try part.word(UInt16.self)) {
      let item = try part.varint()
      // Small enough that the sums below cannot overflow; whether it fits is checked at the end.
      guard item >> 1 <= EditScript.countMax else { throw .damagedRecord("a run is too long") }
      let count = Int(item >> 1)
      if item & 1 == 1 {
        script.runs.append(.fresh(count))
        continue
      }
      let distance = try part.zigzag()
      let (first, overflow) = Int64(script.oldEnd).addingReportingOverflow(distance)
      guard !overflow, first >= 0, first <= EditScript.countMax else {
        throw .damagedRecord("a run is out of order")
      }
      script.runs.append(.old(first: Int(first), count: count))
      script.oldEnd = Int(first) + count
    }
  }
}

/// Identifies a sequence within a class: the list, set or map of an object's column, or one nested
/// in it.
package struct SequenceName: Hashable, Comparable, Sendable {
  package var column: ColumnID
  package var key: ObjectKey
  /// Nil for the property's own collection.
  package var nested: CollectionID?

  package init(column: ColumnID, key: ObjectKey, nested: CollectionID? = nil) {
    self.column = column
    self.key = key
    self.nested = nested
  }

  package static func < (a: Self, b: Self) -> Bool {
    if (a.column, a.key) != (b.column, b.key) { return (a.column, a.key) < (b.column, b.key) }
    guard let other = b.nested else { return false }
    return a.nested.map { $0 < other } ?? true
  }
}

/// The change of one sequence.
package struct SequenceChange: Equatable, Sendable {
  package var name: SequenceName
  package var script: EditScript

  package init(name: SequenceName, script: EditScript) {
    self.name = name
    self.script = script
  }
}

extension [SequenceChange] {
  /// These changes followed by later ones, both in the order of the names. Unchanged sequences are
  /// omitted.
  func merging(_ later: [SequenceChange]) -> [SequenceChange] {
    if later.isEmpty { return self }
    if isEmpty { return later }
    var result: [SequenceChange] = []
    result.reserveCapacity(count + later.count)
    var theirs = 0
    for change in self {
      while theirs < later.count && later[theirs].name < change.name {
        result.append(later[theirs])
        theirs += 1
      }
      guard theirs < later.count && later[theirs].name == change.name else {
        result.append(change)
        continue
      }
      let script = change.script.composing(later[theirs].script)
      theirs += 1
      if !script.isIdentity { result.append(SequenceChange(name: change.name, script: script)) }
    }
    result.append(contentsOf: later[theirs...])
    return result
  }
}
