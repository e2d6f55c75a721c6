import Foundation
import Tarn
import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// What counts as not sent, and who waits for it.
@MainActor @Suite struct UnsentTests {
  private let synced: SyncedApp
  private let user: User

  init() async throws {
    synced = try SyncedApp()
    user = try await synced.app.login(
      credentials: .emailPassword(email: synced.role, password: "…"))
  }

  private func report(_ realm: Realm) throws -> ReplicaReport {
    try #require(try ReplicaReport.of(realm.store))
  }

  private func count(_ name: String) throws -> Int {
    try Int(synced.server.value("SELECT count(*) FROM \"\(name)\"") ?? "") ?? -1
  }

  /// A Realm with objects that only go to the server, and with no other class.
  private func readings(_ name: String) -> Realm.Configuration {
    var configuration = user.flexibleSyncConfiguration()
    configuration.fileURL = URL(filePath: synced.folder.file(name))
    configuration.objectTypes = [Reading.self]
    return configuration
  }

  @Test func `objects that only go to the server are waited for`() async throws {
    let realm = try await Realm(configuration: readings("one"), downloadBeforeOpen: .always)
    let session = try #require(realm.syncSession)
    session.suspend()
    try realm.write {
      for number in 1...5 {
        realm.create(Reading.self, value: ["_id": "r\(number)", "value": number])
      }
    }
    #expect(try report(realm).unsentCommits == 1)
    #expect(try report(realm).unsentObjects == 5)
    #expect(try report(realm).classes == ["Reading"])
    let changes = try session.unsentChanges()
    #expect(changes.map(\.objectCount) == [5])
    #expect(changes.map(\.classNames) == [["Reading"]])
    #expect(try UnsentReport.of(realm.store)?.commits.map(\.objects.count) == [5])
    let newest = try realm.store.newestSnapshot().version
    #expect(try UnsentCount(realm.store)?.isNothing(upTo: newest) == false)
    var steps = session.progress(for: .upload, mode: .forCurrentlyOutstandingWork)
      .makeAsyncIterator()
    #expect(await steps.next()?.isTransferComplete == false)
    session.resume()
    try await session.wait(for: .upload)
    #expect(try count("Reading") == 5)
    #expect(try session.unsentChanges().isEmpty)
    #expect(await steps.next()?.isTransferComplete == true)
    #expect(try report(realm).unsentObjects == 0)
  }

  @Test(arguments: 1...5) func `a program that waits and ends has sent its objects`(
    number: Int
  ) async throws {
    do {
      let realm = try await Realm(configuration: readings("one"))
      try realm.write { realm.create(Reading.self, value: ["_id": "r\(number)", "value": 1]) }
      try await realm.syncSession?.wait(for: .upload)
      realm.syncSession?.suspend()
    }
    #expect(try count("Reading") == 1)
  }

