import TarnStore

/// The objects of a class or of a list, set or other collection that match a query, in the query's
/// order: lazy, and live.
///
/// Nothing is evaluated before the first use. From then on the collection always shows what its
/// Realm shows, the open write's own changes included; a newer version appears when the Realm
/// advances. A loop goes over the objects that were there when it began. When the object that has
/// the list is deleted, its results become empty.
///
/// Belongs to its Realm's thread, queue or actor.
public struct Results<Element: ObjectBase> {
  let core: RealmCore
  let spec: QuerySpec
  let live: LiveRows
  /// The instance's life that the collection belongs to; `invalidate()` ends it.
  private let life: UInt32
  /// The write that made the object whose collection the rows are from.
  let bornIn: UInt64

  init(_ core: RealmCore, _ spec: QuerySpec, bornIn: UInt64 = 0) {
    self.core = core
    self.spec = spec
    self.bornIn = bornIn
    live = core.liveRows(spec, bornIn: bornIn)
    life = core.invalidations
  }

  /// The Realm that the objects belong to.
  public var realm: Realm? { Realm(core) }

  /// True if the Realm was invalidated; the collection can then be asked for nothing but this.
  public var isInvalidated: Bool {
    core.checkThread()
    return core.hasEnded(life)
  }

  func check() {
    precondition(
      !isInvalidated, "This Results has been invalidated with its Realm; ask for it again.")
  }

  func rows() -> ResultRows {
    check()
    return trapping { () throws(StorageError) in try live.current(core) }
  }

  func object(_ key: ObjectKey) -> Element {
    unsafeDowncast(core.object(key, core.binding(of: spec)), to: Element.self)
  }

  /// The same collection in the instance's present life.
  func revived() -> Results { isInvalidated ? Results(core, spec, bornIn: bornIn) : self }
}

extension Results: RandomAccessCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { count }

  /// How many objects match.
  public var count: Int {
    check()
    if let counted = live.countWithoutRows() { return counted }
    return rows().count
  }

  /// The object at a position. Traps if it is out of bounds.
  public subscript(position: Int) -> Element {
    let rows = rows()
    precondition(
      position >= 0 && position < rows.count,
      "Index \(position) is out of bounds (must be less than \(rows.count)).")
    return object(rows.key(at: position))
  }

  /// The first object, or nil.
  public var first: Element? {
    let rows = rows()
    return rows.count == 0 ? nil : object(rows.key(at: 0))
  }

  /// The last object, or nil.
  public var last: Element? {
    let rows = rows()
    return rows.count == 0 ? nil : object(rows.key(at: rows.count - 1))
  }

  /// Goes over the objects that match now, whatever happens to them meanwhile.
  public struct Iterator: IteratorProtocol {
    private static var chunk: Int { 256 }

    private let results: Results
    private let rows: ResultRows
    private var keys: [ObjectKey] = []
    private var place = 0
    private var fetched = 0

    init(_ results: Results) {
      self.results = results
      rows = results.rows()
    }

    public mutating func next() -> Element? {
      if place == keys.count {
        let end = Swift.min(fetched + Self.chunk, rows.count)
        guard fetched < end else { return nil }
        keys = rows.keys(in: fetched..<end)
        fetched = end
        place = 0
      }
      defer { place += 1 }
      return results.object(keys[place])
    }
  }

  public func makeIterator() -> Iterator { Iterator(self) }
}

extension Results {
  /// Calls `block` first with `.initial`, once the collection can be read without delay, and then
  /// with the exact difference whenever it has changed. Commits that follow each other fast are
  /// told in one call.
  ///
  /// Traps on a thread that has no later turns, on a read-only Realm, and in a write that has
  /// changed something.
  ///
  /// - Returns: a token; keep it for as long as the observation shall go on.
  public func observe(
    _ block: @escaping (RealmCollectionChange<Results<Element>>) -> Void
  ) -> NotificationToken {
    check()
    return core.observe(live.source) { news in
      switch news {
      case .initial: block(.initial(revived()))
      case .update(.keys): break
      case .update(.indices(let changes)):
        block(
          .update(
            revived(), deletions: changes.deletions, insertions: changes.insertions,
            modifications: changes.modifications))
      case .error(let error): block(.error(error))
      }
    }
  }
}
