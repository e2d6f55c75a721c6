import Foundation
import Tarn
import Testing
import ToolSupport

extension ProcessTests {
  /// One file by several names, several files by one name, a fork, a full disk.
  @Suite struct OpeningPathTests {
    @Test func `every path of a file leads to the same store`() throws {
      let file = try StressFile()
      let link = file.folder + "/link.realm"
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "x.realm")
      let scheduler = ManualScheduler()
      let realm = try Realm(
        configuration: StressFile.configuration(file.path), scheduler: scheduler)
      let paths = [
        link, file.folder + "/../" + (file.folder as NSString).lastPathComponent + "/x.realm",
      ]
      for (index, path) in paths.enumerated() {
        let same = try Realm(configuration: StressFile.configuration(path), scheduler: scheduler)
        #expect(same == realm)
        let other = try StressTool.worker("commit-once", path).finish()
        #expect(other.lines == ["ready", "ack \(index + 1)"])
        realm.refresh()
        #expect(realm.commits == index + 1)
      }
      #expect(!FileManager.default.fileExists(atPath: link + "-lock"))
    }

    /// In name spaces of its own, in which a folder is empty and cannot be written. Nil where the
    /// system allows none.
    private func open(
      _ file: StressFile, as worker: String? = nil, without hidden: [String]
    ) throws -> [String]? {
      let worker = worker ?? "worker commit-once \(file.path)"
      let mounts = hidden.map { "mount -t tmpfs -o ro none \($0) || { echo none; exit; }" }
      let command = (["cd \(file.folder)"] + mounts + ["exec \(StressTool.path) \(worker) 2>&1"])
        .joined(separator: "; ")
      let process = try ChildProcess(
        "unshare", ["-Urm", "sh", "-c", command],
        environment: ["TMPDIR": file.folder + "/missing"])
      let lines = process.finish().lines
      return lines.isEmpty || lines == ["none"] ? nil : lines
    }

    @Test func `the folder of the store serves where no other can be written`() throws {
      let file = try StressFile()
      guard let lines = try open(file, without: ["/dev/shm"]) else { return }
      #expect(lines == ["ready", "ack 1"])
      // A new store, by a path that does not begin at the root.
      #expect(try open(file, as: "worker fill new.realm", without: ["/dev/shm"]) == nil)
      let left = try FileManager.default.contentsOfDirectory(atPath: file.folder)
      #expect(left.contains("new.realm"))
      #expect(left.filter { $0.hasPrefix("tarn-opening") } == [])
    }

    @Test func `without proc, opening says what is missing`() throws {
      let file = try StressFile()
      // Swift reads a program's arguments there: the program hides it later.
      let blind = "worker commit-blind \(file.path)"
      guard let lines = try open(file, as: blind, without: []) else { return }
      #expect(lines.contains { $0.contains("mount /proc") }, "\(lines)")
      #expect(try open(file, without: []) == ["ready", "ack 1"])
    }

    @Test func `a hard link is refused while the file is open by its other name`() throws {
      let file = try StressFile()
      let realm = try file.open()
      let other = file.folder + "/other.realm"
      try FileManager.default.linkItem(atPath: file.path, toPath: other)
      let lines = try StressTool.worker("open", other).finish().lines
      #expect(lines.first?.hasPrefix("error incompatibleLockFile") == true, "\(lines)")
      #expect(realm.problem == nil)
    }

    @Test func `a file replaced while it is open is noticed by all`() throws {
      let file = try StressFile()
      let other = try StressFile()
      let realm = try file.open()
      let commits = realm.commits
      #expect(rename(other.path, file.path) == 0)
      let new = file.bytes
      let stranger = try StressTool.worker("open", file.path).finish().lines
      #expect(stranger.first?.hasPrefix("error incompatibleLockFile") == true, "\(stranger)")
      #expect(throws: Realm.Error.incompatibleLockFile) { try file.open() }
      #expect(throws: Realm.Error.incompatibleLockFile) { try realm.commitOne() }
      #expect(realm.commits == commits)
      #expect(realm.problem == nil)
      #expect(file.bytes == new)
    }

    /// Each forks right after it has opened its Realm, when the watcher's thread is about to start.
    @Test(arguments: 1...10)
    func `a forked child has nothing of its parent's Realm but may open its own`(_: Int) throws {
      let file = try StressFile()
      let (lines, end) = try StressTool.worker("fork", file.path).finish()
      #expect(end == .exited(0))
      #expect(lines.count == 3)
      #expect(lines.first?.contains("forked") == true, "\(lines)")
      #expect(lines.dropFirst().first == "child opened 120")
      #expect(lines.last == "parent 120 1")
    }

