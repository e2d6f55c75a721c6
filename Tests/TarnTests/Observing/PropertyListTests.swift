import Foundation
import Testing

@testable import Tarn

/// Lists, sets and maps as properties, and key paths of several steps.
struct PropertyListTests {
  /// Each method of a list, by its kind and positions.
  @Test func methodsOfAListAreToldWithTheirPositions() throws {
    let a = try Shelter().openKennel(5, 6, 7)
    let list = a.kennel.hounds
    let hounds = watch(a.kennel, \.hounds, [.prior, .old, .new])
    var expected: [String] = []
    func check(_ kind: String, _ change: () -> Void) {
      change()
      expected = ["before: \(kind)", kind]
      #expect(hounds.news == expected)
    }
    try a.write {
      check("insertion [3]") { list.append(a.hound(0)!) }
      check("insertion [1]") { list.insert(Hound(4), at: 1) }
      check("insertion [0, 1]") { list.insert(contentsOf: [Hound(5), Hound(6)], at: 0) }
      check("replacement [2]") { list[2] = a.hound(4)! }
      check("removal [0]") { list.removeFirst() }
      check("removal [5]") { list.removeLast() }
      check("removal [1, 2]") { list.removeSubrange(1...2) }
      check("replacement [0, 1]") { list.replaceSubrange(0..<2, with: [a.hound(0)!, a.hound(1)!]) }
      check("replacement [0, 1]") { list.swapAt(0, 1) }
      check("replacement [0, 1]") { list.move(from: 1, to: 0) }
      list.append(objectsIn: [])
      #expect(hounds.news == [])
      a.realm.delete(a.hound(1)!)
      #expect(hounds.news == ["before: removal [1]", "removal [1]"])
      check("removal [0, 1]") { list.removeAll() }
      a.kennel.hounds.append(a.hound(0)!)
      _ = hounds.news
      let new = List<Hound>()
      new.append(a.hound(2)!)
      a.kennel.hounds = new
      #expect(hounds.news == ["before: [0] → -", "- → [2]"])
    }
  }

  /// Sets and maps have no positions.
  @Test func setsAndMapsAreSet() throws {
    let a = try Shelter().openKennel(5, 6, 7)
    let kennel = a.kennel
    let pack = watch(kennel, \.pack, [])
    let named = watch(kennel, \.named, [])
    try a.write {
      kennel.pack.insert(a.hound(0)!)
      kennel.pack.remove(a.hound(0)!)
      kennel.named["a"] = a.hound(1)
      kennel.named["a"] = nil
      #expect(pack.news == ["- → -", "- → -"])
      #expect(named.news == ["- → -", "- → -"])
      kennel.named["a"] = a.hound(1)
      kennel.pack.insert(a.hound(1)!)
      _ = (pack.news, named.news)
      a.realm.delete(a.hound(1)!)
      #expect(pack.news == ["- → -"])
      #expect(named.news == ["- → -"])
    }
    let b = try Instance(a.realm.configuration)
    let seen = watch(b.kennel, \.pack, [])
    try a.write { kennel.pack.insert(a.hound(2)!) }
    b.pump()
    #expect(seen.news == ["- → -"])
  }

