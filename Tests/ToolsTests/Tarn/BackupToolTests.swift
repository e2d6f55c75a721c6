import Foundation
import TestSupport
import Testing

/// `tarn backup` and `tarn restore`.
@Suite struct BackupToolTests {
  private let folder = TemporaryFolder()

  init() throws {
    try CopyToolTests.makeStore(folder, objects: 3)
    try FileManager.default.createDirectory(
      atPath: folder.file("d"), withIntermediateDirectories: false)
  }

  private func tarn(_ arguments: String...) throws -> ToolProcess.Result {
    try ToolProcess(folder, arguments).finish()
  }

  private var backups: [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.file("d"))) ?? []
    return names.filter { !$0.hasSuffix("-lock") && !$0.hasSuffix("-signal") }.sorted()
  }

  /// A backup that has an older name.
  private func backup(_ time: String) throws {
    let before = Set(backups)
    let made = try tarn("backup", "a.tarn", "d")
    #expect(made.status == 0, "\(made.errors)")
    let new = try #require(backups.first { !before.contains($0) })
    try FileManager.default.moveItem(
      atPath: folder.file("d/" + new), toPath: folder.file("d/a-\(time).tarn"))
  }

  private func set(_ name: String) throws {
    #expect(try tarn("set", "a.tarn", "Crate", "name=\(name)", "--where", "id == 1").status == 0)
  }

  private func restored(_ file: String, _ options: String...) throws -> String {
    let made = try ToolProcess(folder, ["restore", "d", file] + options).finish()
    #expect(made.status == 0, "\(made.errors)")
    return try tarn("query", file, "Crate", "id == 1", "--csv", "--columns", "name").output
  }

  @Test func `the newest backup of a time is restored`() throws {
    for (name, time) in [
      ("old", "20250101T000000Z"), ("mid", "20250601T120000Z"), ("new", "20251231T235959Z"),
    ] {
      try set(name)
      try backup(time)
    }
    #expect(try restored("b.tarn") == "name\nnew\n")
    #expect(try restored("c.tarn", "--at", "2025-06-01T12:00:00Z") == "name\nmid\n")
    #expect(try restored("e.tarn", "--at", "2025-06-01 13:59:59 +0200") == "name\nold\n")
    let early = try tarn("restore", "d", "f.tarn", "--at", "2024-01-01")
    #expect(early.status == 1)
    #expect(early.errors.contains("the oldest is a-20250101T000000Z.tarn"))
    #expect(try tarn("restore", "d", "f.tarn", "--at", "soon").status == 2)
    let taken = try tarn("restore", "d", "a.tarn")
    #expect(taken.errors.contains("there is a file already"))
    #expect(try restored("a.tarn", "--replace", "--at", "2025-02-01") == "name\nold\n")
  }

  @Test func `only the newest backups of the same store are kept`() throws {
    for year in 2020..<2025 { try backup("\(year)0101T000000Z") }
    let others = ["a-20200101T000000Z", "a-2020.tarn", "b-20200101T000000Z.tarn", "notes"]
    for name in others { _ = try folder.file("d/" + name, []) }
    let made = try tarn("backup", "a.tarn", "d", "--keep", "3")
    #expect(made.status == 0, "\(made.errors)")
    let own = backups.filter { !others.contains($0) }
    #expect(own.count == 3)
    #expect(own.prefix(2) == ["a-20230101T000000Z.tarn", "a-20240101T000000Z.tarn"])
    #expect(Set(backups).isSuperset(of: others))
    #expect(try tarn("backup", "a.tarn", "d", "--keep", "0").status == 2)
  }

  private func rename(_ from: String, _ to: String) throws {
    try FileManager.default.moveItem(
      atPath: folder.file("d/" + from), toPath: folder.file("d/" + to))
  }

  /// An incremental backup that has an older name, and the difference that it has made.
  private func increment(_ time: String) throws {
    let before = Set(backups)
    let made = try tarn("backup", "a.tarn", "d", "--incremental")
    #expect(made.status == 0, "\(made.errors)")
    let new = try #require(backups.first { !before.contains($0) && !$0.hasSuffix(".delta") })
    try rename(new, "a-\(time).tarn")
  }

  @Test func `with --incremental only the newest backup is whole, and each can be restored`() throws
  {
    let times = ["20250101T000000Z", "20250601T000000Z", "20251231T000000Z"]
    for (name, time) in zip(["old", "mid", "new"], times) {
      try set(name)
      try increment(time)
    }
    let names = ["a-\(times[0]).tarn.delta", "a-\(times[1]).tarn.delta", "a-\(times[2]).tarn"]
    #expect(backups == names)
    #expect(try restored("b.tarn") == "name\nnew\n")
    #expect(try restored("c.tarn", "--at", "2025-06-02") == "name\nmid\n")
    #expect(try restored("e.tarn", "--at", "2025-01-02") == "name\nold\n")
    #expect(try tarn("inspect", "--check", "e.tarn").status == 0)
    // The oldest is needed by none.
    #expect(try tarn("backup", "a.tarn", "d", "--incremental", "--keep", "2").status == 0)
    #expect(backups.count == 2)
    #expect(backups.first == "a-\(times[2]).tarn.delta")
    #expect(try restored("f.tarn", "--at", "2025-12-31T01:00:00Z") == "name\nnew\n")
    // Without a whole one there is nothing to begin with.
    unlink(folder.file("d/" + backups[1]))
    let lost = try tarn("restore", "d", "g.tarn")
    #expect(lost.status == 1)
    #expect(lost.errors.contains("the folder has no whole backup after it"))
  }

  @Test func `a backup that was killed before it deleted the whole one goes on`() throws {
    let times = ["20250101T000000Z", "20250601T000000Z"]
    try set("old")
    try increment(times[0])
    let whole = folder.file("d/a-\(times[0]).tarn")
    let bytes = try Data(contentsOf: URL(fileURLWithPath: whole))
    try set("mid")
    try increment(times[1])
    try bytes.write(to: URL(fileURLWithPath: whole))
    #expect(try restored("b.tarn", "--at", "2025-01-02") == "name\nold\n")
    try set("new")
    #expect(try tarn("backup", "a.tarn", "d", "--incremental").status == 0)
    #expect(backups.dropLast() == times.map { "a-\($0).tarn.delta" }[...])
    #expect(try restored("c.tarn", "--at", "2025-01-02") == "name\nold\n")
    #expect(try restored("e.tarn", "--at", "2025-06-02") == "name\nmid\n")
  }

  @Test func `a folder must be there, and have one store's backups or those of the name`() throws {
    let missing = try tarn("backup", "a.tarn", "nowhere")
    #expect(missing.status == 1)
    #expect(missing.errors == "tarn: cannot read the folder nowhere: No such file or directory\n")
    #expect(try tarn("restore", "d", "b.tarn").errors.contains("d has no backups"))
    try backup("20250101T000000Z")
    try FileManager.default.copyItem(
      atPath: folder.file("d/a-20250101T000000Z.tarn"),
      toPath: folder.file("d/z-20250101T000000Z.tarn"))
    let unclear = try tarn("restore", "d", "b.tarn")
    #expect(unclear.status == 1)
    #expect(unclear.errors.contains("but of a.tarn, z.tarn"))
    #expect(try tarn("restore", "d", "z.tarn").status == 0)
  }

  @Test(
    .enabled(if: Sanitizer.startsWithShortFiles, "the thread sanitizer's runtime needs long files"))
  func `a backup that fails deletes none, and leaves no part of a new one`() throws {
    for year in 2020..<2023 { try backup("\(year)0101T000000Z") }
    let before = backups
    let lines = (10..<1_500).map { "{\"id\": \($0), \"name\": \"\(UUID()) \(UUID())\"}\n" }
    let more = ["import", "a.tarn", "-", "-c", "Crate", "-k", "id", "-f", "jsonl"]
    let grown = try ToolProcess(folder, more, input: lines.joined()).finish()
    #expect(grown.status == 0, "\(grown.errors)")
    // No file may get longer than 48 kB, which is enough for the companions. The signal is ignored,
    // so that writing is an error.
    let backup = "\(ToolProcess.tarn.path) backup a.tarn d --keep 1"
    let script = "trap '' XFSZ; ulimit -f 96; exec \(backup)"
    let failed = try ToolProcess(folder, ["-c", script], program: "/bin/sh").finish()
    #expect(failed.status == 1)
    #expect(failed.errors.contains("tarn: copy"), "\(failed.errors)")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("d"))
    #expect(names.filter { $0.hasPrefix(".") } == [])
    #expect(backups == before)
    #expect(try tarn("inspect", "--check", "a.tarn").status == 0)
    #expect(try tarn("backup", "a.tarn", "d", "--keep", "1").status == 0)
    #expect(backups.count == 1)
  }

  // MARK: - Clocks and other stores

  private func restoredName(at time: String) throws -> String {
    let file = "\(UUID()).tarn"
    let name = try restored(file, "--at", time)
    for suffix in ["", "-lock", "-signal"] { unlink(folder.file(file) + suffix) }
    return name
  }

  @Test func `the new backup stays when others have later times`() throws {
    for time in ["20990101T000000Z", "20990102T000000Z"] { try backup(time) }
    try set("new")
    let made = try tarn("backup", "a.tarn", "d", "--keep", "2")
    #expect(made.status == 0, "\(made.errors)")
    #expect(made.output.contains("deleted d/a-20990101T000000Z.tarn\n"), "\(made.output)")
    #expect(backups.count == 2)
    #expect(backups.last == "a-20990102T000000Z.tarn")
    let newest = try tarn("query", "d/" + backups[0], "Crate", "id == 1", "--csv")
    #expect(newest.output.contains("new"))
    #expect(try tarn("backup", "a.tarn", "d", "--keep", "1").status == 0)
    #expect(backups.filter { $0.contains("2099") } == [])
  }

  @Test func `differences lead to the next version, whatever the clock said`() throws {
    let times = ["20250301T000000Z", "20250101T000000Z", "20250201T000000Z"]
    for (name, time) in zip(["first", "second", "third"], times) {
      try set(name)
      try increment(time)
    }
    #expect(backups.filter { !$0.hasSuffix(".delta") } == ["a-\(times[2]).tarn"])
    #expect(try restoredName(at: "2025-03-01") == "name\nfirst\n")
    #expect(try restoredName(at: "2025-01-15") == "name\nsecond\n")
    #expect(try restoredName(at: "2025-02-15") == "name\nthird\n")
    #expect(try restored("b.tarn") == "name\nthird\n")
    // The version of the first one is the oldest.
    let made = try tarn("backup", "a.tarn", "d", "--incremental", "--keep", "3")
    #expect(made.output.contains("deleted d/a-\(times[0]).tarn.delta\n"), "\(made)")
    #expect(try restoredName(at: "2025-01-15") == "name\nsecond\n")
  }

  @Test func `two backups at once have names of their own`() throws {
    let both = try (1...2).map { _ in try ToolProcess(folder, ["backup", "a.tarn", "d"]) }
    for one in both {
      let made = try one.finish()
      #expect(made.status == 0, "\(made.errors)")
    }
    #expect(backups.count == 2)
  }

  @Test func `backups of another store with the same name stay as they are`() throws {
    try FileManager.default.createDirectory(
      atPath: folder.file("s"), withIntermediateDirectories: false)
    let lines = "{\"id\": 1, \"name\": \"other\"}\n"
    let other = ["import", "s/a.tarn", "-", "-c", "Crate", "-k", "id", "-f", "jsonl"]
    #expect(try ToolProcess(folder, other, input: lines).finish().status == 0)
    try backup("20250101T000000Z")
    for option in [["--keep", "1"], ["--incremental"]] {
      let made = try ToolProcess(folder, ["backup", "s/a.tarn", "d"] + option).finish()
      #expect(made.status == 0)
      #expect(made.errors.contains("d has backups of another store with this name"), "\(made)")
    }
    #expect(backups.first == "a-20250101T000000Z.tarn")
    #expect(try restored("b.tarn", "--at", "2025-02-01") == "name\nname 1\n")
    try FileManager.default.moveItem(atPath: folder.file("a.tarn"), toPath: folder.file("k"))
    let mixed = try tarn("restore", "d", "a.tarn")
    #expect(mixed.errors.contains("also has backups of another store with this name"), "\(mixed)")
    // A store that is there says whose backups are meant.
    try FileManager.default.removeItem(atPath: folder.file("a.tarn"))
    try FileManager.default.moveItem(atPath: folder.file("k"), toPath: folder.file("a.tarn"))
    #expect(try restored("a.tarn", "--replace") == "name\nname 1\n")
  }

  @Test func `a restored store goes on with the backups of the former one`() throws {
    for (name, time) in [("old", "20250101T000000Z"), ("lost", "20250201T000000Z")] {
      for _ in 0..<3 { try set(name) }
      try increment(time)
    }
    #expect(try restored("a.tarn", "--replace", "--at", "2025-01-02") == "name\nold\n")
    try set("new")
    let made = try tarn("backup", "a.tarn", "d", "--incremental", "--keep", "2")
    #expect(made.status == 0)
    #expect(made.errors == "")
    #expect(made.output.contains("deleted d/a-20250101T000000Z.tarn.delta\n"), "\(made)")
    #expect(try restoredName(at: "2025-02-02") == "name\nlost\n")
    #expect(try restored("b.tarn", "--at", "2999-01-01") == "name\nnew\n")
  }

  @Test func `a missing whole backup is told of`() throws {
    for time in ["20250101T000000Z", "20250201T000000Z"] {
      try set(time)
      try increment(time)
    }
    unlink(folder.file("d/a-20250201T000000Z.tarn"))
    let made = try tarn("backup", "a.tarn", "d", "--incremental")
    #expect(made.status == 0)
    #expect(made.errors.contains("1 difference in d cannot be restored"), "\(made)")
    #expect(backups.count == 2)
    #expect(try restored("b.tarn") == "name\n20250201T000000Z\n")
  }
}
