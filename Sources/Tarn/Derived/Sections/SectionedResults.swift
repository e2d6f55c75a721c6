public import Foundation
import TarnStore

/// The common interface of `SectionedResults` and `ResultsSection`.
public protocol RealmSectionedResult: RandomAccessCollection, Equatable, _ScopedCollection,
  CustomStringConvertible
where Index == Int, _Change == SectionedResultsChange<Self> {}

/// The argument of an observer of sections: one of two cases, as in Realm.
///
/// If the file can no longer be followed, the observation ends, and an error is logged. Observe
/// with `observeChanges` or iterate over `changes` to receive that error.
public enum SectionedResultsChange<Collection> {
  /// The first call: the sections are ready to be read.
  case initial(Collection)
  /// The sections changed since the last call. Index paths consist of a section's number and an
  /// element's position in it, all ascending.
  ///
  /// `deletions` and `modifications` are positions before, `insertions` positions after the change;
  /// `sectionsToDelete` are numbers before, `sectionsToInsert` numbers after it. Elements of a
  /// deleted section are not among the deletions; those of an inserted section are all among the
  /// insertions. To turn the old sections into the new ones, remove the deletions, then the
  /// sections to delete; insert the sections to insert, empty, and then the insertions. An element
  /// that moved to another section is deleted and inserted.
  case update(
    Collection, deletions: [IndexPath], insertions: [IndexPath], modifications: [IndexPath],
    sectionsToInsert: IndexSet, sectionsToDelete: IndexSet)
}

extension SectionedResultsChange: _FailingChange {
  public static func _ended(by error: any Error) -> SectionedResultsChange? {
    StoreLog.shared.write(.error, "an observer of sections is not called any more: \(error)")
    return nil
  }
}

/// The objects or values of results in sections: lazy and live, like `Results`.
///
/// There is a section for each key of a row, in the order of the first rows. A section is deleted
/// with its last row. A row's key is computed when the row is added or changes, and cached
/// otherwise.
///
/// Frozen sections have all their keys from the beginning: they are computed where `freeze()` is
/// called, and where sections of frozen results are made. Any thread may read them.
///
/// Belongs to its Realm's thread, queue or actor.
public struct SectionedResults<
  Key: _Persistable & Hashable, SectionElement: RealmCollectionValue
> {
  let results: Results<SectionElement>
  let rule: SectionRule<Key, SectionElement>
  let sections: LiveSections<Key>

  /// - Parameter other: the same sections on another instance.
  init(
    _ results: Results<SectionElement>, _ rule: SectionRule<Key, SectionElement>,
    like other: LiveSections<Key>? = nil
  ) {
    self.init(results, rule, results.core.sections(of: results, rule, like: other))
  }

  private init(
    _ results: Results<SectionElement>, _ rule: SectionRule<Key, SectionElement>,
    _ sections: LiveSections<Key>
  ) {
    self.results = results
    self.rule = rule
    self.sections = sections
  }

  /// The Realm that the elements belong to.
  public var realm: Realm? { results.realm }

  /// True if the Realm was invalidated. Any other use of the sections then traps.
  public var isInvalidated: Bool { results.isInvalidated }

  func state() -> LiveSections<Key>.State {
    results.check()
    return sections.current()
  }

  /// The same sections in the instance's present life.
  func revived() -> SectionedResults { SectionedResults(results.revived(), rule, sections) }

  public func _counterpart(in realm: Realm) -> SectionedResults? {
    results._counterpart(in: realm).map { SectionedResults($0, rule, like: sections) }
  }

  /// The sections' keys, in order.
  public var allKeys: [Key] { state().table.keys.list.map(\.key) }

  /// The element at a section's number and a position in it. Traps if it is out of bounds.
  public subscript(indexPath: IndexPath) -> SectionElement {
    self[indexPath.section][indexPath.item]
  }
}

extension SectionedResults: RealmSectionedResult, DumpedCollection {
  public typealias Element = ResultsSection<Key, SectionElement>
  public typealias _ScopeRoot = SectionElement

  public var startIndex: Int { 0 }
  public var endIndex: Int { count }

  /// The number of sections.
  public var count: Int { state().table.count }

  /// The section with a number. Traps if it is out of bounds.
  public subscript(section: Int) -> ResultsSection<Key, SectionElement> {
    let keys = state().table.keys
    Bounds.check(section, keys.count, of: self)
    return ResultsSection(self, keys.list[section].key, number: section)
  }

