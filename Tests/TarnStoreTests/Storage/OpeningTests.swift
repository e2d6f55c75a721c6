import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite struct OpeningTests {
  let folder = TemporaryFolder()
  var path: String { folder.file("x.realm") }

  func openError(_ options: EnvironmentOptions = EnvironmentOptions()) -> StorageError? {
    do throws(StorageError) {
      let environment = try Environment.open(path: path, options: options)
      environment.close()
      return nil
    } catch {
      return error
    }
  }

  /// A store with some keys, closed.
  func makeStore() throws -> Data {
    let environment = try Environment.open(path: path)
    for n in 0..<4 { try environment.put([[UInt8(n + 1), 1]: [UInt8](repeating: 1, count: 900)]) }
    environment.close()
    return try Data(contentsOf: URL(fileURLWithPath: path))
  }

  @Test func `a file that is something else is refused and nothing is written`() throws {
    for content in ["hello", String(repeating: "no store ", count: 3000)] {
      try Data(content.utf8).write(to: URL(fileURLWithPath: path))
      #expect(openError()?.code == .notAStore)
      #expect(folder.names == ["x.realm"])
      #expect(try String(contentsOfFile: path, encoding: .utf8) == content)
    }
  }

  @Test func `a folder at the path is refused`() throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    #expect(openError()?.code == .notAStore)
  }

  @Test func `a read-only opening creates nothing`() throws {
    var options = EnvironmentOptions()
    options.isReadOnly = true
    #expect(openError(options)?.code == .notFound)
    #expect(folder.names == [])
    _ = FileManager.default.createFile(atPath: path, contents: Data())
    #expect(openError(options)?.code == .notAStore)
    #expect(folder.names == ["x.realm"])
  }

  @Test func `a missing folder is reported as not found`() {
    let error = #expect(throws: StorageError.self) {
      try Environment.open(path: folder.file("no/x.realm"))
    }
    #expect(error?.code == .notFound)
  }

  @Test func `every damaged byte of the header is found or harmless`() throws {
    let sound = try makeStore()
    let pageSize = 4096
    for page in 0..<2 {
      for offset in 10..<152 where !(12..<16).contains(offset) {
        var bytes = sound
        bytes[page * pageSize + offset] ^= 0x5a
        try bytes.write(to: URL(fileURLWithPath: path))
        let error = openError()
        // Magic, version, page size, kinds of trees, depths, roots' and last pages' high bytes.
        let mustFail =
          (16..<24).contains(offset) || (40..<44).contains(offset) || offset == 10
        if mustFail { #expect(error != nil, "page \(page) offset \(offset)") }
        if let error {
          #expect(
            [.corrupted, .notAStore, .newerFormat].contains(error.code), "\(page) \(offset)")
        }
      }
    }
  }

  /// Roots, counts, last pages and transactions.
  @Test func `numbers of the header at the ends of their ranges never stop an opener`() throws {
    let sound = try makeStore()
    let ends: [UInt64] = [0, 1, 2, 1 << 31, 1 << 62, UInt64(Int64.max), .max - 1, .max]
    for place in stride(from: 48, to: 152, by: 8) {
      for (number, end) in ends.enumerated() {
        var bytes = sound
        for page in 0..<2 {
          for (index, byte) in withUnsafeBytes(of: end, Array.init).enumerated() {
            bytes[page * 4096 + place + index] = byte
          }
        }
        try bytes.write(to: URL(fileURLWithPath: path))
        guard let error = openError() else { continue }
        #expect([.corrupted, .notAStore].contains(error.code), "\(place), \(number): \(error)")
      }
    }
  }

  @Test func `a header that cannot be read is an error and no empty file`() throws {
    let folder = try OwnedDescriptor(
      opening: folder.path, flags: O_RDONLY | O_DIRECTORY, operation: "test")
    #expect(
      StorageError.code { _ = try StoreHeader.read(descriptor: folder.raw, path: path) }
        == .inputOutput)
    #expect(StoreHeader.each(descriptor: folder.raw, path: path) == [])
  }

  @Test func `a cut file is refused if a needed page is gone`() throws {
    let sound = try makeStore()
    for pages in [1, 2, 3] {
      try sound.prefix(pages * 4096).write(to: URL(fileURLWithPath: path))
      #expect(openError()?.code == .corrupted, "\(pages)")
    }
  }

  @Test func `a newer format is named`() throws {
    var bytes = try makeStore()
    bytes[20] = 2
    try bytes.write(to: URL(fileURLWithPath: path))
    #expect(openError()?.code == .newerFormat)
  }

  @Test func `a link opens the file behind it with that file's lock`() throws {
    let link = folder.file("link.realm")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    let environment = try Environment.open(path: path)
    let same = try Environment.open(path: link)
    #expect(environment === same)
    environment.close()
    same.close()
    #expect(folder.names == ["link.realm", "x.realm", "x.realm-lock"])
  }

  @Test func `a hard link beside an open file is refused`() throws {
    let environment = try Environment.open(path: path)
    defer { environment.close() }
    let other = folder.file("other.realm")
    try FileManager.default.linkItem(atPath: path, toPath: other)
    let error = #expect(throws: StorageError.self) { try Environment.open(path: other) }
    #expect(error?.code == .identity)
  }

  @Test func `a replaced file is noticed, and not opened beside the one before`() throws {
    let environment = try Environment.open(path: path)
    defer { environment.close() }
    try environment.checkIdentity()
    let copy = folder.file("copy")
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: copy, toPath: path)
    let error = #expect(throws: StorageError.self) { try environment.checkIdentity() }
    #expect(error?.code == .replaced)
    #expect(error?.detail.contains("end every use of it in this process") == true)
    #expect(openError()?.code == .replaced)
    #expect(try environment.get([1]) == nil)
  }

  @Test func `a deleted lock file is noticed`() throws {
    let environment = try Environment.open(path: path)
    defer { environment.close() }
    try FileManager.default.removeItem(atPath: path + "-lock")
    let error = #expect(throws: StorageError.self) { try environment.checkIdentity() }
    #expect(error?.code == .replaced)
    #expect(error?.detail.hasPrefix("its lock file was deleted") == true)
    #expect(error?.detail.contains("end every use of it in this process") == true)
  }

  @Test func `the lock file has the data file's mode`() throws {
    _ = FileManager.default.createFile(
      atPath: path, contents: Data(), attributes: [.posixPermissions: 0o660])
    let environment = try Environment.open(path: path)
    defer { environment.close() }
    #expect(FileFacts.at(path)?.mode == 0o660)
    #expect(FileFacts.at(path + "-lock")?.mode == 0o660)
  }

  @Test func `no descriptor of a store is left to a started program`() throws {
    let environment = try Environment.open(path: path)
    defer { environment.close() }
    for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
      guard let number = Int32(name), let facts = FileFacts.of(descriptor: number),
        facts.identity == environment.dataIdentity || facts.identity == environment.lockIdentity
      else { continue }
      #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0, "descriptor \(number)")
    }
  }
}
