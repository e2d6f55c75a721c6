import Foundation
import Tarn
import Testing
import ToolSupport

@testable import TarnStore

extension ProcessTests {
  /// The mark of a file whose commits are not synced, and several processes that have it open.
  @Suite struct UseMarkProcessTests {
    private func withMark<R>(_ file: StressFile, _ body: (Int32, UseMark) throws -> R) throws -> R {
      let data = try OwnedDescriptor(opening: file.path, flags: O_RDWR, operation: "test")
      return try body(data.raw, UseMark.read(data.raw))
    }

    private func state(_ file: StressFile) throws -> UseMark.State {
      try withMark(file) { $1.state }
    }

    /// Whether another process opens and writes it.
    private func opens(_ file: StressFile) throws -> Bool {
      let worker = try StressTool.worker("open", file.path, "1", "1", "write")
      let (lines, end) = worker.finish()
      #expect(end == .exited(0), "\(lines)")
      return lines.last?.hasPrefix("opened") ?? false
    }

    @Test func `the last of several processes removes it`() throws {
      let file = try StressFile()
      // The maker has ended in order.
      #expect(try state(file) == .closed)
      let reader = try StressTool.worker("read", file.path)
      #expect(reader.line { $0.hasPrefix("reading") } != nil)
      do { try file.open().commitOne() }
      #expect(try state(file) == .inUse)
      reader.signal(SIGKILL)
      _ = reader.wait()
      #expect(try state(file) == .inUse)
      #expect(try opens(file))
      #expect(try state(file) == .closed)
    }

    /// Containers have the file through mounts of their own.
    @Test func `a file that another process uses is in use, through whatever mount`() throws {
      let file = try StressFile()
      let realm = try file.open()
      try realm.commitOne()
      try withMark(file) { data, mark in
        var mark = mark
        mark.place.mount += 1
        #expect(mark.write(data) == 0)
      }
      #expect(try opens(file))
      withExtendedLifetime(realm) {}
    }

    @Test func `a killed writer leaves a file that opens, in the same run of the system`() throws {
      let file = try StressFile()
      let writer = try StressTool.worker("write", file.path)
      #expect(writer.line { $0.hasPrefix("ack") } != nil)
      writer.signal(SIGKILL)
      _ = writer.wait()
      #expect(try state(file) == .inUse)
      do {
        let realm = try file.open()
        #expect(realm.problem == nil)
      }
      #expect(try state(file) == .closed)
    }
  }
}
