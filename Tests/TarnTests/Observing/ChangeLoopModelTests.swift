import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Slow loops against what there is, with commits that an observer beside them is not told of: a
/// loop has no token that such a commit could name, and so hears of all of them.
@MainActor @Suite(.timeLimit(.minutes(30))) struct ChangeLoopModelTests {
  private let shelter: Shelter
  private let realm: Realm
  private let writer: PackInstance

  init() throws {
    shelter = try Shelter()
    writer = try PackInstance(shelter)
    realm = try Realm(configuration: PackInstance.configuration(shelter))
  }

  private func change(_ realm: Realm, _ numbers: inout SeededRandom) {
    let pack = realm.object(ofType: Pack.self, forPrimaryKey: 1)!
    let (list, id) = (pack.numbers, numbers.below(15))
    switch numbers.below(8) {
    case 0 where !list.isEmpty: list.remove(at: numbers.below(list.count))
    case 1 where list.count > 1: list.move(from: 0, to: numbers.below(list.count))
    case 2 where !list.isEmpty: list[numbers.below(list.count)] = id
    case 0...3: list.insert(id, at: numbers.below(list.count + 1))
    case 4: pack.scores["k\(id)"] = numbers.chance(70) ? id : nil
    case 5:
      if let cub = realm.object(ofType: Cub.self, forPrimaryKey: id) { realm.delete(cub) }
    default:
      if let cub = realm.object(ofType: Cub.self, forPrimaryKey: id) {
        cub.age = numbers.below(40)
      } else {
        realm.add(Cub(id, age: numbers.below(40)))
      }
    }
  }

  @Test(arguments: Array(1...8) as [UInt64])
  func mergedDifferencesLeadToWhatThereIs(seed: UInt64) async throws {
    var numbers = SeededRandom(seed: seed)
    let pack = realm.object(ofType: Pack.self, forPrimaryKey: 1)!
    let cubs = realm.objects(Cub.self).where { $0.age < 30 }.sorted(by: \.age)
    var lists = pack.numbers.changes.makeAsyncIterator()
    var maps = pack.scores.changes.makeAsyncIterator()
    var results = cubs.changes.makeAsyncIterator()
    var (list, map, ids) = ([Int](), [String: Int](), [ElementIdentity]())
    var told = 0
    let token = pack.numbers.observe { _ in told += 1 }
    await lists.next(isolation: #isolation)?.apply(to: &list)
    await maps.next(isolation: #isolation)?.apply(to: &map)
    await results.next(isolation: #isolation)?.apply(toIdentities: &ids)
    for _ in 0..<25 {
      for _ in 0...numbers.below(12) {
        if numbers.chance(30) {
          // The main actor may be on another thread than before.
          writer.scheduler.adopt()
          try writer.write { change(writer.realm, &numbers) }
          if numbers.chance(50) { await Task.yield() }
        } else if numbers.chance(50) {
          try realm.write(withoutNotifying: [token]) { change(realm, &numbers) }
        } else {
          try realm.write { change(realm, &numbers) }
        }
      }
      realm.refresh()
      // Nothing else may have happened to a collection, whose loop would wait then.
      if list != Array(pack.numbers) {
        await lists.next(isolation: #isolation)?.apply(to: &list)
      }
      if map != Dictionary(uniqueKeysWithValues: pack.scores.map { ($0.key, $0.value) }) {
        await maps.next(isolation: #isolation)?.apply(to: &map)
      }
      if ids != cubs.identities {
        await results.next(isolation: #isolation)?.apply(toIdentities: &ids)
      }
      #expect(list == Array(pack.numbers))
      #expect(ids == cubs.identities)
      #expect(map == Dictionary(uniqueKeysWithValues: pack.scores.map { ($0.key, $0.value) }))
    }
    token.invalidate()
  }

  /// The observer that is named is not told; the loop is.
  @Test func aLoopHearsOfCommitsThatObserversAreNotToldOf() async throws {
    let pack = realm.object(ofType: Pack.self, forPrimaryKey: 1)!
    var told: [String] = []
    let token = pack.numbers.observe { change in
      switch change {
      case .initial: told.append("initial")
      case .update(_, _, let insertions, _): told.append("\(insertions)")
      case .error(let error): told.append("\(error)")
      }
    }
    var changes = pack.numbers.changes.makeAsyncIterator()
    var copy: [Int] = []
    await changes.next(isolation: #isolation)?.apply(to: &copy)
    try await yieldUntil { !told.isEmpty }
    try realm.write(withoutNotifying: [token]) { pack.numbers.append(objectsIn: [1, 2]) }
    try realm.write { pack.numbers.append(3) }
    let change = try #require(await changes.next(isolation: #isolation))
    try await yieldUntil { told.count >= 2 }
    guard case .update(_, let delta) = change else {
      Issue.record("no update")
      return
    }
    #expect(delta.insertions == [0, 1, 2])
    #expect(told == ["initial", "[2]"])
    token.invalidate()
  }
}
