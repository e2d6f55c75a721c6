import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// `tarn accept` and `tarn flush`.
@Suite struct AcceptToolTests {
  private let folder = TemporaryFolder()
  private var path: String { folder.file("a.tarn") }

  private func tarn(_ arguments: String...) throws -> ToolProcess.Result {
    try ToolProcess(folder, arguments).finish()
  }

  private func makeStore(_ durability: EnvironmentOptions.Durability) throws {
    var options = Store.Options()
    options.durability = durability
    let store = try StoreRegistry.open(path, options)
    for _ in 0..<3 { try store.write { _ in } }
  }

  private func endMachine() throws {
    try makeStore(.relaxed)
    try mark { $0.mount += 1 }
  }

  /// Writes the mark of a process that was killed.
  private func mark(_ change: (inout UseMark.Place) -> Void = { _ in }) throws {
    let file = try OwnedDescriptor(opening: path, flags: O_RDWR, operation: "test")
    var mark = UseMark(state: .inUse, place: .of(file.raw))
    change(&mark.place)
    #expect(mark.write(file.raw) == 0)
  }

  @Test func `a sound file is used again once it was accepted`() throws {
    try endMachine()
    for command in ["inspect", "dump", "flush"] {
      let refused = try tarn(command, "a.tarn")
      #expect(refused.status == 1)
      #expect(refused.errors.contains("'tarn accept' checks it"), "\(refused.errors)")
    }
    let accepted = try tarn("accept", "a.tarn")
    #expect(accepted.status == 0, "\(accepted.errors)")
    #expect(accepted.output == "a.tarn: sound, at version 3\n")
    #expect(try tarn("inspect", "--check", "a.tarn").status == 0)
    #expect(try tarn("accept", "a.tarn").output == "a.tarn: closed in order, at version 3\n")
  }

  @Test func `accept says how a file was left that needs no check`() throws {
    try makeStore(.relaxed)
    try mark()
    let left = "not closed by its last process, but the system has all of its pages"
    #expect(try tarn("accept", "a.tarn").output == "a.tarn: \(left), at version 3\n")
    #expect(try tarn("accept", "a.tarn").output == "a.tarn: closed in order, at version 3\n")
    var options = Store.Options()
    options.durability = .relaxed
    let store = try StoreRegistry.open(path, options)
    #expect(
      try tarn("accept", "a.tarn").output
        == "a.tarn: in use, so no page is missing, at version 3\n")
    withExtendedLifetime(store) {}
  }

  @Test func `a file with synced commits is not to be accepted`() throws {
    try makeStore(.consistent)
    #expect(
      try tarn("accept", "a.tarn").output
        == "a.tarn: not to be accepted, because its commits are synced, at version 3\n")
  }

  @Test func `a damaged file stays refused, and repair makes a new one`() throws {
    try endMachine()
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    let size = try handle.seekToEnd()
    for page in 2..<size / 4096 {
      try handle.seek(toOffset: page * 4096 + 16)
      try handle.write(contentsOf: Data(count: 8))
    }
    try handle.close()
    for _ in 0..<2 {
      let refused = try tarn("accept", "a.tarn")
      #expect(refused.status == 1)
      #expect(refused.errors.contains("it is damaged: "), "\(refused.errors)")
    }
    #expect(try tarn("count", "a.tarn", "Cat").errors.contains("may be damaged"))
  }

  @Test(arguments: ["consistent", "relaxed"])
  func `flush says until when`(_ level: String) throws {
    try makeStore(level == "relaxed" ? .relaxed : .consistent)
    let end = level == "relaxed" ? ", until the next commit" : ""
    #expect(
      try tarn("flush", "a.tarn")
        == .init(status: 0, output: "a.tarn: version 3 is on the disk\(end)\n", errors: ""))
  }
}
