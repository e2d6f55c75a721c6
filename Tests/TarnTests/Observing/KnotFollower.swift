@testable import Tarn

/// What an observer has been told of, and whether a call says what the copies of all versions say.
final class KnotFollower<Content: Equatable> {
  typealias Version = KnotHistory.Version
  /// With the versions that are told of, the content before them and after them.
  typealias Told<Result> = ([Version], Content, Content) -> Result

  private let history: KnotHistory
  private let content: (Version) -> Content
  /// What may be told though nothing says that it must be.
  var mayBeTold: ([Version]) -> Bool = { _ in false }
  private let mustTell: Told<Bool>
  private var seen: UInt64 = 0
  private var shown: Content?
  /// Commits that it was left out of.
  private var skips: [UInt64] = []

  /// - Parameter mustTell: whether that is to be told.
  init(
    _ history: KnotHistory, _ content: @escaping (Version) -> Content,
    mustTell: @escaping Told<Bool>
  ) {
    self.history = history
    self.content = content
    self.mustTell = mustTell
  }

  /// The first call shows that version.
  func begin(at number: UInt64) -> Content {
    seen = number
    let content = content(history[number])
    shown = content
    return content
  }

  func skip(_ number: UInt64) { skips.append(number) }

  enum Step {
    /// From the content that the last call led to, or from another one where a commit was left out
    /// since.
    case right(from: Content?, to: Content)
    case wrong(String)
  }

  /// A call of a round that goes up to a version. It tells of everything up to there, or to where a
  /// commit was left out; what came before such a commit and after it is never told in one call.
  /// One that this observer would not have been told of anyway need not part them.
  func follow(upTo target: UInt64, _ problem: Told<String?>) -> Step {
    var problems: [String] = []
    // Where nothing had to be told, but may have been, a later way is the right one if it had to.
    var possible: (end: UInt64, old: Content?, new: Content)?
    for skips in [skips, skips.filter(concerns)] {
      for way in ways(upTo: target, skips) {
        let (old, new) = (
          way.isReset ? content(history[way.start]) : shown!, content(history[way.end])
        )
        let versions = versions(after: way.start, upTo: way.end)
        // What went and came back may be told, if that took more than one step.
        let hasChanged = versions.contains { content($0) != old }
        guard hasChanged || mustTell(versions, old, new) || mayBeTold(versions) else { continue }
        let isTold = mustTell(versions, old, new)
        if let problem = problem(versions, old, new) {
          problems.append(problem)
        } else if isTold || possible == nil {
          possible = (way.end, way.isReset ? old : nil, new)
        }
        if isTold { break }
      }
      if let possible {
        (seen, shown) = (possible.end, possible.new)
        return .right(from: possible.old, to: possible.new)
      }
    }
    let told = problems.isEmpty ? "told of nothing" : problems.joined(separator: ", or ")
    return .wrong("\(told) (versions \(seen) to \(target), without \(skips))")
  }

  /// True if something up to that version has to be told still.
  func misses(upTo target: UInt64) -> Bool {
    ways(upTo: max(seen, target), skips).contains { way in
      let old = way.isReset ? content(history[way.start]) : shown!
      return mustTell(versions(after: way.start, upTo: way.end), old, content(history[way.end]))
    }
  }

  private func ways(
    upTo target: UInt64, _ skips: [UInt64]
  ) -> [(start: UInt64, end: UInt64, isReset: Bool)] {
    var ways: [(start: UInt64, end: UInt64, isReset: Bool)] = []
    var (start, isReset) = (seen, false)
    for skip in skips where skip > seen && skip <= target {
      ways.append((start, skip - 1, isReset))
      (start, isReset) = (skip, true)
    }
    return ways + [(start, target, isReset)]
  }

  private func concerns(_ skip: UInt64) -> Bool {
    skip > seen
      && mustTell([history[skip]], content(history[skip - 1]), content(history[skip]))
  }

  private func versions(after start: UInt64, upTo end: UInt64) -> [Version] {
    start < end ? (start + 1...end).map { history[$0] } : []
  }
}

extension [KnotHistory.Version] {
  /// The knots that were modified in the eyes of who looks so.
  func modified(_ look: KnotLook) -> Set<Int> {
    var found: Set<Int> = []
    for version in self {
      for id in version.model.links.keys where version.model.isModified(id, look) {
        found.insert(id)
      }
    }
    return found
  }

  /// The same of what is embedded in the hub's list.
  func modifiedClasps(_ look: KnotLook) -> Set<Int64> {
    var found: Set<Int64> = []
    for version in self {
      for clasp in version.model.links[0]!.clasps where version.model.isModified(clasp, look) {
        found.insert(clasp.key)
      }
    }
    return found
  }

  /// The keys of the hub's map of that name that were set.
  func keysSet(of map: String) -> Set<String> {
    let start = "\(map)["
    let spots = flatMap(\.model.touched).filter { $0.id == 0 && $0.property.hasPrefix(start) }
    return Set(spots.map { String($0.property.dropFirst(start.count).dropLast()) })
  }

  /// The keys of the hub's knots that were set, or whose knot was modified.
  func modifiedKeys(_ look: KnotLook) -> Set<String> {
    var found = keysSet(of: "map")
    for version in self {
      for (key, id) in version.model.links[0]!.map where version.model.isModified(id, look) {
        found.insert(key)
      }
    }
    return found
  }
}
