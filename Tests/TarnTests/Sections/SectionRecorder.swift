import Foundation
import Testing

@testable import Tarn

/// What an observer of sections was told, as text and as a mirror that follows the changes.
final class SectionRecorder<Key: _Persistable & Hashable, Element: RealmCollectionValue> {
  typealias Sections = SectionedResults<Key, Element>

  private(set) var calls: [String] = []
  private var ownProblems: [String] = []
  /// What did not fit, in the calls or in copies that follow the deltas.
  var problems: [String] { ownProblems + copies.problems }
  /// By section what each element showed when it was last told of.
  private(set) var mirror: [(key: SectionKey<Key>, rows: [String])] = []
  private let text: (Element) -> String
  let copies: SectionCopyKeeper<Key, Element>
  var token: NotificationToken?

  init(_ sections: Sections, _ text: @escaping (Element) -> String) {
    self.text = text
    copies = SectionCopyKeeper(sections)
    token = sections.observe { [unowned self] in record($0) }
  }

  private func contents(_ sections: Sections) -> [(key: SectionKey<Key>, rows: [String])] {
    sections.map { (SectionKey($0.key), $0.map(text)) }
  }

  private func record(_ change: SectionedResultsChange<Sections>) {
    switch change {
    case .initial(let sections):
      calls.append("initial \(sections.count)")
      mirror = contents(sections)
    case .update(let sections, let deletions, let insertions, let changed, let came, let went):
      calls.append(
        "-\(Self.text(deletions)) +\(Self.text(insertions)) ~\(Self.text(changed)) "
          + "-\(Array(went)) +\(Array(came))")
      follow(contents(sections), deletions, insertions, changed, came, went)
    }
  }

  static func text(_ paths: [IndexPath]) -> String {
    "[" + paths.map { "\($0.section).\($0.item)" }.joined(separator: ", ") + "]"
  }

  private func follow(
    _ new: [(key: SectionKey<Key>, rows: [String])], _ deletions: [IndexPath],
    _ insertions: [IndexPath], _ modifications: [IndexPath], _ came: IndexSet, _ went: IndexSet
  ) {
    func check(_ isRight: Bool, _ problem: String) {
      if !isRight { ownProblems.append("\(problem) in call \(calls.count): \(calls.last!)") }
    }
    for paths in [deletions, insertions, modifications] {
      check(zip(paths, paths.dropFirst()).allSatisfy { $0 < $1 }, "not ascending")
    }
    check(Set(deletions).isDisjoint(with: modifications), "deleted and modified")
    check(!(deletions + modifications).contains { went.contains($0.section) }, "gone and told")
    let isSomething =
      !(deletions + insertions + modifications).isEmpty || !came.isEmpty || !went.isEmpty
    check(isSomething, "nothing told")
    var slots = mirror.map { (key: $0.key, rows: $0.rows as [String?]) }
    for path in modifications { slots[path.section].rows[path.item] = nil }
    for path in deletions.reversed() { slots[path.section].rows.remove(at: path.item) }
    for section in went.reversed() { slots.remove(at: section) }
    for section in came { slots.insert((new[section].key, []), at: section) }
    for path in insertions { slots[path.section].rows.insert(nil, at: path.item) }
    check(slots.map(\.key) == new.map(\.key), "replay gives other sections")
    check(slots.map(\.rows.count) == new.map(\.rows.count), "replay gives other counts")
    check(!slots.contains { $0.rows.isEmpty }, "an empty section")
    guard problems.isEmpty else { return }
    for (slot, section) in zip(slots, new) {
      for (known, row) in zip(slot.rows, section.rows) {
        check(known == nil || known == row, "\(row) untold")
      }
    }
    mirror = new
  }
}

/// The rows of an array in sections by the first appearance of each key.
func grouped<Key: Hashable, Element>(
  _ rows: [Element], _ key: (Element) -> Key, _ text: (Element) -> String
) -> [(key: SectionKey<Key>, rows: [String])] {
  var sections: [(key: SectionKey<Key>, rows: [String])] = []
  for row in rows {
    let key = SectionKey(key(row))
    if let number = sections.firstIndex(where: { $0.key == key }) {
      sections[number].rows.append(text(row))
    } else {
      sections.append((key, [text(row)]))
    }
  }
  return sections
}
