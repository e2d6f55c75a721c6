import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// `tarn copy` and `tarn compact`.
@Suite struct CopyToolTests {
  private let folder = TemporaryFolder()

  init() throws { try Self.makeStore(folder) }

  static func makeStore(
    _ folder: TemporaryFolder, objects: Int = 300, named name: String = "a.tarn"
  ) throws {
    let lines = (0..<objects).map { "{\"id\": \($0), \"name\": \"name \($0)\"}\n" }.joined()
    let made = try ToolProcess.run(
      folder, "import", name, "-", "-c", "Crate", "-k", "id", "-f", "jsonl", input: lines)
    #expect(made.status == 0, "\(made.errors)")
  }

  private func tarn(_ arguments: String...) throws -> ToolProcess.Result {
    try ToolProcess(folder, arguments).finish()
  }

  private var names: [String] {
    folder.names.filter { !$0.hasSuffix("-lock") && !$0.hasSuffix("-signal") }
  }

  private func isSound(_ name: String) throws -> Bool {
    let check = try tarn("inspect", "--check", name)
    return check.status == 0 && check.output.contains("Sound")
  }

  @Test(arguments: [[], ["--exact"]])
  func `a copy is sound and equal`(_ options: [String]) throws {
    let made = try ToolProcess(folder, ["copy", "a.tarn", "b.tarn"] + options).finish()
    #expect(made.status == 0, "\(made.errors)")
    #expect(made.output.hasPrefix("b.tarn: version 1, "))
    #expect(names == ["a.tarn", "b.tarn"])
    #expect(try tarn("diff", "a.tarn", "b.tarn").status == 0)
    #expect(try tarn("dump", "b.tarn") == tarn("dump", "a.tarn"))
    #expect(try isSound("b.tarn"))
    func history(_ name: String) throws -> String? {
      try tarn("inspect", name).output.split(separator: "\n").first { $0.contains("history") }
        .map(String.init)
    }
    #expect(try (history("a.tarn") == history("b.tarn")) == !options.isEmpty)
    let again = try tarn("copy", "a.tarn", "b.tarn")
    #expect(again.status == 1)
    #expect(again.errors.contains("there is a file already"))
    #expect(try tarn("copy", "a.tarn", "b.tarn", "--replace").status == 0)
    #expect(try isSound("b.tarn"))
  }

  @Test func `a copy to standard output is a store`() throws {
    let script = "\(ToolProcess.tarn.path) copy a.tarn - | cat > c.tarn"
    let piped = try ToolProcess(folder, ["-c", script], program: "/bin/sh").finish()
    #expect(piped == .init(status: 0, output: "", errors: ""))
    #expect(try isSound("c.tarn"))
    #expect(try tarn("diff", "a.tarn", "c.tarn").status == 0)
    #expect(try tarn("copy", "a.tarn", "-", "--replace").status == 2)
    #expect(names == ["a.tarn", "c.tarn"])
  }

