import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Random writes through two instances, in turns, in callbacks and left out for nobody: every delta
/// that is applied gives what the version held that it leads to.
struct DeltaModelTests {
  @Test(arguments: Seeds.of(1...16))
  func appliedDeltasGiveWhatTheirVersionsHold(seed: Int) throws {
    let run = try DeltaRun(seed: UInt64(seed))
    for _ in 0..<60 { try run.step() }
    try run.finish()
    #expect(run.problems == [])
    #expect(run.deltas > 50)
  }
}

private final class DeltaRun {
  private typealias Contents = [String: [ElementIdentity]]

  private let instances: [PackInstance]
  private var numbers: SeededRandom
  /// What every version held, by the names of the collections.
  private var history: [UInt64: (contents: Contents, scores: [String: Int])] = [:]
  private var keepers: [Any] = []
  private(set) var problems: [String] = []
  private(set) var deltas = 0

  init(seed: UInt64) throws {
    let shelter = try Shelter()
    numbers = SeededRandom(seed: seed)
    instances = [try PackInstance(shelter), try PackInstance(shelter)]
    for instance in instances {
      instance.pump()
      instance.realm.refresh()
      for number in 0..<2 {
        keep("cubs", instance, instance.cubs)
        keep("old", instance, instance.cubs.where { $0.age > 4 })
        keep("sorted", instance, instance.cubs.sorted(by: \.age))
        keep("list", instance, instance.pack.cubs)
        keep("of list", instance, instance.pack.cubs.sorted(by: \.name))
        keep("numbers", instance, instance.pack.numbers)
        keep("ordered", instance, instance.pack.numbers.sorted(ascending: number == 0))
        keep("tags", instance, instance.pack.tags)
        keep("friends", instance, AnyRealmCollection(instance.pack.friends))
        keepMap(instance)
      }
    }
    record(instances[0])
  }

  private func record(_ instance: PackInstance) {
    let pack = instance.pack
    let contents: Contents = [
      "cubs": instance.cubs.identities, "old": instance.cubs.where { $0.age > 4 }.identities,
      "sorted": instance.cubs.sorted(by: \.age).identities, "list": pack.cubs.identities,
      "of list": pack.cubs.sorted(by: \.name).identities, "numbers": pack.numbers.identities,
      "tags": pack.tags.identities, "friends": pack.friends.identities,
    ]
    let scores = Dictionary(uniqueKeysWithValues: pack.scores.map { ($0.key, $0.value) })
    history[version(instance)] = (contents, scores)
  }

  private func version(_ instance: PackInstance) -> UInt64 {
    instance.realm.core.shownVersion!.rawValue
  }

  /// The version that a call of the running round leads to.
  private func target(_ instance: PackInstance) -> UInt64 {
    instance.realm.core.delivery.roundState!.version.rawValue
  }

  private func keep<C: RealmCollection>(_ name: String, _ instance: PackInstance, _ collection: C) {
    keepers.append(
      CopyKeeper(collection) { [unowned self] keeper in
        if let delta = keeper.lastDelta {
          deltas += 1
          let shown = keeper.copy.map { ElementIdentity(of: $0) }
          if shown != keeper.identities { problems.append("\(name): two copies") }
          if let held = history[target(instance)]?.contents[name], held != shown {
            problems.append("\(name): \(shown.count) elements, \(held.count) held")
          }
          if delta.count != shown.count { problems.append("\(name): count") }
        }
        writeInCallback(instance)
      })
  }

  private func keepMap(_ instance: PackInstance) {
    var copy: [String: Int] = [:]
    keepers.append(
      instance.pack.scores.observeChanges { [unowned self] change in
        change.apply(to: &copy)
        if case .update = change {
          deltas += 1
          if history[target(instance)]?.scores != copy { problems.append("map: \(copy)") }
        }
        writeInCallback(instance)
      })
  }

  private func writeInCallback(_ instance: PackInstance) {
    guard !history.isEmpty, numbers.chance(4), !instance.realm.isInWriteTransaction else { return }
    do { try write(instance) } catch { problems.append("\(error)") }
  }

  func step() throws {
    let instance = instances[numbers.below(2)]
    switch numbers.below(5) {
    case 0...2: try write(instance)
    case 3: instance.pump()
    default: instance.realm.refresh()
    }
  }

  private func write(_ instance: PackInstance) throws {
    instance.realm.beginWrite()
    guard instance.realm.isInWriteTransaction else { return }
    for _ in 0...numbers.below(5) { change(instance) }
    if numbers.chance(10) { return instance.realm.cancelWrite() }
    try instance.realm.commitWrite()
    record(instance)
  }

  private func change(_ instance: PackInstance) {
    let (pack, cubs) = (instance.pack, instance.cubs)
    let cub = cubs.isEmpty ? nil : cubs[numbers.below(cubs.count)]
    let names = ["a", "b", "c", "d", "e"]
    let name = names[numbers.below(5)]
    switch numbers.below(16) {
    case 0...1:
      let id = numbers.below(30)
      if instance.cub(id) == nil { instance.realm.add(Cub(id, name, age: numbers.below(10))) }
    case 2: if let cub { instance.realm.delete(cub) }
    case 3: cub?.age = numbers.below(10)
    case 4: cub?.name = name
    case 5: if let cub { pack.cubs.insert(cub, at: numbers.below(pack.cubs.count + 1)) }
    case 6: if !pack.cubs.isEmpty { pack.cubs.remove(at: numbers.below(pack.cubs.count)) }
    case 7:
      if let cub, !pack.cubs.isEmpty { pack.cubs[numbers.below(pack.cubs.count)] = cub }
    case 8:
      let count = pack.cubs.count
      if count > 1 { pack.cubs.move(from: numbers.below(count), to: numbers.below(count)) }
    case 9: pack.numbers.insert(numbers.below(9), at: numbers.below(pack.numbers.count + 1))
    case 10: if !pack.numbers.isEmpty { pack.numbers.removeFirst() }
    case 11:
      if !pack.numbers.isEmpty { pack.numbers[numbers.below(pack.numbers.count)] = 7 }
    case 12: numbers.chance(50) ? pack.tags.insert(name) : pack.tags.remove(name)
    case 13:
      if let cub { numbers.chance(60) ? pack.friends.insert(cub) : pack.friends.remove(cub) }
    case 14: pack.scores[name] = numbers.below(5)
    default: pack.scores.removeObject(for: name)
    }
  }

  func finish() throws {
    for instance in instances {
      instance.realm.refresh()
      instance.pump()
    }
  }
}
