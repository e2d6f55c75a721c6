import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// Real processes, killed at the worst moment.
@Suite struct KilledProcessTests {
  @Test func `a killed holder's gate is free, and its half-done write never was`() async {
    let kept = TemporaryFolder()
    let said = KeptErrors(in: kept.path)
    let result = await #expect(processExitsWith: .success) { [said = said as KeptErrors] in
      said.keep()
      let folder = TemporaryFolder()
      let path = folder.file("x.realm")
      let child = Forked.start {
        guard let environment = try? Environment.open(path: path),
          let signal = try? SignalFile(for: environment), let token = try? signal.gate.acquire()
        else { return 1 }
        try? environment.put([[1]: [1]])
        try? environment.write { transaction throws(StorageError) in
          try transaction.put([2], [1])
          kill(getpid(), SIGKILL)
        }
        token.release()
        return 2
      }
      var status: Int32 = 0
      waitpid(child, &status, 0)
      precondition(status & 0x7f == SIGKILL, "the child ended with \(status)")
      let environment = try Environment.open(path: path)
      let signal = try SignalFile(for: environment)
      try signal.gate.acquire(timeout: .seconds(300)).release()
      let before = try environment.get([1])
      precondition(before == [1], "a write that was never committed shows")
      try environment.put([[1]: [3]])
      environment.close()
      withExtendedLifetime(folder) {}
    }
    if result == nil { Issue.record("\(said.text)") }
    withExtendedLifetime(kept) {}
  }

  @Test func `a writer killed between commit and announcement is found by the watcher`() async {
    let kept = TemporaryFolder()
    let said = KeptErrors(in: kept.path)
    let result = await #expect(processExitsWith: .success) { [said = said as KeptErrors] in
      said.keep()
      let folder = TemporaryFolder()
      let path = folder.file("x.realm")
      let environment = try Environment.open(path: path)
      try environment.put([[1]: [1]])
      let signal = try SignalFile(for: environment)
      signal.raise(to: 1)
      let child = Forked.start {
        guard let environment = try? Environment.open(path: path),
          let signal = try? SignalFile(for: environment)
        else { return 1 }
        try? environment.put([[1]: [2]])
        kill(getpid(), SIGKILL)
        signal.raise(to: 2)
        return 2
      }
      let semaphore = DispatchSemaphore(value: 0)
      let registration = try SignalWatcher.shared.add(
        signal, seen: 1,
        probeHead: { (try? environment.get([1])).flatMap { $0?.first.map(UInt64.init) } },
        onChange: { semaphore.signal() })
      precondition(semaphore.wait(timeout: .now() + 300) == .success)
      precondition(signal.version == 2, "the watcher announces what the writer could not")
      var status: Int32 = 0
      waitpid(child, &status, 0)
      registration.cancel()
      withExtendedLifetime(folder) {}
    }
    if result == nil { Issue.record("\(said.text)") }
    withExtendedLifetime(kept) {}
  }
}
