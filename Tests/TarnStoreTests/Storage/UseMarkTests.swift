import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// What remains of commits that are not synced when the machine or the mount ends.
@Suite struct UseMarkTests {
  private let folder = TemporaryFolder()
  private var path: String { folder.file("test.realm") }

  private func open(
    _ durability: EnvironmentOptions.Durability = .relaxed, accepts: Bool = false,
    isReadOnly: Bool = false
  ) throws -> Store {
    var options = Store.Options()
    options.durability = durability
    options.acceptsUncertain = accepts
    options.isReadOnly = isReadOnly
    return try StoreRegistry.open(path, options)
  }

  private func withFile<R>(_ body: (Int32) throws -> R) throws -> R {
    let file = try OwnedDescriptor(opening: path, flags: O_RDWR, operation: "test")
    return try body(file.raw)
  }

  private var state: UseMark.State {
    get throws { try withFile { UseMark.read($0).state } }
  }

  /// As if the last process had been killed, and the machine had ended since: another run of the
  /// system, or another mount.
  private func endMachine(_ change: (inout UseMark.Place) -> Void = { $0.run.0 += 1 }) throws {
    do { _ = try open().write { _ in } }
    try withFile { file in
      var mark = UseMark(state: .inUse, place: .of(file))
      change(&mark.place)
      #expect(mark.write(file) == 0)
    }
  }

  @Test func `the mark is set before the first commit, and removed with the last user`() throws {
    do {
      let store = try open()
      #expect(try state == .closed)
      try store.write { _ in }
      #expect(try state == .inUse)
      try store.flush()
      #expect(try state == .inUse)
    }
    #expect(try state == .closed)
    do { _ = try open().newestSnapshot() }
    #expect(try state == .closed)
  }

  @Test func `commits that are synced set none`() throws {
    try open(.consistent).write { _ in }
    #expect(try state == .closed)
    try open(.full).write { _ in }
    #expect(try state == .closed)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path))[1536..<2048].allSatisfy { $0 == 0 })
  }

  @Test func `a file is used again after a kill in the same run and mount`() throws {
    try endMachine { _ in }
    do {
      let store = try open()
      #expect(try store.newestSnapshot().version == Version(1))
      #expect(try state == .inUse)
    }
    // It was not changed, but somebody else's commits are on the disk now.
    #expect(try state == .closed)
  }

  @Test(arguments: ["run", "mount", "unknown mount"])
  func `in another run or mount the file is refused until it was checked`(
    _ what: String
  ) throws {
    try endMachine { place in
      switch what {
      case "run": place.run.1 ^= 1
      case "mount": place.mount += 1
      default: place.mount = 0
      }
    }
    for isReadOnly in [false, true] {
      #expect(StorageError.code { _ = try open(isReadOnly: isReadOnly) } == .uncertain)
      #expect(StorageError.code { _ = try open(.full, isReadOnly: isReadOnly) } == .uncertain)
    }
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    #expect(StorageError.code { _ = try open() } == .uncertain)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    do {
      let store = try open(accepts: true)
      #expect(try store.newestSnapshot().version == Version(1))
      try store.write { _ in }
    }
    #expect(try open().newestSnapshot().version == Version(2))
  }

  @Test func `a damaged file is not accepted, and neither is a damaged mark trusted`() throws {
    try endMachine()
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    let page = 4096
    var refused = 0
    for number in 2..<whole.count / page {
      var torn = whole
      torn.replaceSubrange(number * page..<(number + 1) * page, with: Data(count: page))
      try torn.write(to: URL(fileURLWithPath: path))
      do {
        // Only a page that is not in use may be missing.
        #expect(try open(accepts: true).newestSnapshot().version == Version(1))
      } catch {
        #expect((error as? StorageError)?.code == .uncertain, "\(error)")
        #expect(StorageError.code { _ = try open() } == .uncertain)
        refused += 1
      }
    }
    #expect(refused > 0)
    var scratched = whole
    scratched[UseMark.offset + 20] ^= 1
    try scratched.write(to: URL(fileURLWithPath: path))
    #expect(StorageError.code { _ = try open() } == .uncertain)
  }
}
