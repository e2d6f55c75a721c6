import Foundation
import Tarn
import Testing
import ToolSupport

@testable import TarnStore

extension ProcessTests {
  /// Files that somebody put where the lock file or the signal file belongs.
  @Suite struct CompanionTests {
    static let endings = ["-lock", "-signal"]
    private static let isRoot = PermissionTests.isRoot
    private static let nobody = PermissionTests.nobody

    private struct Seen: Equatable {
      let bytes: Data?
      let rights: FileRights?

      init(_ path: String) {
        bytes = FileManager.default.contents(atPath: path)
        rights = FileFacts.at(path)?.rights
      }
    }

    /// Opens the store in other processes, which must name the file and leave it as it is.
    private func expectRefusal(
      _ file: StressFile, _ ending: String, _ reason: String,
      _ position: SourceLocation = #_sourceLocation
    ) throws {
      let path = file.path + ending
      let before = Seen(path)
      for mode in ["read-only", "write"] {
        let lines = try StressTool.worker("open", file.path, "1", "1", mode).finish().lines
        #expect(
          lines.first?.hasPrefix("error incompatibleLockFile ") == true, "\(lines)",
          sourceLocation: position)
        #expect(lines.first?.contains(path) == true, "\(lines)", sourceLocation: position)
        #expect(lines.first?.contains(reason) == true, "\(lines)", sourceLocation: position)
      }
      #expect(Seen(path) == before, sourceLocation: position)
    }

    @Test(.enabled(if: isRoot, "only root has files to lose to others"), arguments: endings)
    func `root gives no file of its own away`(_ ending: String) throws {
      let tarn = (StressTool.path as NSString).deletingLastPathComponent + "/tarn"
      for content in ["root:secret\n", "", String(repeating: "secret\n", count: 40_000)] {
        let file = try StressFile()
        chmod(file.folder, 0o755)
        for name in ["", "/x.realm", "/x.realm-lock", "/x.realm-signal"] {
          chown(file.folder + name, Self.nobody, Self.nobody)
        }
        // The owner of the folder can rename what he may neither read nor write.
        let secret = file.folder + "/secret"
        try Data(content.utf8).write(to: URL(fileURLWithPath: secret))
        chmod(secret, 0o600)
        let move = ["--reuid=\(Self.nobody)", "--regid=\(Self.nobody)", "--clear-groups", "mv"]
        _ = try ChildProcess("setpriv", move + ["-f", secret, file.path + ending]).finish()
        let reason = content.isEmpty ? "an empty file owned by root" : "it has other contents"
        try expectRefusal(file, ending, reason)
        let before = Seen(file.path + ending)
        let said = file.folder + "/said"
        let inspect = try ChildProcess(tarn, ["inspect", file.path], errors: said)
        #expect(inspect.finish().end == .exited(1))
        #expect(try String(contentsOfFile: said, encoding: .utf8).contains(file.path + ending))
        #expect(Seen(file.path + ending) == before)
        #expect(before.rights == FileRights(owner: 0, group: 0, mode: 0o600))
      }
    }

    @Test(.enabled(if: isRoot, "only root can become another user"), arguments: endings)
    func `files that strangers planted are not used`(_ ending: String) throws {
      let file = try StressFile()
      chmod(file.path, 0o600)
      chmod(file.folder, 0o1777)
      let path = file.path + ending
      for (mode, user) in [(0o666, Self.nobody), (0o600, Self.nobody)] as [(mode_t, UInt32)] {
        chmod(path, mode)
        chown(path, user, user)
        try expectRefusal(file, ending, "it belongs to user \(user), who cannot write the data")
      }
      chown(path, 0, 0)
      chmod(path, 0o606)
      try expectRefusal(file, ending, "all users can write it, but not all can read the data")
      chmod(path, 0o660)
      try expectRefusal(file, ending, "group 0 can write it, but cannot read the data")
      // In data that everybody may write a stranger has as much to say as anybody.
      chmod(file.path, 0o666)
      chown(path, Self.nobody, Self.nobody)
      #expect(try StressTool.worker("open", file.path).finish().lines == ["opened 120"])
    }

    @Test(arguments: endings)
    func `only a regular file with one name is used`(_ ending: String) throws {
      let file = try StressFile()
      let (path, other) = (file.path + ending, file.folder + "/other")
      #expect(rename(path, other) == 0)
      #expect(symlink(other, path) == 0)
      try expectRefusal(file, ending, "it is not a regular file")
      #expect(unlink(path) == 0)
      #expect(link(other, path) == 0)
      try expectRefusal(file, ending, "it has other hard links")
      #expect(unlink(path) == 0)
      #expect(mkfifo(path, 0o600) == 0)
      let lines = try StressTool.worker("open", file.path).finish().lines
      #expect(lines.first?.contains("it is not a regular file") == true, "\(lines)")
      #expect(unlink(path) == 0)
      #expect(rename(other, path) == 0)
      #expect(try StressTool.worker("check", file.path).finish().lines == ["sound"])
    }

    @Test(arguments: ["", "-lock"])
    func `a link put there after the look leads LMDB nowhere`(_ ending: String) throws {
      let file = try StressFile()
      let victim = file.folder + "/victim"
      #expect(FileManager.default.createFile(atPath: victim, contents: Data()))
      let child = try StressTool.worker(
        "open", file.path, "1", "1", "write",
        environment: ["TARN_FAULT": "names.made", "TARN_FAULT_SIGNAL": "stop"])
      var status: Int32 = 0
      #expect(waitpid(child.processID, &status, WUNTRACED) == child.processID)
      #expect(status & 0xff == 0x7f)
      #expect(rename(file.path + ending, file.folder + "/moved") == 0)
      #expect(symlink(victim, file.path + ending) == 0)
      child.signal(SIGCONT)
      let lines = child.finish().lines
      #expect(lines.first?.hasPrefix("error incompatibleLockFile ") == true, "\(lines)")
      #expect(FileManager.default.contents(atPath: victim) == Data())
    }

    @Test func `files that a killed maker left in zeros are used`() throws {
      let file = try StressFile()
      for ending in Self.endings {
        let path = file.path + ending
        let count = try #require(FileFacts.at(path)?.byteCount)
        for length in [0, 1, Int(count)] {
          try Data(count: length).write(to: URL(fileURLWithPath: path))
          #expect(try StressTool.worker("check", file.path).finish().lines == ["sound"])
          #expect(FileFacts.at(path)?.byteCount == count)
        }
      }
    }

    @Test(arguments: endings)
    func `a file system without nameless files gets whole ones as well`(_ ending: String) throws {
      let file = try StressFile()
      let kind: CompanionKind = ending == "-lock" ? .lock(readerCount: 4096) : .signal
      chmod(file.path, 0o640)
      let data = try #require(FileFacts.at(file.path))
      let path = file.path + ending
      #expect(unlink(path) == 0)
      for _ in 0..<2 {
        #expect(try CompanionFile.createNamed(kind, at: path, like: data))
        #expect(FileFacts.at(path)?.rights == data.rights)
        #expect(FileFacts.at(path)?.linkCount == 1)
        #expect(FileFacts.at(path)?.byteCount == kind.byteCount)
      }
      let names = try FileManager.default.contentsOfDirectory(atPath: file.folder).sorted()
      #expect(names == ["x.realm", "x.realm-lock", "x.realm-signal"])
      #expect(try StressTool.worker("check", file.path).finish().lines == ["sound"])
    }
  }
}
