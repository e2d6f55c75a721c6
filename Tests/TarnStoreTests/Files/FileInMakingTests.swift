import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite struct FileInMakingTests {
  private let folder = TemporaryFolder()
  private var path: String { folder.file("x.realm") }

  private func make(isNameless: Bool = true) throws -> FileInMaking {
    let file = try FileInMaking(
      for: path, mode: 0o640, operation: "test", isNameless: isNameless)
    #expect(write(file.descriptor, "whole", 5) == 5)
    return file
  }

  private var content: String? { try? String(contentsOfFile: path, encoding: .utf8) }

  @Test(arguments: [true, false])
  func `it has its name when it is complete`(_ isNameless: Bool) throws {
    let file = try make(isNameless: isNameless)
    #expect(content == nil)
    #expect(folder.names.count == (isNameless ? 0 : 1))
    try file.publish(replacing: false)
    #expect(content == "whole")
    #expect(folder.names == ["x.realm"])
    #expect(FileFacts.at(path)?.mode == 0o640)
  }

  @Test(arguments: [true, false])
  func `an existing file stays, unless it is replaced`(_ isNameless: Bool) throws {
    _ = try folder.file("x.realm", Array("old".utf8))
    do {
      let file = try make(isNameless: isNameless)
      #expect(StorageError.code { try file.publish(replacing: false) } == .fileExists)
    }
    #expect(content == "old")
    #expect(folder.names == ["x.realm"])
    do {
      let file = try make(isNameless: isNameless)
      try file.publish(replacing: true)
    }
    #expect(content == "whole")
    #expect(folder.names == ["x.realm"])
  }

  @Test func `what a killed process left is removed, and nothing else`() throws {
    _ = try folder.file(".x.realm.tarn-copy-a1b2c3", Array("left".utf8))
    let kept = [
      ".x.realm.tarn-copy-a1b2c", ".x.realm.tarn-copy-a1b2c34", ".y.realm.tarn-copy-a1b2c3",
      "x.realm.tarn-copy-a1b2c3",
    ]
    for name in kept { _ = try folder.file(name, []) }
    // A folder and a link with such names.
    try FileManager.default.createDirectory(
      atPath: folder.file(".x.realm.tarn-copy-folder"), withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      atPath: folder.file(".x.realm.tarn-copy-a-link"), withDestinationPath: folder.file(kept[0]))
    // That of a process that still works.
    let other = try make(isNameless: false)
    let before = folder.names
    let file = try make()
    #expect(folder.names == before.filter { $0 != ".x.realm.tarn-copy-a1b2c3" })
    try file.publish(replacing: false)
    #expect(StorageError.code { try other.publish(replacing: false) } == .fileExists)
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
  func `what another user left stays`() throws {
    let left = try folder.file(".x.realm.tarn-copy-a1b2c3", [])
    #expect(chown(left, 65534, 65534) == 0)
    try make().publish(replacing: false)
    #expect(folder.names == [".x.realm.tarn-copy-a1b2c3", "x.realm"])
  }
}