  /// Iterates the current sections, whatever happens to them meanwhile.
  public struct Iterator: IteratorProtocol {
    private let parent: SectionedResults
    private let keys: [SectionKey<Key>]
    private var cursor = 0

    init(_ parent: SectionedResults) {
      self.parent = parent
      keys = parent.state().table.keys.list
    }

    public mutating func next() -> ResultsSection<Key, SectionElement>? {
      guard cursor < keys.count else { return nil }
      defer { cursor += 1 }
      return ResultsSection(parent, keys[cursor].key, number: cursor)
    }
  }

  public func makeIterator() -> Iterator { Iterator(self) }

  /// True if both are sections of the same results by one property, or one is a copy of the other.
  public static func == (a: Self, b: Self) -> Bool {
    a.sections === b.sections && a.results == b.results
  }

  func append(to dump: inout TextDump) {
    let name = "SectionedResults<\(Key.self), \(SectionElement.self)>"
    if isInvalidated { return dump.append("\(name) [invalidated]") }
    dump.append(name, count: count, lazy.map { ("\($0.key)", $0 as Any) })
  }

  public var _plainOrigin: _ChangeOrigin<SectionedResultsChange<Self>> {
    changeOrigin(readsTarget: false) { news, _ in
      news.map { $0.changes.ifAny }.flatMap { SectionedResultsChange($0, revived()) }
    }
  }

  public var _changeOrigin: _ChangeOrigin<ObservedChange<Self, SectionsDelta<Key, SectionElement>>>
  {
    changeOrigin(readsTarget: true) { news, elements in
      news.map { step in
        step.changes.ifAny.map {
          SectionsDelta(
            $0, step.new, elements(), on: results.core, isDynamic: isDynamic, results.element)
        }
      }.map { ObservedChange($0, revived()) }
    }
  }

  /// The source of the changes. Traps for invalidated sections.
  ///
  /// - Parameter translate: makes the observer's argument; returns nil if there is nothing to
  ///   report.
  func changeOrigin<Change>(
    readsTarget: Bool,
    _ translate: @escaping (News<SectionsStep<Key>>, () -> PastElements) -> Change?
  ) -> _ChangeOrigin<Change> {
    results.check()
    return _ChangeOrigin(
      core: results.core, source: sections.source, isDynamic: isDynamic, readsTarget: readsTarget
    ) { news, elements in
      news.map { SectionsStep($0) }.flatMap { translate($0, elements) }
    }
  }

  /// The elements are objects whose classes the program does not have.
  var isDynamic: Bool { SectionElement.self == DynamicObject.self }
}

extension SectionedResultsChange {
  /// Nil for an error, which is logged.
  init?(_ news: News<SectionChanges>, _ collection: @autoclosure () -> Collection) {
    switch news {
    case .initial: self = .initial(collection())
    case .update(let changes):
      self = .update(
        collection(), deletions: changes.deletions.map(IndexPath.init),
        insertions: changes.insertions.map(IndexPath.init),
        modifications: changes.modifications.map(IndexPath.init),
        sectionsToInsert: changes.sectionsToInsert, sectionsToDelete: changes.sectionsToDelete)
    case .error(let error):
      _ = Self._ended(by: Realm.Error(error))
      return nil
    }
  }
}

extension IndexPath {
  init(_ path: SectionPath) { self.init(item: path.item, section: path.section) }
}

@available(*, unavailable, message: "it belongs to one thread or actor: pass a ThreadSafeReference")
extension SectionedResults: Sendable {}

extension SectionedResultsChange: Sendable where Collection: Sendable {}

@available(*, unavailable, message: "it belongs to one thread or actor: make the loop there")
extension SectionedResults.Iterator: Sendable {}

extension IndexPath {
  /// The position of an item in a section.
  public init(item: Int, section: Int) { self.init(indexes: [section, item]) }

  /// The section's number, the first of the two numbers. Traps for a path of another length.
  public var section: Int {
    require(
      count == 2,
      "An index path of \(count) numbers is not a section and an item."
    )
    return self[0]
  }

  /// The position in the section, the second of the two numbers. Traps for a path of another
  /// length.
  public var item: Int {
    require(
      count == 2,
      "An index path of \(count) numbers is not a section and an item."
    )
    return self[1]
  }
}
