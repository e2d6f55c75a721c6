import Foundation
import TarnStore
import TestSupport
import Testing

@testable import Tarn

/// S71: commits that share one transaction.
struct AsyncWriteGroupTests {
  private func version(_ place: Place) -> UInt64 { place.realm.core.shownVersion!.rawValue }

  @Test("S71") func groupedCommitsShareATransactionAndEndInOrder() throws {
    let shelter = try Shelter(.full)
    let a = try shelter.open()
    try a.add(1_000)
    let (first, recorder) = (version(a), CatRecorder(a.cats))
    a.pump()
    var ends: [Int] = []
    for id in 0..<100 {
      a.realm.beginAsyncWrite {
        #expect(a.cats.count == id + 1)
        a.realm.add(Cat(id))
        a.realm.commitAsyncWrite(allowGrouping: true) { error in
          if error == nil { ends.append(id) }
        }
        #expect(a.cat(id) != nil)
      }
    }
    a.finish()
    #expect(ends == Array(0..<100))
    #expect(version(a) - first < 40)
    #expect(recorder.mirror.count == 101 && recorder.problems == [])
    #expect(try shelter.open().cats.count == 101)
  }

  @Test("S71") func aBlockOfAGroupIsTakenBackAlone() throws {
    let shelter = try Shelter(.full)
    let a = try shelter.open()
    try a.write { for id in 0..<30 { a.realm.add(Cat(id, age: id)) } }
    var random = SeededRandom(seed: 71)
    var model = Dictionary(uniqueKeysWithValues: (0..<30).map { ($0, $0) })
    var (wrong, ends, taken) = (0, 0, 0)
    func matches(_ place: Place) -> Bool {
      let found = Dictionary(uniqueKeysWithValues: place.cats.map { ($0.id, $0.age) })
      let byAge = model.values.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
      return found == model
        && byAge.allSatisfy { age, count in place.cats.where { $0.age == age }.count == count }
    }
    func change() -> [Int: Int] {
      var next = model
      for _ in 0...random.below(3) {
        let id = random.below(60)
        let age = random.below(10)
        if let cat = a.cat(id) {
          if random.chance(30) {
            a.realm.delete(cat)
            next[id] = nil
          } else {
            cat.age = age
            cat.name = String(repeating: "x", count: random.below(3_000))
            next[id] = age
          }
        } else {
          let home = random.chance(50) ? Home("street \(id)") : nil
          a.realm.add(Cat(id, age: age, home: home))
          next[id] = age
        }
      }
      return next
    }
    for _ in 0..<40 {
      for _ in 0..<random.below(30) {
        a.realm.beginAsyncWrite {
          if !matches(a) { wrong += 1 }
          let next = change()
          switch random.below(10) {
          case 0: a.realm.cancelWrite()
          case 1: break
          case 2:
            model = next
            try! a.realm.commitWrite()
            return
          default:
            model = next
            a.realm.commitAsyncWrite(allowGrouping: random.chance(90)) { _ in ends += 1 }
            if !matches(a) { wrong += 1 }
            return
          }
          if a.realm.isInWriteTransaction { a.realm.cancelWrite() }
          taken += 1
          if !matches(a) { wrong += 1 }
        }
      }
      a.finish()
      if !matches(a) { wrong += 1 }
      #expect(matches(try shelter.open()))
    }
    #expect(wrong == 0 && ends > 100 && taken > 50)
  }
}
