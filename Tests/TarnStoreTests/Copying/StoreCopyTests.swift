import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite struct StoreCopyTests {
  private let folder = TemporaryStore()
  private let original: CopiedStores
  private var path: String { folder.folder.file("copy.realm") }
  private var store: Store { original.store }

  init() throws { original = try CopiedStores(folder) }

  private func copy(
    _ kind: StoreCopy.Kind = .independent, to path: String? = nil, replacing: Bool = false
  ) throws -> StoreCopy.Report {
    try StoreCopy(store.newestSnapshot(), kind).write(to: path ?? self.path, replacing: replacing)
  }

  private func opened(_ path: String) throws -> Store {
    var options = Store.Options()
    options.isDurable = false
    options.adoptsClasses = false
    return try StoreRegistry.open(path, options)
  }

  @Test func `a copy has the objects, its own history, and neither records nor cursors`() throws {
    let report = try copy()
    let before = try store.entries()
    let copied = try opened(path)
    let after = try copied.entries()
    #expect(after.ofObjects == before.ofObjects)
    for tag in [TreeKey.Tag.change, .feed, .oldValue] {
      #expect(before.count(.change) > 0)
      #expect(after.count(tag) == 0)
    }
    let (mine, its) = (try store.newestSnapshot().head, try copied.newestSnapshot().head)
    #expect(its.version == mine.version)
    #expect(its.historyID != mine.historyID)
    #expect(its.featureFlags == 0)
    #expect(report.byteCount == Int(FileFacts.at(path)?.byteCount ?? 0))
    let pages = try Environment.verifyPages(path: path)
    #expect(pages.problems == [])
    #expect(pages.freePages == 0)
    #expect(report.byteCount < store.environment.statistics.fileByteCount)
    // Both go on.
    try CopiedStores.add(30, copied)
    try CopiedStores.add(30, store)
    #expect(try copied.newestSnapshot().version == store.newestSnapshot().version)
  }

  @Test func `an exact copy has every entry, and goes on with later transactions`() throws {
    _ = try copy(.exact)
    let copied = try opened(path)
    #expect(try copied.entries() == store.entries())
    let last = copied.environment.newestTransactionIDHint
    #expect(last > store.environment.newestTransactionIDHint)
    try CopiedStores.add(30, copied)
    #expect(copied.environment.newestTransactionIDHint == last + 1)
    #expect(try Environment.verifyPages(path: path).problems == [])
    // The cursor goes on where it was.
    let cursor = try copied.openCursor(CursorRequest("indexer"))
    #expect(try cursor.state(in: copied.newestSnapshot()).reason == nil)
    cursor.release()
  }

  @Test func `a copy of a copy is the same again`() throws {
    _ = try copy()
    let second = folder.folder.file("second.realm")
    _ = try StoreCopy(opened(path).newestSnapshot()).write(to: second)
    #expect(try opened(second).entries().ofObjects == store.entries().ofObjects)
  }

  @Test func `commits during a copy are not in it, and let the file grow`() throws {
    try CopiedStores.add(1_500, store)
    let before = try store.entries().ofObjects
    let version = try store.newestSnapshot().version
    var growth = 0
    let report = try StoreCopy(store.newestSnapshot()).write(to: path) { progress in
      do {
        if growth == 0 { try CopiedStores.add(600, store) }
        growth = max(growth, progress.growth)
      } catch {
        Issue.record(error)
      }
    }
    #expect(report.version == version)
    #expect(report.growth > 0)
    #expect(report.growth >= growth)
    #expect(try opened(path).entries().ofObjects == before)
    #expect(try store.newestSnapshot().version > version)
  }

  @Test func `an existing file is replaced only when asked, and not while it is open`() throws {
    _ = try copy()
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    #expect(StorageError.code { _ = try copy() } == .fileExists)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    do {
      let held = try opened(path)
      #expect(StorageError.code { _ = try copy(replacing: true) } == .alreadyOpen)
      withExtendedLifetime(held) {}
    }
    let identity = FileFacts.at(path)?.identity
    _ = try copy(replacing: true)
    #expect(FileFacts.at(path)?.identity != identity)
    #expect(try opened(path).entries().ofObjects == store.entries().ofObjects)
    #expect(StorageError.code { _ = try copy(to: store.path, replacing: true) } == .invalidInput)
  }

  @Test func `what is no store is not replaced`() throws {
    let text = try folder.folder.file("notes.txt", Array(repeating: 0x61, count: 5_000))
    #expect(StorageError.code { _ = try copy(to: text, replacing: true) } == .notAStore)
    #expect(FileFacts.at(text)?.byteCount == 5_000)
  }

  @Test func `a link stays one, and the file behind it is replaced`() throws {
    _ = try copy()
    let link = folder.folder.file("link.realm")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    #expect(StorageError.code { _ = try copy(to: link) } == .fileExists)
    let identity = FileFacts.at(path)?.identity
    _ = try copy(to: link, replacing: true)
    #expect(FileFacts.at(path)?.identity != identity)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == path)
    let dangling = folder.folder.file("dangling.realm")
    try FileManager.default.createSymbolicLink(
      atPath: dangling, withDestinationPath: folder.folder.file("nothing"))
    #expect(StorageError.code { _ = try copy(to: dangling) } == .fileExists)
    #expect(StorageError.code { _ = try copy(to: dangling, replacing: true) } == .notFound)
  }

  @Test func `a copy that fails leaves nothing`() throws {
    let names = folder.folder.names
    #expect(
      StorageError.code { _ = try copy(to: folder.folder.file("nowhere/copy.realm")) }
        == .notFound)
    let stopped = StorageError(.busy, operation: "test", path: "", detail: "")
    #expect(
      StorageError.code {
        _ = try StoreCopy(store.newestSnapshot()).write(to: path) { _ throws(StorageError) in
          throw stopped
        }
      } == .busy)
    #expect(folder.folder.names == names)
  }

  @Test(arguments: [StoreCopy.Kind.independent, .exact])
  func `a damaged store is not copied`(_ kind: StoreCopy.Kind) throws {
    let entry = try #require(
      try TreeTest.contents(store.environment).first { $0.key[0] == TreeKey.Tag.cluster.rawValue })
    var changed = entry.value
    changed[changed.count / 2] ^= 1
    try TreeTest.put(changed, under: entry.key, store.environment)
    let known = try store.newestSnapshot()
    let damaged = Snapshot(
      transaction: try store.environment.beginRead(), head: known.head, schema: known.schema)
    let names = folder.folder.names
    do {
      _ = try StoreCopy(damaged, kind).write(to: path)
      Issue.record("the copy was made")
    } catch {
      #expect(error.code == .corrupted)
      #expect(error.detail.contains("class Crate, cluster at"), "\(error)")
    }
    #expect(folder.folder.names == names)
  }

  @Test func `a copy is as readable as its original, and its durability can differ`() throws {
    #expect(chmod(store.path, 0o640) == 0)
    _ = try copy()
    #expect(FileFacts.at(path)?.mode == 0o640)
    let durable = folder.folder.file("durable.realm")
    _ = try StoreCopy(store.newestSnapshot(), isDurable: true).write(to: durable)
    #expect(StorageError.code { _ = try opened(durable) } == .invalidInput)
  }
}
