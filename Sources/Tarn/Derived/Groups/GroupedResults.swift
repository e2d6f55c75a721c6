import TarnStore

/// The objects of results in groups, one for each value of a property, with aggregates of each
/// group: lazy and live, like `Results`.
///
/// ```swift
/// let breeds = realm.objects(Dog.self).grouped(by: \.breed, .max(of: \.age))
/// for breed in breeds { print(breed.key, breed.count, breed.values ?? 0) }
/// ```
///
/// The groups are in the order of their keys: nil, NaN, then by value, strings byte by byte. A
/// group is inserted with its first object and deleted with its last one. While groups are
/// observed, a commit costs time for the objects that it changes, not for all.
///
/// Belongs to its Realm's thread, queue or actor; a ``Group`` is an independent value.
public struct GroupedResults<Key: _Persistable & Hashable, Values> {
  /// A group at the time it was read.
  public struct Group: Identifiable {
    /// The common key of its objects.
    public let key: Key
    /// The key.
    public var id: Key { key }
    /// The number of its objects.
    public let count: Int
    /// The aggregates in the order requested, as a tuple; a single aggregate is not wrapped.
    public let values: Values
  }

  let groups: LiveGroups<Values>

  init(_ groups: LiveGroups<Values>) { self.groups = groups }

  /// The Realm that the objects belong to.
  public var realm: Realm? { groups.results.realm }

  /// True if the Realm was invalidated. Any other use of the groups then traps.
  public var isInvalidated: Bool { groups.results.isInvalidated }

  public func _counterpart(in realm: Realm) -> GroupedResults? {
    groups.counterpart(in: realm).map { GroupedResults($0) }
  }

  /// The group with a key; nil if no object has it.
  public func group(for key: Key) -> Group? {
    let table = groups.table()
    return table.position(of: key._box().value).map { group(at: $0, of: table) }
  }

  fileprivate func group(at position: Int, of table: GroupTable) -> Group {
    Group(
      key: Self.key(table.key(at: position)), count: table.rowCount(at: position),
      values: groups.values(table, position))
  }

  private static func key(_ value: Value) -> Key {
    guard let key = Key._unbox(_BoxedValue(value)) else {
      trap(
        """
        The key of a group, stored as \(value), is not a valid \(Key.self). Give these objects \
        another value, or group by the property's name as the type that it is stored as: \
        grouped(by: "name", as: String.self).
        """)
    }
    return key
  }
}

extension GroupedResults: RandomAccessCollection, _DeltaCollection, Equatable, DumpedCollection,
  CustomStringConvertible
{
  public typealias Element = Group

  public var startIndex: Int { 0 }
  public var endIndex: Int { count }

  /// The number of groups.
  public var count: Int { groups.table().count }

  /// The group at a position. Traps if it is out of bounds.
  public subscript(position: Int) -> Group {
    let table = groups.table()
    Bounds.check(position, table.count, of: self)
    return group(at: position, of: table)
  }

  /// Iterates the current groups, whatever happens to them meanwhile.
  public struct Iterator: IteratorProtocol {
    private let parent: GroupedResults
    private let table: GroupTable
    private var cursor = 0

    init(_ parent: GroupedResults) {
      self.parent = parent
      table = parent.groups.table()
    }

    public mutating func next() -> Group? {
      guard cursor < table.count else { return nil }
      defer { cursor += 1 }
      return parent.group(at: cursor, of: table)
    }
  }

  public func makeIterator() -> Iterator { Iterator(self) }

  /// True if both group equal results by the same key and compute the same aggregates.
  public static func == (a: Self, b: Self) -> Bool { a.groups.isSame(as: b.groups) }

  func append(to dump: inout TextDump) {
    let name = "GroupedResults<\(Key.self), \(Values.self)>"
    if isInvalidated { return dump.append("\(name) [invalidated]") }
    let table = groups.table()
    dump.append(
      name, count: table.count,
      (0..<table.count).lazy.map { position in
        let values = Values.self == Void.self ? "" : ": \(groups.text(table, position))"
        let key = Self.text(of: Self.key(table.key(at: position)))
        return (key, "\(table.rowCount(at: position))\(values)" as Any)
      })
  }

  /// A key without its optional.
  private static func text(of key: Key) -> String {
    guard let optional = key as? any OptionalValue else { return "\(key)" }
    return optional.content.map { "\($0)" } ?? "nil"
  }

  // MARK: - Observing

  public var _plainOrigin: _ChangeOrigin<RealmCollectionChange<GroupedResults>> {
    groups.changeOrigin { news in
      news.map { $0.changes }.map { RealmCollectionChange($0, revived()) }
    }
  }

  public var _changeOrigin: _ChangeOrigin<ObservedChange<GroupedResults, CollectionDelta<Group>>> {
    groups.changeOrigin { news in
      news.map { delta($0.changes, $0.new) }.map { ObservedChange($0, revived()) }
    }
  }
  /// The changes of groups, with their positions among the new ones.
  private func delta(_ changes: IndexChanges, _ table: GroupTable) -> CollectionDelta<Group> {
    // Groups are not objects, whose state would be read.
    let positions = PastElements(of: [], in: nil) {
      .positions(table.count)
    } walk: {
      nil
    }
    return CollectionDelta(changes, positions, on: groups.core, isDynamic: false) { value in
      guard case .int(let position) = value else {
        trap("internal error: a group that has no position")
      }
      return group(at: Int(position), of: table)
    }
  }

  /// The same groups in the instance's current life.
  private func revived() -> GroupedResults { GroupedResults(groups.revived()) }
}

extension GroupedResults.Group: Equatable where Values: Equatable {}
extension GroupedResults.Group: Hashable where Values: Hashable {}
extension GroupedResults.Group: Sendable where Key: Sendable, Values: Sendable {}

@available(*, unavailable, message: "it belongs to one thread or actor: pass a ThreadSafeReference")
extension GroupedResults: Sendable {}

@available(*, unavailable, message: "it belongs to one thread or actor: make the loop there")
extension GroupedResults.Iterator: Sendable {}

// Identifies groups in every Realm of their file: by their results, key and aggregates.

/// Groups by a property.
private struct GroupsThreadReference<Key: _Persistable & Hashable, Values>: ThreadReference {
  let results: any ThreadReference
  let shape: GroupShape<Values>

  var anchor: ThreadReferenceAnchor { results.anchor }

  func arrival(in core: RealmCore) -> (any ThreadConfined)? {
    (results.arrival(in: core) as? any GroupedBase).map {
      GroupedResults<Key, Values>(LiveGroups($0, shape))
    }
  }
}

/// All objects in one group.
private struct AggregateThreadReference<Values>: ThreadReference {
  let results: any ThreadReference
  let shape: GroupShape<Values>

  var anchor: ThreadReferenceAnchor { results.anchor }

  func arrival(in core: RealmCore) -> (any ThreadConfined)? {
    (results.arrival(in: core) as? any GroupedBase).map {
      LiveAggregate<Values>(LiveGroups($0, shape))
    }
  }
}

extension GroupedResults {
  public func _threadReference() -> _ThreadReference {
    groups.results._threadReference().map {
      GroupsThreadReference<Key, Values>(results: $0, shape: groups.shape)
    }
  }
}

extension LiveAggregate {
  public func _threadReference() -> _ThreadReference {
    groups.results._threadReference().map {
      AggregateThreadReference(results: $0, shape: groups.shape)
    }
  }
}
