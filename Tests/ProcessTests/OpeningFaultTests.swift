import CTarn
import Foundation
import Tarn
import Testing
import ToolSupport

@testable import TarnStore

extension ProcessTests {
  /// What a program is told about a file that it cannot have, and that the file stays as it was.
  @Suite struct OpeningFaultTests {
    /// Opens the file here, expecting an error; checks that its bytes are the same afterwards.
    private func refusal(
      _ path: String, isReadOnly: Bool = false,
      durability: Realm.Configuration.Durability = .relaxed
    ) throws -> Realm.Error? {
      let url = URL(fileURLWithPath: path)
      let before = try? Data(contentsOf: url)
      var configuration = StressFile.configuration(path)
      configuration.readOnly = isReadOnly
      configuration.durability = durability
      do {
        _ = try Realm(configuration: configuration, scheduler: ManualScheduler())
        return nil
      } catch let error as Realm.Error {
        #expect((try? Data(contentsOf: url)) == before)
        return error
      }
    }

    @Test func `something else than a store is refused and left alone`() throws {
      let file = try StressFile(isFilled: false)
      let sqlite = Data("SQLite format 3\0".utf8) + Data(count: 8176)
      let contents = [
        Data("hello".utf8), Data(String(repeating: "text ", count: 4000).utf8), sqlite,
        Data(count: 65536),
      ]
      for content in contents {
        try content.write(to: URL(fileURLWithPath: file.path))
        let error = try #require(try refusal(file.path))
        #expect(error.code == .invalidDatabase)
        let isZeros = content.allSatisfy { $0 == 0 }
        #expect(error.message.contains(isZeros ? "begins with zeros" : "is not a store"))
        #expect(error.message.contains(file.path))
        let names = try FileManager.default.contentsOfDirectory(atPath: file.folder)
        #expect(names == ["x.realm"])
      }
    }

    @Test func `an empty file becomes a store, but not for a reader`() throws {
      let file = try StressFile(isFilled: false)
      #expect(FileManager.default.createFile(atPath: file.path, contents: Data()))
      #expect(try refusal(file.path, isReadOnly: true)?.code == .invalidDatabase)
      #expect(try refusal(file.path) == nil)
    }

    @Test func `an LMDB file of somebody else is refused and left alone`() throws {
      let file = try StressFile(isFilled: false)
      let environment = try Environment.open(path: file.path)
      try environment.write { transaction throws(StorageError) in
        try Self.put([0x42, 1], [1, 2, 3], transaction)
      }
      environment.close()
      let error = try #require(try refusal(file.path))
      #expect(error.code == .invalidDatabase)
      #expect(error.message.contains("no head record"))
    }

    private static func put(
      _ key: [UInt8], _ value: [UInt8], _ transaction: borrowing WriteTransaction
    ) throws(StorageError) {
      let both = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 8)
      defer { both.deallocate() }
      both.copyBytes(from: key + value)
      let name = UnsafeRawBufferPointer(rebasing: both[..<key.count])
      let bytes = UnsafeRawBufferPointer(rebasing: both[key.count..<(key.count + value.count)])
      try transaction.put(bytes, forKey: name)
    }

    /// The head record of the file, changed and with a checksum that is right again.
    private func putHead(
      _ file: StressFile, _ change: (inout [UInt8]) -> Void
    ) throws {
      // As the Realm that has it open, perhaps.
      var options = EnvironmentOptions()
      options.durability = .relaxed
      let environment = try Environment.open(path: file.path, options: options)
      defer { environment.close() }
      let transaction = try environment.beginRead()
      var bytes = try TreeKey.head.withBytes { key throws(StorageError) in
        try transaction.value(forKey: key).map { Array($0) }
      }!
      transaction.end()
      change(&bytes)
      let checksum = bytes.withUnsafeBytes { tarn_crc32c($0.baseAddress, 80) }
      withUnsafeBytes(of: checksum.littleEndian) { bytes.replaceSubrange(80..<84, with: $0) }
      let changed = bytes
      try environment.write { transaction throws(StorageError) in
        try Self.put([TreeKey.Tag.head.rawValue], changed, transaction)
      }
    }

