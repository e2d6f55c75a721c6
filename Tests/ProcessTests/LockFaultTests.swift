import CTarn
import Foundation
import Tarn
import TestSupport
import Testing
import ToolSupport

@testable import TarnStore

extension ProcessTests {
  /// The locks by which processes know that others have a store open: what drops LMDB's, who holds
  /// them in the way, and processes whose ids are the same.
  @Suite struct LockFaultTests {
    private static let endings = ["", "-lock", "-signal"]
    private static let points = [
      "lock.opening", "lock.table", "lock.converted", "lock.readers", "signal.locked",
    ]

    /// Opens the engine's store here, waiting that long at most.
    private func openStore(_ path: String, within patience: Duration) throws(StorageError) -> Store
    {
      var options = Store.Options()
      options.isDurable = false
      options.deadline = Deadline(after: patience)
      return try StoreRegistry.open(path, options)
    }

    @Test func `a copy of the files made within a program disturbs nobody`() throws {
      let file = try StressFile()
      let observer = try StressTool.worker("observe", file.path)
      let other = try StressTool.worker("read", file.path)
      try #require(other.line { $0.hasPrefix("reading") } != nil)
      let realm = try file.open()
      let frozen = realm.freeze()
      let before = Array(frozen.objects(StressAccount.self).map { [$0.id, $0.balance] })
      for ending in Self.endings {
        #expect(try !Data(contentsOf: URL(fileURLWithPath: file.path + ending)).isEmpty)
      }
      let pins = try file.store().environment.readers()
      #expect(Set(pins.map(\.processID)).isSuperset(of: [getpid(), other.processID]))
      // Each opens anew, and so looks whether the table of readers is in use.
      for _ in 0..<3 {
        let lines = try StressTool.worker("open", file.path, "40", "1", "write").finish().lines
        #expect(lines.first?.hasPrefix("opened ") == true, "\(lines)")
      }
      let now = try file.store().environment.readers()
      #expect(Set(now.map(\.processID)).isSuperset(of: [getpid(), other.processID]))
      let others = pins.filter { $0.processID == other.processID }
      #expect(now.filter { $0.processID == other.processID } == others)
      #expect(Array(frozen.objects(StressAccount.self).map { [$0.id, $0.balance] }) == before)
      try realm.commitOne()
      #expect(observer.reached(realm.commits))
      #expect(realm.problem == nil)
    }

    @Test func `an opener stopped on its way holds others up for a bounded time`() throws {
      for point in Self.points {
        let file = try StressFile()
        let stopped = try StressTool.worker(
          "open", file.path, environment: ["TARN_FAULT": point, "TARN_FAULT_SIGNAL": "stop"])
        try #require(stopped.hasStopped(), "\(point)")
        let error = #expect(throws: StorageError.self) {
          try openStore(file.path, within: .milliseconds(150))
        }
        #expect(error?.code == .busy, "\(point): \(error?.detail ?? "")")
        #expect(error?.detail.contains("\(stopped.processID)") == true, "\(error?.detail ?? "")")
        stopped.signal(SIGCONT)
        #expect(stopped.finish().lines == ["opened 120"], "\(point)")
        _ = try openStore(file.path, within: ChildProcess.patience)
      }
    }

    @Test func `an opener killed on its way holds nobody up`() throws {
      for point in Self.points {
        let file = try StressFile()
        let killed = try StressTool.worker("open", file.path, environment: ["TARN_FAULT": point])
        #expect(killed.finish().end == .killed(SIGKILL), "\(point)")
        _ = try openStore(file.path, within: ChildProcess.patience)
      }
    }

    /// LMDB 0.9.26 to 0.9.31 destroys the mutexes that others wait for when it fails to open, and
    /// when the last process closes. Here some openers are killed, and some have too little address
    /// space for the first maps that they ask for, while others open, write and close.
    @Test(arguments: points)
    func `openers that fail or are killed harm no others`(_ point: String) throws {
      let file = try StressFile()
      for _ in 0..<3 {
        let killed = try (0..<2).map { _ in
          try StressTool.worker("open", file.path, environment: ["TARN_FAULT": point])
        }
        // A sanitizer's runtime needs more than they have.
        let narrow = try (0..<(Sanitizer.active == nil ? 3 : 0)).map { _ in
          try ChildProcess(
            "sh",
            ["-c", "ulimit -v 4000000; exec \"$@\"", "sh", StressTool.path, "worker", "open"]
              + [file.path, "3", "1", "write"])
        }
        let others = try (0..<3).map { _ in
          try StressTool.worker("open", file.path, "3", "1", "write")
        }
        for opener in narrow + others {
          let (lines, end) = opener.finish()
          #expect(end == .exited(0))
          #expect(lines.count == 1, "\(lines)")
          #expect(lines.first?.hasPrefix("opened ") == true, "\(lines)")
        }
        for opener in killed { #expect(opener.finish().end == .killed(SIGKILL)) }
      }
    }

    /// The system takes a killed process's locks one after the other, and shows no descriptors of
    /// it by then: as here, where a mapping keeps the locks of a file whose descriptor is closed.
    @Test func `a process that was just killed is not taken for one with other data`() throws {
      let file = try StressFile()
      _ = try openStore(file.path, within: ChildProcess.patience)
      var dying: OwnedDescriptor? = try OwnedDescriptor(
        opening: file.path + "-lock", flags: O_RDWR, operation: "open")
      let descriptor = dying?.raw ?? -1
      let mapping = UInt(bitPattern: mmap(nil, 4096, PROT_READ, MAP_SHARED, descriptor, 0))
      for byte in [0, 12345] as [Int64] { #expect(tarn_lock_shared(descriptor, byte, 1) == 0) }
      dying = nil
      let start = ContinuousClock.now
      let error = #expect(throws: StorageError.self) {
        try openStore(file.path, within: .milliseconds(150))
      }
      #expect(start.duration(to: .now) >= .milliseconds(150))
      #expect(error?.code == .identity)
      DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(50)) {
        munmap(UnsafeMutableRawPointer(bitPattern: mapping), 4096)
      }
      _ = try openStore(file.path, within: ChildProcess.patience)
    }

