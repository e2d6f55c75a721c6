public import Foundation
import TarnStore

/// The changes of sections since the observer's last call.
///
/// Index paths consist of a section's number and an element's position in it. All arrays of them
/// ascend, those of moves by their old ones. Removing the deletions from the old sections, then the
/// sections to delete, and inserting the sections to insert, empty, and then the elements of the
/// new ones at the insertions gives the new ones; `apply(to:)` does that.
///
/// The new sections are those after the change. A callback, also one of another observer, may write
/// before you read them: this delta does not change. Objects are live: those that were deleted
/// since are invalidated.
///
/// Threading: like the sections. As long as it is referenced it keeps two versions in the file, the
/// one after the change and the one before: their pages cannot be reused. So read what you need,
/// and release it.
public struct SectionsDelta<Key: _Persistable & Hashable, Element> {
  /// An element that stayed and moved.
  public struct Move: Hashable, Sendable {
    /// The old position.
    public let from: IndexPath
    /// The new position, in the same section or another one.
    public let to: IndexPath
  }

  /// A section that stayed and moved among the others.
  public struct SectionMove: Hashable, Sendable {
    /// The old number.
    public let from: Int
    /// The new number.
    public let to: Int
  }

  /// Old positions of elements that were deleted or moved; none in a deleted section.
  public var deletions: [IndexPath] { changes.deletions.map(IndexPath.init) }
  /// New positions of elements that were inserted or moved; all of an inserted section.
  public var insertions: [IndexPath] { changes.insertions.map(IndexPath.init) }
  /// Old positions of elements that stayed in place among the others, and changed.
  public var modifications: [IndexPath] { changes.modifications.map(IndexPath.init) }
  /// The new positions of the same elements, in the same order.
  public var modificationsNew: [IndexPath] { changes.modificationsNew.map(IndexPath.init) }
  /// The elements that moved: within a section, to another one, or with theirs. Each is also
  /// inserted, and is deleted or was in a deleted section. It may have changed as well.
  public var moves: [Move] {
    changes.moves.map { Move(from: IndexPath($0.from), to: IndexPath($0.to)) }
  }
  /// New numbers of sections that were inserted or moved.
  public var sectionsToInsert: IndexSet { changes.sectionsToInsert }
  /// Old numbers of sections that were deleted or moved.
  public var sectionsToDelete: IndexSet { changes.sectionsToDelete }
  /// The sections that moved, by their old numbers: each is also deleted and inserted.
  public var sectionMoves: [SectionMove] {
    changes.sectionMoves.map { SectionMove(from: $0.from, to: $0.to) }
  }
  /// The number of new sections.
  public var count: Int { table.count }
  /// The keys of the new sections.
  public var keys: [Key] { table.keys.list.map(\.key) }

  private let changes: SectionChanges
  /// The division of the new rows into sections.
  private let table: SectionTable<Key>
  private let elements: PastElements
  private let host: any DeliveryHost
  private let isDynamic: Bool
  private let make: (Value) -> Element

  /// - Parameter make: converts a stored element to the program's type.
  init(
    _ changes: SectionChanges, _ table: SectionTable<Key>, _ elements: PastElements,
    on host: any DeliveryHost, isDynamic: Bool, _ make: @escaping (Value) -> Element
  ) {
    self.changes = changes
    self.table = table
    self.elements = elements
    self.host = host
    self.isDynamic = isDynamic
    self.make = make
  }

  /// The number of elements in a new section. Traps if it is out of bounds.
  public func count(of section: Int) -> Int {
    check(section)
    return table.count(of: section)
  }

  /// The key of a new section. Traps if it is out of bounds.
  public func key(of section: Int) -> Key {
    check(section)
    return table.keys.list[section].key
  }

  private func check(_ section: Int) {
    require(
      section >= 0 && section < count,
      "Section \(section) is out of bounds: there are \(count) sections after the change.")
  }

  /// The element at a position in the new sections. Traps if it is out of bounds.
  public func element(at path: IndexPath) -> Element { make(value(at: path)) }

  private func value(at path: IndexPath) -> Value {
    let (section, item) = (path.section, path.item)
    let count = count(of: section)
    require(
      item >= 0 && item < count,
      "Index \(item) is out of bounds: after the change there are \(count) elements in section "
        + "\(section).")
    return elements.value(at: table.position(item, in: section))
  }

