/// How lists, sets and maps changed, commit by commit, and which commits created objects or set
/// other properties.
package struct SequenceHistory: Sendable {
  /// A commit.
  package struct Commit: Equatable, Sendable {
    package let version: Version
    /// Its random id.
    package let id: UInt64
    /// Its stamp, in microseconds since 1970.
    package let stamp: UInt64
    /// The wall clock, in microseconds since 1970.
    package let time: Int64
  }

  /// A commit's change of one sequence.
  package struct Step: Sendable {
    package let commit: Commit
    package let script: EditScript
  }

  /// The last commit.
  package private(set) var last: Commit?
  private var steps: [ClassID: [SequenceName: [Step]]] = [:]
  private var creations: [ClassID: [ObjectKey: Commit]] = [:]
  /// By primary key, oldest first.
  private var deletions: [ClassID: [ElementKey: [Commit]]] = [:]
  private var assignments: [ClassID: [ColumnID: [ObjectKey: Commit]]] = [:]

  /// Reads the change records of some classes.
  ///
  /// - Parameters:
  ///   - from: the version before the first commit.
  ///   - properties: the properties with one value whose assignments are needed.
  ///   - number: the cursor whose own commits are left out.
  /// - Throws: `.corrupted` if a record is damaged or missing.
  package init(
    after from: Version, upTo to: Version, of classes: Set<ClassID>,
    assignmentsOf properties: [ClassID: Set<ColumnID>], without number: UInt32,
    in snapshot: Snapshot
  ) throws(StorageError) {
    if classes.isEmpty { return }
    var history = self
    try ChangeLog.forEachRecord(after: from, upTo: to, in: snapshot.transaction) {
      found throws(StorageError) in
      let met = try found.met()
      let meta = met.header.meta
      if meta.note?.cursors.contains(number) == true { return true }
      let commit = Commit(
        version: found.version, id: meta.commitID, stamp: meta.note?.stamp ?? 0,
        time: meta.note?.time ?? 0)
      history.last = commit
      history.add(met.changes, classes, properties, commit)
      try history.addDeletions(met, classes, commit, in: snapshot)
      return true
    }
    self = history
  }

  private mutating func add(
    _ changes: ChangeSet, _ classes: Set<ClassID>, _ properties: [ClassID: Set<ColumnID>],
    _ commit: Commit
  ) {
    for own in changes.classes where classes.contains(own.id) {
      for touched in own.touched where properties[own.id]?.contains(touched.column) == true {
        for key in touched.keys {
          assignments[own.id, default: [:]][touched.column, default: [:]][key] = commit
        }
      }
      for key in own.inserted { creations[own.id, default: [:]][key] = commit }
      for change in own.sequences {
        steps[own.id, default: [:]][change.name, default: []]
          .append(Step(commit: commit, script: change.script))
      }
    }
  }

  private mutating func addDeletions(
    _ met: ChangeLog.Met, _ classes: Set<ClassID>, _ commit: Commit, in snapshot: Snapshot
  ) throws(StorageError) {
    let record = try FeedRecord(met, snapshot.schema, in: snapshot.transaction)
    for (id, own) in record.deaths where classes.contains(id) {
      let mayBeTarget =
        !snapshot.schema.incoming(to: id).isEmpty || !snapshot.schema.anyColumns.isEmpty
      guard mayBeTarget else { continue }
      let isKey = snapshot.schema[id].keyIsPrimary
      for key in own.keys {
        let value: Value? = isKey ? .int(key.rawValue) : own.primaryKeys[key]
        guard let value else { continue }
        deletions[id, default: [:]][ElementKey(value), default: []].append(commit)
      }
    }
  }

  /// The commits that deleted objects with that primary key, oldest first; none for a class that
  /// nothing can link to.
  package func deletions(of primaryKey: Value, in id: ClassID) -> [Commit] {
    deletions[id]?[ElementKey(primaryKey)] ?? []
  }

  /// The changes of a sequence, oldest first.
  package func steps(of place: SequencePlace) -> [Step] {
    let name = SequenceName(column: place.column, key: place.key, nested: place.nested)
    return steps[place.classID]?[name] ?? []
  }

  /// The last commit that set a property with one value.
  package func assignment(of place: SequencePlace) -> Commit? {
    assignments[place.classID]?[place.column]?[place.key]
  }

  /// The last commit that created an object with that key.
  package func creation(of key: ObjectKey, in id: ClassID) -> Commit? { creations[id]?[key] }
}