    @Test func `a process with the lock file and other data is seen at once`() throws {
      let file = try StressFile()
      let reader = try StressTool.worker("read", file.path)
      try #require(reader.line { $0.hasPrefix("reading") } != nil)
      let moved = file.path + ".moved"
      try FileManager.default.moveItem(atPath: file.path, toPath: moved)
      try FileManager.default.copyItem(atPath: moved, toPath: file.path)
      let start = ContinuousClock.now
      let error = #expect(throws: StorageError.self) {
        try openStore(file.path, within: .seconds(600))
      }
      #expect(start.duration(to: .now) < .seconds(300))
      #expect(error?.code == .identity)
      #expect(error?.detail.contains("another data file") == true, "\(error?.detail ?? "")")
      reader.signal(SIGKILL)
      #expect(reader.finish().end == .killed(SIGKILL))
      _ = try openStore(file.path, within: ChildProcess.patience)
    }

    /// LMDB waits for its byte without end, and takes a table of readers for one in use if anybody
    /// has locked it.
    @Test func `a stranger's lock on LMDB's byte is found before LMDB is called`() throws {
      let file = try StressFile()
      let stranger = try OwnedDescriptor(
        opening: file.path + "-lock", flags: O_RDWR, operation: "open")
      for lock in [tarn_lock_exclusive, tarn_lock_shared] {
        #expect(lock(stranger.raw, 0, 1) == 0)
        let error = #expect(throws: StorageError.self) {
          try openStore(file.path, within: .milliseconds(100))
        }
        #expect(error?.code == .busy)
        #expect(error?.detail.contains("\(getpid())") == true, "\(error?.detail ?? "")")
        #expect(tarn_unlock(stranger.raw, 0, 1) == 0)
      }
      let other = try StressTool.worker("read", file.path)
      try #require(other.line { $0.hasPrefix("reading") } != nil)
      #expect(tarn_lock_shared(stranger.raw, 0, 1) == 0)
      _ = try openStore(file.path, within: ChildProcess.patience)
    }

    /// The first process of a container, which has the id 1 there.
    private func inContainer(_ kind: String, _ path: String) throws -> ChildProcess {
      try ChildProcess(
        "unshare", ["--pid", "--fork", StressTool.path, "worker", kind, path])
    }

    /// Its lock tells what its number is outside of the container.
    private func killFirstOfContainer(_ path: String) {
      guard let lock = FileFacts.at(path + "-lock")?.identity else { return }
      for holder in LockHolders.of(lock, bytes: 1...1) { kill(holder.processID, SIGKILL) }
    }

    /// Only root may make a namespace of process ids everywhere.
    private static let mayUnshare: Bool =
      (try? ChildProcess("unshare", ["--pid", "--fork", "true"]).finish().end) == .exited(0)

    @Test(.enabled(if: mayUnshare, "this user may not make a namespace of process ids"))
    func `slots of a killed process go when one with its id opens the store`() throws {
      let file = try StressFile()
      // As long as the environment is used.
      let store = try file.store()
      let environment = store.environment
      defer { withExtendedLifetime(store) {} }
      let first = try inContainer("read", file.path)
      try #require(first.line { $0.hasPrefix("reading") } != nil)
      let pins = environment.readers().filter { $0.processID == 1 }
      #expect(pins.count == 1)
      killFirstOfContainer(file.path)
      first.wait()
      #expect(environment.readers().filter { $0.processID == 1 } == pins)
      _ = try StressTool.worker("open", file.path, "3", "1", "write").finish()
      let second = try inContainer("read", file.path)
      try #require(second.line { $0.hasPrefix("reading") } != nil)
      let now = environment.readers().filter { $0.processID == 1 }
      killFirstOfContainer(file.path)
      second.wait()
      #expect(now.count == 1)
      #expect(try #require(now.first).transactionID > pins[0].transactionID)
    }

    @Test(.enabled(if: mayUnshare, "this user may not make a namespace of process ids"))
    func `a second process with the id of a living one is refused, and told why`() throws {
      let file = try StressFile()
      let first = try inContainer("read", file.path)
      try #require(first.line { $0.hasPrefix("reading") } != nil)
      let lines = try inContainer("open", file.path).finish().lines
      #expect(lines.first?.hasPrefix("error incompatibleLockFile") == true, "\(lines)")
      for part in ["same process id, 1", "pid namespace", "init process"] {
        #expect(lines.first?.contains(part) == true, "\(lines)")
      }
      #expect(try StressTool.worker("open", file.path).finish().lines == ["opened 120"])
      killFirstOfContainer(file.path)
      first.wait()
    }
  }
}