  @Test func `a class that the file's session does not exchange is not sent`() async throws {
    let first = synced.configuration(user, "one")
    var small = first
    small.objectTypes = [Todo.self]
    let realm = try await Realm(configuration: small, downloadBeforeOpen: .always)
    let newest = try realm.store.newestSnapshot().version
    try await realm.syncSession?.wait(for: .upload)
    #expect(try UnsentCount(realm.store)?.isNothing(upTo: newest) == true)
    realm.syncSession?.suspend()
    // Another program's class.
    var options = Store.Options()
    options.classes = [
      ClassDefinition(
        name: "Remark",
        properties: [
          .init(name: "_id", type: .int, isPrimaryKey: true), .init(name: "text", type: .string),
        ])
    ]
    let store = try StoreRegistry.open(#require(first.fileURL).path, options)
    let id = try #require(store.newestSnapshot().schema.schema.named("Remark")?.id)
    try store.writeInTurn { try $0.create([ColumnID(0): .int(1)], in: id) }
    let version = try realm.store.newestSnapshot().version
    #expect(try UnsentCount(realm.store)?.isNothing(upTo: version) == true)
    let expecting = try UnsentCount(realm.store, expecting: ["Todo", "Remark"])
    #expect(try expecting?.isNothing(upTo: version) == false)
  }

  @Test func `an object that was created and deleted is of no concern`() async throws {
    let realm = try await Realm(
      configuration: synced.configuration(user, "one"), downloadBeforeOpen: .always)
    realm.syncSession?.suspend()
    try realm.write { realm.create(Todo.self, value: ["_id": "d", "owner": "frodo"]) }
    try realm.write { realm.deleteAll() }
    realm.syncSession?.resume()
    try await realm.syncSession?.wait(for: .upload)
    #expect(try synced.todos() == [])
  }

  @Test func `the session's own commits do not count`() async throws {
    for number in 1...3 { try synced.insert("t\(number)") }
    let realm = try await Realm(
      configuration: synced.configuration(user, "one"), downloadBeforeOpen: .always)
    let session = try #require(realm.syncSession)
    try synced.insert("t4")
    try await session.wait(for: .download)
    session.suspend()
    try await yieldUntil { session.connectionState == .disconnected }
    try realm.write { realm.objects(Todo.self).first?.priority = 1 }
    try realm.write { realm.create(Todo.self, value: ["_id": "d", "owner": "frodo"]) }
    #expect(try report(realm).unsentCommits == 2)
    #expect(try report(realm).unsentObjects == 2)
  }

  @Test func `commits after a migration count`() async throws {
    let realm = try await Realm(
      configuration: synced.configuration(user, "one"), downloadBeforeOpen: .always)
    realm.syncSession?.suspend()
    try await yieldUntil { realm.syncSession?.connectionState == .disconnected }
    try await realm.syncSession?.wait(for: .upload)
    // Another program's class makes the schema another one.
    var options = Store.Options()
    options.classes = [
      ClassDefinition(name: "Extra", properties: [.init(name: "text", type: .string)])
    ]
    let store = try StoreRegistry.open(#require(realm.configuration.fileURL).path, options)
    try realm.write { realm.create(Todo.self, value: ["_id": "d", "owner": "frodo"]) }
    let newest = try store.newestSnapshot().version
    #expect(try UnsentCount(store)?.isNothing(upTo: newest) == false)
  }

  @Test func `objects from before the first exchange count`() async throws {
    let configuration = synced.configuration(user, "one")
    do {
      let local = try Realm(
        configuration: Realm.Configuration(
          fileURL: configuration.fileURL, objectTypes: [Todo.self]), queue: nil)
      try local.write {
        for id in ["a", "b"] { local.create(Todo.self, value: ["_id": id, "owner": "frodo"]) }
      }
      let replica = try Replica(local.store, classes: ["Todo"])
      #expect(try report(local).lackingObjects == 2)
      #expect(try report(local).unsentObjects == 2)
      let listed = try UnsentReport.of(local.store)?.joined ?? []
      #expect(listed.map(\.className) == ["Todo"])
      #expect(listed.map(\.count) == [2])
      #expect(listed.map(\.isJoined) == [false])
      let version = try local.store.newestSnapshot().version
      #expect(try UnsentCount(local.store)?.isNothing(upTo: version) == false)
      replica.close()
    }
    let realm = try await Realm(configuration: configuration)
    try await realm.syncSession?.wait(for: .upload)
    #expect(try synced.todos() == ["a", "b"])
    #expect(try report(realm).unsentObjects == 0)
    #expect(try realm.syncSession?.unsentChanges().isEmpty == true)
  }

  @Test func `a wait ends with the error of objects that the server refuses`() async throws {
    try synced.server.rows("ALTER TABLE \"Todo\" ADD CHECK (_id <> 'bad')")
    let configuration = synced.configuration(user, "one")
    do {
      let local = try Realm(
        configuration: Realm.Configuration(
          fileURL: configuration.fileURL, objectTypes: [Todo.self]), queue: nil)
      try local.write {
        for id in ["bad", "good"] {
          local.create(Todo.self, value: ["_id": id, "owner": "frodo"])
        }
      }
    }
    let realm = try await Realm(configuration: configuration)
    let session = try #require(realm.syncSession)
    let error = await #expect(throws: SyncError.self) { try await session.wait(for: .upload) }
    #expect(error?.code == .writeRejected)
    #expect(error?.sqlState == "23514")
    #expect(error?.message.contains("objects of Todo from before the first exchange") == true)
    #expect(try synced.todos() == ["good"])
    // They can be skipped, or mended.
    for change in try session.unsentChanges() { try session.skip(change) }
    try realm.write { realm.create(Todo.self, value: ["_id": "next", "owner": "frodo"]) }
    try await session.wait(for: .upload)
    #expect(try synced.todos() == ["good", "next"])
    try await yieldUntil {
      realm.refresh()
      return realm.objects(Todo.self).count == 2
    }
  }

  @Test func `a wait ends with the error of a stuck class, when the others are sent`() async throws
  {
    let realm = try await Realm(
      configuration: synced.configuration(user, "one"), downloadBeforeOpen: .always)
    let session = try #require(realm.syncSession)
    try synced.server.run(
      """
      CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql
        AS 'BEGIN PERFORM nothing_like_that(); RETURN NEW; END';
      CREATE TRIGGER fail BEFORE INSERT ON "Todo" FOR EACH ROW EXECUTE FUNCTION fail()
      """, for: "test")
    try realm.write {
      realm.create(Todo.self, value: ["_id": "a", "owner": "frodo"])
      realm.create(Reading.self, value: ["_id": "r", "value": 1])
    }
    let error = await #expect(throws: SyncError.self) { try await session.wait(for: .upload) }
    #expect(error?.sqlState == "42883")
    #expect(error?.message.contains("send the changes of Todo") == true)
    #expect(try count("Reading") == 1)
    // What was mended is tried at once.
    try synced.server.rows("DROP TRIGGER fail ON \"Todo\"")
    try await session.wait(for: .upload)
    #expect(try synced.todos() == ["a"])
  }

  @Test func `progress does not go back, and ends before the wait does`() async throws {
    let realm = try await Realm(
      configuration: synced.configuration(user, "one"), downloadBeforeOpen: .always)
    let session = try #require(realm.syncSession)
    let told = Lock([Double]())
    let token = session.addProgressNotification(for: .upload, mode: .reportIndefinitely) {
      progress in told.withLock { $0.append(progress.progressEstimate) }
    }
    for round in 0..<20 {
      for number in 0..<10 {
        try realm.write {
          realm.create(Todo.self, value: ["_id": "\(round) \(number)", "owner": "frodo"])
        }
      }
      try await session.wait(for: .upload)
      let shares = told.withLock { shares in
        defer { shares = [] }
        return shares
      }
      // What is new begins anew, where the former work was done.
      let works = shares.split(separator: 1)
      #expect(works.allSatisfy { $0.elementsEqual($0.sorted()) }, "\(shares)")
      // Also if its transfer is too short to be seen.
      #expect(shares.last == 1, "\(round): \(shares)")
    }
    let once = Lock([Double]())
    let other = session.addProgressNotification(for: .upload, mode: .forCurrentlyOutstandingWork) {
      progress in once.withLock { $0.append(progress.progressEstimate) }
    }
    try await session.wait(for: .upload)
    #expect(once.withLock { $0 } == [1])
    withExtendedLifetime((token, other)) {}
  }

  @Test func `each download is reported, before the wait ends`() async throws {
    let realm = try await Realm(
      configuration: synced.configuration(user, "one"), downloadBeforeOpen: .always)
    let session = try #require(realm.syncSession)
    let told = Lock([Double]())
    let token = session.addProgressNotification(for: .download, mode: .reportIndefinitely) {
      progress in told.withLock { $0.append(progress.progressEstimate) }
    }
    try await session.wait(for: .download)
    for number in 0..<5 {
      told.withLock { $0 = [] }
      try synced.insert("\(number)")
      try await session.wait(for: .download)
      #expect(told.withLock { $0.last } == 1)
    }
    withExtendedLifetime(token) {}
  }

  @Test func `a wait with a completion handler calls it on its queue`() async throws {
    let realm = try await Realm(
      configuration: synced.configuration(user, "one"), downloadBeforeOpen: .always)
    let session = try #require(realm.syncSession)
    try realm.write { realm.create(Todo.self, value: ["_id": "a", "owner": "frodo"]) }
    let queue = DispatchQueue(label: "waits")
    let error: (any Error)? = await withCheckedContinuation { continuation in
      session.wait(for: .upload, queue: queue) { error in
        dispatchPrecondition(condition: .onQueue(queue))
        continuation.resume(returning: error)
      }
    }
    #expect(error == nil)
    #expect(try synced.todos() == ["a"])
    try await user.logOut()
    let failure: (any Error)? = await withCheckedContinuation { continuation in
      session.wait(for: .download) { continuation.resume(returning: $0) }
    }
    #expect((failure as? SyncError)?.code == .clientUserError)
  }
}