  /// A name may appear only with the whole file, whatever point a kill hits.
  @Test(arguments: [false, true])
  func `a copy that is killed leaves nothing, or all of it`(_ replaces: Bool) throws {
    let counts = folder.file("points")
    let options = replaces ? ["--replace"] : []
    if replaces { #expect(try tarn("copy", "a.tarn", "b.tarn").status == 0) }
    func copy(_ environment: [String: String]) throws -> ToolProcess.Result {
      try ToolProcess(
        folder, ["copy", "a.tarn", "b.tarn"] + options, environment: environment
      ).finish()
    }
    #expect(try copy(["TARN_FAULT_COUNT": counts]).status == 0)
    let points = try String(contentsOfFile: counts, encoding: .utf8).split(separator: "\n")
      .compactMap { $0.split(separator: " ").last.map(String.init) }
    let own = points.filter { $0.hasPrefix("copy.") }
    #expect(
      own == ["copy.begun", "copy.batch", "copy.filled", "copy.synced"]
        + (replaces ? ["copy.named"] : []) + ["copy.published"])
    for point in own {
      if !replaces { try? FileManager.default.removeItem(atPath: folder.file("b.tarn")) }
      let before = FileFacts.at(folder.file("b.tarn"))?.identity
      #expect(try copy(["TARN_FAULT": point]).status == -1, "\(point)")
      let after = FileFacts.at(folder.file("b.tarn"))?.identity
      #expect((after == before) == (point != "copy.published"), "\(point)")
      if after != nil { #expect(try isSound("b.tarn"), "\(point)") }
      // Only where one file takes another's place is something left, which the next copy removes.
      let left = names.filter { $0.hasPrefix(".b.tarn.tarn-copy-") }
      #expect(left.count == (point == "copy.named" ? 1 : 0), "\(point)")
    }
    if !replaces { try? FileManager.default.removeItem(atPath: folder.file("b.tarn")) }
    #expect(try copy([:]).status == 0)
    #expect(names == ["a.tarn", "b.tarn", "points"])
  }

  @Test func `a missing folder, a folder as DEST and a damaged file are refused`() throws {
    let missing = try tarn("copy", "a.tarn", "nowhere/b.tarn")
    #expect(missing.status == 1)
    #expect(missing.errors.contains("No such file or directory"))
    try FileManager.default.createDirectory(
      atPath: folder.file("d"), withIntermediateDirectories: false)
    #expect(try tarn("copy", "a.tarn", "d").errors.contains("there is a file already"))
    #expect(try tarn("copy", "a.tarn", "d", "--replace").status == 1)
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.file("a.tarn"))))
    for page in 2..<bytes.count / 4096 where bytes[page * 4096 + 10] == 2 {
      bytes[page * 4096 + 12] = 0xff
    }
    try Data(bytes).write(to: URL(fileURLWithPath: folder.file("a.tarn")))
    let damaged = try tarn("copy", "a.tarn", "b.tarn")
    #expect(damaged.status == 1)
    #expect(damaged.errors.contains("page"))
    #expect(names == ["a.tarn", "d"])
  }

  @Test(.enabled(if: geteuid() == 0, "only root can become another user"))
  func `a folder that cannot be written is refused`() throws {
    chmod(folder.path, 0o755)
    chmod(folder.file("a.tarn"), 0o644)
    let arguments = [
      "--reuid=65534", "--regid=65534", "--clear-groups", ToolProcess.tarn.path, "copy", "a.tarn",
      "b.tarn",
    ]
    let refused = try ToolProcess(folder, arguments, program: "/usr/bin/setpriv").finish()
    #expect(refused.status == 1)
    #expect(refused.errors.contains("Permission denied"))
    #expect(names == ["a.tarn"])
  }

  /// In a name space of its own; where the system does not allow that, nothing is tested.
  @Test func `a full disk is said so, and nothing is left on it`() throws {
    try FileManager.default.createDirectory(
      atPath: folder.file("disk"), withIntermediateDirectories: false)
    let script = """
      mount -t tmpfs -o size=8k tmpfs disk || exit 9
      \(ToolProcess.tarn.path) copy a.tarn disk/b.tarn; echo $?; ls -A disk | wc -l
      mount -o remount,size=4m disk
      \(ToolProcess.tarn.path) copy a.tarn disk/b.tarn > /dev/null; echo $?; ls -A disk
      """
    let result = try ToolProcess(
      folder, ["-Urm", "sh", "-c", script], program: "/usr/bin/unshare"
    ).finish()
    if result.status == 9 || result.output.isEmpty { return }
    #expect(result.output == "1\n0\n0\nb.tarn\n", "\(result)")
    #expect(result.errors.contains("No space left on device"), "\(result)")
  }

  @Test func `compact needs the file alone, and names who has it open`() throws {
    #expect(try tarn("delete", "a.tarn", "Crate", "--where", "id > 5").status == 0)
    let size = try #require(FileFacts.at(folder.file("a.tarn"))?.byteCount)
    let dump = try tarn("dump", "a.tarn")
    let watch = try ToolProcess(folder, ["watch", "a.tarn", "Crate", "--json"])
    #expect(try watch.line() != nil)
    let refused = try tarn("compact", "a.tarn")
    #expect(refused.status == 1)
    #expect(refused.errors.contains("process \(watch.processID) (tarn)"), "\(refused.errors)")
    #expect(FileFacts.at(folder.file("a.tarn"))?.byteCount == size)
    watch.signal(SIGTERM)
    _ = try watch.finish()
    let done = try tarn("compact", "a.tarn")
    #expect(done.status == 0, "\(done.errors)")
    #expect(done.output.contains(", before "))
    #expect((FileFacts.at(folder.file("a.tarn"))?.byteCount ?? size) < size)
    #expect(try tarn("dump", "a.tarn") == dump)
    #expect(try isSound("a.tarn"))
  }

  /// It waited at the former file, which another one replaces.
  @Test(.timeLimit(.minutes(30)))
  func `who opens the file during a compaction gets the new one`() async throws {
    let compact = try ToolProcess(
      folder, ["compact", "a.tarn"],
      environment: ["TARN_FAULT": "copy.synced", "TARN_FAULT_SIGNAL": "stop"])
    var status: Int32 = 0
    #expect(waitpid(compact.processID, &status, WUNTRACED) == compact.processID)
    let before = FileFacts.at(folder.file("a.tarn"))?.identity
    let writer = try ToolProcess(
      folder, ["set", "a.tarn", "Crate", "name=new", "--where", "id == 7", "--timeout", "1800"])
    // The last that it does before it waits.
    try await yieldUntil {
      let folder = "/proc/\(writer.processID)/fd"
      let numbers = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      return numbers.contains { number in
        let target = try? FileManager.default.destinationOfSymbolicLink(
          atPath: folder + "/" + number)
        return target?.hasSuffix("/a.tarn-lock") == true
      }
    }
    compact.signal(SIGCONT)
    #expect(try writer.finish().status == 0)
    #expect(FileFacts.at(folder.file("a.tarn"))?.identity != before)
    let found = try tarn("count", "a.tarn", "Crate", "name == 'new'")
    #expect(found.output == "1\n")
    #expect(try isSound("a.tarn"))
  }

  @Test func `a compaction that is killed leaves the old file or the new one`() throws {
    for point in ["copy.begun", "copy.filled", "copy.synced", "copy.named", "copy.published"] {
      let before = FileFacts.at(folder.file("a.tarn"))?.identity
      let killed = try ToolProcess(
        folder, ["compact", "a.tarn"], environment: ["TARN_FAULT": point]
      ).finish()
      #expect(killed.status == -1, "\(point)")
      let after = FileFacts.at(folder.file("a.tarn"))?.identity
      #expect((after == before) == (point != "copy.published"), "\(point)")
      #expect(try isSound("a.tarn"), "\(point)")
      let set = try tarn("set", "a.tarn", "Crate", "name=\(point)", "--where", "id == 7")
      #expect(set.status == 0, "\(point): \(set.errors)")
    }
    #expect(try tarn("compact", "a.tarn").status == 0)
    #expect(names == ["a.tarn"])
    #expect(try tarn("count", "a.tarn", "Crate").output == "300\n")
  }

  /// As `cp` makes one.
  @Test func `a copy of another program is noticed when it is written to`() throws {
    let bytes = try Data(contentsOf: folder.url("a.tarn"))
    try bytes.write(to: folder.url("b.tarn"))
    let original = try #require(FileFacts.at(folder.file("a.tarn"))).identity.inode
    let file = try FileHandle(forReadingFrom: folder.url("b.tarn"))
    let isKnown = FileStamp.File.of(file.fileDescriptor) != nil
    func set(_ name: String) throws -> ToolProcess.Result {
      try tarn("set", name, "Crate", "name=x", "--where", "id == 1")
    }
    #expect(try set("a.tarn").errors == "")
    #expect(try set("b.tarn").errors.contains("copied by another program") == isKnown)
    #expect(try set("b.tarn").errors == "")
    #expect(try tarn("inspect", "b.tarn").output.contains("it was file \(original)") == isKnown)
    let json = try tarn("inspect", "b.tarn", "--json").output
    #expect(json.contains("\"copied\":{\"inode\":\(original),\"noticed\":\"20") == isKnown)
    // The way out.
    #expect(try tarn("copy", "b.tarn", "c.tarn").status == 0)
    #expect(try set("c.tarn").errors == "")
    #expect(try !tarn("inspect", "c.tarn").output.contains("copied"))
  }

  @Test(
    .enabled(if: Sanitizer.startsWithShortFiles, "the thread sanitizer's runtime needs long files"))
  func `a failed replacement leaves no lock file`() throws {
    try Self.makeStore(folder, objects: 3_000, named: "big.tarn")
    #expect(try tarn("copy", "a.tarn", "b.tarn").status == 0)
    for suffix in ["-lock", "-signal"] { unlink(folder.file("b.tarn" + suffix)) }
    let copy = "\(ToolProcess.tarn.path) copy big.tarn b.tarn --replace"
    let script = "ulimit -f 320; exec \(copy)"
    let failed = try ToolProcess(folder, ["-c", script], program: "/bin/sh").finish()
    #expect(failed.status == 1)
    #expect(failed.errors.contains("ulimit -f"), "\(failed)")
    #expect(folder.names.filter { $0.contains("b.tarn") } == ["b.tarn"])
  }

  @Test(
    .enabled(if: Sanitizer.startsWithShortFiles, "the thread sanitizer's runtime needs long files"))
  func `the limit for the length of files is named by the signal file`() throws {
    unlink(folder.file("a.tarn-signal"))
    // The lock file stays, and is long enough already.
    let script = "ulimit -f 1; exec \(ToolProcess.tarn.path) query a.tarn Crate"
    let failed = try ToolProcess(folder, ["-c", script], program: "/bin/bash").finish()
    #expect(failed.errors.contains("ulimit -f"), "\(failed)")
  }
}
