import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Random writes of two instances, one of them in callbacks and one perhaps on another thread,
/// under observers of every kind of source that look along random key paths or to random depths.
/// What a call says is held against walks forwards over copies of all versions that it covers.
struct KeyPathHistoryTests {
  @Test(arguments: 1...12)
  func callsSayWhatTheirVersionsSay(seed: Int) throws {
    let run = try KnotObservers(seed: UInt64(seed))
    for _ in 0..<60 { try run.step() }
    run.finish()
    #expect(run.problems.prefix(3) == [])
    #expect(run.calls > 100)
  }

  @Test(arguments: 21...24)
  func soTheySayWhileAnotherThreadWrites(seed: Int) throws {
    let run = try KnotObservers(seed: UInt64(seed))
    let history = run.history
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      defer { done.signal() }
      do {
        let writer = try KnotWriter(history, seed: UInt64(seed + 100))
        for _ in 0..<60 { try writer.write() }
      } catch {
        Issue.record("\(error)")
      }
    }
    for _ in 0..<60 { try run.step() }
    done.wait()
    run.finish()
    #expect(run.problems.prefix(3) == [])
  }
}

/// What every version held, and what led to it.
private final class KnotHistory: @unchecked Sendable {
  // because: all is read and changed under its lock, which a writer holds for all of its write.
  struct Version {
    /// With what the version's write touched.
    var model: KnotModel
    /// The knots of each kind of source, by their names.
    var rows: [String: [Int]]
  }

  let configuration: Realm.Configuration
  let lock = NSRecursiveLock()
  private(set) var versions: [UInt64: Version] = [:]
  var model = KnotModel()
  var nextID = 0

  init(_ configuration: Realm.Configuration) { self.configuration = configuration }

  /// The state that a writer shows, after its commit.
  func record(_ realm: Realm) {
    var rows: [String: [Int]] = [:]
    for source in KnotSource.all { rows[source.name] = source.ids(realm) }
    versions[realm.core.shownVersion!.rawValue] = Version(model: model, rows: rows)
  }

  /// The knots that are modified in the eyes of who looks so, by the versions after one up to
  /// another.
  func modified(_ look: KnotLook, after seen: UInt64, upTo last: UInt64) -> Set<Int> {
    var found: Set<Int> = []
    for number in seen + 1...last {
      guard let version = versions[number] else { continue }
      for id in version.model.links.keys where version.model.isModified(id, look) {
        found.insert(id)
      }
    }
    return found
  }
}

/// A source of knots, as observers take it and as a list of ids.
private struct KnotSource {
  typealias Told = (ObservedChange<AnyRealmCollection<Knot>, CollectionDelta<Knot>>) -> Void

  let name: String
  let collection: (Realm) -> AnyRealmCollection<Knot>
  /// An element may be taken for one that went and came.
  var isSet = false

  func ids(_ realm: Realm) -> [Int] { collection(realm).map(\.id) }

  static func hub(_ realm: Realm) -> Knot { realm.object(ofType: Knot.self, forPrimaryKey: 0)! }

  static var all: [KnotSource] {
    [

      KnotSource(name: "class") { AnyRealmCollection($0.objects(Knot.self)) },
      KnotSource(name: "filtered") {
        AnyRealmCollection($0.objects(Knot.self).where { $0.size > 0 })
      },
      KnotSource(name: "sorted") { AnyRealmCollection($0.objects(Knot.self).sorted(by: \.size)) },
      KnotSource(name: "by a link") {
        AnyRealmCollection($0.objects(Knot.self).sorted(by: \.next?.name))
      },
      KnotSource(name: "distinct") {
        AnyRealmCollection($0.objects(Knot.self).distinct(by: [\.name]))
      },
      KnotSource(name: "list") { AnyRealmCollection(hub($0).list) },
      KnotSource(name: "list filtered") {
        AnyRealmCollection(hub($0).list.where { $0.size > 0 })
      },
      KnotSource(name: "list sorted") { AnyRealmCollection(hub($0).list.sorted(by: \.size)) },
      KnotSource(name: "set", collection: { AnyRealmCollection(hub($0).set) }, isSet: true),
      KnotSource(name: "backlinks") { AnyRealmCollection(hub($0).back) },
    ]
  }
}

/// One who writes; to be used on one thread.
private final class KnotWriter {
  let place: Place
  private let history: KnotHistory
  var numbers: SeededRandom

  init(_ history: KnotHistory, seed: UInt64) throws {
    self.history = history
    numbers = SeededRandom(seed: seed)
    place = try Place(history.configuration)
  }

  /// A write, which may be cancelled.
  func write(_ count: Int? = nil) throws {
    history.lock.lock()
    defer { history.lock.unlock() }
    place.realm.beginWrite()
    // A callback of the begin may have written, and ended in this one's place.
    guard place.realm.isInWriteTransaction else { return }
    let (before, nextID) = (history.model, history.nextID)
    history.model.touched = []
    for _ in 0..<(count ?? 1 + numbers.below(3)) {
      var script = KnotScript(model: history.model, nextID: history.nextID, numbers: numbers)
      script.write(to: place.realm)
      (history.model, history.nextID, numbers) = (script.model, script.nextID, script.numbers)
    }
    if count == nil, numbers.chance(10) {
      (history.model, history.nextID) = (before, nextID)
      return place.realm.cancelWrite()
    }
    try place.realm.commitWrite()
    history.record(place.realm)
  }
}

