import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// Commands at a store of which all read transactions are taken.
@Suite struct FullReaderTableTests {
  private let folder = TemporaryFolder()

  private func run(_ words: String...) throws -> ToolProcess.Result {
    try ToolProcess(folder, words).finish()
  }

  @Test func commandsThatReadShowACopyAndSayWhy() throws {
    let filled = try ToolProcess.run(
      folder, "import", "a.realm", "-", "-f", "jsonl", "-c", "Dog", input: "{\"n\":1}\n{\"n\":2}\n")
    try #require(filled.status == 0)
    let free = try run("inspect", "a.realm")
    #expect(free.errors == "")
    let taken = try AllReaders.take(of: folder.file("a.realm"))
    #expect(taken.count == 4096)
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)

    let start =
      "tarn: a.realm: showing a private copy. All 4096 read transactions that the processes "
      + "share are in use; "
    let inspected = try run("inspect", "a.realm", "--check")
    #expect(inspected.status == 0)
    #expect(inspected.errors.hasPrefix(start), "\(inspected.errors)")
    #expect(
      inspected.errors.contains("process \(getpid())"),
      "\(inspected.errors)")
    #expect(
      inspected.errors.contains(" has 4096"),
      "\(inspected.errors)")
    #expect(inspected.output.contains("unknown: this is a private copy"))
    #expect(inspected.output.contains("Dog  2 objects"), "\(inspected.output)")
    #expect(try run("count", "a.realm", "Dog").output == "2\n")

    let watched = try run("watch", "a.realm", "Dog", "--rows", "0")
    #expect(watched.status == 1)
    #expect(watched.output == "version 1  Dog  2 objects\n")
    #expect(watched.errors.hasPrefix(start))
    #expect(watched.errors.contains("a.realm cannot be watched: all 4096 read transactions"))

    // What writes does not take a copy for the store.
    let deleted = try run("delete", "a.realm", "Dog", "--all")
    #expect(deleted.status == 1)
    #expect(deleted.errors.contains("all 4096 read transactions"), "\(deleted.errors)")
    for transaction in taken { transaction.end() }
    #expect(try run("count", "a.realm", "Dog") == .init(status: 0, output: "2\n", errors: ""))
    #expect(
      try Set(FileManager.default.contentsOfDirectory(atPath: folder.path)).isSuperset(of: files))
  }
}
