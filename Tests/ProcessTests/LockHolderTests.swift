import CTarn
import Foundation
import TestSupport
import Testing
import ToolSupport

@testable import TarnStore

extension ProcessTests {
  /// Who has a lock on a file, as the system shows it.
  @Suite struct LockHolderTests {
    @Test func `a process that has a store open is found by its locks, until it ends`() throws {
      let file = try StressFile()
      let child = try StressTool.worker("hold-gate", file.path)
      #expect(child.line { $0 == "held" } != nil)
      let signal = try #require(FileFacts.at(file.path + "-signal")?.identity)
      let slots = SignalLayout.processLockByte...(SignalLayout.processLockByte + 511)
      let text = "process \(child.processID) (tarn-stress)"
      #expect(LockHolders.text(of: signal, bytes: slots) == text)
      #expect(LockHolders.of(signal, bytes: slots).map(\.isExclusive) == [true])
      #expect(LockHolders.of(signal, bytes: 0...0) == [])
      // LMDB's own, which belong to the process and not to a descriptor.
      let lock = try #require(FileFacts.at(file.path + "-lock")?.identity)
      #expect(LockHolders.of(lock, bytes: 0...0).map(\.processID) == [child.processID])
      #expect(LockHolders.of(lock, bytes: 0...0).map(\.isExclusive) == [false])
      child.signal(SIGKILL)
      child.wait()
      #expect(LockHolders.of(signal) == [])
      #expect(LockHolders.text(of: lock) == nil)
    }

    @Test func `only locks on the bytes that were asked for count`() throws {
      let folder = TemporaryFolder()
      let file = try OwnedDescriptor(
        opening: folder.file("x"), flags: O_RDWR | O_CREAT, operation: "open")
      let identity = try #require(FileFacts.of(descriptor: file.raw)?.identity)
      #expect(tarn_lock_shared(file.raw, 100, 10) == 0)
      let me = [getpid()]
      #expect(LockHolders.of(identity, bytes: 0...99) == [])
      #expect(LockHolders.of(identity, bytes: 109...200).map(\.processID) == me)
      #expect(LockHolders.of(identity, bytes: 110...200) == [])
      #expect(LockHolders.of(identity).map(\.isExclusive) == [false])
    }

    @Test func `a line of the system's list is understood, or is no lock on bytes`() {
      func lock(_ text: String) -> FileLock? { FileLock(line: text[...]) }
      #expect(
        lock("lock:\t1: OFDLCK ADVISORY  WRITE -1 08:02:1234 0 0")
          == FileLock(isExclusive: true, bytes: 0...0))
      #expect(
        lock("lock:\t2: POSIX  ADVISORY  READ 4711 fe:02:1234 7 EOF")
          == FileLock(isExclusive: false, bytes: 7...(.max)))
      #expect(lock("lock:\t1: FLOCK  ADVISORY  WRITE 4711 08:02:1234 0 EOF") == nil)
      #expect(lock("lock:\t1: OFDLCK ADVISORY  WRITE -1 08:02:1234 5 4") == nil)
      #expect(lock("flags:\t0100002") == nil)
    }
  }
}