    /// Runs the script with a file system of so many KiB mounted at `disk`, in a name space of its
    /// own. Nil where the system does not allow that.
    private func onDisk(_ file: StressFile, _ kibibytes: Int, _ script: String) throws -> [String]?
    {
      let disk = file.folder + "/disk"
      try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
      let mount = "mount -t tmpfs -o size=\(kibibytes)k tmpfs \(disk) || { echo none; exit; }"
      let text = "\(mount)\ncd \(disk)\ntool=\(StressTool.path)\n\(script)"
      let child = try ChildProcess("unshare", ["-Urm", "sh", "-c", text])
      let (lines, end) = child.finish()
      if lines == ["none"] || end != .exited(0) && lines.isEmpty { return nil }
      return lines
    }

    @Test func `a full disk is said so, whatever was missing on it`() throws {
      let file = try StressFile(isFilled: false)
      for kibibytes in [4, 8, 256, 260, 264, 268, 272, 276, 280, 284, 288, 300, 320] {
        let script = """
          head -c 4096 /dev/zero > spare; $tool worker open x.realm; echo end $?; ls | xargs
          rm spare; mount -o remount,size=1m .; $tool worker open x.realm
          """
        guard let lines = try onDisk(file, kibibytes, script) else { return }
        let isRight =
          lines.first?.hasPrefix("error outOfDiskSpace") == true || lines.first == "opened 0"
        #expect(isRight, "\(kibibytes) KiB: \(lines)")
        #expect(lines.dropFirst().first == "end 0", "\(kibibytes) KiB: \(lines)")
        let isOpen = lines.first == "opened 0"
        let left = isOpen ? "spare x.realm x.realm-lock x.realm-signal" : "spare"
        #expect(lines.dropFirst(2).first == left, "\(kibibytes) KiB: \(lines)")
        #expect(lines.last == "opened 0", "\(kibibytes) KiB, with room again: \(lines)")
      }
    }

    @Test(arguments: ["", "-lock", "-signal"])
    func `a store on a disk that is full opens or says so`(_ missing: String) throws {
      let file = try StressFile(isFilled: false)
      let script = """
        $tool worker fill x.realm
        rm x.realm\(missing.isEmpty ? "-lock x.realm-signal" : missing)
        head -c 100000000 /dev/zero > filler 2>/dev/null
        $tool worker open x.realm; echo end $?; rm filler
        $tool worker check x.realm
        """
      guard let lines = try onDisk(file, 1500, script) else { return }
      #expect(lines.first?.hasPrefix("error outOfDiskSpace") == true, "\(lines)")
      #expect(lines.dropFirst().first == "end 0", "\(lines)")
      #expect(lines.last == "sound", "\(lines)")
    }

    @Test(arguments: ["-lock", "-signal", "-lock x.realm-signal"])
    func `a store on a full disk is read as a private copy`(_ missing: String) throws {
      let file = try StressFile(isFilled: false)
      let tarn = (StressTool.path as NSString).deletingLastPathComponent + "/tarn"
      // The folder for temporary files is as full as the store's.
      let script = """
        export TMPDIR=.
        $tool worker fill x.realm
        \(tarn) export x.realm StressAccount > \(file.folder)/before
        rm x.realm\(missing); ls > \(file.folder)/names
        head -c 100000000 /dev/zero > filler 2>/dev/null
        $tool worker open x.realm 1 1 read-only
        \(tarn) export x.realm StressAccount > \(file.folder)/after; echo end $?
        rm filler; wc -l < \(file.folder)/after
        cmp \(file.folder)/before \(file.folder)/after && ls | cmp - \(file.folder)/names &&
        echo same
        """
      guard let lines = try onDisk(file, 1500, script) else { return }
      #expect(lines == ["opened 120", "end 0", "120", "same"])
    }

    @Test func `a disk that fills up refuses the commit, and goes on when there is room`() throws {
      let file = try StressFile(isFilled: false)
      let script = """
        $tool worker fill x.realm
        head -c 100000000 /dev/zero > filler 2>/dev/null
        $tool worker open x.realm 40 1 write
        $tool worker check x.realm
        rm filler
        $tool worker open x.realm 2 1 write
        $tool worker check x.realm
        """
      guard let lines = try onDisk(file, 1800, script) else { return }
      #expect(lines.count == 4)
      #expect(lines.first?.hasPrefix("error outOfDiskSpace") == true, "\(lines)")
      #expect(lines.dropFirst().first == "sound")
      #expect(lines.last == "sound", "\(lines)")
    }
  }
}
