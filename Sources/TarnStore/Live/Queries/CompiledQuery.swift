import Synchronization

/// A query bound to a schema: the columns it reads, which rows match, their order, and which rows a
/// change may concern. Immutable; any thread may use it.
package final class CompiledQuery: Sendable {
  package let classID: ClassID
  package let predicate: ResolvedPredicate
  package let order: ResolvedOrder
  /// How indexes lead to the matching rows, `.some(nil)` without a usable index; nil if that is not
  /// kept.
  private let knownAccess: RowAccessOption??
  /// The first sort term has an index.
  let orderIsIndexed: Bool
  /// The rows are sorted by descending keys.
  let orderIsThatOfKeysReversed: Bool
  /// The stages after the order. Such a query has no `OrderedRoot`, only `ElementRows`.
  let stages: [DistinctStage]
  /// Columns that decide the order, or the results of stages, if they are not those of `order` and
  /// `stages`; nil if they are.
  private let otherOrderDependencies: [QueryDependency]?
  private let knownColumns = AtomicLazyReference<QueryColumns>()

  /// The rows that a change concerns.
  package struct ChangedKeys: Sendable {
    /// Rows that may have been added, removed or moved.
    package var candidates = KeySet()
    /// Rows that must be sorted again even if they stay.
    package var repositioned = KeySet()
    /// Keys that identify another object than before.
    package var replaced = KeySet()
    /// Keys of objects that were added, and of objects that were deleted.
    private(set) var came = KeySet()
    private(set) var went = KeySet()

    package init() {}

    package init(came: KeySet, went: KeySet) {
      self.came = came
      self.went = went
      replaced = came.intersection(went)
      candidates = came.union(went)
      repositioned = replaced
    }

    package mutating func formUnion(_ later: ChangedKeys) {
      candidates.formUnion(later.candidates)
      repositioned.formUnion(later.repositioned)
      replaced.formUnion(later.replaced)
      replaced.formUnion(went.intersection(later.came))
      came.formUnion(later.came)
      went.formUnion(later.went)
    }

    /// The difference between two roots, from all rows touched between them. Rows that were only
    /// modified stay, so that others count as moved.
    package func difference(
      _ old: OrderedRoot, _ new: OrderedRoot, modified: KeySet
    ) -> IndexChanges {
      let update = OrderedUpdate(old: old, root: new, keys: ContiguousArray(candidates))
      return difference(update, modified: modified)
    }

    /// The same if one update led from root to root.
    func difference(_ update: OrderedUpdate, modified: KeySet) -> IndexChanges {
      let others = modified.subtracting(candidates).union(update.staying)
      return CollectionDifference.of(update, others: others, replaced: replaced) {
        modified.contains($0)
      }
    }
  }

  /// - Parameter ofElements: true for elements of a collection, which have their own order.
  /// - Throws: for names in the query that the class does not have, or types that do not fit.
  package init(
    _ condition: Predicate, _ terms: [OrderTerm], _ distinct: [DistinctTerm] = [],
    on id: ClassID, _ schema: SchemaView, ofElements: Bool = false
  ) throws(PredicateError) {
    classID = id
    predicate = try ResolvedPredicate(condition, on: id, in: schema.schema)
    let asked = try ResolvedOrder(terms, on: id, in: schema.schema)
    order = ofElements ? asked : asked.withoutKeys(of: schema[id])
    orderIsIndexed =
      order.terms.first.map {
        $0.collator == nil && $0.path.links.isEmpty
          && schema[id].hasIndex(schema[id][$0.path.column])
      } ?? false
    orderIsThatOfKeysReversed = order.isThatOfKeysReversed(schema[id])
    knownAccess = .some(RowAccessOption(predicate, schema))
    var stages: [DistinctStage] = []
    for term in distinct { stages.append(try DistinctStage(term, on: id, in: schema.schema)) }
    self.stages = stages
    otherOrderDependencies =
      asked.terms.count == order.terms.count
      ? nil : asked.dependencies + stages.flatMap(\.dependencies)
  }

  /// The same condition without an order, for a caller that reads these columns of each match:
  /// their changes concern a row as those of sorted columns do.
  init(_ other: CompiledQuery, reading paths: [ColumnPath]) {
    classID = other.classID
    predicate = other.predicate
    knownAccess = other.knownAccess
    order = ResolvedOrder([ResolvedOrder.Term](), on: other.classID)
    orderIsIndexed = false
    orderIsThatOfKeysReversed = false
    stages = []
    otherOrderDependencies = paths.flatMap(\.dependencies)
  }

  /// A copy that takes less memory: of a followed query, of which there may be many and which is
  /// rarely evaluated again.
  private init(compacting other: CompiledQuery) {
    classID = other.classID
    predicate = other.predicate
    knownAccess = nil
    order = other.order
    orderIsIndexed = other.orderIsIndexed
    orderIsThatOfKeysReversed = other.orderIsThatOfKeysReversed
    stages = other.stages
    otherOrderDependencies = other.otherOrderDependencies
    if let known = other.knownColumns.load() { _ = knownColumns.storeIfNil(known) }
  }

  /// The same query in less memory.
  var compact: CompiledQuery { knownAccess == nil ? self : CompiledQuery(compacting: self) }

  /// How indexes lead to the matching rows; nil without a usable index.
  func access(_ schema: SchemaView) -> RowAccessOption? {
    if case .some(let known) = knownAccess { return known }
    return RowAccessOption(predicate, schema)
  }

  private var columns: QueryColumns {
    if let known = knownColumns.load() { return known }
    let order = otherOrderDependencies ?? order.dependencies + stages.flatMap(\.dependencies)
    return knownColumns.storeIfNil(
      QueryColumns.shared(of: classID, members: predicate.dependencies, order: order))
  }

  package var isUnfiltered: Bool { predicate.constant == true }
  package var isUnsorted: Bool { order.terms.isEmpty }
  /// Every column that can change the rows or their order.
  var dependencies: [QueryDependency] {
    predicate.dependencies + order.dependencies + stages.flatMap(\.dependencies)
  }

  /// The columns behind links that can change the rows or their order.
  var linkedDependencies: [QueryDependency] { columns.linked.map(\.dependency) }

  // MARK: - Changes

  /// The classes whose changes can change the rows: the query's own, and every class that a path of
  /// the query passes through, however far.
  package var concerningClasses: Set<ClassID> { columns.classes }

  /// False if `changes` can neither change the rows nor touch one of them.
  package func isConcerned(by changes: ChangeSet) -> Bool {
    if changes.contains(classID) || changes.schemaChanged { return true }
    return columns.classes.contains(where: changes.contains)
  }

  /// The approximate maximum number of rows that `advance` looks up, for a result of `count` rows.
  /// Counts keys and reads nothing, so it does not know how many rows link to one object.
  package func lookups(for changes: ChangeSet, among count: Int) -> Int {
    if changes.schemaChanged { return .max }
    var sum = 0
    if let own = changes[classID] { sum = own.isCleared ? count : own.keyCount }
    for far in columns.linked {
      sum = saturatingSum(sum, far.dependency.touchedKeys(in: changes).count)
    }
    return sum
  }

  /// Updates the rows in `old` for `touched` rows, whose new state is in `rows`.
  func update(
    _ old: OrderedRoot, _ touched: ChangedKeys, _ rows: Rows
  ) throws(StorageError) -> OrderedUpdate {
    // A scan passes about fifty rows in the time in which one row is read and sorted in.
    if touched.candidates.count > 1000,
      try touched.candidates.count > rows.count(of: classID) / 48
    {
      return OrderedUpdate(
        old: old, root: try evaluate(rows), keys: ContiguousArray(touched.candidates))
    }
    if touched.candidates.count > 16 { rows.expect(lookups: touched.candidates.count, in: classID) }
    let comparator = OrderComparator(order, source: rows)
    var removals: [ObjectKey] = []
    var staying: [ObjectKey] = []
    var insertions: [OrderComparator.SortKey] = []
    var lookup = OrderedRoot.Lookup(old)
    for key in touched.candidates {
      let wasIn = lookup.contains(key)
      let isIn = try predicate.matches(key, in: rows)
      if isIn, !wasIn || touched.repositioned.contains(key) {
        insertions.append(try comparator.sortKey(of: key))
      } else if wasIn {
        if isIn { staying.append(key) } else { removals.append(key) }
      }
    }
    var update =
      isUnsorted
      ? old.updating(removals: removals, insertions: insertions.map(\.key))
      : try insert(&insertions, removals, in: old, comparator)
    update.staying = KeySet(staying)
    return update
  }

  /// Each inserted row is read once, in the order of the keys. Its position is found by the
  /// prefixes in the root; only rows with the same prefix are read, as long as the prefix is not
  /// exact.
  private func insert(
    _ insertions: inout [OrderComparator.SortKey], _ removals: [ObjectKey],
    in old: OrderedRoot, _ comparator: OrderComparator
  ) throws(StorageError) -> OrderedUpdate {
    typealias SortKey = OrderComparator.SortKey
    try mergeSort(&insertions) { (a, b) throws(StorageError) in try comparator.compare(a, b) < 0 }
    var latest = insertions.first
    func sortKey(of key: ObjectKey) throws(StorageError) -> SortKey {
      if let latest, latest.key == key { return latest }
      return try comparator.sortKey(of: key)
    }
    return try old.updating(
      removals: removals, insertions: insertions.map(\.key), insertionsAreOrdered: true,
      prefixes: insertions.map(\.prefix.high)
    ) { (a, b) throws(StorageError) in
      if order.isDecidedByFirstWord { return a < b }
      let right = try sortKey(of: b)
      latest = right
      return try comparator.compare(try sortKey(of: a), right) < 0
    }
  }

  /// The rows that may have been added, removed or moved.
  func touchedRows(
    _ changes: ChangeSet, _ rows: Rows, among root: OrderedRoot
  ) throws(StorageError) -> ChangedKeys {
    var touched = ChangedKeys()
    if let own = changes[classID] {
      let gone = own.isCleared ? KeySet(root.keys) : own.deleted
      touched = ChangedKeys(came: own.inserted, went: gone)
      let columns = columns
      for entry in own.touched {
        if columns.order.contains(entry.column) { touched.repositioned.formUnion(entry.keys) }
        if columns.members.contains(entry.column) { touched.candidates.formUnion(entry.keys) }
      }
      touched.candidates.formUnion(touched.repositioned)
    }
    for far in columns.linked {
      let keys = try far.dependency.rowsBefore(changes, rows) ?? KeySet()
      touched.candidates.formUnion(keys)
      if far.decidesOrder { touched.repositioned.formUnion(keys) }
    }
    return touched
  }

  /// The rows that may have begun or ceased to match since the changes, besides added and deleted
  /// ones.
  func rowsInDoubt(
    _ changes: ChangeSet, _ rows: Rows
  ) throws(StorageError) -> KeySet {
    var found = KeySet()
    let columns = columns
    for entry in changes[classID]?.touched ?? [] where columns.members.contains(entry.column) {
      found.formUnion(entry.keys)
    }
    for far in columns.linked {
      found.formUnion(try far.dependency.rowsBefore(changes, rows) ?? KeySet())
    }
    return found
  }
}

