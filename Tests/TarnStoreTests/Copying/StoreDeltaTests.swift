import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// Differences between copies, and the older copies that are made of them.
@Suite struct StoreDeltaTests {
  private let folder = TemporaryStore()
  private let original: CopiedStores

  init() throws { original = try CopiedStores(folder) }

  private func file(_ name: String) -> String { folder.folder.file(name) }

  private func opened(_ name: String) throws -> Store {
    var options = Store.Options()
    options.isDurable = false
    options.adoptsClasses = false
    return try StoreRegistry.open(file(name), options)
  }

  /// Three copies, with changes in between, and the differences that lead from the last to the
  /// first.
  private func makeCopies() throws -> [[[UInt8]: [UInt8]]] {
    var entries: [[[UInt8]: [UInt8]]] = []
    for (round, name) in ["a", "b", "c"].enumerated() {
      if round > 0 {
        try CopiedStores.add(40, original.store, round + 5)
        try original.store.write { session in
          for number in 0..<20 {
            try session.delete(ObjectKey(Int64(101 + 20 * round + 2 * number)), in: ClassID(0))
          }
        }
      }
      let store = original.store
      _ = try StoreCopy(store.newestSnapshot()).write(to: file(name))
      entries.append(try store.entries().ofObjects)
    }
    _ = try StoreDelta.write(from: file("b"), to: file("a"), at: file("a.delta"))
    _ = try StoreDelta.write(from: file("c"), to: file("b"), at: file("b.delta"))
    return entries
  }

  private func restore(_ deltas: String..., to name: String) throws -> StoreCopy.Report {
    try StoreCopy(opened("c").newestSnapshot(), through: deltas.map(file)).write(to: file(name))
  }

  @Test func `the older copies are made of the newest one and the differences`() throws {
    let entries = try makeCopies()
    #expect(entries[0] != entries[1])
    let before = try restore("b.delta", to: "b again")
    let first = try restore("a.delta", "b.delta", to: "a again")
    #expect(try opened("b again").entries().ofObjects == entries[1])
    #expect(try opened("a again").entries().ofObjects == entries[0])
    #expect(try before.version == opened("b").newestSnapshot().version)
    #expect(try first.version == opened("a").newestSnapshot().version)
    #expect(try Environment.verifyPages(path: file("a again")).problems == [])
    let sizes = try ["a.delta", "a"].map { try #require(FileFacts.at(file($0))).byteCount }
    #expect(sizes[0] < sizes[1] / 2, "\(sizes)")
  }

  @Test func `a difference from another copy makes nothing`() throws {
    _ = try makeCopies()
    #expect(StorageError.code { try restore("a.delta", to: "x") } == .corrupted)
    #expect(StorageError.code { try restore("b.delta", "a.delta", to: "x") } == .corrupted)
    #expect(FileFacts.at(file("x")) == nil)
  }

  @Test func `a damaged difference makes nothing`() throws {
    _ = try makeCopies()
    let url = URL(fileURLWithPath: file("b.delta"))
    let sound = [UInt8](try Data(contentsOf: url))
    var random = SeededRandom(seed: 8)
    for _ in 0..<60 {
      var bytes = sound
      bytes[Int.random(in: 0..<bytes.count, using: &random)] ^=
        1 << UInt8.random(in: 0..<8, using: &random)
      try Data(bytes).write(to: url)
      let code = StorageError.code { try restore("b.delta", to: "x") }
      #expect([.corrupted, .newerFormat].contains(code))
      try Data(sound.prefix(Int.random(in: 0..<sound.count, using: &random))).write(to: url)
      #expect(StorageError.code { try restore("b.delta", to: "x") } == .corrupted)
      #expect(FileFacts.at(file("x")) == nil)
    }
  }

  /// Changes a byte of the first entry of a kind, in a copy that nobody has open.
  private func damage(_ name: String, _ tag: TreeKey.Tag) throws {
    let store = try opened(name)
    let entry = try #require(
      try TreeTest.contents(store.environment).first { $0.key[0] == tag.rawValue })
    var changed = entry.value
    changed[changed.count / 2] ^= 1
    try TreeTest.put(changed, under: entry.key, store.environment)
    withExtendedLifetime(store) {}
  }

  @Test func `nothing is restored from a damaged whole copy`() throws {
    _ = try makeCopies()
    try damage("c", .longValue)
    #expect(StorageError.code { try restore("b.delta", to: "x") } == .corrupted)
    #expect(FileFacts.at(file("x")) == nil)
  }

  /// A change of the newest copy that no checksum of an entry can show.
  @Test func `what is restored is the older copy in every byte, or nothing`() throws {
    _ = try makeCopies()
    let name = LinkName(
      classID: ClassID(0), column: ColumnID(9), owner: ObjectKey(1),
      target: ObjectRef(classID: ClassID(0), key: ObjectKey(2)))
    let key = TreeKey.linkCount(name).withBytes { Array($0) }
    let store = try opened("c")
    try TreeTest.put([2, 0, 0, 0, 0, 0, 0, 0], under: key, store.environment)
    withExtendedLifetime(store) {}
    #expect(StorageError.code { try restore("b.delta", to: "x") } == .corrupted)
    #expect(FileFacts.at(file("x")) == nil)
  }

  @Test func `a difference is not made of a damaged copy`() throws {
    _ = try makeCopies()
    for name in ["b", "c"] {
      try damage(name, .cluster)
      #expect(
        StorageError.code { try StoreDelta.write(from: file("c"), to: file("b"), at: file("x")) }
          == .corrupted)
      #expect(FileFacts.at(file("x")) == nil)
    }
  }

  @Test func `a copy that a process has open is left alone`() throws {
    _ = try makeCopies()
    let open = try opened("b")
    #expect(
      StorageError.code { try StoreDelta.write(from: file("c"), to: file("b"), at: file("x")) }
        == .alreadyOpen)
    withExtendedLifetime(open) {}
  }
}
