import TarnStore

/// Where results get their rows: from all objects of a class, or by going over the elements of a
/// collection, which may be of values.
enum LiveRows {
  case ofClass(LiveResult)
  /// `bornIn` is the write that made the object, while it was open: if it is cancelled, there are
  /// no rows.
  case derived(DerivedResult, bornIn: WriteMark?)
  case values(LiveValues, bornIn: WriteMark?)

  /// What is asked of objects. Traps for values.
  var query: CompiledQuery {
    switch self {
    case .ofClass(let live): live.query
    case .derived(let live, _): live.query
    case .values: trap("values are no objects: bug in this package")
    }
  }

  var source: any ObservedSource {
    switch self {
    case .ofClass(let live): live
    case .derived(let live, _): live
    case .values(let live, _): live
    }
  }

  /// False if the rows are after `changes` what they were before, and show the same.
  func isConcerned(by changes: ChangeSet) -> Bool {
    switch self {
    case .ofClass(let live): live.query.isConcerned(by: changes)
    case .derived(let live, _): live.isConcerned(by: changes)
    case .values(let live, _): live.isConcerned(by: changes)
    }
  }

  /// True if the rows are all objects of their class.
  var isWholeClass: Bool {
    if case .ofClass(let live) = self { live.query.isUnfiltered } else { false }
  }

  func current(_ core: RealmCore) throws(StorageError) -> ResultRows {
    switch self {
    case .ofClass(let live): return .root(try live.current())
    case .derived(let live, let bornIn):
      if bornIn?.wasCancelled == true { return .derived(DerivedRows()) }
      return .derived(try live.current())
    case .values(let live, let bornIn):
      if bornIn?.wasCancelled == true { return .values(ValueRows()) }
      return .values(try live.current())
    }
  }

  /// The rows of a collection of an object, nil for those of a class.
  func derivedRows(_ core: RealmCore) throws(StorageError) -> DerivedRows? {
    guard case .derived = self, case .derived(let rows) = try current(core) else { return nil }
    return rows
  }

  /// The number of rows if it is known without evaluating them.
  func countWithoutRows() -> Int? {
    if case .ofClass(let live) = self { live.countWithoutRows() } else { nil }
  }
}

/// The rows of results at a moment, in their order.
enum ResultRows {
  case root(OrderedRoot)
  case derived(DerivedRows)
  case values(ValueRows)

  var count: Int {
    switch self {
    case .root(let root): root.count
    case .derived(let rows): rows.keys.count
    case .values(let rows): rows.values.count
    }
  }

  /// The elements of results that are no objects; nil for objects.
  var values: ValueRows? {
    if case .values(let rows) = self { rows } else { nil }
  }

  func key(at position: Int) -> ObjectKey {
    switch self {
    case .root(let root): root.key(at: position)
    case .derived(let rows): rows.keys[position]
    case .values: trap("values have no keys: bug in this package")
    }
  }

  func keys(in range: Range<Int>) -> [ObjectKey] {
    switch self {
    case .root(let root): root.keys(in: range)
    case .derived(let rows): Array(rows.keys[range])
    case .values: trap("values have no keys: bug in this package")
    }
  }

  /// The first position of an object.
  func position(of key: ObjectKey) -> Int? {
    switch self {
    case .root(let root): root.position(of: key)
    case .derived(let rows): rows.keys.firstIndex(of: key)
    case .values: nil
    }
  }

  /// The objects, each once, in any order.
  var objects: [ObjectKey] {
    switch self {
    case .root(let root): root.keys
    case .derived(let rows): Set(rows.keys).sorted()
    case .values: []
    }
  }
}

extension RealmCore {
  /// The shared rows of a query.
  ///
  /// - Parameter bornIn: the write that made the object whose collection the query is about.
  func liveRows(_ spec: QuerySpec, bornIn: WriteMark?) -> LiveRows {
    if spec.origin == nil, spec.stages.isEmpty { return .ofClass(liveResult(spec)) }
    let origin = spec.origin ?? .objects
    if let values = spec.values, case .sequence(let place) = origin {
      return .values(liveValues(spec, values, at: place), bornIn: bornIn)
    }
    if let frozen {
      let live = frozen.source(spec) { DerivedResult(self, compiled(spec), origin) }
      return .derived(live, bornIn: bornIn)
    }
    if let known = liveResults[spec]?.source as? DerivedResult, !known.isOwnerGone {
      return .derived(known, bornIn: bornIn)
    }
    let live = DerivedResult(self, compiled(spec), origin)
    keep(live, for: spec)
    return .derived(live, bornIn: bornIn)
  }

  private func liveValues(
    _ spec: QuerySpec, _ values: ValueQuery, at place: SequencePlace
  ) -> LiveValues {
    if let frozen { return frozen.source(spec) { LiveValues(self, values, at: place) } }
    if let known = liveResults[spec]?.source as? LiveValues, !known.isOwnerGone { return known }
    let live = LiveValues(self, values, at: place)
    keep(live, for: spec)
    return live
  }

  private func liveResult(_ spec: QuerySpec) -> LiveResult {
    if let frozen { return frozen.source(spec) { LiveResult(self, compiled(spec)) } }
    if let known = liveResults[spec]?.source as? LiveResult { return known }
    let live = LiveResult(self, compiled(spec))
    keep(live, for: spec)
    return live
  }

  private func keep(_ live: any ObservedSource, for spec: QuerySpec) {
    if liveResults.count > 64 { liveResults = liveResults.filter { $0.value.source != nil } }
    liveResults[spec] = WeakSource(live)
  }

  private func compiled(_ spec: QuerySpec) -> CompiledQuery {
    let binding = binding(of: spec)
    do {
      return try CompiledQuery(
        spec.predicate, spec.firstOrderTerms, spec.distinctTerms, on: binding.classID,
        shown().schema)
    } catch {
      trap("Invalid query on '\(binding.schema.name)': \(error)")
    }
  }
}
