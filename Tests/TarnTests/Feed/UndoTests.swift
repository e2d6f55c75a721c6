import Foundation
import TarnStore
import Testing

@testable import Tarn

/// Undo and revert, as programs use them.
struct UndoTests {
  private let shelter: Shelter
  private let instance: Instance
  private var realm: Realm { instance.realm }
  private var version: UInt64 { realm.core.shownVersion!.rawValue }
  /// Keeps all records.
  private let pin: Snapshot

  init() throws {
    shelter = try Shelter()
    instance = try shelter.open(cats: 3)
    pin = try instance.realm.core.store.newestSnapshot()
    realm.core.store.keepBefore { _ in .oldValues }
  }

  @Test func undoingPutsBackPropertiesObjectsAndLinks() throws {
    let home = Home("Main Street")
    try realm.write {
      realm.add(home)
      instance.cat(0)!.home = home
    }
    try realm.write {
      realm.delete(home)
      realm.delete(instance.cat(2)!)
      instance.cat(1)!.name = "renamed"
      realm.add(Cat(7))
    }
    try realm.undo(version)
    #expect(instance.cat(0)?.home?.street == "Main Street")
    #expect(instance.cat(1)?.name == "cat 1")
    #expect(instance.cat(2)?.age == 20)
    #expect(instance.cat(7) == nil)
    #expect(realm.objects(Home.self).first?.cats.count == 1)
  }

  @Test func aRefusalNamesWhatWasChangedSince() throws {
    try realm.write { instance.cat(1)!.name = "first" }
    let undone = version
    try realm.write { instance.cat(1)!.name = "second" }
    let before = version
    let conflict = UndoRefusal.Conflict(
      className: "Cat", primaryKey: "1", cause: .modified(property: "name"))
    #expect(throws: UndoRefusal(version: undone, conflicts: [conflict])) {
      try realm.undo(undone)
    }
    #expect(version == before)
    #expect(instance.cat(1)?.name == "second")
    try realm.undo(undone, overwriting: true)
    #expect(instance.cat(1)?.name == "cat 1")
  }

  @Test func revertingTakesEverythingBack() throws {
    let start = version
    for round in 0..<4 {
      try realm.write {
        realm.add(Cat(10 + round))
        instance.cat(0)!.age += 1
      }
    }
    try realm.revert(to: start)
    #expect(instance.cats.count == 3)
    #expect(instance.cat(0)?.age == 0)
    let reverted = version
    try realm.revert(to: reverted)
    #expect(version == reverted)
  }

  @Test func observersOfPropertiesAreCalledAsByAssignments() throws {
    let cat = try #require(instance.cat(1))
    try realm.write {
      cat.name = "renamed"
      realm.add(Cat(9))
    }
    var names: [[String?]] = []
    let token = cat.observe(\.name, options: [.old, .new]) { _, change in
      names.append([change.oldValue, change.newValue])
    }
    var isGone: [Bool?] = []
    let added = try #require(instance.cat(9))
    let goneToken = added.observe(\.isInvalidated, options: [.new]) { _, change in
      isGone.append(change.newValue)
    }
    try realm.undo(version)
    #expect(names == [["renamed", "cat 1"]])
    #expect(isGone == [true])
    token.invalidate()
    goneToken.invalidate()
  }

  @Test func withoutOldValuesNothingIsUndone() throws {
    realm.core.store.keepBefore(nil)
    try realm.write { instance.cat(1)!.name = "first" }
    #expect(throws: Realm.Error.invalidInput) { try realm.undo(version) }
    #expect(throws: Realm.Error.invalidInput) { try realm.undo(0) }
    #expect(instance.cat(1)?.name == "first")
    #expect(!realm.isInWriteTransaction)
  }
}