    @Test func `a newer format or an unknown feature is named`() throws {
      let changes: [(inout [UInt8]) -> Void] = [{ $0[4] += 1 }, { $0[48] = 1 << 5 }]
      for change in changes {
        let file = try StressFile()
        try putHead(file, change)
        let error = try #require(try refusal(file.path))
        #expect(error.code == .unsupportedFileFormatVersion)
        #expect(error.message.contains("Update the library"))
      }
    }

    @Test func `a format that becomes newer under an observer ends it and nothing else`() throws {
      let file = try StressFile()
      let scheduler = ManualScheduler()
      let realm = try Realm(
        configuration: StressFile.configuration(file.path), scheduler: scheduler)
      var ended: [Realm.Error?] = []
      let token = realm.objects(StressAccount.self).observe { change in
        if case .error(let error) = change { ended.append(error as? Realm.Error) }
      }
      scheduler.pump()
      let signal = try file.store().signal
      try putHead(file) { bytes in
        bytes[8] += 1
        bytes[48] = 1 << 5
      }
      signal.raise(to: 1000)
      signal.wake()
      let limit = ContinuousClock.now + ChildProcess.patience
      while ended.isEmpty, ContinuousClock.now < limit {
        scheduler.wait(timeout: 0.1)
        scheduler.pump()
      }
      #expect(ended == [.unsupportedFileFormatVersion])
      #expect(realm.objects(StressAccount.self).count == 120)
      token.invalidate()
    }

    @Test func `a missing folder, and a missing file for a reader, are not found`() throws {
      let file = try StressFile(isFilled: false)
      #expect(try refusal(file.folder + "/no/x.realm")?.code == .fileNotFound)
      #expect(try refusal(file.path, isReadOnly: true)?.code == .fileNotFound)
      #expect(try FileManager.default.contentsOfDirectory(atPath: file.folder) == [])
    }

    @Test func `a weaker durability than the file's is refused, a stronger one is not`() throws {
      let file = try StressFile(isFilled: false)
      do {
        #expect(try refusal(file.path, durability: .full) == nil)
        let error = try #require(try refusal(file.path, durability: .relaxed))
        #expect(error.code == .invalidInput)
        #expect(error.message.contains(".full"))
      }
      let other = try StressFile()
      #expect(try refusal(other.path, durability: .full) == nil)
    }

    /// Opens the file in a process of a user who is nobody.
    private func openAsNobody(_ path: String, _ mode: String = "") throws -> [String]? {
      guard geteuid() == 0 else { return nil }
      let arguments = ["--reuid=65534", "--regid=65534", "--clear-groups", StressTool.path]
      let child = try ChildProcess(
        "setpriv", arguments + ["worker", "open", path, "1", "1", mode])
      return child.finish().lines
    }

    @Test func `a file without permission is refused and left alone`() throws {
      let file = try StressFile()
      let before = file.bytes
      chmod(file.folder, 0o755)
      chmod(file.path, 0o600)
      // Only root can become somebody else; for others the system's own checks suffice.
      guard let closed = try openAsNobody(file.path) else { return }
      #expect(closed.first?.hasPrefix("error filePermissionDenied") == true, "\(closed)")
      chmod(file.path, 0o644)
      let lines = try #require(try openAsNobody(file.path, "write"))
      #expect(lines.first?.hasPrefix("error filePermissionDenied") == true, "\(lines)")
      chmod(file.folder, 0o700)
      let hidden = try #require(try openAsNobody(file.path))
      #expect(hidden.first?.hasPrefix("error filePermissionDenied") == true, "\(hidden)")
      #expect(file.bytes == before)
    }

    @Test func `a folder where nothing can be made is refused, and says what is missing`() throws {
      let file = try StressFile()
      let before = file.bytes
      for suffix in ["-lock", "-signal"] {
        try FileManager.default.removeItem(atPath: file.path + suffix)
      }
      chmod(file.folder, 0o555)
      chmod(file.path, 0o666)
      guard let lines = try openAsNobody(file.path) else { return }
      #expect(lines.first?.hasPrefix("error filePermissionDenied") == true, "\(lines)")
      #expect(lines.first?.contains(file.folder) == true)
      let missing = try #require(try openAsNobody(file.folder + "/new.realm"))
      #expect(missing.first?.hasPrefix("error filePermissionDenied") == true, "\(missing)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: file.folder) == ["x.realm"])
      #expect(file.bytes == before)
      chmod(file.folder, 0o755)
    }
  }
}
