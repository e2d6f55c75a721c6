import Foundation

@testable import Tarn

/// What is wrong with what an observer was told, given what was there before and after, and what
/// was modified in its eyes. Nil if nothing is.
enum KnotProblem {
  enum Kind {
    case objects
    /// Its elements may be taken for ones that went and came.
    case set
    /// What was set may equal what was there.
    case values
  }

  static func of<Element, Row: Hashable>(
    _ delta: CollectionDelta<Element>, _ row: (Element) -> Row?, _ hits: Set<Row>, _ old: [Row],
    _ new: [Row], _ kind: Kind
  ) -> String? {
    let held = (0..<delta.count).map { row(delta.element(at: $0)) }
    if held != new { return "leads to \(held), not \(new)" }
    return of(positions: delta, hits, old, new, kind)
  }

  /// The same without the elements themselves.
  static func of<Element, Row: Hashable>(
    positions delta: CollectionDelta<Element>, _ hits: Set<Row>, _ old: [Row], _ new: [Row],
    _ kind: Kind
  ) -> String? {
    if delta.count != new.count { return "leads to \(delta.count), not \(new.count)" }
    if delta.deletions.isEmpty, delta.insertions.isEmpty, delta.modifications.isEmpty {
      return "told of nothing"
    }
    guard var replayed = replay(old, delta.deletions, delta.insertions, new) else {
      return "-\(delta.deletions) +\(delta.insertions) of \(old)"
    }
    let (modified, now) = (delta.modifications, delta.modificationsNew)
    guard modified.count == now.count, now.allSatisfy(new.indices.contains) else {
      return "~\(modified) are now \(now)"
    }
    if kind == .values {
      for position in now { replayed[position] = new[position] }
      return replayed == new ? nil : "\(replayed), not \(new)"
    }
    if replayed != new { return "\(replayed), not \(new)" }
    let gone = Set(delta.deletions)
    let expected = old.indices.filter { !gone.contains($0) && hits.contains(old[$0]) }
    let isRight = kind == .set ? Set(modified).isSuperset(of: expected) : modified == expected
    if !isRight { return "~\(modified), not \(expected)" }
    if modified.map({ old[$0] }) != now.map({ new[$0] }) { return "~\(modified) are now \(now)" }
    return nil
  }

  static func of<Value>(
    _ delta: MapDelta<String, Value>, _ hits: Set<String>, _ old: [String: String],
    _ new: [String: String]
  ) -> String? {
    let (before, after) = (Set(old.keys), Set(new.keys))
    let told = [delta.deletions, delta.insertions, delta.modifications]
    let expected = [
      before.subtracting(after), after.subtracting(before),
      before.intersection(after).intersection(hits),
    ].map { $0.sorted() }
    if told != expected { return "\(told), not \(expected)" }
    return told.allSatisfy(\.isEmpty) ? "told of nothing" : nil
  }

  static func of<Element>(
    _ delta: SectionsDelta<Int, Element>, _ id: (Element) -> Int?, _ hits: Set<Int>,
    _ old: [KnotSection], _ new: [KnotSection]
  ) -> String? {
    let held = (0..<delta.count).map { section in
      KnotSection(
        key: delta.key(of: section),
        elements: (0..<delta.count(of: section)).map {
          id(delta.element(at: IndexPath(item: $0, section: section))) ?? -1
        })
    }
    if held != new { return "leads to \(held), not \(new)" }
    let (deletions, modifications) = (delta.deletions, delta.modifications)
    let (came, went) = (delta.sectionsToInsert, delta.sectionsToDelete)
    let told = "-\(deletions) +\(delta.insertions) ~\(modifications) -\(went) +\(came)"
    let fitsOld = (deletions + modifications).allSatisfy {
      $0.section < old.count && $0.item < old[$0.section].elements.count
    }
    guard fitsOld, went.allSatisfy(old.indices.contains), came.allSatisfy(new.indices.contains),
      old.count - went.count + came.count == new.count
    else { return "\(told) of \(old)" }
    var copy = old
    for path in deletions.reversed() { copy[path.section].elements.remove(at: path.item) }
    for section in went.reversed() { copy.remove(at: section) }
    for section in came {
      copy.insert(KnotSection(key: new[section].key, elements: []), at: section)
    }
    for path in delta.insertions {
      guard path.section < new.count, path.item < new[path.section].elements.count,
        path.item <= copy[path.section].elements.count
      else { return "\(told) of \(old)" }
      copy[path.section].elements.insert(at(path, new), at: path.item)
    }
    if copy != new { return "\(copy), not \(new)" }
    let gone = Set(deletions)
    let expected = old.indices.filter { !went.contains($0) }.flatMap { section in
      old[section].elements.indices.map { IndexPath(item: $0, section: section) }
    }.filter { !gone.contains($0) && hits.contains(at($0, old)) }
    if modifications != expected { return "~\(modifications), not \(expected)" }
    if modifications.map({ at($0, old) }) != delta.modificationsNew.map({ at($0, new) }) {
      return "~\(modifications) are now \(delta.modificationsNew)"
    }
    let isPaired = delta.moves.allSatisfy { at($0.from, old) == at($0.to, new) }
    return isPaired ? nil : "\(delta.moves) of \(old)"
  }

  private static func at(_ path: IndexPath, _ sections: [KnotSection]) -> Int {
    sections[path.section].elements[path.item]
  }

  /// Nil if those positions are none of these arrays.
  private static func replay<Row>(
    _ old: [Row], _ deletions: [Int], _ insertions: [Int], _ new: [Row]
  ) -> [Row]? {
    var copy = old
    for position in deletions.reversed() {
      guard position < copy.count else { return nil }
      copy.remove(at: position)
    }
    for position in insertions {
      guard position <= copy.count, position < new.count else { return nil }
      copy.insert(new[position], at: position)
    }
    return copy
  }
}