/// The observers, on an instance that writes itself now and then.
private final class KnotObservers {
  let history: KnotHistory
  private let shelter: Shelter
  private let a: KnotWriter
  private let b: KnotWriter
  private var tokens: [NotificationToken] = []
  private var ended: Set<Int> = []
  private var numbers: SeededRandom
  private var isWriting = false
  /// What each observer has missed, asked at the end.
  private var missed: [() -> String?] = []
  private(set) var problems: [String] = []
  private(set) var calls = 0

  init(seed: UInt64) throws {
    shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [Knot.self]
    history = KnotHistory(configuration)
    numbers = SeededRandom(seed: seed)
    a = try KnotWriter(history, seed: seed + 1000)
    b = try KnotWriter(history, seed: seed + 2000)
    try a.place.write {
      for id in 0..<8 {
        a.place.realm.create(Knot.self, value: ["id": id])
        history.model.links[id] = KnotModel.Links()
      }
      history.nextID = 8
    }
    try a.write(60)
    b.place.realm.refresh()
    for source in KnotSource.all {
      for _ in 0..<4 { observe(source, randomLook()) }
    }
    b.place.pump()
  }

  private func randomLook() -> KnotLook {
    if numbers.chance(30) { return .depth(numbers.below(5)) }
    return .paths((0...numbers.below(2)).map { _ in KnotLook.randomPath(&numbers) })
  }

  private func observe(_ source: KnotSource, _ look: KnotLook) {
    var rows: [Int] = []
    var seen: UInt64 = 0
    let number = tokens.count
    let collection = source.collection(b.place.realm)
    let told: KnotSource.Told = { [unowned self] change in
      history.lock.lock()
      defer { history.lock.unlock() }
      let core = b.place.realm.core
      switch change {
      case .initial(let knots): (rows, seen) = (knots.map(\.id), core.shownVersion!.rawValue)
      case .update(_, let delta):
        calls += 1
        let target = core.delivery.roundState!.version.rawValue
        let hits = history.modified(look, after: seen, upTo: target)
        if let now = history.versions[target]?.rows[source.name] {
          check(delta, rows, now, hits, source, "\(source.name) \(look)")
          rows = now
        }
        seen = target
      case .error(let error): problems.append("\(error)")
      }
      react(to: number)
    }
    missed.append { [unowned self] in
      let last = b.place.realm.core.shownVersion!.rawValue
      let hits = seen < last ? history.modified(look, after: seen, upTo: last) : []
      let isOver = rows != source.ids(b.place.realm) || !hits.isDisjoint(with: rows)
      return isOver ? "\(source.name) \(look): missed the last change" : nil
    }
    switch look {
    case .paths(let paths):
      let names = paths.map { $0.joined(separator: ".") }
      tokens.append(collection.observeChanges(keyPaths: names, told))
    case .depth(let depth):
      tokens.append(collection._changeOrigin.looking(_Look(depth: depth)).observe(told))
    }
  }

  private func check(
    _ delta: CollectionDelta<Knot>, _ old: [Int], _ new: [Int], _ hits: Set<Int>,
    _ source: KnotSource, _ name: String
  ) {
    var copy = old
    for position in delta.deletions.reversed() { copy.remove(at: position) }
    for position in delta.insertions {
      guard position <= copy.count, position < new.count else {
        return problems.append("\(name): an insertion at \(position)")
      }
      copy.insert(new[position], at: position)
    }
    if copy != new { problems.append("\(name): \(copy), not \(new)") }
    let gone = Set(delta.deletions)
    let expected = old.indices.filter { !gone.contains($0) && hits.contains(old[$0]) }
    let isRight =
      source.isSet
      ? Set(delta.modifications).isSuperset(of: expected) : delta.modifications == expected
    if !isRight { problems.append("\(name): \(delta.modifications), not \(expected)") }
    if delta.deletions.isEmpty, delta.insertions.isEmpty, delta.modifications.isEmpty {
      problems.append("\(name): told of nothing")
    }
  }

  /// What a callback does: it may write, end another token, or its own.
  private func react(to number: Int) {
    guard !isWriting, !b.place.realm.isInWriteTransaction else { return }
    if numbers.chance(1) {
      let other = numbers.chance(50) ? number : numbers.below(tokens.count)
      tokens[other].invalidate()
      ended.insert(other)
    }
    guard numbers.chance(3) else { return }
    isWriting = true
    defer { isWriting = false }
    do { try b.write() } catch { problems.append("\(error)") }
  }

  func step() throws {
    switch numbers.below(8) {
    case 0...4: try a.write()
    case 5: b.place.realm.refresh()
    default: b.place.pump()
    }
  }

  /// Everything has been told, and so nothing more is.
  func finish() {
    b.place.pump()
    let before = calls
    b.place.pump()
    if calls != before { problems.append("calls without changes") }
    for (number, missed) in missed.enumerated() where !ended.contains(number) {
      if let problem = missed() { problems.append(problem) }
    }
    for token in tokens { token.invalidate() }
  }
}