  /// The reasons why the element at a new position is reported as modified, like
  /// ``CollectionDelta/nested(at:)``. Traps if the position is out of bounds. Threading: like the
  /// sections.
  public func nested(at path: IndexPath) -> [NestedChange] {
    let value = value(at: path)
    let sought = SectionPath(section: path.section, item: path.item)
    let index = changes.modificationsNew.partitioningIndex { $0 >= sought }
    let isModified =
      index < changes.modificationsNew.count && changes.modificationsNew[index] == sought
    return nestedChanges(
      of: value, in: elements, isModified: isModified, on: host, isDynamic: isDynamic
    ) { _ in false }
  }

  /// Turns the old sections into the new ones, including the changed elements. Traps if it finds
  /// that earlier changes have not been applied to them. Threading: like the sections.
  public func apply(to sections: inout [SectionCopy<Key, Element>]) {
    requireOld(sections.map(\.elements.count))
    for (section, items) in Self.bySection(changes.deletions) {
      let rest = sections[section].elements.count - items.count
      sections[section].elements = sections[section].elements.rearranged(
        deleting: items, inserting: [], count: rest
      ) { _ in trap("internal error: an element that was not inserted") }
    }
    if !sectionsToDelete.isEmpty || !sectionsToInsert.isEmpty {
      sections = sections.rearranged(
        deleting: Array(sectionsToDelete), inserting: Array(sectionsToInsert), count: count
      ) { SectionCopy(key: key(of: $0), elements: []) }
    }
    for (section, items) in Self.bySection(changes.insertions) {
      sections[section].elements = sections[section].elements.rearranged(
        deleting: [], inserting: items, count: table.count(of: section)
      ) { element(at: IndexPath(item: $0, section: section)) }
    }
    for path in modificationsNew {
      sections[path.section].elements[path.item] = element(at: path)
    }
  }

  /// Traps if the old sections had other numbers of elements.
  func requireOld(_ counts: [Int]) {
    var counts = counts
    let went = sectionsToDelete
    var isRight = counts.count - went.count + sectionsToInsert.count == count
    isRight = isRight && went.last.map { $0 < counts.count } != false
    for path in changes.deletions where isRight {
      isRight = path.section < counts.count
      if isRight { counts[path.section] -= 1 }
    }
    if isRight {
      counts = counts.rearranged(
        deleting: Array(went), inserting: Array(sectionsToInsert), count: count
      ) { _ in 0 }
      for path in changes.insertions { counts[path.section] += 1 }
      isRight = counts.indices.allSatisfy { counts[$0] == table.count(of: $0) }
    }
    require(
      isRight, "The change is for other sections: apply every change exactly once.")
  }

  /// The positions in each section.
  private static func bySection(
    _ paths: [SectionPath]
  ) -> [(section: Int, items: [Int])] {
    var groups: [(section: Int, items: [Int])] = []
    for path in paths {
      if groups.last?.section != path.section { groups.append((path.section, [])) }
      groups[groups.count - 1].items.append(path.item)
    }
    return groups
  }
}

/// A section in an array that follows `SectionedResults`; see ``SectionsDelta/apply(to:)``.
public struct SectionCopy<Key: Hashable, Element>: Identifiable {
  /// The common key of its elements.
  public let key: Key
  /// The key.
  public var id: Key { key }
  /// Its elements, in order.
  public var elements: [Element]

  /// A section with a key and elements.
  public init(key: Key, elements: [Element]) {
    self.key = key
    self.elements = elements
  }
}

extension SectionCopy: Equatable where Element: Equatable {}
extension SectionCopy: Hashable where Element: Hashable {}
extension SectionCopy: Sendable where Key: Sendable, Element: Sendable {}

extension ObservedChange {
  /// Applies the change to an array of sections: `.initial` fills it, an update changes it, an
  /// error does not change it. An array that every change is applied to always equals the sections
  /// after the last of them, if `.initial` is applied before any further write.
  ///
  /// Traps if earlier changes have not been applied to the array. Threading: like the sections.
  public func apply<Key, Element>(to sections: inout [SectionCopy<Key, Element>])
  where Collection == SectionedResults<Key, Element>, Delta == SectionsDelta<Key, Element> {
    switch self {
    case .initial(let shown):
      sections = shown.map { SectionCopy(key: $0.key, elements: Array($0)) }
    case .update(_, let delta): delta.apply(to: &sections)
    case .error: break
    }
  }
}

@available(*, unavailable, message: "it belongs to one thread or actor: pass its index paths")
extension SectionsDelta: Sendable {}
