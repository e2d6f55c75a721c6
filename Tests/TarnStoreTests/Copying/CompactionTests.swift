import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite struct CompactionTests {
  private let folder = TemporaryStore()

  @Test func `a compacted file is the same store`() throws {
    let (entries, number): ([[UInt8]: [UInt8]], UInt64) = try {
      let original = try CopiedStores(folder, objects: 3_000)
      original.cursor.release()
      return (
        try original.store.entries(), original.store.environment.newestTransactionIDHint
      )
    }()
    let identity = FileFacts.at(folder.path)?.identity
    let sizes = try #require(try StoreRegistry.compact(folder.path))
    #expect(sizes.byteCount < sizes.byteCountBefore)
    #expect(FileFacts.at(folder.path)?.byteCount == Int64(sizes.byteCount))
    #expect(FileFacts.at(folder.path)?.identity != identity)
    #expect(folder.folder.names == ["test.realm", "test.realm-lock", "test.realm-signal"])
    let store = try folder.open(CopiedStores.classes)
    #expect(try store.entries() == entries)
    #expect(store.environment.newestTransactionIDHint == number)
    let cursor = try store.openCursor(CursorRequest("indexer"))
    #expect(try cursor.state(in: store.newestSnapshot()).reason == nil)
    try CopiedStores.add(30, store)
    #expect(store.environment.newestTransactionIDHint > number)
    #expect(try store.environment.verifyPages().problems == [])
    cursor.release()
  }

  @Test func `a file that this process has open is refused`() throws {
    let original = try CopiedStores(folder)
    #expect(StorageError.code { _ = try StoreRegistry.compact(folder.path) } == .alreadyOpen)
    original.cursor.release()
  }

  /// A thread that waits for commits has the signal file a little longer.
  @Test func `a store that has just ended is waited for`() throws {
    var signal: SignalFile? = try folder.open().signal
    let soon = Deadline(after: .milliseconds(20))
    #expect(
      StorageError.code { _ = try StoreRegistry.compact(folder.path, deadline: soon) } == .busy)
    withExtendedLifetime(signal) {}
    signal = nil
    #expect(try StoreRegistry.compact(folder.path) != nil)
    _ = try folder.open()
  }

  @Test func `a file that is not worth it, has two names, or is missing stays`() throws {
    _ = try folder.open()
    let identity = FileFacts.at(folder.path)?.identity
    var asked: [Int] = []
    let sizes = try StoreRegistry.compact(
      folder.path,
      if: { total, used in
        asked = [total, used]
        return false
      })
    #expect(sizes == nil)
    #expect(asked == [3 * 4096, 3 * 4096])
    #expect(link(folder.path, folder.folder.file("other.realm")) == 0)
    #expect(StorageError.code { _ = try StoreRegistry.compact(folder.path) } == .invalidInput)
    #expect(FileFacts.at(folder.path)?.identity == identity)
    let missing = folder.folder.file("missing.realm")
    #expect(StorageError.code { _ = try StoreRegistry.compact(missing) } == .notFound)
    #expect(!FileManager.default.fileExists(atPath: missing))
  }

  @Test func `a damaged file is not replaced`() throws {
    try CopiedStores(folder).cursor.release()
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.path)))
    for page in 2..<bytes.count / 4096 where bytes[page * 4096 + 10] == 2 {
      bytes[page * 4096 + 12] ^= 0x40
    }
    try Data(bytes).write(to: URL(fileURLWithPath: folder.path))
    #expect(StorageError.code { _ = try StoreRegistry.compact(folder.path) } == .corrupted)
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path)) == Data(bytes))
  }
}
