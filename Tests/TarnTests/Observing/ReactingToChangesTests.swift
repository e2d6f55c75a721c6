import Foundation
import Testing

@testable import Tarn

/// A screen with a list, as programs have it: it keeps rows of its own and follows an observer.
private final class ListScreen {
  private(set) var rows: [String] = []
  private(set) var reloads = 0
  private(set) var failure: (any Error)?
  private let realm: Realm
  private let cats: Results<Cat>
  private(set) var notificationToken: NotificationToken?

  init(_ realm: Realm) {
    self.realm = realm
    cats = realm.objects(Cat.self).where { $0.age > 5 }.sorted(byKeyPath: "age")
    notificationToken = cats.observe { [weak self] (changes: RealmCollectionChange) in
      guard let self else { return }
      switch changes {
      case .initial(let cats):
        rows = cats.map(\.name)
        reloads += 1
      case .update(_, let deletions, let insertions, let modifications):
        // As a table view takes a batch: modified rows by their old positions, before the rest
        // moves.
        for index in modifications { rows[index] = "?" }
        for index in deletions.reversed() { rows.remove(at: index) }
        for index in insertions { rows.insert("?", at: index) }
        for index in rows.indices where rows[index] == "?" { rows[index] = cats[index].name }
      case .error(let error):
        failure = error
      }
    }
  }

  /// Deletes a row at the user's wish: the screen takes it away itself and is not told again.
  func deleteRow(_ index: Int) throws {
    let tokens = notificationToken.map { [$0] } ?? []
    try realm.write(withoutNotifying: tokens) {
      rows.remove(at: index)
      realm.delete(cats[index])
    }
  }

  func insert(_ cat: Cat) throws {
    let token = try #require(notificationToken)
    realm.beginWrite()
    realm.add(cat)
    rows.insert(cat.name, at: cats.index(of: cat)!)
    try realm.commitWrite(withoutNotifying: [token])
  }

  deinit { notificationToken?.invalidate() }
}

/// Counts the steps of a cat and tells when it has had enough.
private final class AgeCounter {
  private(set) var lines: [String] = []
  private var token: NotificationToken?

  init(_ cat: Cat) {
    token = cat.observe { change in
      switch change {
      case .change(let object, let properties):
        for property in properties {
          self.lines.append("'\(property.name)' of \(object.name) is now \(property.newValue!)")
          if property.name == "age", let age = property.newValue as? Int, age > 1_000 {
            self.lines.append("enough")
            self.token = nil
          }
        }
      case .error(let error): self.lines.append("\(error)")
      case .deleted: self.lines.append("deleted")
      }
    }
  }
}

struct ReactingToChangesTests {
  @Test func aListFollowsWritesOfOthersAndItsOwn() throws {
    let shelter = try Shelter()
    let here = try shelter.open()
    let there = try shelter.open(cats: 6)
    let screen = ListScreen(here.realm)
    here.pump()
    #expect(screen.rows == ["cat 1", "cat 2", "cat 3", "cat 4", "cat 5"])
    try there.write {
      there.realm.delete(there.cat(2)!)
      there.cat(4)!.name = "Mia"
      there.realm.add(Cat(9, "Leo", age: 15))
    }
    here.pump()
    #expect(screen.rows == ["cat 1", "Leo", "cat 3", "Mia", "cat 5"])
    try screen.deleteRow(0)
    try screen.insert(Cat(10, "Kim", age: 45))
    here.pump()
    #expect(screen.rows == ["Leo", "cat 3", "Mia", "Kim", "cat 5"])
    try there.write { there.cat(5)!.age = 6 }
    here.pump()
    #expect(screen.rows == ["cat 5", "Leo", "cat 3", "Mia", "Kim"])
    #expect(screen.reloads == 1)
    #expect(screen.failure == nil)
  }

  @Test func anObjectIsFollowedUntilItsObserverHasEnough() throws {
    let shelter = try Shelter()
    let here = try shelter.open()
    let there = try shelter.open(cats: 2)
    here.realm.refresh()
    let counter = AgeCounter(here.cat(1)!)
    for age in [20, 2_000, 3_000] {
      try there.write { there.cat(1)!.age = age }
      here.pump()
    }
    #expect(
      counter.lines == [
        "'age' of cat 1 is now 20", "'age' of cat 1 is now 2000", "enough",
      ])
  }

  @Test func aWholeRealmIsFollowed() throws {
    let shelter = try Shelter()
    let here = try shelter.open()
    let there = try shelter.open(cats: 2)
    var redraws = 0
    let token = here.realm.observe { notification, realm in
      if notification == .didChange { redraws += realm.objects(Cat.self).count }
    }
    try there.add(5)
    here.pump()
    #expect(redraws == 3)
    token.invalidate()
    try there.add(6)
    here.pump()
    #expect(redraws == 3)
  }

  @Test func aWriteThatFailsIsCaughtAsAnErrorOfTheSystem() throws {
    let shelter = try Shelter()
    let here = try shelter.open()
    do {
      try here.realm.write { throw Realm.Error(.outOfDiskSpace, message: "no space") }
      Issue.record("written")
    } catch let error as NSError {
      #expect(error.code == Realm.Error.Code.outOfDiskSpace.rawValue)
      #expect(error.localizedDescription == "no space")
    }
  }
}
