import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// Two objects for one file behave as two processes do: each has a description and a slot.
struct SignalFolder {
  let folder = TemporaryFolder()
  let data = FileIdentity(device: 1, inode: 2)
  let lock = FileIdentity(device: 1, inode: 3)
  var path: String { folder.file("x.realm-signal") }

  func open(data: FileIdentity? = nil) throws(StorageError) -> SignalFile {
    try SignalFile(
      path: path, data: data ?? self.data, lock: lock, like: FileFacts.at(folder.path))
  }

  func overwrite(at offset: UInt64, _ bytes: [UInt8]) throws {
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    try handle.seek(toOffset: offset)
    try handle.write(contentsOf: bytes)
    try handle.close()
  }
}

@Suite struct SignalFileTests {
  let position = SignalFolder()

  @Test func `the time since a commit is known to all as long as the file is open`() throws {
    let writer = try position.open()
    var reader: SignalFile? = try position.open()
    #expect(reader?.microseconds(sinceCommit: 7) == nil)
    writer.noteTime(ofCommit: 7)
    let elapsed = try #require(reader?.microseconds(sinceCommit: 7))
    #expect(elapsed < 300_000_000)
    #expect(reader?.microseconds(sinceCommit: 8) == nil)
    reader = nil
    writer.noteTime(ofCommit: 8)
    #expect(try position.open().microseconds(sinceCommit: 8) != nil)
  }

  @Test func `what one raises, the other sees, and nothing takes it back`() throws {
    let a = try position.open()
    let b = try position.open()
    #expect(a.version == 0)
    #expect(a.raise(to: 5))
    #expect(b.version == 5)
    #expect(!b.raise(to: 4))
    #expect(!b.raise(to: 5))
    #expect(a.version == 5)
  }

  @Test func `a counter that no writer can have raised is set right`() throws {
    let a = try position.open()
    a.raise(to: .max)
    #expect(a.raise(to: 7))
    #expect(a.version == 7)
  }

  @Test func `living processes are listed, those that ended are not`() throws {
    let a = try position.open()
    var b: SignalFile? = try position.open()
    #expect(a.processes().count == 2)
    #expect(b?.slot == 1)
    #expect(a.processes().allSatisfy { $0.processID == getpid() && $0.startTime > 0 })
    #expect(a.isAlive(1))
    b = nil
    #expect(!a.isAlive(1))
    #expect(a.processes().count == 1)
    b = try position.open()
    #expect(b?.slot == 1)
  }

  @Test(arguments: [0, 9])
  func `a process in any slot may watch, this one may not`(_ own: Int) throws {
    var before: [SignalFile] = []
    for _ in 0..<own { before.append(try position.open()) }
    let file = try position.open()
    #expect(file.slot == own)
    before = []
    #expect(!file.mayHaveWatchersElsewhere)
    for slot in 0..<SignalLayout.processCount {
      let at = UInt64(SignalLayout.processesAt + slot * SignalLayout.processByteCount)
      let mine = [UInt8](repeating: slot == own ? 1 : 0, count: 4)
      try position.overwrite(at: at, [0, 0, 0, 1])
      let isSeen = file.mayHaveWatchersElsewhere
      try position.overwrite(at: at, mine)
      if isSeen != (slot != own) { Issue.record("slot \(slot)") }
    }
    #expect(!file.mayHaveWatchersElsewhere)
  }

  @Test func `damaged bytes are repaired when nobody lives`() throws {
    _ = try position.open().raise(to: 9)
    // The format, the store that it belongs to, the version, the table of processes.
    for offset in [8, 16, 40, 64, 4096] as [UInt64] {
      try position.overwrite(at: offset, [0xa5, 0xa5])
      let file = try position.open()
      #expect(file.version == 0)
      file.raise(to: 9)
    }
  }

  @Test func `damaged bytes under living processes are an error, not a repair`() throws {
    let a = try position.open()
    a.raise(to: 3)
    try position.overwrite(at: 0, [1, 2, 3])
    let error = #expect(throws: StorageError.self) { try position.open() }
    #expect(error?.code == .corrupted)
    #expect(a.version == 3)
  }

  @Test func `a file of zeros is made right at open`() throws {
    for count in [0, 1, 100, 4096, 16384] {
      try Data(count: count).write(to: URL(fileURLWithPath: position.path))
      let file = try position.open()
      #expect(file.version == 0)
      #expect(FileFacts.at(position.path)?.byteCount == Int64(SignalLayout.byteCount))
    }
  }

  @Test func `a file that holds something else is refused, and stays as it was`() throws {
    let sound = try Data(contentsOf: URL(fileURLWithPath: position.open().path))
    let others = [
      Data(repeating: 0xa5, count: 1), Data(repeating: 0xa5, count: 16384), Data(count: 70000),
      sound.prefix(100), sound + Data(count: 1), Data(count: 2) + sound.dropFirst(2),
    ]
    for other in others {
      try other.write(to: URL(fileURLWithPath: position.path))
      let error = #expect(throws: StorageError.self) { try position.open() }
      #expect(error?.code == .identity)
      #expect(error?.path == position.path)
      #expect(error?.detail.contains("it has other contents") == true)
      #expect(try Data(contentsOf: URL(fileURLWithPath: position.path)) == other)
    }
  }

  @Test func `a replaced store is refused while processes have the one before it`() throws {
    var a: SignalFile? = try position.open()
    a?.raise(to: 8)
    let other = FileIdentity(device: 1, inode: 77)
    let error = #expect(throws: StorageError.self) { try position.open(data: other) }
    #expect(error?.code == .replaced)
    a = nil
    let b = try position.open(data: other)
    #expect(b.version == 0)
  }

  @Test func `a deleted or replaced file is noticed`() throws {
    let a = try position.open()
    #expect(a.isIntact)
    try FileManager.default.removeItem(atPath: position.path)
    #expect(!a.isIntact)
    _ = try position.open()
    #expect(!a.isIntact)
  }

  @Test func `it lies beside the data, with the data's mode`() throws {
    let path = position.folder.file("y.realm")
    _ = FileManager.default.createFile(
      atPath: path, contents: Data(), attributes: [.posixPermissions: 0o640])
    let environment = try Environment.open(path: path)
    defer { environment.close() }
    let file = try SignalFile(for: environment)
    #expect(file.path == environment.path + "-signal")
    #expect(FileFacts.at(file.path)?.mode == 0o640)
  }
}
