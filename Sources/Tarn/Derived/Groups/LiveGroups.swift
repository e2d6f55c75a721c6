import TarnStore

/// Results that are grouped, with elements of any type.
protocol GroupedBase: ThreadConfined {
  var core: RealmCore { get }
  var spec: QuerySpec { get }
  var live: LiveResult { get }
  var createdInWrite: WriteMark? { get }
  /// Traps if they are invalidated.
  func check()
  /// The same results in the instance's present life.
  func revived() -> Self
}

extension Results: GroupedBase {}

/// The key by which results are grouped, and the aggregates of each group.
struct GroupShape<Values>: @unchecked Sendable {
  // because: its code reads only its arguments.

  /// The property, in the program's words; nil for one group of all.
  let key: Path?
  let terms: [AggregateTerm]
  /// Converts the stored aggregates into the requested ones.
  let read: ([Value]) -> Values
  /// The same as text; as plain numbers if some cannot be read in their type.
  let text: ([Value]) -> String

  init<Root, each Result>(
    by key: String?, _ aggregates: repeat Aggregate<Root, each Result>
  ) where Values == (repeat each Result) {
    self.key = key.map { Path(text: $0) }
    var terms: [AggregateTerm] = []
    for aggregate in repeat each aggregates {
      terms.append(AggregateTerm(aggregate.kind, of: aggregate.property))
    }
    self.terms = terms
    let all = (repeat each aggregates)
    func read(_ values: [Value]) -> Values {
      var next = values.startIndex
      func value<Each>(_ aggregate: Aggregate<Root, Each>) -> Each {
        defer { next += 1 }
        return aggregate.read(values[next])
      }
      return (repeat value(each all))
    }
    self.read = read
    text = { values in
      var next = values.startIndex
      for aggregate in repeat each all {
        guard aggregate.isReadable(values[next]) else {
          let texts = values.map(\.description).joined(separator: ", ")
          return values.count == 1 ? texts : "(\(texts))"
        }
        next += 1
      }
      return "\(read(values))"
    }
  }
}

/// Groups of results on their instance. Equal ones share a source.
struct LiveGroups<Values> {
  let results: any GroupedBase
  let shape: GroupShape<Values>
  let source: LiveSource<GroupsModel>

  init(_ results: any GroupedBase, _ shape: GroupShape<Values>) {
    self.results = results
    self.shape = shape
    let spec = results.spec
    let name = GroupsName(
      spec: spec, key: shape.key.map(spec.path),
      terms: shape.terms.map { term in
        AggregateTerm(term.kind, of: spec.columnPath(term.column))
      })
    source = results.core.groups(name)
  }

  private init(
    _ results: any GroupedBase, _ shape: GroupShape<Values>, _ source: LiveSource<GroupsModel>
  ) {
    self.results = results
    self.shape = shape
    self.source = source
  }

  var core: RealmCore { results.core }

  /// The groups now, an open write's changes included.
  func table() -> GroupTable {
    results.check()
    if results.createdInWrite?.wasCancelled == true { return source.model.nothing }
    core.tracking?.note(source)
    return trapping { () throws(StorageError) in try source.current().table }
  }

  /// The same groups in the instance's present life.
  func revived() -> LiveGroups { LiveGroups(results.revived(), shape, source) }

  func counterpart(in realm: Realm) -> LiveGroups? {
    func counterpart(_ results: some GroupedBase) -> (any GroupedBase)? {
      results._counterpart(in: realm)
    }
    return counterpart(results).map { LiveGroups($0, shape) }
  }

  /// The aggregates of one group.
  func values(_ table: GroupTable, _ position: Int) -> Values {
    shape.read(table.values(at: position))
  }

  /// The same for logs and debuggers, also for numbers that do not fit their type.
  func text(_ table: GroupTable, _ position: Int) -> String {
    shape.text(table.values(at: position))
  }

  /// True if both group equal results by the same key and compute the same aggregates.
  func isSame(as other: LiveGroups) -> Bool { source === other.source }

  /// The source of the changes. Traps for invalidated results.
  ///
  /// - Parameter translate: makes the observer's argument; returns nil if there is nothing to
  ///   report.
  func changeOrigin<Change>(
    _ translate: @escaping (News<GroupsUpdate>) -> Change?
  ) -> _ChangeOrigin<Change> {
    results.check()
    return _ChangeOrigin(core: core, source: source, isDynamic: false, readsTarget: false) {
      news, _ in news.map { GroupsUpdate($0) }.flatMap(translate)
    }
  }
}

/// The changes of groups since the last call of the observer.
struct GroupsUpdate {
  let changes: IndexChanges
  let old: GroupTable
  let new: GroupTable

  /// Nil for a difference of other content, and if the groups look the same as before.
  init?(_ difference: LiveDifference) {
    guard let derived = difference.derived, !derived.all.isEmpty,
      let old = derived.from as? GroupTable, let new = derived.to as? GroupTable
    else { return nil }
    (changes, self.old, self.new) = (derived.all, old, new)
  }
}

extension RealmCore {
  /// The shared groups of results. Traps for properties that cannot be grouped or aggregated.
  fileprivate func groups(_ name: GroupsName) -> LiveSource<GroupsModel> {
    let key = WeakTable.Name(name)
    if let known = shared.groups.known(key) as? LiveSource<GroupsModel>, !known.isOwnerGone {
      return known
    }
    return shared.groups.share(LiveSource(groupsModel(name), on: self), as: key)
  }

  private func groupsModel(_ name: GroupsName) -> GroupsModel {
    let binding = binding(of: name.spec)
    do {
      return try GroupsModel(
        liveModel(of: name.spec), by: name.key, name.terms, shown().schema)
    } catch {
      trap("Invalid groups of '\(binding.schema.name)': \(error)")
    }
  }
}
