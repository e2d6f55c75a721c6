import Foundation
import Tarn
import Testing
import ToolSupport

@testable import TarnStore

extension ProcessTests {
  /// Other users at a store: what they may do, and that their looks leave it usable.
  ///
  /// Only root can become somebody else; where the tests run as another user, those that need two
  /// users are disabled and say so.
  @Suite struct PermissionTests {
    static let isRoot = geteuid() == 0
    static let nobody: UInt32 = 65534

    /// A worker of a user who is nobody.
    private func asNobody(
      _ words: [String], group: UInt32 = nobody, environment: [String: String] = [:]
    ) throws -> ChildProcess {
      let arguments = [
        "--reuid=\(Self.nobody)", "--regid=\(group)", "--clear-groups", StressTool.path, "worker",
      ]
      return try ChildProcess("setpriv", arguments + words, environment: environment)
    }

    private func look(_ path: String) throws -> [String] {
      try asNobody(["open", path, "1", "1", "read-only"]).finish().lines
    }

    private func facts(_ path: String) -> [FileFacts?] {
      ["", "-lock", "-signal"].map { FileFacts.at(path + $0) }
    }

    private func prepare(mode: mode_t, folder: mode_t = 0o755) throws -> StressFile {
      let file = try StressFile()
      chmod(file.path, mode)
      for ending in ["-lock", "-signal"] { chmod(file.path + ending, mode) }
      chmod(file.folder, folder)
      return file
    }

    @Test(.enabled(if: isRoot, "only root can become another user"))
    func `who may not lock reads a private copy and leaves everything as it was`() throws {
      let file = try prepare(mode: 0o644)
      let bytes = file.bytes
      #expect(try look(file.path) == ["opened 120"])
      // In a folder where anybody may make files, with companions still to be made.
      for ending in ["-lock", "-signal"] {
        try FileManager.default.removeItem(atPath: file.path + ending)
      }
      chmod(file.folder, 0o777)
      #expect(try look(file.path) == ["opened 120"])
      let names = try FileManager.default.contentsOfDirectory(atPath: file.folder)
      #expect(names == ["x.realm"])
      #expect(file.bytes == bytes)
      // Read-only as the whole folder is.
      chmod(file.folder, 0o555)
      #expect(try look(file.path) == ["opened 120"])
      chmod(file.folder, 0o755)
    }

    @Test(.enabled(if: isRoot, "only root can become another user"))
    func `a copy is taken again if a commit fell in between`() throws {
      let file = try prepare(mode: 0o644)
      let realm = try file.open()
      let before = realm.objects(StressAccount.self).count
      let child = try asNobody(
        ["open", file.path, "1", "1", "read-only"],
        environment: ["TARN_FAULT": "copy.taken", "TARN_FAULT_SIGNAL": "stop"])
      var status: Int32 = 0
      #expect(waitpid(child.processID, &status, WUNTRACED) == child.processID)
      #expect(status & 0xff == 0x7f)
      try realm.write { realm.delete(realm.objects(StressAccount.self).first!) }
      child.signal(SIGCONT)
      #expect(child.finish().lines == ["opened \(before - 1)"])
    }

    @Test(.enabled(if: isRoot, "only root can become another user"))
    func `root's look at another user's store leaves it to its owner`() throws {
      let file = try prepare(mode: 0o640, folder: 0o777)
      chown(file.path, Self.nobody, 12345)
      for ending in ["-lock", "-signal"] {
        try FileManager.default.removeItem(atPath: file.path + ending)
      }
      var configuration = StressFile.configuration(file.path)
      configuration.readOnly = true
      do {
        let realm = try Realm(configuration: configuration, scheduler: ManualScheduler())
        #expect(realm.objects(StressAccount.self).count == 120)
      }
      for facts in facts(file.path) {
        #expect(facts?.owner == Self.nobody)
        #expect(facts?.group == 12345)
        #expect(facts?.mode == 0o640)
      }
      #expect(
        try asNobody(["open", file.path, "1", "1", "write"]).finish().lines == ["opened 120"])
    }

    @Test(.enabled(if: isRoot, "only root can become another user"))
    func `a member of the data's group makes files for the group`() throws {
      let file = try prepare(mode: 0o660, folder: 0o777)
      chown(file.path, 4711, 12345)
      for ending in ["-lock", "-signal"] {
        try FileManager.default.removeItem(atPath: file.path + ending)
      }
      let member = try asNobody(["open", file.path, "1", "1", "write"], group: 12345)
      #expect(member.finish().lines == ["opened 120"])
      for facts in facts(file.path) {
        #expect(facts?.group == 12345)
        #expect(facts?.mode == 0o660)
      }
    }

