/// Records the changes of one write as they happen.
///
/// Notes are appended to buffers, one for each class and column, where a key that follows the last
/// one only extends a run; sorting and cleaning up are deferred until the changes are read.
/// `changeSet(from:to:)` returns the whole write. A result that is read in the middle of a write
/// takes a `position` and later reads the `changes(since:)` it: taking a position closes the
/// buffers as a segment, so a write without such reads pays nothing.
///
/// Not thread safe: belongs to the write and moves with it.
@safe package final class ChangeRecorder {
  /// A position in the order of the notes of one write.
  package struct Position: Comparable, Hashable, Sendable {
    fileprivate let segment: Int
    /// Before the first note.
    package static let start = Position(segment: 0)
    package static func < (a: Self, b: Self) -> Bool { a.segment < b.segment }
  }

  /// Behind a pointer, because access to a class's own storage costs an exclusivity check for each
  /// property that a write sets. The pointer is only used in the methods below, none of which calls
  /// foreign code.
  private let notes: UnsafeMutablePointer<Notes>
  private var segments: ContiguousArray<ChangeSet> = []
  private var sequences: [ClassID: [SequenceChange]] = [:]

  init() {
    unsafe notes = .allocate(capacity: 1)
    unsafe notes.initialize(to: Notes())
  }

  deinit {
    unsafe notes.deinitialize(count: 1)
    unsafe notes.deallocate()
  }

  /// Records a new object. Its properties need no notes.
  @inline(__always)
  func insert(_ id: ClassID, _ key: ObjectKey) {
    unsafe notes.pointee.withLog(id) { $0.insert(key.rawValue) }
  }

  /// Records a deleted object.
  func delete(_ id: ClassID, _ key: ObjectKey) {
    unsafe notes.pointee.withLog(id) { $0.delete(key.rawValue) }
  }

  /// Records that a property was set, even to its former value.
  @inline(__always)
  func touch(_ id: ClassID, _ key: ObjectKey, _ column: ColumnID) {
    unsafe notes.pointee.withLog(id) { $0.touch(key.rawValue, column.index) }
  }

  /// Records that a link of `origin.column` to the object was added or removed.
  func backTouch(
    _ id: ClassID, _ key: ObjectKey, origin: ClassID, column: ColumnID
  ) {
    unsafe notes.pointee.withLog(id) { $0.backTouch(key.rawValue, origin, column) }
  }

  /// Records that all objects of the class were deleted at once.
  func clear(_ id: ClassID) { unsafe notes.pointee.withLog(id) { $0.clear() } }

  /// Records how sequences of objects of that class changed from the start of the write to its end,
  /// each sequence at most once. Call it after all changes.
  ///
  /// A change of a sequence is also recorded as a touch of the collection's column when it happens:
  /// `changeSet(from:to:)` omits the scripts of objects that are not touched in that column, such
  /// as inserted and deleted ones. Scripts with too many runs are limited.
  func noteSequences(_ id: ClassID, _ changes: [SequenceChange]) {
    if !changes.isEmpty { sequences[id, default: []] += changes }
  }

  /// Records a change of the schema that invalidates all former knowledge of the data.
  func changeSchema() { unsafe notes.pointee.schemaChanged = true }

  /// True if nothing was recorded.
  package var isEmpty: Bool {
    unsafe segments.isEmpty && sequences.isEmpty && notes.pointee.isEmpty
  }

  /// The current position in the notes.
  package var position: Position {
    closeSegment()
    return Position(segment: segments.count)
  }

  /// The notes after the position, as if they were a separate write: an object that was inserted
  /// before the position and set after it is touched. Its versions are meaningless. It has no
  /// scripts of sequences: those are known only for whole writes.
  package func changes(since position: Position) -> ChangeSet {
    closeSegment()
    require(position.segment <= segments.count, "the position belongs to another write")
    return ChangeSet.merging(segments[position.segment...])
      ?? ChangeSet(from: .zero, to: .zero)
  }

  /// All notes of the write, which leads from one version to the other.
  package func changeSet(from: Version, to: Version) -> ChangeSet {
    var changes: ChangeSet
    if segments.isEmpty {
      changes = unsafe notes.pointee.collected(from: from, to: to)
    } else {
      changes = self.changes(since: .start)
      changes.from = from
      changes.to = to
    }
    if !sequences.isEmpty { addSequences(to: &changes) }
    return changes
  }

  /// The notes between two positions of a write over a version.
  package func changes(
    since position: Position, upTo end: Position, over version: Version
  ) -> ChangeSet {
    var changes = ChangeSet.merging(segments[position.segment..<end.segment])
    changes?.from = version
    changes?.to = version
    return changes ?? ChangeSet(from: version, to: version)
  }

  /// The notes from a position to the end of the write, if no sequence had changed before it.
  package func changeSet(since position: Position, from: Version, to: Version) -> ChangeSet {
    var changes = changes(since: position)
    changes.from = from
    changes.to = to
    if !sequences.isEmpty { addSequences(to: &changes) }
    return changes
  }

  private func addSequences(to changes: inout ChangeSet) {
    for index in changes.classes.indices {
      guard let noted = sequences[changes.classes[index].id] else { continue }
      var touched: [ColumnID: KeySet] = [:]
      for entry in changes.classes[index].touched { touched[entry.column] = entry.keys }
      let kept = noted.filter {
        touched[$0.name.column]?.contains($0.name.key) == true && !$0.script.isIdentity
      }.map { SequenceChange(name: $0.name, script: $0.script.limited) }
      changes.classes[index].sequences = kept.sorted { $0.name < $1.name }
    }
  }

  /// An independent copy of the notes.
  package func copy() -> ChangeRecorder {
    closeSegment()
    let copy = ChangeRecorder()
    copy.segments = segments
    copy.sequences = sequences
    return copy
  }

  /// Drops all notes; small buffers are kept for the next write.
  func reset() {
    unsafe notes.pointee.reset()
    segments = []
    if !sequences.isEmpty { sequences = [:] }
  }

  private func closeSegment() {
    if unsafe notes.pointee.isEmpty { return }
    let number = UInt64(segments.count)
    // Even if everything cancelled out: segments are numbered without gaps.
    unsafe segments.append(notes.pointee.collected(from: Version(number), to: Version(number + 1)))
    unsafe notes.pointee.reset()
  }
}

