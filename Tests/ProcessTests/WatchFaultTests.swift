import Foundation
import Tarn
import TestSupport
import Testing
import ToolSupport

extension ProcessTests {
  @Suite struct WatchFaultTests {
    /// Waits for the versions that two commits make.
    private func checkFollows(_ observer: ChildProcess, _ realm: Realm) throws {
      for _ in 0..<2 {
        try realm.commitOne { realm.account(1).note += "a" }
        #expect(observer.reached(realm.commits))
      }
    }

    /// In a name space of its own, so that only this process has no instances left.
    @Test func `without an inotify instance an observer sleeps on a bell`() throws {
      let file = try StressFile()
      let realm = try file.open()
      let limit = "echo 0 > /proc/sys/user/max_inotify_instances || { echo none; exit; }"
      let observer = try ChildProcess(
        "unshare",
        [
          "-Ur", "sh", "-c",
          "\(limit); exec 2>&1; exec \(StressTool.path) worker observe \(file.path)",
        ])
      var said: [String] = []
      let first = observer.line {
        said.append($0)
        return $0.hasPrefix("seen") || $0 == "none"
      }
      // Where the system allows no name spaces there is no way to try this without taking all
      // instances from the user who runs the tests.
      guard let first, first != "none" else { return }
      #expect(!said.contains { $0.hasPrefix("Tarn: ") })
      try checkFollows(observer, realm)
    }

    @Test func `a deleted signal file loses nothing`() throws {
      let file = try StressFile()
      let realm = try file.open()
      let observer = try StressTool.worker("observe", file.path)
      #expect(observer.line { $0.hasPrefix("seen") } != nil)
      try FileManager.default.removeItem(atPath: file.path + "-signal")
      try checkFollows(observer, realm)
      // One that comes later makes a new one, and talks past those that have the old one.
      let late = try StressTool.worker("commit-once", file.path)
      #expect(late.finish().lines == ["ready", "ack 1"])
      #expect(observer.reached(realm.commits + 1))
      try checkFollows(observer, realm)
      #expect(realm.problem == nil)
    }

    @Test func `a replaced signal file loses nothing`() throws {
      let file = try StressFile()
      let realm = try file.open()
      let observer = try StressTool.worker("observe", file.path)
      #expect(observer.line { $0.hasPrefix("seen") } != nil)
      let other = file.folder + "/other"
      try Data(count: 16384).write(to: URL(fileURLWithPath: other))
      #expect(rename(other, file.path + "-signal") == 0)
      try checkFollows(observer, realm)
      let late = try StressTool.worker("commit-once", file.path)
      #expect(late.finish().lines == ["ready", "ack 1"])
      #expect(observer.reached(realm.commits + 1))
    }

    @Test func `an overflow of the event queue loses nothing`() throws {
      let file = try StressFile()
      let realm = try file.open()
      let observer = try StressTool.worker("observe", file.path)
      #expect(observer.line { $0.hasPrefix("seen") } != nil)
      observer.signal(SIGSTOP)
      // A change and a close in turn, because equal events that follow each other are one.
      let most = try String(
        contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
      let count = Int(most.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 16_384
      for _ in 0..<(count / 2 + 100) {
        let descriptor = open(file.path + "-signal", O_RDWR | O_CLOEXEC)
        var zero: UInt64 = 0
        _ = pwrite(descriptor, &zero, 8, 48)
        close(descriptor)
      }
      try realm.commitOne { realm.account(1).note = "overflow" }
      observer.signal(SIGCONT)
      #expect(observer.reached(realm.commits))
      try checkFollows(observer, realm)
    }

    @Test func `damaged bytes of a signal file nobody uses are harmless`() throws {
      let file = try StressFile()
      var random = SeededRandom(seed: 1)
      for seed in 0..<12 {
        let signal = URL(fileURLWithPath: file.path + "-signal")
        var bytes = try Data(contentsOf: signal)
        for _ in 0..<40 {
          // Header, counter and gate are where it could hurt. Without the first 16 bytes it would
          // be another file, which is refused.
          let at = seed % 2 == 0 ? Int.random(in: 16..<160, using: &random) : seed * 911
          bytes[at] ^= UInt8.random(in: 1...255, using: &random)
        }
        try bytes.write(to: signal)
        let once = try StressTool.worker("commit-once", file.path)
        #expect(once.finish().lines == ["ready", "ack \(seed + 1)"])
      }
    }
  }
}
