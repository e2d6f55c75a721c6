import Foundation
import Testing

@testable import Tarn

/// Local assignments, on managed and unmanaged objects.
struct PropertyObservingTests {
  private func shelter() throws -> Instance {
    let a = try Shelter().open(cats: 3)
    try a.write { a.cat(1)!.home = Home("High Street") }
    return a
  }

  /// At the assignment, in the write, before the commit; to the same value as well.
  @Test func anAssignmentIsToldWhenItIsMade() throws {
    let a = try shelter()
    let (cat, other) = (a.cat(1)!, a.cat(1)!)
    let age = watch(cat, \.age)
    let name = watch(cat, \.name, [.old, .new, .prior])
    try a.write {
      cat.age = 11
      #expect(age.news == ["10 → 11"])
      other.age = 11
      #expect(age.news == ["11 → 11"])
      cat.name = "x"
      cat.name = "y"
      other.name = "z"
      #expect(
        name.news == [
          "before: cat 1 → -", "cat 1 → x", "before: x → -", "x → y", "before: y → -", "y → z",
        ])
      a.cat(2)!.age = 5
    }
    a.pump()
    a.realm.refresh()
    #expect(age.news == [])
    #expect(name.news == [])
    #expect(age.objects.allSatisfy { $0 === cat })
  }

  /// What was assigned to before in the same write does not pass by.
  @Test func anObserverThatComesInTheMiddleOfAWriteIsTold() throws {
    let a = try shelter()
    let cat = a.cat(1)!
    try a.write {
      cat.name = "x"
      let name = watch(cat, \.name)
      cat.name = "y"
      #expect(name.news == ["x → y"])
      name.token = nil
      cat.name = "z"
      #expect(name.news == [])
    }
    #expect(a.realm.core.properties == nil)
  }

  /// What the options ask for.
  @Test func theOptionsSayWhatIsTold() throws {
    let a = try shelter()
    let cat = a.cat(1)!
    let bare = watch(cat, \.age, [])
    let initial = watch(cat, \.age, [.initial, .new])
    let initialOnly = watch(cat, \.age, .initial)
    #expect(initial.news == ["- → 10"])
    #expect(initialOnly.news == ["- → -"])
    #expect(bare.news == [])
    try a.write { cat.age = 7 }
    #expect(bare.news == ["- → -"])
    #expect(initial.news == ["- → 7"])
  }

  /// Properties of every type, set in every way.
  @Test func everyTypeAndEveryWayOfSetting() throws {
    let a = try shelter()
    let cat = a.cat(1)!
    let weight = watch(cat, \.weight)
    let mood = watch(cat, \.mood)
    let home = watch(cat, \.home)
    let id = watch(cat, \.id)
    try a.write {
      cat.weight = 2.5
      cat.setValue(nil, forKey: "weight")
      cat["weight"] = 1.5
      #expect(weight.news == ["nil → 2.5", "2.5 → nil", "nil → 1.5"])
      cat.mood = .wild
      #expect(mood.news == ["sleepy → wild"])
      cat.home = Home("Low Street")
      cat.home = nil
      #expect(home.news == ["High Street → Low Street", "Low Street → nil"])
      a.realm.create(Cat.self, value: ["id": 1, "weight": 9.5], update: .modified)
      a.realm.create(Cat.self, value: ["id": 1, "weight": 9.5], update: .modified)
      a.realm.create(Cat.self, value: ["id": 1, "weight": 9.5], update: .all)
      #expect(weight.news == ["1.5 → 9.5", "9.5 → 9.5"])
      a.realm.dynamicCreate("Cat", value: ["id": 1, "weight": 3.0], update: .modified)
      #expect(weight.news == ["9.5 → 3.0"])
    }
    #expect(id.news == [])
  }

  /// Unmanaged objects.
  @Test func unmanagedObjectsAreObservedInTheSameWay() {
    let cat = Cat(1, "a", home: Home("High Street"))
    let name = watch(cat, \.name, [.initial, .old, .new, .prior])
    let street = watch(cat, \.home?.street)
    cat.name = "b"
    cat.setValue("c", forKey: "name")
    #expect(name.news == ["- → a", "before: a → -", "a → b", "before: b → -", "b → c"])
    let former = cat.home!
    former.street = "Low Street"
    cat.home = Home("Back Street")
    former.street = "unseen"
    cat.home?.street = "Side Street"
    #expect(
      street.news == [
        "High Street → Low Street", "Low Street → Back Street", "Back Street → Side Street",
      ])
    name.token?.invalidate()
    cat.name = "d"
    #expect(name.news == [])
  }

  /// Lists, sets and maps of unmanaged objects.
  @Test func unmanagedCollectionsAreObserved() {
    let kennel = Kennel(1)
    let hounds = watch(kennel, \.hounds)
    let pack = watch(kennel, \.pack, [])
    let named = watch(kennel, \.named, [])
    kennel.hounds.append(objectsIn: [Hound(1), Hound(2), Hound(3)])
    kennel.hounds.append(objectsIn: [])
    kennel.hounds.remove(at: 1)
    kennel.hounds[0] = Hound(4)
    kennel.hounds.move(from: 0, to: 1)
    kennel.hounds.replaceSubrange(0..<1, with: [Hound(5), Hound(6)])
    #expect(
      hounds.news == [
        "insertion [0, 1, 2]", "removal [1]", "replacement [0]", "replacement [0, 1]",
        "- → [5, 6, 4]",
      ])
    let hound = Hound(7)
    kennel.pack.insert(hound)
    kennel.pack.remove(hound)
    kennel.named["a"] = hound
    kennel.named["b"] = nil
    kennel.named["a"] = nil
    #expect(pack.news.count == 2)
    #expect(named.news.count == 2)
    kennel.hounds = List<Hound>()
    #expect(hounds.news == ["- → []"])
  }

  /// After its observers are gone an object can be added.
  @Test func anObjectCanBeAddedWhenItsObserversAreGone() throws {
    let a = try Shelter().open()
    let cat = Cat(1)
    let name = watch(cat, \.name)
    name.token?.invalidate()
    try a.write { a.realm.add(cat) }
    let managed = watch(cat, \.name)
    try a.write { cat.name = "x" }
    #expect(managed.news == [" → x"])
    #expect(name.news == [])
  }

  /// A token keeps the object, and an object does not keep its observers.
  @Test func observersGoWithTheirTokens() throws {
    var cat: Cat? = Cat(1)
    weak let released = cat
    var told = 0
    var token: NotificationToken? = cat!.observe(\.age) { _, _ in told += 1 }
    cat = nil
    released?.age = 2
    #expect(told == 1)
    token = nil
    #expect(released == nil)
    #expect(token == nil)
    let shelter = try Shelter()
    weak var core: RealmCore?
    do {
      let a = try shelter.open(cats: 1)
      core = a.realm.core
      var managed: NotificationToken? = a.cat(0)!.observe(\.age) { _, _ in told += 1 }
      try a.write { a.cat(0)!.age = 3 }
      managed = nil
      #expect(told == 2)
      #expect(managed == nil)
    }
    #expect(core == nil)
  }

  @Test func aCollectionEndsWithTheObjectThatHasIt() throws {
    let a = try Shelter().openKennel(5, 6, 7)
    let kennel = a.kennel
    let end = watch(kennel, \.hounds.isInvalidated)
    try a.write { kennel.hounds.removeAll() }
    #expect(end.news == [])
    a.realm.beginWrite()
    a.realm.delete(kennel)
    #expect(end.news == ["false → true"])
    a.realm.cancelWrite()
    #expect(end.news == ["true → false"])
  }

  /// Values go back, also those of lists and of objects that were deleted or made.
  @Test func aCancelledWriteIsToldAsValuesThatGoBack() throws {
    let a = try Shelter().openKennel(5, 6, 7)
    let (kennel, hound) = (a.kennel, a.hound(1)!)
    let age = watch(hound, \.age)
    let hounds = watch(kennel, \.hounds)
    let end = watch(hound, \.isInvalidated)
    a.realm.beginWrite()
    hound.age = 1
    hound.age = 2
    kennel.hounds.append(Hound(3))
    let made = a.hound(3)!
    let madeEnd = watch(made, \.isInvalidated)
    let madeAge = watch(made, \.age)
    #expect(age.news == ["6 → 1", "1 → 2"])
    #expect(hounds.news == ["insertion [3]"])
    a.realm.cancelWrite()
    #expect(age.news == ["2 → 6"])
    #expect(hounds.news == ["removal [3]"])
    #expect(end.news == [])
    #expect(madeEnd.news == ["false → true"])
    #expect(madeAge.news == [])
    #expect(madeEnd.token?.invalidate() == false)
    a.realm.beginWrite()
    a.realm.delete(hound)
    #expect(end.news == ["false → true"])
    #expect(hounds.news == ["removal [1]"])
    #expect(age.news == [])
    a.realm.cancelWrite()
    #expect(end.news == ["true → false"])
    #expect(hounds.news == ["insertion [1]"])
    try a.write { a.hound(1)!.age = 8 }
    #expect(age.news == ["6 → 8"])
  }

  /// `isInvalidated`, and links that become nil; nothing of the object's own properties.
  @Test func aDeletionIsTold() throws {
    let a = try shelter()
    let (cat, home) = (a.cat(1)!, a.cat(1)!.home!)
    let end = watch(home, \.isInvalidated, [.old, .new, .prior])
    let street = watch(home, \.street)
    let link = watch(cat, \.home)
    let behind = watch(cat, \.home?.street)
    try a.write {
      a.realm.delete(home)
      #expect(end.news == ["before: false → -", "false → true"])
      #expect(link.news == ["gone → nil"])
      #expect(behind.news == ["High Street → nil"])
    }
    #expect(street.news == [])
    #expect(street.token?.invalidate() == false)
    let catEnd = watch(cat, \.isInvalidated)
    try a.write { a.realm.deleteAll() }
    #expect(catEnd.news == ["false → true"])
    #expect(link.news == [])
  }

  /// Embedded objects go with their owner, and come to another one.
  @Test func embeddedObjectsAreToldOf() throws {
    let a = try Shelter().openKennels()
    try a.write {
      a.realm.add(Kennel(1))
      a.realm.add(Kennel(2))
      a.kennel.tickets.append(objectsIn: [Ticket(1), Ticket(2), Ticket(3)])
    }
    let other = a.realm.object(ofType: Kennel.self, forPrimaryKey: 2)!
    let tickets = watch(a.kennel, \.tickets, [])
    let others = watch(other, \.tickets, [])
    let ends = Array(a.kennel.tickets).map { watch($0, \.isInvalidated) }
    try a.write {
      other.tickets.append(a.kennel.tickets[1])
      #expect(tickets.news == ["removal [1]"])
      #expect(others.news == ["insertion [0]"])
      a.kennel.tickets.remove(at: 0)
      #expect(tickets.news == ["removal [0]"])
      #expect(ends.map(\.news) == [["false → true"], [], []])
      a.realm.delete(other)
      #expect(ends.map(\.news) == [[], ["false → true"], []])
    }
    #expect(others.news == [])
    #expect(tickets.news == [])
  }

  /// Realm.invalidate ends the objects, and their observers.
  @Test func invalidatingTheRealmIsTold() throws {
    let a = try shelter()
    let (end, age) = (watch(a.cat(1)!, \.isInvalidated), watch(a.cat(1)!, \.age))
    a.realm.invalidate()
    #expect(end.news == ["false → true"])
    #expect(age.news == [])
    try a.write { a.cat(1)!.age = 5 }
    #expect(age.news == [])
    #expect(age.token?.invalidate() == false)
    #expect(a.realm.core.properties == nil)
  }

  /// A block may end its own token, and the write.
  @Test func aBlockMayEndItsTokenAndTheWrite() throws {
    let a = try shelter()
    let cat = a.cat(1)!
    let (first, second) = (watch(cat, \.age), watch(cat, \.age))
    first.onCall = { _, _ in
      first.token?.invalidate()
      second.token?.invalidate()
      a.realm.cancelWrite()
    }
    a.realm.beginWrite()
    cat.age = 1
    #expect(!a.realm.isInWriteTransaction)
    #expect(cat.age == 10)
    #expect(first.calls == ["10 → 1"])
    #expect(second.calls == [])
  }
}
