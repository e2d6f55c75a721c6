import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// What commits wait for.
@Suite struct DurabilityTests {
  private let folder = TemporaryFolder()
  private var path: String { folder.file("test.realm") }

  private func open(
    _ durability: EnvironmentOptions.Durability, readOnly: Bool = false
  ) throws -> Store {
    var options = Store.Options()
    options.durability = durability
    options.isReadOnly = readOnly
    return try StoreRegistry.open(path, options)
  }

  /// The flags of LMDB that say what a commit waits for.
  private func flags(_ store: Store) throws -> UInt32 {
    typealias Get = @convention(c) (OpaquePointer, UnsafeMutablePointer<UInt32>) -> Int32
    let symbol = unsafe try #require(dlsym(nil, "mdb_env_get_flags"))
    let get = unsafe unsafeBitCast(symbol, to: Get.self)
    var flags: UInt32 = 0
    let engine = store.environment.state.withLock { $0.engine }
    #expect(unsafe get(engine.handle.raw, &flags) == 0)
    return flags & (noSync | noHeaderSync)
  }
  private let noSync: UInt32 = 0x10000
  private let noHeaderSync: UInt32 = 0x40000

  private func commit(_ store: Store) throws -> HeadRecord {
    try store.write { _ in }
    return try store.newestSnapshot().head
  }

  @Test func `a full commit is on the disk, and a consistent one with the next one`() throws {
    let store = try open(.consistent)
    #expect(try !commit(store).isOnDisk)
    #expect(try flags(store) == noHeaderSync)
    #expect(store.isDurable)
    // From another process it would be the same.
    _ = try open(.full)
    #expect(store.durability == .full)
    #expect(try commit(store).isOnDisk)
    #expect(try flags(store) == 0)
    // The process goes on as the more demanding opener needs it.
    _ = try open(.consistent)
    #expect(try commit(store).isOnDisk)
  }

  @Test func `a relaxed file stays relaxed, whatever an opener asks for`() throws {
    let made = try open(.relaxed)
    #expect(try !commit(made).isOnDisk)
    #expect(try flags(made) == noSync)
    for level in [EnvironmentOptions.Durability.full, .consistent] {
      let store = try open(level)
      #expect(store.durability == .relaxed)
      #expect(try !commit(store).isOnDisk)
      #expect(try flags(store) == noSync)
    }
  }

  @Test(arguments: [EnvironmentOptions.Durability.full, .consistent])
  func `a file whose commits are synced is not opened without that`(
    _ level: EnvironmentOptions.Durability
  ) throws {
    do { _ = try commit(open(level)) }
    let error = #expect(throws: StorageError.self) { try open(.relaxed) }
    #expect(error?.code == .invalidInput)
    #expect(try open(.relaxed, readOnly: true).newestSnapshot().version == Version(1))
    #expect(try open(.consistent).newestSnapshot().head.durability == 0)
  }

  @Test(arguments: [EnvironmentOptions.Durability.full, .consistent, .relaxed])
  func `a flush leaves the version as it is`(_ level: EnvironmentOptions.Durability) throws {
    let store = try open(level)
    let head = try commit(store)
    try store.flush()
    try store.settle(store.newestSnapshot(), unlessRelaxed: false)
    #expect(try store.newestSnapshot().head == head)
    try store.resumeWriting()
    #expect(try commit(store).version == Version(2))
  }

  /// A relaxed commit that comes during the sync could be on the disk in part.
  @Test func `a flush of a relaxed file waits for the writer`() throws {
    let store = try open(.relaxed)
    let token = try store.acquireGate()
    let done = DispatchSemaphore(value: 0)
    DispatchQueue.global().async {
      #expect(throws: Never.self) { try store.flush() }
      done.signal()
    }
    while unsafe store.signal.base.load(
      fromByteOffset: SignalLayout.waitingAt, as: UInt32.self) == 0
    { sched_yield() }
    #expect(done.wait(timeout: .now()) == .timedOut)
    token.release()
    done.wait()
  }
}
