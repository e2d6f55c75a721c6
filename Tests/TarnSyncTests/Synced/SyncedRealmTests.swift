import Foundation
import Tarn
import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// Realms that are the same as a server's objects.
@MainActor @Suite struct SyncedRealmTests {
  private let synced: SyncedApp
  private let user: User

  init() async throws {
    synced = try SyncedApp()
    user = try await synced.app.login(
      credentials: .emailPassword(email: synced.role, password: "…"))
  }

  private func todos(_ realm: Realm) -> [String] {
    realm.objects(Todo.self).map(\._id).sorted()
  }

  @Test func `an opening waits for the objects of the subscriptions`() async throws {
    for (id, owner) in [("a", "frodo"), ("b", "sam"), ("c", "frodo")] {
      try synced.insert(id, owner: owner)
    }
    let realm = try await Realm(
      configuration: synced.configuration(user, "one"), actor: MainActor.shared,
      downloadBeforeOpen: .always)
    #expect(todos(realm) == ["a", "c"])
    #expect(realm.syncSession?.connectionState == .connected)
    guard case .complete = realm.subscriptions.state else {
      Issue.record("\(realm.subscriptions.state)")
      return
    }
    try realm.write {
      realm.create(Todo.self, value: ["_id": "d", "owner": "frodo", "priority": 3])
    }
    try await realm.syncSession?.wait(for: .upload)
    #expect(try synced.todos() == ["a", "b", "c", "d"])
    try synced.insert("e")
    try await realm.syncSession?.wait(for: .download)
    #expect(todos(realm) == ["a", "c", "d", "e"])
    // Complete once, and no session needed.
    realm.syncSession?.suspend()
    #expect(realm.syncSession?.state == .inactive)
    let again = try await Realm(
      configuration: synced.configuration(user, "one"), downloadBeforeOpen: .once)
    #expect(todos(again).count == 4)
  }

  @Test func `subscriptions are changed, and say when they are met`() async throws {
    for (id, owner) in [("a", "frodo"), ("b", "sam"), ("c", "pippin")] {
      try synced.insert(id, owner: owner)
    }
    let realm = try await Realm(
      configuration: synced.configuration(user, "one"), downloadBeforeOpen: .always)
    let subscriptions = realm.subscriptions
    #expect(subscriptions.count == 1)
    #expect(subscriptions.first(named: "mine")?.name == "mine")
    #expect(subscriptions.first(ofType: Todo.self) { $0.owner == "frodo" }?.name == "mine")
    #expect(subscriptions.first(ofType: Todo.self, where: "owner == %@", "frodo")?.name == "mine")
    #expect(subscriptions.first(ofType: Todo.self) == nil)
    try await subscriptions.update {
      subscriptions.append(QuerySubscription<Todo>(name: "sam's", where: "owner = %@", "sam"))
    }
    #expect(todos(realm) == ["a", "b"])
    let former = realm.subscriptions
    try await subscriptions.update {
      subscriptions.first(named: "mine")?.updateQuery(toType: Todo.self) { $0.owner == "pippin" }
      subscriptions.remove(named: "sam's")
    }
    #expect(todos(realm) == ["c"])
    guard case .superseded = former.state else {
      Issue.record("\(former.state)")
      return
    }
    #expect(subscriptions.map(\.name) == ["mine"])
    let results = try await realm.objects(Todo.self).where { $0.owner == "sam" }
      .subscribe(name: "again")
    #expect(results.map(\._id) == ["b"])
    #expect(realm.subscriptions.count == 2)
    results.unsubscribe()
    try await realm.syncSession?.wait(for: .download)
    #expect(todos(realm) == ["c"])
    #expect(try synced.todos() == ["a", "b", "c"])
  }

