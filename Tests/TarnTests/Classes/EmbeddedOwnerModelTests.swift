import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Embedded objects that go from position to position at random, beside a model of their
/// identities.
struct EmbeddedOwnerModelTests {
  /// Who is where, by numbers.
  private struct Model: Equatable {
    var lists: [[Int]] = [[], []]
    var clasps: [Int?] = [nil, nil]
    var maps: [[String: Int?]] = [[:], [:]]

    var all: [Int] {
      lists.joined() + clasps.compactMap { $0 }
        + maps.flatMap { $0.values.compactMap { $0 } }
    }

    mutating func take(_ taken: [Int]) {
      for index in 0..<2 {
        lists[index].removeAll { taken.contains($0) }
        if let clasp = clasps[index], taken.contains(clasp) { clasps[index] = nil }
        maps[index] = maps[index].mapValues { $0.map { taken.contains($0) ? nil : $0 } ?? nil }
      }
    }

    mutating func replace(_ range: Range<Int>, with new: [Int], in list: Int) {
      let front = lists[list][..<range.lowerBound].filter { !new.contains($0) }
      let back = lists[list][range.upperBound...].filter { !new.contains($0) }
      take(new)
      lists[list] = front + new + back
    }
  }

  private final class Run {
    var random: SeededRandom
    let box: BeadBox
    let necklaces: [Necklace]
    var model = Model()
    var next = 0
    var beads: [Int: Bead] = [:]
    /// Unmanaged objects do not know where else they are.
    let isManaged: Bool

    init(seed: UInt64, isManaged: Bool) throws {
      random = SeededRandom(seed: seed)
      box = try BeadBox()
      necklaces =
        isManaged
        ? [try box.add(0, beads: 0), try box.add(1, beads: 0)]
        : [
          Necklace(0), Necklace(1),
        ]
      self.isManaged = isManaged
    }

    /// Some that have a position, of an unmanaged list its own, and some new ones, each once.
    func pick(_ count: Int, for list: Int) -> [Int] {
      var picked: [Int] = []
      for _ in 0..<count {
        let known = (isManaged ? model.all : model.lists[list]).filter { !picked.contains($0) }
        if known.isEmpty || random.chance(30) {
          beads[next] = Bead(next)
          picked.append(next)
          next += 1
        } else {
          picked.append(random.pick(known))
        }
      }
      return picked
    }

    func change() {
      let index = random.below(2)
      let (list, count) = (necklaces[index].beads, model.lists[index].count)
      let lower = random.below(count + 1)
      let upper = lower + random.below(count - lower + 1)
      switch random.below(isManaged ? 13 : 10) {
      case 0:
        let new = pick(1, for: index)
        list.append(beads[new[0]]!)
        model.replace(count..<count, with: new, in: index)
      case 1:
        let new = pick(1, for: index)
        list.insert(beads[new[0]]!, at: lower)
        model.replace(lower..<lower, with: new, in: index)
      case 2 where lower < count:
        let new = pick(1, for: index)
        list[lower] = beads[new[0]]!
        model.replace(lower..<lower + 1, with: new, in: index)
      case 3, 4:
        let new = pick(random.below(5), for: index)
        list.replaceSubrange(lower..<upper, with: new.map { beads[$0]! })
        model.replace(lower..<upper, with: new, in: index)
      case 5:
        let other = List<Bead>()
        let new = pick(random.below(9), for: index)
        other.append(objectsIn: new.map { beads[$0]! })
        necklaces[index].beads = other
        model.replace(0..<count, with: new, in: index)
      case 6:
        let start = random.below(count + 1)
        let end = start + random.below(count - start + 1)
        list[lower..<upper] = list[start..<end]
        model.replace(lower..<upper, with: Array(model.lists[index][start..<end]), in: index)
      case 7:
        list[lower..<upper].sort { $0.n < $1.n }
        model.lists[index][lower..<upper].sort()
      case 8 where lower < count && upper < count:
        list.move(from: lower, to: upper)
        model.lists[index].insert(model.lists[index].remove(at: lower), at: upper)
      case 9 where lower < count && upper < count:
        list.swapAt(lower, upper)
        model.lists[index].swapAt(lower, upper)
      case 10:
        let new = pick(1, for: index)
        necklaces[index].clasp = beads[new[0]]!
        model.take(new)
        model.clasps[index] = new[0]
      case 11:
        let new = pick(1, for: index)
        let key = random.pick(["a", "b", "c", "d"])
        necklaces[index].named[key] = beads[new[0]]!
        model.take(new)
        model.maps[index][key] = .some(new[0])
      case 12:
        let other = Map<String, Bead?>()
        let new = pick(random.below(4), for: index)
        for (key, bead) in zip(["a", "c", "e"], new) { other[key] = beads[bead]! }
        necklaces[index].named = other
        model.take(new)
        model.maps[index] = Dictionary(
          uniqueKeysWithValues: zip(["a", "c", "e"], new.map { Optional($0) }))
      default: break
      }
    }

    var shown: Model {
      var shown = Model()
      shown.lists = necklaces.map(\.numbers)
      shown.clasps = necklaces.map { $0.clasp?.n }
      shown.maps = necklaces.map(\.names)
      return shown
    }
  }

  @Test(arguments: 1...20) func everyBeadIsWhereTheModelHasIt(seed: Int) throws {
    let run = try Run(seed: UInt64(seed), isManaged: true)
    var mirror: [[Int]] = [[], []]
    let tokens = run.necklaces.indices.map { index in
      run.necklaces[index].beads.observe { change in
        switch change {
        case .initial(let list): mirror[index] = list.map(\.n)
        case .update(let list, let deletions, let insertions, let modifications):
          // One that replaced another is told as a change of the property.
          let replaced = modifications.map { mirror[index][$0] }
          for position in deletions.reversed() { mirror[index].remove(at: position) }
          for position in insertions { mirror[index].insert(list[position].n, at: position) }
          for position in list.indices where replaced.contains(mirror[index][position]) {
            mirror[index][position] = list[position].n
          }
        case .error(let error): Issue.record(error)
        }
      }
    }
    run.box.instance.pump()
    for step in 0..<60 {
      try run.box.instance.write {
        for _ in 0..<(1 + run.random.below(4)) {
          run.change()
          #expect(run.shown == run.model, "seed \(seed), step \(step)")
        }
      }
      run.beads = run.beads.filter { run.model.all.contains($0.key) }
      #expect(try run.box.beadCount == run.model.all.count, "seed \(seed), step \(step)")
      run.box.instance.pump()
      #expect(mirror == run.model.lists, "seed \(seed), step \(step)")
      if run.shown != run.model { return }
    }
    try run.box.expectSound()
    for token in tokens { token.invalidate() }
  }

  @Test(arguments: 1...10) func unmanagedListsFollowTheSameRule(seed: Int) throws {
    let run = try Run(seed: UInt64(seed), isManaged: false)
    for step in 0..<200 {
      run.change()
      #expect(run.shown.lists == run.model.lists, "seed \(seed), step \(step)")
      if run.shown.lists != run.model.lists { return }
    }
  }
}
