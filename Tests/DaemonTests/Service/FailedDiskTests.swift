import Foundation
import TestSupport
import Testing
import ToolSupport

@testable import TarnDaemon
@testable import TarnStore

/// A file that a failure of its disk has closed for writing.
struct FailedDiskTests {
  private let folder = TemporaryFolder()

  private final class Files: FileTable.Listener {
    let begun = Lock<OpenFile?>(nil)
    func begin(_ file: OpenFile) { begun.withLock { $0 = file } }
    func end(_ path: String) { begun.withLock { $0 = nil } }
    func isWaiting(for path: String, _ reason: String) { Issue.record("waits: \(reason)") }
  }

  @Test func `the daemon writes it again by itself`() async throws {
    let path = folder.file("notes.tarn")
    do { _ = try StoreRegistry.open(path, Store.Options()) }
    let table = FileTable()
    let files = Files()
    table.add(path, files)
    try await yieldUntil { files.begun.withLock { $0 } != nil }
    let environment = try #require(files.begun.withLock { $0 }).store.environment
    environment.latch(.inputOutput)
    #expect(environment.isClosedForWriting)
    try await yieldUntil { !environment.isClosedForWriting }
    table.closeSoon()
    table.remove(files)
  }
}
