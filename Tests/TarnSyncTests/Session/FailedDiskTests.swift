import TestSupport
import Testing

@testable import TarnStore
@testable import TarnSync

/// A file that a failure of its disk has closed for writing.
struct FailedDiskTests {
  private let folder = TemporaryFolder()

  /// No server is needed for that.
  @Test func `a session writes it again by itself`() async throws {
    let store = try StoreRegistry.open(folder.file("things.tarn"), Store.Options())
    store.environment.latch(.inputOutput)
    let session = try HeldSession(
      store, ServerAddress("postgresql://127.0.0.1:1/nobody"), UnsentJoin.bytesMax
    ) { _ in }
    try await yieldUntil { !store.environment.isClosedForWriting }
    try await session.end()
  }
}