/// The notes since the last segment.
private struct Notes {
  private var logs: ContiguousArray<ChangeRecorder.ClassLog> = []
  /// The classes with notes.
  private var active: ContiguousArray<Int> = []
  var schemaChanged = false

  var isEmpty: Bool { active.isEmpty && !schemaChanged }

  @inline(__always)
  mutating func withLog(_ id: ClassID, _ note: (inout ChangeRecorder.ClassLog) -> Void) {
    let index = Int(id.rawValue)
    if index >= logs.count || !logs[index].isActive { activate(index) }
    note(&logs[index])
  }

  @inline(never)
  private mutating func activate(_ index: Int) {
    if logs.count <= index { logs.reserveCapacity(index + 1) }
    while logs.count <= index { logs.append(ChangeRecorder.ClassLog()) }
    logs[index].isActive = true
    active.append(index)
  }

  mutating func reset() {
    for index in active { logs[index].reset() }
    active.removeAll(keepingCapacity: true)
    schemaChanged = false
  }

  mutating func collected(from: Version, to: Version) -> ChangeSet {
    if active.count > 1 { active.sort() }
    var changes = ChangeSet(from: from, to: to, schemaChanged: schemaChanged)
    changes.classes.reserveCapacity(active.count)
    for index in active {
      let entry = logs[index].changes(of: ClassID(UInt32(index)))
      if !entry.isEmpty { changes.classes.append(entry) }
    }
    return changes
  }
}
