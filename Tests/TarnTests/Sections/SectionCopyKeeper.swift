import Foundation

@testable import Tarn

/// Follows sections by their deltas: as sections, as a list of identities, and the one that is the
/// first at the first call as an array.
final class SectionCopyKeeper<Key: _Persistable & Hashable, Element: RealmCollectionValue> {
  typealias Sections = SectionedResults<Key, Element>
  typealias Identities = [SectionCopy<SectionKey<Key>, ElementIdentity>]

  private(set) var problems: [String] = []
  private(set) var lastDelta: SectionsDelta<Key, Element>?
  private var copy: [SectionCopy<Key, Element>] = []
  private var lines: [SectionedIdentity<Key>] = []
  private var rows: [Element] = []
  private var key: Key?
  private var tokens: [NotificationToken] = []

  init(_ sections: Sections) {
    tokens.append(sections.observeChanges { [unowned self] in follow($0) })
  }

  /// What the copy holds.
  var identities: Identities {
    copy.map { section in
      SectionCopy(
        key: SectionKey(section.key), elements: section.elements.map { ElementIdentity(of: $0) })
    }
  }

  /// What sections show; nil where that is more than what the running round leads to.
  private static func shown(_ sections: Sections) -> Identities? {
    let core = sections.results.core
    guard core.session == nil, let state = core.delivery.roundState,
      state.version == core.shownVersion
    else { return nil }
    return sections.map { section in
      SectionCopy(key: SectionKey(section.key), elements: section.map { ElementIdentity(of: $0) })
    }
  }

  private func follow(_ change: ObservedChange<Sections, SectionsDelta<Key, Element>>) {
    let old = identities
    change.apply(to: &copy)
    change.apply(toIdentities: &lines)
    let new = identities
    switch change {
    case .initial(let sections):
      check(new, sections)
      followSection(of: sections)
    case .update(let sections, let delta):
      check(new, sections)
      lastDelta = delta
      if let problem = Self.problem(of: delta, old, new) { problems.append(problem) }
    case .error(let error): problems.append("\(error)")
    }
    var listed: Identities = []
    for line in lines {
      switch line {
      case .section(let key): listed.append(SectionCopy(key: SectionKey(key), elements: []))
      case .element(let identity): listed[listed.count - 1].elements.append(identity)
      }
    }
    if listed != new { problems.append("the list holds \(listed), the copy \(new)") }
  }

  private func check(_ new: Identities, _ sections: Sections) {
    if let shown = Self.shown(sections), shown != new {
      problems.append("the copy holds \(new), not \(shown)")
    }
  }

  private func followSection(of sections: Sections) {
    guard sections.results.core.session == nil, let section = sections.first else { return }
    key = section.key
    tokens.append(section.observeChanges { [unowned self] in follow($0) })
  }

  private func follow(
    _ change: ObservedChange<ResultsSection<Key, Element>, CollectionDelta<Element>>
  ) {
    change.apply(to: &rows)
    let sections: Sections
    switch change {
    case .initial(let section): sections = section.parent
    case .update(let section, _): sections = section.parent
    case .error: return
    }
    guard let shown = Self.shown(sections), let key else { return }
    let now = rows.map { ElementIdentity(of: $0) }
    let expected = shown.first { $0.key == SectionKey(key) }?.elements ?? []
    if now != expected { problems.append("the section's copy holds \(now), not \(expected)") }
  }

  /// What is wrong with the pairs of a delta.
  private static func problem(
    of delta: SectionsDelta<Key, Element>, _ old: Identities, _ new: Identities
  ) -> String? {
    let (gone, come) = (Set(delta.deletions), Set(delta.insertions))
    for move in delta.moves {
      let isGone = gone.contains(move.from) || delta.sectionsToDelete.contains(move.from.section)
      if !isGone || !come.contains(move.to) { return "\(move) is not told" }
      if Element._isObject, at(move.from, old) != at(move.to, new) {
        return "\(move) is of two elements"
      }
    }
    for move in delta.sectionMoves {
      if !delta.sectionsToDelete.contains(move.from) || !delta.sectionsToInsert.contains(move.to) {
        return "\(move) is not told"
      }
      if old[move.from].key != new[move.to].key { return "\(move) is of two sections" }
    }
    let staying = Set(old.map(\.key)).intersection(new.map(\.key))
    let isMoved =
      delta.sectionMoves.count
      == delta.sectionsToDelete.count { staying.contains(old[$0].key) }
    if !isMoved { return "\(delta.sectionMoves) are not all sections that moved" }
    if delta.modifications.count != delta.modificationsNew.count { return "modified, not both" }
    for (from, to) in zip(delta.modifications, delta.modificationsNew) {
      if old[from.section].key != new[to.section].key { return "\(from) is not \(to)" }
      if Element._isObject, at(from, old) != at(to, new) { return "\(from) is not \(to)" }
    }
    return nil
  }

  private static func at(_ path: IndexPath, _ sections: Identities) -> ElementIdentity {
    sections[path.section].elements[path.item]
  }
}