extension QueryDependency {
  /// The rows from which the links lead to a changed object; nil if there are more than `most`
  /// before one of the links.
  func rowsBefore(
    _ changes: ChangeSet, _ rows: Rows, atMost most: Int = .max
  ) throws(StorageError) -> KeySet? {
    var keys = touchedKeys(in: changes)
    // Links that changed on the path are dependencies themselves: the others are unchanged.
    for link in links.reversed() where !keys.isEmpty {
      guard let before = try rows.before(keys, through: link, atMost: most) else { return nil }
      keys = before
    }
    return keys
  }
}

/// The columns that decide which rows a query has and in which order: changes are looked up in
/// them. Found at the first change, since most queries are evaluated once and released.
final class QueryColumns: Sendable {
  /// A column that is not in the row: behind links, or of backlinks.
  struct Linked: Sendable {
    var dependency: QueryDependency
    var decidesOrder: Bool
  }

  /// Columns of the class itself that decide which rows match.
  let members: Set<ColumnID>
  /// Columns that decide the order, or the results of stages.
  let order: Set<ColumnID>
  let linked: [Linked]
  /// The query's class, and every class that a path of the query passes through.
  let classes: Set<ClassID>

  private struct Name: Hashable {
    let classID: ClassID
    let members: [QueryDependency]
    let order: [QueryDependency]
  }

