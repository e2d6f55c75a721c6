import TarnStore

/// The sources that equal collections of one instance share, while one of them retains them.
struct SharedSources {
  let results: SharedTable<QuerySpec>
  let sections: SharedTable<SectionsName>
  let groups: SharedTable<GroupsName>
  /// Lists, sets and maps that are observed.
  let sequences = SharedTable<SequencePlace>(isFrozen: false)
  /// Backlinks that are observed.
  let backlinks = SharedTable<BacklinksName>(isFrozen: false)

  init(isFrozen: Bool) {
    results = SharedTable(isFrozen: isFrozen)
    sections = SharedTable(isFrozen: isFrozen)
    groups = SharedTable(isFrozen: isFrozen)
  }
}

/// The name of backlinks: the object that is linked to, and the property that links.
struct BacklinksName: Hashable {
  let owner: ObjectRef
  let origin: ClassID
  let column: ColumnID
}

/// Sources by the query that they show. Any thread may use the table of a frozen instance.
final class SharedTable<Key: Hashable> {
  /// The table of a frozen instance.
  private struct OfAll: @unchecked Sendable {
    // because: it is used under the lock, and its contents are made for any thread.
    var table = WeakTable<Key>()
  }

  private var table = WeakTable<Key>()
  private let isFrozen: Bool
  private let ofAll = Lock(OfAll())

  init(isFrozen: Bool) { self.isFrozen = isFrozen }

  /// True if a live instance has none.
  var isEmpty: Bool { table.isEmpty }

  /// The source that is shared under a name; nil if no collection retains one.
  func known(_ name: WeakTable<Key>.Name) -> AnyObject? {
    guard isFrozen else { return table[name] }
    nonisolated(unsafe) var found: AnyObject?  // because: it is made for any thread
    ofAll.withLock { unsafe found = $0.table[name] }
    return unsafe found
  }

  /// Shares a source from now on.
  ///
  /// - Returns: the source, or the one that another thread shares already.
  func share<Source: AnyObject>(_ source: Source, as name: WeakTable<Key>.Name) -> Source {
    guard isFrozen else {
      table.insert(source, for: name)
      return source
    }
    nonisolated(unsafe) let made = source  // because: it is made for any thread
    nonisolated(unsafe) var known: AnyObject?  // because: the same
    ofAll.withLock {
      unsafe known = $0.table[name]
      if unsafe known == nil { unsafe $0.table.insert(made, for: name) }
    }
    return unsafe known as? Source ?? made
  }
}

extension RealmCore {
  /// The source that observers of a list, set or map share.
  func liveSequence(
    at place: SequencePlace, _ kind: CollectionKind
  ) -> LiveSource<SequenceModel> {
    let name = WeakTable.Name(place)
    if let known = shared.sequences.known(name) as? LiveSource<SequenceModel>, !known.isGone {
      return known
    }
    return shared.sequences.share(
      LiveSource(SequenceModel(place, kind, shown().schema), on: self), as: name)
  }
}
