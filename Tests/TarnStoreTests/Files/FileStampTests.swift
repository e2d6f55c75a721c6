import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// What tells a copy from its original.
@Suite struct FileStampTests {
  private let folder = TemporaryStore()
  private let copy: String
  /// Whether the file system of the tests has inodes and times that last.
  private let isKnown: Bool

  init() throws {
    copy = folder.folder.file("copy.realm")
    isKnown = try Self.descriptor(folder.folder.path) { FileStamp.File.of($0) != nil }
    let store = try folder.open([
      ClassDefinition(name: "Note", properties: [.init(name: "text", type: .string)])
    ])
    try Self.add(store)
  }

  private static func descriptor<R>(_ path: String, _ body: (Int32) throws -> R) throws -> R {
    let file = try OwnedDescriptor(opening: path, flags: O_RDONLY, operation: "test")
    return try body(file.raw)
  }

  private static func add(_ store: Store) throws {
    try store.write { try $0.create([ColumnID(0): .string("a")], in: ClassID(0)) }
  }

  private func stamp(_ path: String) throws -> FileStamp.Found {
    try Self.descriptor(path) { FileStamp.read($0) }
  }

  private func opened(_ path: String, readOnly: Bool = false) throws -> Store {
    var options = Store.Options()
    options.isDurable = false
    options.isReadOnly = readOnly
    options.adoptsClasses = false
    return try StoreRegistry.open(path, options)
  }

  /// The warnings of an opening.
  private func warnings(_ store: Store) throws -> [String] {
    try store.openingNews.filter { $0.0 == .warning }.map(\.1)
  }

  private func bytes(_ path: String) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: path))
  }

  private func copyPlainly(to path: String) throws {
    try bytes(folder.path).write(to: URL(fileURLWithPath: path))
  }

  private func change(_ path: String, at offset: Int, _ change: (inout UInt8) -> Void) throws {
    var all = try [UInt8](bytes(path))
    change(&all[FileStamp.offset + offset])
    // In place: the file stays the same one.
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try file.write(contentsOf: all)
    try file.close()
  }

  @Test func `a file has its stamp from the beginning, and commits leave it alone`() throws {
    let first = try stamp(folder.path)
    if isKnown {
      let own = try #require(try Self.descriptor(folder.path) { FileStamp.File.of($0) })
      #expect(first == .stamp(FileStamp(file: own)))
    } else {
      #expect(first == .none)
    }
    let store = try opened(folder.path)
    for _ in 0..<50 { try Self.add(store) }
    #expect(try stamp(folder.path) == first)
    #expect(store.environment.copyFinding == FileStamp.Finding())
    #expect(try warnings(store) == [])
  }

  @Test func `a copy by other means is noticed by the first who opens it for writing`() throws {
    try copyPlainly(to: copy)
    let before = try bytes(copy)
    do {
      let reader = try opened(copy, readOnly: true)
      #expect((reader.environment.copyFinding.notice != nil) == isKnown)
      #expect(!reader.environment.copyFinding.isNews)
    }
    #expect(try bytes(copy) == before)
    do {
      let first = try opened(copy)
      let notice = first.environment.copyFinding.notice
      #expect(notice?.inode == (isKnown ? FileFacts.at(folder.path)?.identity.inode : nil))
      #expect(first.environment.copyFinding.isNews == isKnown)
      let warnings = try warnings(first)
      #expect(warnings.count == (isKnown ? 1 : 0))
      #expect(warnings.allSatisfy { $0.contains(copy) && $0.contains("tarn copy") })
      // It stays the same store until somebody decides.
      let original = try opened(folder.path)
      #expect(
        try first.newestSnapshot().head.historyID == original.newestSnapshot().head.historyID)
      try Self.add(first)
    }
    let later = try opened(copy)
    #expect((later.environment.copyFinding.notice != nil) == isKnown)
    #expect(!later.environment.copyFinding.isNews)
    #expect(try warnings(later) == [])
    #expect(try Environment.verifyPages(path: copy).problems == [])
  }

  @Test func `a file that is renamed or linked is the same`() throws {
    try FileManager.default.moveItem(atPath: folder.path, toPath: copy)
    #expect(try opened(copy).environment.copyFinding == FileStamp.Finding())
  }

  @Test(arguments: [StoreCopy.Kind.independent, .exact])
  func `the library's own copies are none of these`(_ kind: StoreCopy.Kind) throws {
    _ = try StoreCopy(opened(folder.path).newestSnapshot(), kind).write(to: copy)
    #expect(try stamp(copy) == .none)
    #expect(try opened(copy).environment.copyFinding == FileStamp.Finding())
    #expect((try stamp(copy) != .none) == isKnown)
  }

  @Test func `a compacted file is none`() throws {
    _ = try StoreRegistry.compact(folder.path)
    #expect(try opened(folder.path).environment.copyFinding == FileStamp.Finding())
  }

  @Test(arguments: [0, 7, 8, 11, 12, 16, 30, 47, 63, 70, 79])
  func `a damaged stamp is none`(_ offset: Int) throws {
    try copyPlainly(to: copy)
    try change(copy, at: offset) { $0 ^= 0x40 }
    let isOfNewerFormat = (8..<12).contains(offset)
    let damaged = try stamp(copy)
    #expect(damaged == (isKnown && isOfNewerFormat ? .newer : .none))
    let store = try opened(copy)
    #expect(store.environment.copyFinding == FileStamp.Finding())
    #expect((try stamp(copy) == damaged) == (!isKnown || isOfNewerFormat))
  }

  @Test func `a store of an older library gets one`() throws {
    try copyPlainly(to: copy)
    for offset in 0..<FileStamp.byteCount { try change(copy, at: offset) { $0 = 0 } }
    #expect(try stamp(copy) == .none)
    let store = try opened(copy)
    #expect(store.environment.copyFinding == FileStamp.Finding())
    #expect((try stamp(copy) != .none) == isKnown)
    #expect(try warnings(store) == [])
  }
}
