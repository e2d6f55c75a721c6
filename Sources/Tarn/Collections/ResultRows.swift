import TarnStore

/// Where results get their rows: from all objects of a class, or from a collection of one object.
enum LiveRows {
  case ofClass(LiveResult)
  /// `bornIn` is the write that made the object, while it was open: if it is cancelled, there are
  /// no rows.
  case derived(DerivedResult, bornIn: UInt64)

  var query: CompiledQuery {
    switch self {
    case .ofClass(let live): live.query
    case .derived(let live, _): live.query
    }
  }

  var source: any ObservedSource {
    switch self {
    case .ofClass(let live): live
    case .derived(let live, _): live
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
      if core.cancelledWrites.contains(bornIn) { return .derived(DerivedRows()) }
      return .derived(try live.current())
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

  var count: Int {
    switch self {
    case .root(let root): root.count
    case .derived(let rows): rows.keys.count
    }
  }

  func key(at position: Int) -> ObjectKey {
    switch self {
    case .root(let root): root.key(at: position)
    case .derived(let rows): rows.keys[position]
    }
  }

  func keys(in range: Range<Int>) -> [ObjectKey] {
    switch self {
    case .root(let root): root.keys(in: range)
    case .derived(let rows): Array(rows.keys[range])
    }
  }

  /// The first position of an object.
  func position(of key: ObjectKey) -> Int? {
    switch self {
    case .root(let root): root.position(of: key)
    case .derived(let rows): rows.keys.firstIndex(of: key)
    }
  }

  /// The objects, each once, in any order.
  var objects: [ObjectKey] {
    switch self {
    case .root(let root): root.keys
    case .derived(let rows): Set(rows.keys).sorted()
    }
  }
}

extension RealmCore {
  /// The shared rows of a query.
  ///
  /// - Parameter bornIn: the write that made the object whose collection the query is about.
  func liveRows(_ spec: QuerySpec, bornIn: UInt64) -> LiveRows {
    guard let origin = spec.origin else { return .ofClass(liveResult(spec)) }
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
        spec.predicate, spec.orderTerms, on: binding.classID, shown().schema)
    } catch {
      fatalError("Invalid query on '\(binding.schema.name)': \(error)")
    }
  }
}
