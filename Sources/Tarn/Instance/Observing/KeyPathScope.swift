import TarnStore

/// The shared key paths of observers of objects of one class.
final class KeyPathScope {
  /// The first property of a key path.
  struct FirstProperty {
    /// Its number in the program's class.
    let number: Int
    /// Nil for backlinks.
    let column: ColumnID?
  }

  let classID: ClassID
  let paths: [ScopePath]
  /// By number of the first property, the paths whose end is reported. For other properties the
  /// first property itself is reported.
  let ends: [Int: ScopePath]
  /// In the order of their numbers.
  let properties: [FirstProperty]
  fileprivate let scope: BoundScope
  fileprivate var observations: [ObjectKey: [ObjectObservation]] = [:]

  init(
    _ classID: ClassID, _ paths: [ScopePath], ends: [Int: ScopePath], _ schema: SchemaView
  ) {
    self.classID = classID
    self.paths = paths
    self.ends = ends
    scope = BoundScope(.paths(paths), from: [classID], schema)
    let firsts = Dictionary(paths.map { ($0.property, $0.dependencies[0]) }) { first, _ in first }
    properties = firsts.sorted { $0.key < $1.key }.map { number, first in
      FirstProperty(number: number, column: first.origin == nil ? first.column : nil)
    }
  }

  func observes(_ column: ColumnID) -> Bool { properties.contains { $0.column == column } }
}

/// The observers of objects along key paths, found by the classes on the paths.
struct KeyPathScopeTable {
  private struct Name: Hashable {
    let classID: ClassID
    let paths: [ScopePath]
    let ends: [Int: ScopePath]
  }
  private var watches: [Name: KeyPathScope] = [:]
  private var byClass: [ClassID: [KeyPathScope]] = [:]

  /// The scope for these paths, shared by all observers with the same ones.
  mutating func watch(
    _ classID: ClassID, _ paths: [ScopePath], ends: [Int: ScopePath], _ schema: SchemaView
  ) -> KeyPathScope {
    let name = Name(classID: classID, paths: paths, ends: ends)
    if let known = watches[name] { return known }
    let watch = KeyPathScope(classID, paths, ends: ends, schema)
    watches[name] = watch
    for id in watch.scope.concerningClasses { byClass[id, default: []].append(watch) }
    return watch
  }

  func add(_ observation: ObjectObservation) {
    observation.watch?.observations[observation.key, default: []].append(observation)
  }

  mutating func remove(_ observation: ObjectObservation) {
    guard let watch = observation.watch else { return }
    var there = watch.observations[observation.key] ?? []
    there.removeAll { $0 === observation }
    watch.observations[observation.key] = there.isEmpty ? nil : there
    if !watch.observations.isEmpty { return }
    watches[Name(classID: watch.classID, paths: watch.paths, ends: watch.ends)] = nil
    for id in watch.scope.concerningClasses { byClass[id]?.removeAll { $0 === watch } }
  }

  /// Logs the changes of a move on the paths.
  ///
  /// - Parameter tell: called with each observation that has new changes.
  func log(
    _ move: LiveMove, step: Int, _ tell: (ObjectObservation) -> Void
  ) throws(StorageError) {
    if watches.isEmpty { return }
    var seen: Set<ObjectIdentifier> = []
    for change in move.changes.classes {
      for watch in byClass[change.id] ?? [] where seen.insert(ObjectIdentifier(watch)).inserted {
        try log(move, step: step, watch, tell)
      }
    }
  }

  private func log(
    _ move: LiveMove, step: Int, _ watch: KeyPathScope, _ tell: (ObjectObservation) -> Void
  ) throws(StorageError) {
    let observed = ObservedObjects(count: watch.observations.count) {
      [watch.classID: KeySet(watch.observations.keys)]
    }
    var found: [Int: KeySet] = [:]
    try watch.scope.forEachPath(concernedBy: move.changes, move.rows, among: observed) {
      found[$0.property, default: KeySet()].formUnion($1)
    }
    for property in watch.properties {
      guard let concerned = found[property.number] else { continue }
      let keys =
        concerned.count < watch.observations.count
        ? concerned.filter { watch.observations[$0] != nil }
        : watch.observations.keys.filter { concerned.contains($0) }
      for key in keys {
        let value = try property.column.map { column throws(StorageError) in
          try move.rows.plainValue(of: column, at: key, in: watch.classID)
        }
        let end = try watch.ends[property.number].map { path throws(StorageError) in
          try move.pastRows().value(along: path, from: key)
        }
        for observation in watch.observations[key] ?? [] {
          observation.log(behind: property, value ?? .null, end: end, step: step)
          tell(observation)
        }
      }
    }
  }
}
