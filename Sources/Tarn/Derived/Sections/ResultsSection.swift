import TarnStore

/// One section of `SectionedResults`: the elements with its key, live.
///
/// It is identified by its key. When its last element is removed, it is empty and invalidated; it
/// is valid again when an element with that key is added. `thaw()` returns nil if no element has
/// the key.
///
/// Belongs to its Realm's thread, queue or actor.
public struct ResultsSection<
  Key: _Persistable & Hashable, SectionElement: RealmCollectionValue
>: RealmSectionedResult, DumpedCollection, Identifiable {
  public typealias Element = SectionElement
  public typealias _ScopeRoot = SectionElement

  /// The common key of the elements.
  public let key: Key
  /// The key.
  public var id: Key { key }

  let parent: SectionedResults<Key, SectionElement>
  /// The number of the section when it was obtained.
  let number: Int

  init(_ parent: SectionedResults<Key, SectionElement>, _ key: Key, number: Int) {
    self.parent = parent
    self.key = key
    self.number = number
  }

  /// The Realm that the elements belong to.
  public var realm: Realm? { parent.realm }

  /// True if no element has the key, or the Realm was invalidated.
  public var isInvalidated: Bool {
    parent.isInvalidated || position(in: parent.state().table) == nil
  }

  public func _counterpart(in realm: Realm) -> ResultsSection? {
    guard let parent = parent._counterpart(in: realm) else { return nil }
    let section = ResultsSection(parent, key, number: number)
    return section.isInvalidated ? nil : section
  }

  private func position(in table: SectionTable<Key>) -> Int? {
    if number < table.count, table.keys.list[number] == SectionKey(key) { return number }
    return table.number(of: key)
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { count }

  /// The number of elements in the section.
  public var count: Int {
    let table = parent.state().table
    return position(in: table).map { table.count(of: $0) } ?? 0
  }

  /// The element at a position in the section. Traps if it is out of bounds.
  public subscript(item: Int) -> SectionElement {
    let state = parent.state()
    let section = position(in: state.table)
    let count = section.map { state.table.count(of: $0) } ?? 0
    guard let section, item >= 0, item < count else {
      Bounds.trapOutside(item, 0..<count, self)
    }
    return parent.results.element(
      at: state.table.position(item, in: section), of: state.rows)
  }

  /// Iterates the current elements of the section, whatever happens to them meanwhile.
  public struct Iterator: IteratorProtocol {
    private let results: Results<SectionElement>
    private let state: LiveSections<Key>.State
    private let section: Int
    private let count: Int
    private var item = 0

    init(_ results: Results<SectionElement>, _ state: LiveSections<Key>.State, section: Int?) {
      self.results = results
      self.state = state
      self.section = section ?? 0
      count = section.map { state.table.count(of: $0) } ?? 0
    }

    public mutating func next() -> SectionElement? {
      guard item < count else { return nil }
      defer { item += 1 }
      return results.element(at: state.table.position(item, in: section), of: state.rows)
    }
  }

  public func makeIterator() -> Iterator {
    let state = parent.state()
    return Iterator(parent.results, state, section: position(in: state.table))
  }

  /// True if both are the section with the same key of the same sections.
  public static func == (a: Self, b: Self) -> Bool {
    SectionKey(a.key) == SectionKey(b.key) && a.parent == b.parent
  }

  func append(to dump: inout TextDump) {
    let name = "ResultsSection<\(Key.self), \(SectionElement.self)> \(key)"
    if isInvalidated { return dump.append("\(name) [invalidated]") }
    dump.append(elements: self, of: name)
  }

  public var _plainOrigin: _ChangeOrigin<SectionedResultsChange<Self>> {
    parent.changeOrigin(readsTarget: false) { news, _ in
      news.map { $0.changes(of: key).ifAny }.flatMap { SectionedResultsChange($0, revived()) }
    }
  }

  public var _changeOrigin: _ChangeOrigin<ObservedChange<Self, CollectionDelta<SectionElement>>> {
    parent.changeOrigin(readsTarget: true) { news, elements in
      news.map { step in
        let changes = step.elementChanges(of: key)
        if changes.isEmpty { return nil }
        return CollectionDelta(
          changes, elements().part(of: key, in: step.new), on: parent.results.core,
          isDynamic: parent.isDynamic, parent.results.element)
      }.map { ObservedChange($0, revived()) }
    }
  }

  /// The same section in the instance's current life.
  private func revived() -> ResultsSection {
    ResultsSection(parent.revived(), key, number: number)
  }
}

extension PastElements {
  /// The elements of one section; empty if the section does not exist.
  fileprivate func part<Key>(of key: Key, in table: SectionTable<Key>) -> PastElements {
    guard let section = table.number(of: key) else { return part(0) { $0 } }
    return part(table.count(of: section)) { table.position($0, in: section) }
  }
}

@available(*, unavailable, message: "it belongs to one thread or actor: pass a ThreadSafeReference")
extension ResultsSection: Sendable {}

@available(*, unavailable, message: "it belongs to one thread or actor: make the loop there")
extension ResultsSection.Iterator: Sendable {}

// Values are found as in `RealmCollection+Searching`.

extension ResultsSection {
  public func _customContainsEquatableElement(_ element: Element) -> Bool? {
    StoredSearch.boxed(element).map { StoredSearch.first($0, in: self) != nil }
  }

  public func _customIndexOfEquatableElement(_ element: Element) -> Int?? {
    StoredSearch.boxed(element).map { StoredSearch.first($0, in: self) }
  }

  public func _customLastIndexOfEquatableElement(_ element: Element) -> Int?? {
    StoredSearch.boxed(element).map { StoredSearch.last($0, in: self) }
  }
}

extension SectionedResults: CustomReflectable {
  /// The sections; empty for invalidated results.
  public var customMirror: Mirror { mirrorOfElements }
}

extension ResultsSection: CustomReflectable {
  /// The elements; empty for a deleted section.
  public var customMirror: Mirror { mirrorOfElements }
}
