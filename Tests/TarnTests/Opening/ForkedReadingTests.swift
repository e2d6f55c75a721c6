import Foundation
import Tarn
import TestSupport
import Testing

/// In processes of their own, because a fork of the test process would take its threads' locks
/// along.
@Suite struct ForkedReadingTests {
  /// A read, and what is read.
  private typealias Read = (name: String, run: () -> Void)

  @Test(arguments: Forked.Way.allCases)
  func `every read through an inherited Realm says that the process was forked`(
    way: Forked.Way
  ) async {
    let kept = TemporaryFolder()
    let said = KeptErrors(in: kept.path)
    let result = await #expect(processExitsWith: .success) {
      [said = said as KeptErrors, way = way as Forked.Way] in
      said.keep()
      let folder = TemporaryFolder()
      let realm = try Realm(configuration: Self.configuration(folder))
      try realm.write { for id in 0..<300 { realm.add(Glacier(id, depths: 2_000)) } }
      let reads = Self.reads(of: realm, "live") + Self.reads(of: realm.freeze(), "frozen")
      for read in reads { read.run() }
      for read in reads {
        let words = Self.lastWords(way, read.run)
        precondition(
          words.contains("Realm accessed in a forked process"), "\(read.name): '\(words)'")
      }
      // The parent's reads go on.
      for read in reads { read.run() }
      withExtendedLifetime(folder) {}
    }
    if result == nil { Issue.record("\(said.text)") }
    withExtendedLifetime(kept) {}
  }

  private static func configuration(_ folder: TemporaryFolder) -> Realm.Configuration {
    var configuration = Realm.Configuration()
    configuration.fileURL = URL(fileURLWithPath: folder.file("x.realm"))
    configuration.objectTypes = [Glacier.self, Drill.self, Stone.self]
    return configuration
  }

  /// Each of them has read everything that it needs once before.
  private static func reads(of realm: Realm, _ kind: String) -> [Read] {
    let one = realm.object(ofType: Glacier.self, forPrimaryKey: 1)!
    let other = realm.object(ofType: Glacier.self, forPrimaryKey: 200)!
    let (young, all) = (
      realm.objects(Glacier.self).where { $0.age < 50 }, realm.objects(Glacier.self)
    )
    let sections = all.sectioned(
      by: { $0.age % 7 }, sortDescriptors: [SortDescriptor(keyPath: "age")])
    let reads: [Read] = [
      ("a number", { _ = one.age }),
      ("a number of an object that was not read", { _ = other.age }),
      ("a text", { _ = one.name }),
      ("a long value", { _ = one.map }),
      ("a list in a value", { _ = one.anything }),
      ("a link", { _ = one.drill }),
      ("a list's count", { _ = one.depths.count }),
      ("a list's element", { _ = one.depths[1_500] }),
      ("a list's objects", { _ = one.drills.first }),
      ("a set", { _ = one.words.contains("ice") }),
      ("a map", { _ = one.scores["1 0"] }),
      ("a sum", { _ = one.depths.sum() as Int }),
      ("whether an object is gone", { _ = one.isInvalidated }),
      ("whether a list is gone", { _ = one.depths.isInvalidated }),
      ("a property by its name", { _ = one.value(forKey: "age") }),
      ("the count of results", { _ = young.count }),
      ("the first of results", { _ = young.first }),
      ("one of results", { _ = young[7] }),
      ("the sum of results", { _ = young.sum(of: \.age) as Int }),
      ("new results", { _ = realm.objects(Glacier.self).where { $0.age > 5 }.count }),
      ("sections", { _ = sections.count }),
      ("an object by its key", { _ = realm.object(ofType: Glacier.self, forPrimaryKey: 2) }),
      ("whether the Realm is empty", { _ = realm.isEmpty }),
    ]
    return reads.map { ("\($0.name), \(kind)", $0.run) }
  }

  /// What a child says before a trap ends it; a text without that if it ends otherwise.
  private static func lastWords(_ way: Forked.Way, _ read: () -> Void) -> String {
    var ends: [Int32] = [0, 0]
    precondition(pipe(&ends) == 0)
    let child = Forked.start(way) {
      dup2(ends[1], STDERR_FILENO)
      read()
      return 0
    }
    close(ends[1])
    let text = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true).readDataToEndOfFile()
    var status: Int32 = 0
    waitpid(child, &status, 0)
    if status & 0x7f == 0 { return "it ended with \(status >> 8)" }
    return String(decoding: text, as: UTF8.self)
  }
}
