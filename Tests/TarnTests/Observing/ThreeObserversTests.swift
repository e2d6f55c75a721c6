import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Three observers of one query with four rows. The second one has rows deleted from its first call
/// on, one after the other, until none is left. Every round of calls follows
/// the rules that are seen here.
struct ThreeObserversTests {
  /// B deletes by itself. Its begins tell of the deletion before, and a later turn of the last one.
  /// C has its first call in the first begin, before anything is deleted.
  @Test func oneOfThemDeletes() throws {
    let a = try Shelter().open(cats: 4)
    let told = Self.told(a) { try Self.deleteLast(a.realm) }
    #expect(
      told == ["A initial 4", "B initial 4", "C initial 4 in a begin"]
        + ["A -[3] in a begin", "B -[3] in a begin", "C -[3] in a begin"]
        + ["A -[2] in a begin", "B -[2] in a begin", "C -[2] in a begin"]
        + ["A -[1] in a begin", "B -[1] in a begin", "C -[1] in a begin"]
        + ["A -[0]", "B -[0]", "C -[0]"])
  }

  /// Somebody else deletes, and the begin that follows tells of it. When C has its first call, the
  /// first row has gone already.
  private static let toldOfOthers =
    ["A initial 4", "B initial 4"]
    + ["A -[3] in a begin", "B -[3] in a begin", "C initial 3 in a begin"]
    + ["A -[2] in a begin", "B -[2] in a begin", "C -[2] in a begin"]
    + ["A -[1] in a begin", "B -[1] in a begin", "C -[1] in a begin"]
    + ["A -[0] in a begin", "B -[0] in a begin", "C -[0] in a begin"]

  @Test func anotherThreadDeletes() throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 4)
    let told = Self.told(a) {
      Self.deleteOnAThread(shelter.configuration)
      Self.beginAndCancel(a.realm)
    }
    #expect(told == Self.toldOfOthers)
  }

  @Test func anotherProcessDeletes() async throws {
    let shelter = try Shelter()
    _ = try shelter.open(cats: 4)
    let folder = shelter.folder
    let (observersSaid, writerSaid) = (KeptErrors(in: folder), KeptErrors(in: folder))
    async let observers = #expect(processExitsWith: .success) {
      [folder = folder as String, said = observersSaid as KeptErrors] in
      said.keep()
      let (a, other) = (try Instance(catsIn: folder), try Instance(catsIn: folder))
      let told = ThreeObserversTests.told(a) {
        let count = a.cats.count
        try Data().write(to: URL(fileURLWithPath: folder + "/delete \(count)"))
        precondition(waitUntil { other.realm.refresh() && other.cats.count < count })
        ThreeObserversTests.beginAndCancel(a.realm)
      }
      precondition(told == ThreeObserversTests.toldOfOthers, "\(told)")
    }
    async let writer = #expect(processExitsWith: .success) {
      [folder = folder as String, said = writerSaid as KeptErrors] in
      said.keep()
      let realm = try Instance(catsIn: folder).realm
      for count in (1...4).reversed() {
        let order = folder + "/delete \(count)"
        precondition(waitUntil { FileManager.default.fileExists(atPath: order) })
        try ThreeObserversTests.deleteLast(realm)
      }
    }
    observersSaid.tell(await observers)
    writerSaid.tell(await writer)
  }

  /// Another thread deletes a row and B the next one: those who were called before are told of both
  /// in one call.
  @Test func anotherThreadAndOneOfThemDelete() throws {
    let shelter = try Shelter()
    let a = try shelter.open(cats: 4)
    let told = Self.told(a) {
      Self.deleteOnAThread(shelter.configuration)
      try Self.deleteLast(a.realm)
    }
    #expect(
      told == ["A initial 4", "B initial 4"]
        + ["A -[3] in a begin", "B -[3] in a begin", "C initial 3 in a begin"]
        + ["A -[1, 2] in a begin", "B -[1, 2] in a begin", "C -[1, 2] in a begin"]
        + ["A -[0]", "B -[0]", "C -[0]"])
  }

  // MARK: - The three

  /// What they are told, in the order of the calls.
  static func told(_ instance: Instance, _ delete: @escaping () throws -> Void) -> [String] {
    let cats = instance.cats.where { $0.age >= 0 }
    var calls: [String] = []
    func observe(_ name: String, _ react: @escaping () -> Void = {}) -> NotificationToken {
      cats.observe { change in
        let instance = instance.realm.isInWriteTransaction ? " in a begin" : ""
        switch change {
        case .initial(let cats): calls.append("\(name) initial \(cats.count)\(instance)")
        case .update(_, let deletions, let insertions, let modifications):
          let others = insertions + modifications
          calls.append("\(name) -\(deletions)\(others.isEmpty ? "" : " and \(others)")\(instance)")
        case .error(let error): calls.append("\(name) \(error)")
        }
        react()
      }
    }
    let tokens = [
      observe("A"),
      observe("B") {
        // In a begin of its own it leaves the write alone.
        guard !instance.realm.isInWriteTransaction else { return }
        while !cats.isEmpty { try! delete() }
      },
      observe("C"),
    ]
    instance.pump()
    for token in tokens { token.invalidate() }
    return calls
  }

  static func deleteLast(_ realm: Realm) throws {
    realm.beginWrite()
    if let last = realm.objects(Cat.self).last { realm.delete(last) }
    try realm.commitWrite()
  }

  /// Shows what others have deleted.
  static func beginAndCancel(_ realm: Realm) {
    realm.beginWrite()
    realm.cancelWrite()
  }

  private static func deleteOnAThread(_ configuration: Realm.Configuration) {
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      try! deleteLast(Realm(configuration: configuration))
      done.signal()
    }
    done.wait()
  }
}