  /// Most queries of a program differ in their constants only.
  private static let known = Lock(ofProcess: [Name: QueryColumns]())
  /// With more than this, conditions are made at run time, and all are made again.
  private static let most = 256

  /// The columns, which queries share that differ in constants only.
  static func shared(
    of id: ClassID, members: [QueryDependency], order: [QueryDependency]
  ) -> QueryColumns {
    let name = Name(classID: id, members: members, order: order)
    return known.withLock { known in
      if let there = known[name] { return there }
      if known.count == most { known = [:] }
      let made = QueryColumns(of: id, members: members, order: order)
      known[name] = made
      return made
    }
  }

  private init(of id: ClassID, members: [QueryDependency], order: [QueryDependency]) {
    self.members = Self.own(members)
    self.order = Self.own(order)
    linked =
      Self.linked(members, decidesOrder: false) + Self.linked(order, decidesOrder: true)
    classes = Set([id] + members.map(\.classID) + order.map(\.classID))
  }

  private static func own(_ dependencies: [QueryDependency]) -> Set<ColumnID> {
    Set(dependencies.lazy.filter(\.isInRow).map(\.column))
  }

  private static func linked(
    _ dependencies: [QueryDependency], decidesOrder: Bool
  ) -> [Linked] {
    dependencies.lazy.filter { !$0.isInRow }.map {
      Linked(dependency: $0, decidesOrder: decidesOrder)
    }
  }
}
