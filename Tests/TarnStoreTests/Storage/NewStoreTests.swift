import CTarn
import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// Files in which a store is still to be made, and those that only look like it.
@Suite struct NewStoreTests {
  private let folder = TemporaryFolder()
  private let page = Int(sysconf(Int32(_SC_PAGESIZE)))
  private var path: String { folder.file("x.realm") }

  private func open(
    isReadOnly: Bool = false, at path: String? = nil
  ) throws -> Store {
    var options = Store.Options()
    options.isReadOnly = isReadOnly
    return try StoreRegistry.open(path ?? self.path, options)
  }

  private func code(isReadOnly: Bool = false) -> StorageError.Code? {
    let error = #expect(throws: StorageError.self) { try open(isReadOnly: isReadOnly) }
    return error?.code
  }

  /// The bytes of a store in which nothing was written.
  private func newStore() throws -> [UInt8] {
    let other = folder.file("other.realm")
    let store = try open(at: other)
    #expect(try store.newestSnapshot().version == .zero)
    let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: other)))
    #expect(bytes.count == 3 * page)
    return bytes
  }

  private func put(_ bytes: [UInt8]) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: path))
  }

  private var bytes: [UInt8] {
    ((try? Data(contentsOf: URL(fileURLWithPath: path))).map { [UInt8]($0) }) ?? []
  }

  /// What a power cut can leave of a file in which a store was being made, in the order in which
  /// its pieces are written and synced.
  private func states() throws -> [[UInt8]] {
    let whole = try newStore()
    var marked = [UInt8](repeating: 0, count: 3 * page)
    let mark = StoreHeader.unfinishedMarkRange
    let end = mark.upperBound
    marked.replaceSubrange(mark, with: StoreHeader.unfinishedMark)
    let content = Array(marked[..<(2 * page)] + whole[(2 * page)...])
    let second = Array(marked[..<page] + whole[page...])
    var states = [0, 1, end].map { [UInt8](repeating: 0, count: $0) }
    states += [end, page, 2 * page, 3 * page].map { Array(marked.prefix($0)) }
    states.append(Array(content.prefix(2 * page + 512)))
    states.append(Array(content.dropLast(page / 2) + marked.suffix(page / 2)))
    return states + [content, second, whole]
  }

  @Test func `every state of a store that was being made opens, in the same file`() throws {
    let states = try states()
    for (number, state) in states.enumerated() {
      try? FileManager.default.removeItem(atPath: path)
      try put(state)
      let before = FileFacts.at(path)?.identity
      let isStore = number == states.count - 1
      #expect(Environment.isYetToBeMade(path: path) != isStore, "\(number)")
      if !isStore {
        #expect(code(isReadOnly: true) == .notAStore, "\(number)")
        #expect(bytes == state)
      }
      do {
        let store = try open()
        #expect(try store.newestSnapshot().version == .zero, "\(number)")
        _ = try store.write { _ in }
        #expect(FileFacts.at(path)?.identity == before, "\(number)")
      }
      #expect(try open().newestSnapshot().version.rawValue == 1, "\(number)")
      #expect(try Environment.verifyPages(path: path).problems == [], "\(number)")
    }
  }

  @Test func `an opener that wants an existing store makes none`() throws {
    var options = Store.Options()
    options.createsStore = false
    let path = path
    func code() -> StorageError.Code? {
      StorageError.code { _ = try StoreRegistry.open(path, options) }
    }
    #expect(code() == .notFound)
    #expect(folder.names == [])
    for state in try states().dropLast() {
      try put(state)
      #expect(code() == .notAStore)
      #expect(bytes == state)
    }
    try put([])
    do { _ = try open().write { _ in } }
    #expect(try StoreRegistry.open(path, options).newestSnapshot().version.rawValue == 1)
    // As after a deletion while the store is open: another path of the process makes none, either.
    let store = try StoreRegistry.open(path, options)
    unlink(path)
    #expect(code() == .notFound)
    #expect(!folder.names.contains("x.realm"))
    withExtendedLifetime(store) {}
  }

  @Test func `zeros where a store has held something are damage and stay`() throws {
    let whole = try newStore()
    var later = whole
    // The transaction of the second header: one that came after the making.
    later[page + 144] = 3
    let zeros = [UInt8](repeating: 0, count: page)
    let other = [UInt8](repeating: 7, count: 5 * page)
    let cases: [[UInt8]] = [
      zeros + Array(later[page...]), zeros + Array(whole[page...]) + zeros,
      zeros, zeros + zeros + zeros, zeros + zeros + zeros + [0], zeros + zeros + other,
      // A maker of earlier versions left these.
      zeros + zeros + Array(whole[(2 * page)...]), zeros + Array(whole[page...]),
    ]
    for (number, found) in cases.enumerated() {
      try put(found)
      #expect(code() == .corrupted, "\(number)")
      #expect(bytes == found, "\(number)")
    }
  }

  @Test func `a file that was emptied while it is open is not made anew`() throws {
    let store = try open()
    #expect(truncate(path, 0) == 0)
    for isReadOnly in [false, true] { #expect(code(isReadOnly: isReadOnly) == .corrupted) }
    let error = #expect(throws: StorageError.self) { try Environment.open(path: path) }
    #expect(error?.code == .corrupted)
    #expect(error?.detail.contains("emptied") == true)
    #expect(StorageError.code { try store.environment.checkIdentity() } == .corrupted)
    #expect(bytes == [])
  }

  @Test func `whoever makes a store in a file waits for another maker, but not for ever`() throws {
    try put([])
    let maker = try OwnedDescriptor(opening: path, flags: O_RDWR, operation: "test")
    #expect(tarn_lock_exclusive(maker.raw, DataLocks.making, 1) == 0)
    let file = try OwnedDescriptor(opening: path, flags: O_RDWR, operation: "test")
    let new = NewStore(
      path: path, content: nil, patience: .milliseconds(20))
    do throws(StorageError) {
      try new.finish(file.raw)
      Issue.record("it did not wait")
    } catch {
      #expect(error.code == .busy)
    }
    #expect(bytes == [])
    #expect(tarn_unlock(maker.raw, DataLocks.making, 1) == 0)
    try new.finish(file.raw)
    #expect(bytes.count == 2 * page)
  }

  @Test func `a link to where no file is yet makes the file there`() throws {
    let link = folder.file("link.realm")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "x.realm")
    #expect(try open(at: link).path == FilePaths.resolved(path))
    #expect(folder.names == ["link.realm", "x.realm", "x.realm-lock", "x.realm-signal"])
  }

  @Test func `a store that cannot have its companions leaves nothing`() throws {
    for length in [250, 249] {
      let path = folder.file(String(repeating: "n", count: length))
      #expect(StorageError.code { try open(at: path) } == .inputOutput)
      #expect(folder.names == [], "\(length)")
    }
    // What was there before stays.
    let signal = path + "-signal"
    try FileManager.default.createDirectory(atPath: signal, withIntermediateDirectories: false)
    #expect(StorageError.code { try open() } == .identity)
    #expect(folder.names == ["x.realm-signal"])
  }
}