  /// One kind of change in an advance has its positions; more than one, or a move, does not.
  @Test func anAdvanceTellsOneKindOfChangeOfAList() throws {
    let a = try Shelter().openKennel(5, 6, 7)
    let b = try Instance(a.realm.configuration)
    let list = a.kennel.hounds
    let hounds = watch(b.kennel, \.hounds)
    func told(_ changes: () -> Void...) throws -> [String] {
      for change in changes { try a.write(change) }
      b.pump()
      return hounds.news
    }
    #expect(try told({ list.append(a.hound(0)!) }) == ["insertion [3]"])
    #expect(
      try told({ list.insert(a.hound(1)!, at: 0) }, { list.append(a.hound(2)!) })
        == ["insertion [0, 5]"])
    #expect(try told({ list.remove(at: 1) }, { list.remove(at: 1) }) == ["removal [1, 2]"])
    #expect(try told({ list[0] = a.hound(0)! }) == ["replacement [0]"])
    #expect(try told({ list[0] = a.hound(0)! }, { list.removeLast() }) == ["- → [0, 2, 0]"])
    #expect(try told({ list.move(from: 0, to: 2) }) == ["- → [2, 0, 0]"])
    #expect(try told({ a.hound(2)!.age = 9 }) == [])
    #expect(try told({ a.realm.delete(a.hound(2)!) }) == ["removal [0]"])
    #expect(try told({ a.kennel.hounds = list }) == [])
  }

  /// Whether a list is there.
  @Test func theEndOfAListIsTold() throws {
    let a = try Shelter().openKennel(5)
    let b = try Instance(a.realm.configuration)
    let (end, remote) = (
      watchEnd(a.kennel.hounds, [.initial, .old, .new]), watchEnd(b.kennel.hounds)
    )
    #expect(end.news == ["- → false"])
    a.realm.beginWrite()
    a.realm.delete(a.kennel)
    #expect(end.news == ["false → true"])
    a.realm.cancelWrite()
    #expect(end.news == ["true → false"])
    try a.write { a.realm.delete(a.kennel) }
    b.pump()
    #expect(end.news == ["false → true"])
    #expect(remote.news == ["false → true"])
    #expect(remote.token?.invalidate() == false)
    let unmanaged = watchEnd(List<Hound>(), [.initial, .new])
    #expect(unmanaged.news == ["- → false"])
  }

  /// Each link on the way, and what is behind it.
  @Test func aPathFollowsItsLinks() throws {
    let a = try Shelter().open(cats: 2)
    let b = try Instance(a.realm.configuration)
    let homes = ["High Street", "Low Street", "Back Street"].map { Home($0) }
    try a.write {
      for home in homes { a.realm.add(home) }
      a.cat(1)!.home = homes[0]
      homes[0].next = homes[1]
    }
    b.pump()
    let local = watch(a.cat(1)!, \.home?.next?.street)
    let forced = watch(a.cat(1)!, \.home!.next!.street)
    let remote = watch(b.cat(1)!, \.home?.next?.street)
    func told(_ expected: String, remote far: String? = nil, _ change: () -> Void) throws {
      try a.write(change)
      #expect(local.news == [expected])
      #expect(forced.news == [expected.replacing("nil", with: "-")])
      b.pump()
      #expect(remote.news == [far ?? expected])
    }
    try told("Low Street → x") { homes[1].street = "x" }
    try told("x → Back Street") { homes[0].next = homes[2] }
    try a.write { homes[1].street = "unseen" }
    b.pump()
    #expect(local.news == [])
    #expect(remote.news == [])
    try told("Back Street → y") { homes[2].street = "y" }
    try told("y → nil") { a.realm.delete(homes[2]) }
    try told("nil → unseen") { homes[0].next = homes[1] }
    try told("unseen → nil") { a.cat(1)!.home = homes[1] }
    try told("nil → nil") { a.cat(1)!.home = nil }
    try told("nil → unseen") { a.cat(1)!.home = homes[0] }
    a.realm.beginWrite()
    a.cat(1)!.home = nil
    _ = (local.news, forced.news)
    a.realm.cancelWrite()
    #expect(local.news == ["nil → unseen"])
    #expect(forced.news == ["- → unseen"])
    try told("unseen → z") { homes[1].street = "z" }
  }

  /// Several links of a path change in one advance: one call.
  @Test func aPathIsToldOnceForAnAdvance() throws {
    let a = try Shelter().open(cats: 2)
    let b = try Instance(a.realm.configuration)
    try a.write { a.cat(1)!.home = Home("High Street") }
    b.pump()
    let street = watch(b.cat(1)!, \.home?.street)
    try a.write { a.cat(1)!.home!.street = "x" }
    try a.write {
      a.cat(1)!.home = Home("y")
      a.cat(1)!.home!.street = "z"
    }
    b.pump()
    #expect(street.news == ["High Street → z"])
  }

  /// Values of any type, and what links to an object from within them.
  @Test func valuesOfAnyType() throws {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [Safe.self]
    let a = try Instance(configuration, shelter)
    let (safe, other) = (Safe(), Safe())
    try a.write { a.realm.add([safe, other]) }
    let content = watch(safe, \.content, [.old, .new]) { value in
      switch value {
      case .object(let object): object.isInvalidated ? "gone" : "object"
      case .list(let list): "list of \(list.count)"
      default: "\(value)"
      }
    }
    try a.write {
      safe.content = .int(1)
      safe.content = .object(other)
      #expect(content.news == ["none → int(1)", "int(1) → object"])
      a.realm.delete(other)
      #expect(content.news == ["gone → none"])
      safe.content = .fromArray([.int(1)])
      safe.content.listValue!.append(.int(2))
      #expect(content.news == ["none → list of 1", "list of 2 → list of 2"])
    }
  }
}
