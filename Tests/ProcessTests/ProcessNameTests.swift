import Foundation
import Testing
import ToolSupport

@testable import TarnStore

extension ProcessTests {
  /// Which process a message names, where the number alone could be another one's.
  @Suite struct ProcessNameTests {
    /// Runs a program in a name space of process ids of its own, where it is process 1.
    private static func contained(
      _ program: String, _ arguments: [String]
    ) throws -> ChildProcess {
      let options = ["--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]
      return try ChildProcess("unshare", options + ["--kill-child", program] + arguments)
    }

    static let canContain = (try? contained("true", []).finish().end) == .exited(0)
    static let canShiftTime =
      (try? ChildProcess("unshare", shifted + ["true"]).finish().end) == .exited(0)
    private static let shifted = [
      "--user", "--map-root-user", "--time", "--boottime", "100000", "--fork", "--kill-child",
    ]
    private static let tool = (StressTool.path as NSString).deletingLastPathComponent + "/tarn"

    private func inspect(_ path: String, _ options: String...) throws -> String {
      try ChildProcess(Self.tool, ["inspect", path] + options).finish().lines
        .joined(separator: "\n")
    }

    @Test(.enabled(if: canContain, "no name space of process ids can be had"))
    func `a writer in a container is not taken for the process of that number here`() throws {
      let file = try StressFile()
      let child = try Self.contained(StressTool.path, ["worker", "hold-gate", file.path])
      #expect(child.line { $0 == "held" } != nil)
      let gate = try file.store().signal.gate
      let holder = try #require(gate.holder)
      #expect(holder.process.isElsewhere)
      #expect(holder.process.name == nil)
      let text = "process 1 in another container"
      #expect(holder.description.hasPrefix("\(text) has been writing for "))
      let error = #expect(throws: StorageError.self) {
        _ = try gate.acquire(timeout: .milliseconds(1))
      }
      #expect(error?.detail.contains("; \(text) has been writing for ") == true)
      let seen = try inspect(file.path)
      #expect(seen.contains("\(text), for "), "\(seen)")
      let json = try inspect(file.path, "--json")
      #expect(
        json.contains("\"writer\":{\"pid\":1,\"inAnotherContainer\":true,\"heldForSeconds\":"),
        "\(json)")
    }

    @Test(.enabled(if: canContain, "no name space of process ids can be had"))
    func `a reader in a container is known by its slot`() throws {
      let file = try StressFile()
      let child = try Self.contained(StressTool.path, ["worker", "read", file.path])
      #expect(child.line { $0 == "reading 120" } != nil)
      let seen = try inspect(file.path)
      let reader = seen.split(separator: "\n").filter { $0.contains("in another container  ") }
      #expect(reader.count == 1, "\(seen)")
      #expect(try file.store().signal.process(withID: 1).isElsewhere)
    }

    @Test(.enabled(if: canContain, "no name space of process ids can be had"))
    func `a container does not know the host's processes`() throws {
      let file = try StressFile()
      let token = try file.store().signal.gate.acquire()
      let child = try Self.contained(Self.tool, ["inspect", file.path])
      let seen = child.finish().lines.joined(separator: "\n")
      #expect(seen.contains("process \(getpid()) in another container, for "), "\(seen)")
      token.release()
    }

    @Test(.enabled(if: canShiftTime, "no name space of time can be had"))
    func `another clock does not make it another process`() throws {
      let file = try StressFile()
      let child = try ChildProcess(
        "unshare", Self.shifted + [StressTool.path, "worker", "hold-gate", file.path])
      #expect(child.line { $0 == "held" } != nil)
      #expect(try file.store().signal.gate.holder?.process.name == "tarn-stress")
      // From there the other way round.
      let token = try file.store().signal
      let me = try #require(token.processes().first { $0.processID == getpid() })
      let looking = try ChildProcess("unshare", Self.shifted + [Self.tool, "inspect", file.path])
      let seen = looking.finish().lines.joined(separator: "\n")
      #expect(try seen.contains("\(#require(me.name)) (\(getpid()))"), "\(seen)")
    }

    @Test func `the same number with another start is another process`() throws {
      let start = try #require(ProcessStatus.own).startTime
      let me = SignalProcess(processID: getpid(), startTime: start)
      #expect(me.name == ProcessStatus.own?.name)
      let other = SignalProcess(processID: getpid(), startTime: start + 1000)
      #expect(other.description == "process \(getpid()) in another container")
      #expect(!other.isStopped)
      let unknown = SignalProcess(processID: getpid(), startTime: 0)
      #expect(unknown.description == "process \(getpid())")
    }
  }
}
