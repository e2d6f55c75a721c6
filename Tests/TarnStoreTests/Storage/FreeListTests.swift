import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite struct FreeListTests {
  let folder = TemporaryFolder()
  var path: String { folder.file("x.realm") }

  private func commit(_ environment: Environment, _ number: Int) throws {
    try environment.write { transaction throws(StorageError) in
      for n in 0..<20 {
        let key = [UInt8(n)] + [UInt8](repeating: 3, count: 40)
        try transaction.put([UInt8](repeating: UInt8(number & 255), count: 500), key)
      }
    }
  }

  /// A store, and the free lists in its header pages: the older one, then the newer.
  private func makeStore(commits: Int) throws -> [Data] {
    let environment = try Environment.open(path: path)
    for number in 0..<commits { try commit(environment, number) }
    environment.close()
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    func transaction(_ page: Int) -> UInt64 {
      bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: page * 4096 + 144, as: UInt64.self) }
    }
    return [0, 1].sorted { transaction($0) < transaction($1) }
      .map { bytes.subdata(in: $0 * 4096 + 40..<$0 * 4096 + 88) }
  }

  /// Gives both header pages that free list.
  private func replaceFreeList(by list: Data) throws {
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    for page: UInt64 in 0...1 {
      try file.seek(toOffset: page * 4096 + 40)
      try file.write(contentsOf: list)
    }
    try file.close()
  }

  @Test func `a list of the state before is found before it is used`() throws {
    let lists = try makeStore(commits: 8)
    try replaceFreeList(by: lists[0])
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    let environment = try Environment.open(path: path)
    defer { environment.close() }
    for _ in 0..<2 {
      #expect(StorageError.code(of: { try commit(environment, 1) }) == .corrupted)
    }
    #expect(try environment.get([0] + [UInt8](repeating: 3, count: 40))?.first == 7)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
  }

  @Test func `a sound list is used, however often the file was written`() throws {
    let lists = try makeStore(commits: 40)
    try replaceFreeList(by: lists[1])
    let environment = try Environment.open(path: path)
    defer { environment.close() }
    for number in 0..<40 { try commit(environment, number) }
    #expect(try environment.verifyPages().problems == [])
  }
}