  @Test func `a write without a subscription is refused`() async throws {
    let realm = try await Realm(configuration: synced.configuration(user, "one"))
    let error = #expect(throws: Realm.Error.self) {
      try realm.write { realm.create(Remark.self, value: ["_id": 1, "text": "x"]) }
    }
    #expect(error?.code == .noSubscriptionForWrite)
    #expect(error?.message.contains("Remark") == true)
    #expect(realm.objects(Remark.self).isEmpty)
    try realm.write { realm.create(Todo.self, value: ["_id": "d", "owner": "frodo"]) }
    let long = String(repeating: "k", count: 2_601)
    let tooLong = #expect(throws: Realm.Error.self) {
      try realm.write { realm.create(Todo.self, value: ["_id": long, "owner": "frodo"]) }
    }
    #expect(tooLong?.message.contains("2601 bytes") == true)
    #expect(todos(realm) == ["d"])
  }

  @Test func `a query that the server cannot answer is an error`() async throws {
    let realm = try await Realm(
      configuration: synced.configuration(user, "one"), downloadBeforeOpen: .always)
    try synced.server.rows("ALTER TABLE \"Todo\" DROP COLUMN priority")
    let subscriptions = realm.subscriptions
    let error = await #expect(throws: SyncError.self) {
      try await subscriptions.update {
        subscriptions.append(QuerySubscription<Todo>(name: "high") { $0.priority > 3 })
      }
    }
    #expect(error?.code == .invalidFlexibleSyncSubscriptions)
    guard case .error = subscriptions.state else {
      Issue.record("\(subscriptions.state)")
      return
    }
  }

  @Test func `a refused write is told and taken back`() async throws {
    try synced.server.rows("ALTER TABLE \"Todo\" ADD CHECK (priority < 10)")
    let told = Lock([SyncError]())
    synced.app.syncManager.errorHandler = { error, session in
      if let error = error as? SyncError, session != nil { told.withLock { $0.append(error) } }
    }
    let realm = try await Realm(
      configuration: synced.configuration(user, "one"), downloadBeforeOpen: .always)
    try realm.write {
      realm.create(Todo.self, value: ["_id": "d", "owner": "frodo", "priority": 30])
    }
    try await realm.syncSession?.wait(for: .upload)
    try await yieldUntil { told.withLock { $0.count } == 1 }
    let error = try #require(told.withLock { $0.first })
    #expect(error.code == .writeRejected)
    #expect(error.sqlState == "23514")
    #expect(error.propertyNames == ["priority"])
    #expect(error.compensatingWriteInfo?.map(\.objectType) == ["Todo"])
    #expect(error.compensatingWriteInfo?.first?.primaryKey.stringValue == "d")
    await realm.asyncRefresh()
    #expect(todos(realm) == [])
  }

  @Test func `a logged out user's file stays, and is sent after the next login`() async throws {
    let realm = try await Realm(
      configuration: synced.configuration(user, "one"), downloadBeforeOpen: .always)
    try await user.logOut()
    #expect(realm.syncSession?.state == .inactive)
    try realm.write { realm.create(Todo.self, value: ["_id": "d", "owner": "frodo"]) }
    #expect(try synced.todos() == [])
    try await synced.app.login(credentials: .emailPassword(email: synced.role, password: "…"))
    try await realm.syncSession?.wait(for: .upload)
    #expect(try synced.todos() == ["d"])
  }

  @Test func `asyncOpen waits for the objects`() async throws {
    try synced.insert("a")
    let configuration = synced.configuration(user, "one")
    let count: Int = try await withCheckedThrowingContinuation { continuation in
      Realm.asyncOpen(configuration: configuration) { result in
        continuation.resume(with: result.map { $0.objects(Todo.self).count })
      }
    }
    #expect(count == 1)
  }

  @Test func `the session of a file ends with its last Realm`() async throws {
    let configuration = synced.configuration(user, "one")
    weak var session: SyncSession?
    do {
      let realm = try await Realm(configuration: configuration, downloadBeforeOpen: .always)
      session = realm.syncSession
      #expect(session != nil)
    }
    try await yieldUntil { session == nil }
  }

  @Test func `subscriptions are made again by each opening if asked`() async throws {
    try synced.insert("a", owner: "sam")
    weak var session: SyncSession?
    do {
      let realm = try await Realm(
        configuration: synced.configuration(user, "one"), downloadBeforeOpen: .always)
      session = realm.syncSession
      #expect(todos(realm) == [])
    }
    try await yieldUntil { session == nil }
    let realm = try await Realm(
      configuration: synced.configuration(user, "one", owner: "sam", rerunOnOpen: true),
      downloadBeforeOpen: .always)
    #expect(todos(realm) == ["a"])
  }

  @Test func `the connection's state is followed`() async throws {
    let realm = try await Realm(
      configuration: synced.configuration(user, "one"), downloadBeforeOpen: .always)
    let session = try #require(realm.syncSession)
    var states = session.connectionStates.makeAsyncIterator()
    #expect(await states.next() == .connected)
    session.suspend()
    #expect(await states.next() == .disconnected)
    session.resume()
    while let state = await states.next(), state != .connected {}
    #expect(session.connectionState == .connected)
  }

  @Test func `progress ends at one, in both directions`() async throws {
    try synced.server.rows(
      "INSERT INTO \"Todo\" (_id, owner) SELECT n, 'frodo' FROM generate_series(1, 3000) n")
    let realm = try await Realm(configuration: synced.configuration(user, "one"))
    let session = try #require(realm.syncSession)
    var shares: [Double] = []
    for await step in session.progress(for: .download, mode: .forCurrentlyOutstandingWork) {
      shares.append(step.progressEstimate)
    }
    #expect(shares.last == 1)
    #expect(shares == shares.sorted())
    await realm.asyncRefresh()
    #expect(realm.objects(Todo.self).count == 3_000)
    try realm.write { realm.create(Todo.self, value: ["_id": "d", "owner": "frodo"]) }
    let told = Lock([Double]())
    let token = session.addProgressNotification(for: .upload, mode: .forCurrentlyOutstandingWork) {
      progress in told.withLock { $0.append(progress.progressEstimate) }
    }
    try await yieldUntil { told.withLock { $0.last } == 1 }
    withExtendedLifetime(token) {}
    #expect(try synced.todos().count == 3_001)
  }

  @Test func `the rules for writes outlive a session that another one was faster than`()
    async throws
  {
    let configuration = synced.configuration(user, "one")
    let realm = try await Realm(configuration: configuration)
    let session = try #require(realm.syncSession)
    do {
      let synchronized = try #require(configuration.syncConfiguration)
      let late = try SyncSession(session.store, ["Todo", "Remark"], synchronized, configuration)
      #expect(late.number != session.number)
    }
    #expect(throws: Realm.Error.self) {
      try realm.write { realm.create(Remark.self, value: ["_id": 1, "text": "x"]) }
    }
  }

  @Test func `a file belongs to one user`() async throws {
    let realm = try await Realm(configuration: synced.configuration(user, "one"))
    let role = try synced.database.makeClient()
    let other = try await synced.app.login(
      credentials: .emailPassword(email: role, password: "…"))
    let error = await #expect(throws: Realm.Error.self) {
      _ = try await Realm.open(
        configuration: synced.configuration(other, "one"), downloadBeforeOpen: .once)
    }
    #expect(error?.code == .alreadyOpen)
    #expect(error?.message.contains(user.id) == true)
    withExtendedLifetime(realm) {}
  }

  // MARK: - Resets

  /// A Realm with an unsent change of todo "a" and an unsent todo "d", whose server was restored.
  private func restored(_ mode: ClientResetMode) async throws -> Realm {
    try synced.insert("a")
    var configuration = user.flexibleSyncConfiguration(
      clientResetMode: mode,
      initialSubscriptions: { $0.append(QuerySubscription<Todo>(name: "all")) })
    configuration.fileURL = URL(filePath: synced.folder.file("one"))
    configuration.objectTypes = [Todo.self, Remark.self]
    let realm = try await Realm(configuration: configuration, downloadBeforeOpen: .always)
    let session = try #require(realm.syncSession)
    session.suspend()
    try await yieldUntil { session.connectionState == .disconnected }
    try realm.write {
      realm.object(ofType: Todo.self, forPrimaryKey: "a")?.priority = 5
      realm.create(Todo.self, value: ["_id": "d", "owner": "frodo"])
    }
    try synced.insert("b")
    _ = try ServerRepair(synced.server).restore()
    return realm
  }

  @Test func `a reset keeps unsent changes`() async throws {
    let told = Lock([[String]]())
    let realm = try await restored(
      .recoverUnsyncedChanges(
        beforeReset: { past in
          told.withLock { $0.append(past.objects(Todo.self).map(\._id).sorted()) }
        },
        afterReset: { past, now in
          let both = [past.objects(Todo.self).count, now.objects(Todo.self).count]
          told.withLock { $0.append(both.map(String.init)) }
        }))
    realm.syncSession?.resume()
    try await realm.syncSession?.wait(for: .download)
    try await realm.syncSession?.wait(for: .upload)
    #expect(todos(realm) == ["a", "b", "d"])
    #expect(try synced.todos() == ["a", "b", "d"])
    #expect(realm.object(ofType: Todo.self, forPrimaryKey: "a")?.priority == 5)
    #expect(told.withLock { $0 } == [["a", "d"], ["2", "3"]])
  }

  @Test func `a reset discards unsent changes if asked`() async throws {
    let realm = try await restored(.discardUnsyncedChanges())
    realm.syncSession?.resume()
    try await realm.syncSession?.wait(for: .download)
    try await realm.syncSession?.wait(for: .upload)
    await realm.asyncRefresh()
    #expect(todos(realm) == ["a", "b"])
    #expect(try synced.todos() == ["a", "b"])
    #expect(realm.object(ofType: Todo.self, forPrimaryKey: "a")?.priority == nil)
    // It goes on from there.
    try realm.write { realm.create(Todo.self, value: ["_id": "e", "owner": "frodo"]) }
    try await realm.syncSession?.wait(for: .upload)
    #expect(try synced.todos() == ["a", "b", "e"])
  }

  @Test func `a manual reset continues when it is told to, after a copy`() async throws {
    let told = Lock([SyncError]())
    let realm = try await restored(
      .manual { error, _ in
        if let error = error as? SyncError { told.withLock { $0.append(error) } }
      })
    let session = try #require(realm.syncSession)
    session.resume()
    try await yieldUntil { told.withLock { !$0.isEmpty } }
    let (taken, first) = try #require(told.withLock { $0[0] }.clientResetInfo())
    // A copy that cannot be made discards nothing.
    try Data("other".utf8).write(to: URL(filePath: taken))
    SyncSession.immediatelyHandleError(first, syncManager: synced.app.syncManager)
    let again = try #require(told.withLock { $0.first { $0.message.contains("copy the file") } })
    #expect(again.code == .clientResetError)
    await #expect(throws: SyncError.self) { try await session.wait(for: .download) }
    #expect(todos(realm) == ["a", "d"])
    let (path, token) = try #require(again.clientResetInfo())
    SyncSession.immediatelyHandleError(token, syncManager: synced.app.syncManager)
    try await session.wait(for: .download)
    try await session.wait(for: .upload)
    await realm.asyncRefresh()
    #expect(todos(realm) == ["a", "b"])
    #expect(try synced.todos() == ["a", "b"])
    let copy = try Realm(
      configuration: Realm.Configuration(
        fileURL: URL(filePath: path), readOnly: true, objectTypes: [Todo.self, Remark.self]),
      queue: nil)
    #expect(todos(copy) == ["a", "d"])
    #expect(copy.object(ofType: Todo.self, forPrimaryKey: "a")?.priority == 5)
    // The next reset waits again.
    session.suspend()
    try await yieldUntil { session.connectionState == .disconnected }
    _ = try ServerRepair(synced.server).restore()
    told.withLock { $0 = [] }
    session.resume()
    try await yieldUntil { told.withLock { $0.last?.code == .clientResetError } }
    let late = SyncError(.clientSessionError, ServerError("exchange", "the server is away"))
    #expect(late.clientResetInfo() == nil)
  }

  @Test func `a manual reset waits and says so`() async throws {
    let told = Lock([SyncError]())
    let realm = try await restored(
      .manual { error, _ in
        if let error = error as? SyncError { told.withLock { $0.append(error) } }
      })
    realm.syncSession?.resume()
    try await yieldUntil { told.withLock { !$0.isEmpty } }
    #expect(told.withLock { $0[0].code } == .clientResetError)
    #expect(todos(realm) == ["a", "d"])
    #expect(try synced.todos() == ["a", "b"])
  }
}
