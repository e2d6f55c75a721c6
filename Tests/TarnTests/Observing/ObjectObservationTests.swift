import Foundation
import Testing

@testable import Tarn

/// What an object's observer was told, as text.
private final class CatWatch {
  private(set) var calls: [String] = []
  private(set) var object: Cat?
  private var token: NotificationToken?

  init(_ cat: Cat) {
    token = cat.observe { [unowned self] change in
      switch change {
      case .change(let cat, let properties):
        object = cat
        calls.append(properties.map(Self.text).joined(separator: ", "))
      case .deleted: calls.append("deleted")
      case .error(let error): calls.append("\(error)")
      }
    }
  }

  var identity: NotificationToken? { token }

  private static func text(_ change: PropertyChange) -> String {
    func text(_ value: Any?) -> String {
      switch value {
      case nil: "nil"
      case let home as Home: home.isInvalidated ? "gone" : home.street
      case let value?: "\(value)"
      }
    }
    return "\(change.name) \(text(change.oldValue)) → \(text(change.newValue))"
  }
}

struct ObjectObservationTests {
  @Test func oneCallListsEveryPropertyOnceInOrderWithItsOldAndNewValue() throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 2)
    let b = try shelter.open()
    let cat = try #require(b.cat(1))
    let watch = CatWatch(cat)
    b.pump()
    #expect(watch.calls == [])
    try a.write {
      a.cat(1)!.weight = 2.5
      a.cat(1)!.age = 11
    }
    try a.write {
      a.cat(1)!.age = 12
      a.cat(1)!.name = "cat 1"
    }
    b.pump()
    #expect(watch.calls == ["name cat 1 → cat 1, age 10 → 12, weight nil → 2.5"])
    #expect(watch.object === cat)
    try a.write { a.cat(1)!.weight = nil }
    b.realm.refresh()
    #expect(watch.calls.last == "weight 2.5 → nil")
  }

  @Test func oldValuesOfAnyType() throws {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [Safe.self]
    let (a, b) = (try Instance(configuration, shelter), try Instance(configuration, shelter))
    let safe = Safe()
    safe.content = .int(1)
    try a.write { a.realm.add(safe) }
    b.realm.refresh()
    let seen = try #require(b.realm.objects(Safe.self).first)
    var told: [(AnyRealmValue?, AnyRealmValue?)] = []
    let token = seen.observe { (change: ObjectChange<Safe>) in
      guard case .change(_, let properties) = change else { return }
      told += properties.map { ($0.oldValue as? AnyRealmValue, $0.newValue as? AnyRealmValue) }
    }
    for value in [.object(safe), .fromArray([.int(1)]), .string("x")] as [AnyRealmValue] {
      try a.write { safe.content = value }
      b.pump()
    }
    #expect(told.count == 3)
    #expect(told[0].0 == .int(1))
    #expect(told[0].1?.object(Safe.self)?.isSameObject(as: seen) == true)
    #expect(told[1].0?.object(Safe.self)?.isSameObject(as: seen) == true)
    #expect(told[1].1?.listValue != nil)
    #expect(told[2].0 == nil)
    #expect(told[2].1 == .string("x"))
    token.invalidate()
  }

  @Test func ownWritesAreToldWithOldValuesToo() throws {
    let a = try Shelter().open(cats: 2)
    let watch = CatWatch(a.cat(1)!)
    try a.write { a.cat(1)!.age = 5 }
    #expect(watch.calls == [])
    a.pump()
    #expect(watch.calls == ["age 10 → 5"])
    try a.write { a.cat(0)!.age = 7 }
    try a.write { a.realm.delete(a.cat(0)!) }
    a.pump()
    #expect(watch.calls.count == 1)
  }

  @Test func localAndRemoteChangesComeInOneCallWithTheFirstOldValue() throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 2)
    let b = try shelter.open()
    let watch = CatWatch(b.cat(1)!)
    try b.write { b.cat(1)!.age = 20 }
    try a.write { a.cat(1)!.age += 10 }
    b.pump()
    #expect(watch.calls == ["age 10 → 30"])
  }

  @Test func linksAreToldWithTheObjectsAndNotWhatLiesBehindThem() throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 2)
    let b = try shelter.open()
    let watch = CatWatch(b.cat(1)!)
    try a.write { a.cat(1)!.home = Home("High Street") }
    b.pump()
    try a.write { a.cat(1)!.home!.rooms = 4 }
    b.pump()
    try a.write { a.cat(1)!.home = Home("Low Street") }
    b.pump()
    try a.write { a.realm.delete(a.cat(1)!.home!) }
    b.pump()
    #expect(
      watch.calls == [
        "home nil → High Street", "home High Street → Low Street", "home gone → nil",
      ])
  }

  @Test func deletionIsToldOnceAndInsteadOfChanges() throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 3)
    let b = try shelter.open()
    let watches = (0..<3).map { CatWatch(b.cat($0)!) }
    try a.write { a.cat(1)!.age = 5 }
    try a.write { a.realm.delete(a.cat(1)!) }
    b.pump()
    #expect(watches.map(\.calls) == [[], ["deleted"], []])
    try b.write { b.realm.deleteAll() }
    try a.add(1)
    b.pump()
    try a.write { a.cat(1)!.age = 6 }
    b.pump()
    #expect(watches.map(\.calls) == [["deleted"], ["deleted"], ["deleted"]])
    #expect(watches[1].identity?.invalidate() == false)
    #expect(b.realm.core.delivery.observers.isEmpty)
  }

  @Test func aCancelledWriteIsNotTold() throws {
    let a = try Shelter().open(cats: 2)
    let watch = CatWatch(a.cat(1)!)
    a.realm.beginWrite()
    a.cat(1)!.age = 5
    a.realm.delete(a.cat(1)!)
    a.realm.cancelWrite()
    a.pump()
    #expect(watch.calls == [])
    try a.write { a.cat(1)!.age = 6 }
    a.pump()
    #expect(watch.calls == ["age 10 → 6"])
  }

  @Test func anObjectKnownByItsBaseClassIsObservedByTheTypeThatTheClosureNames() throws {
    let a = try Shelter().open(cats: 2)
    let object: Object = a.cat(1)!
    var names: [String] = []
    let token = object.observe { (change: ObjectChange<Cat>) in
      if case .change(let cat, _) = change { names.append(cat.name) }
    }
    try a.write { a.cat(1)!.name = "new" }
    a.pump()
    #expect(names == ["new"])
    token.invalidate()
  }
}