    /// The rights are those of the user that the program runs as, not of the one who started it.
    @Test(.enabled(if: isRoot, "only root can become another user"))
    func `a set-uid program opens what its owner may open`() throws {
      let file = try prepare(mode: 0o600)
      let owner: UInt32 = 4711
      let program = file.folder + "/program"
      try FileManager.default.copyItem(atPath: StressTool.path, toPath: program)
      for path in [program, file.folder] + ["", "-lock", "-signal"].map({ file.path + $0 }) {
        #expect(chown(path, owner, owner) == 0)
      }
      #expect(chmod(program, 0o4755) == 0)
      func lines(_ mode: String, _ environment: [String: String] = [:]) throws -> [String] {
        let arguments = [
          "--reuid=\(Self.nobody)", "--regid=\(Self.nobody)", "--clear-groups", program, "worker",
          "open", file.path, "1", "1", mode,
        ]
        return try ChildProcess("setpriv", arguments, environment: environment).finish().lines
      }
      for mode in ["write", "read-only"] {
        // Nor does the one who started it choose where it dies.
        for environment in [[:], ["TARN_FAULT": "names.made"]] {
          let lines = try lines(mode, environment)
          #expect(lines.first?.hasPrefix("opened ") == true, "\(mode) \(environment): \(lines)")
        }
      }
      // What is another user's stays closed to it, also if the caller may open it.
      for ending in ["", "-lock", "-signal"] {
        #expect(chown(file.path + ending, Self.nobody, Self.nobody) == 0)
      }
      let refused = try lines("write")
      #expect(refused.first?.hasPrefix("error filePermissionDenied ") == true, "\(refused)")
    }

    @Test(.enabled(if: isRoot, "only root can become another user"))
    func `rights of companions that exist are nobody's to widen`() throws {
      let file = try prepare(mode: 0o666)
      for ending in ["-lock", "-signal"] { chmod(file.path + ending, 0o600) }
      #expect(try StressTool.worker("open", file.path).finish().lines == ["opened 120"])
      #expect(facts(file.path).map(\.?.mode) == [0o666, 0o600, 0o600])
    }

    @Test(.enabled(if: isRoot, "only root can become another user"))
    func `members of the data's group go on with companions that one of them made`() throws {
      let file = try prepare(mode: 0o660, folder: 0o777)
      chown(file.path, 4711, 12345)
      for ending in ["-lock", "-signal"] {
        try FileManager.default.removeItem(atPath: file.path + ending)
      }
      for user in [Self.nobody, 4712, 4711] {
        let arguments = ["--reuid=\(user)", "--regid=12345", "--clear-groups", StressTool.path]
        let member = try ChildProcess(
          "setpriv", arguments + ["worker", "open", file.path, "1", "1", "write"])
        #expect(member.finish().lines.first?.hasPrefix("opened ") == true)
      }
      #expect(facts(file.path).map(\.?.owner) == [4711, Self.nobody, Self.nobody])
      #expect(try StressTool.worker("check", file.path).finish().lines == ["sound"])
    }

    @Test(.enabled(if: isRoot, "only root can become another user"))
    func `data that its owner may only read has companions that he may write`() throws {
      let file = try prepare(mode: 0o400)
      for ending in ["-lock", "-signal"] {
        try FileManager.default.removeItem(atPath: file.path + ending)
      }
      chown(file.folder, Self.nobody, Self.nobody)
      chown(file.path, Self.nobody, Self.nobody)
      for _ in 0..<2 { #expect(try look(file.path) == ["opened 120"]) }
      #expect(facts(file.path).map(\.?.mode) == [0o400, 0o600, 0o600])
      #expect(facts(file.path).map(\.?.owner) == [Self.nobody, Self.nobody, Self.nobody])
    }

    @Test func `the user's umask decides who may use a new store`() throws {
      for (mask, mode) in [("002", 0o664), ("077", 0o600), ("022", 0o644)] as [(String, UInt32)] {
        let file = try StressFile(isFilled: false)
        let script = "umask \(mask); exec \(StressTool.path) worker fill \(file.path)"
        _ = try ChildProcess("sh", ["-c", script]).finish()
        for facts in facts(file.path) { #expect(facts?.mode == mode, "umask \(mask)") }
      }
    }
  }
}
