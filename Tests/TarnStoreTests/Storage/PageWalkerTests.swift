import Foundation
import TestSupport
import Testing

@testable import TarnStore

extension PageWalker {
  /// Walks the bytes of a file in memory, of which the disk cannot read some pages.
  fileprivate static func walk(
    _ bytes: [UInt8], header: StoreHeader, unreadable: Set<UInt64> = []
  ) -> PageReport {
    walk(pagesThere: UInt64(bytes.count / header.pageSize), header: header) { number, memory in
      if unreadable.contains(number) { return EIO }
      let start = Int(number) * header.pageSize
      unsafe memory.copyBytes(from: bytes[start..<start + header.pageSize])
      return 0
    }
  }
}

@Suite struct PageWalkerTests {
  let folder = TemporaryFolder()
  var path: String { folder.file("x.realm") }

  /// Several levels, long values in pages of their own, and a free list.
  func makeStore(_ seed: UInt64) throws {
    let environment = try Environment.open(path: path)
    defer { environment.close() }
    var random = SeededRandom(seed: seed)
    for _ in 0..<4 {
      try environment.write { transaction throws(StorageError) in
        for n in 0..<600 {
          let key = [UInt8(n >> 8), UInt8(n & 255)] + [UInt8](repeating: 3, count: 40)
          let count = Int.random(in: 0...20, using: &random) == 0 ? 4000 : 60
          try transaction.put([UInt8](repeating: UInt8(n & 255), count: count), key)
        }
      }
    }
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `a sound file has no problems and no lost pages`(seed: UInt64) throws {
    try makeStore(seed)
    let report = try Environment.verifyPages(path: path)
    #expect(report.problems == [])
    #expect(report.branchPages > 0)
    #expect(report.overflowPages > 0)
    #expect(report.freePages > 0)
    #expect(report.unreachablePages == 0)
  }

  /// Page header fields and node offsets of all pages that are in use: whatever bit flips there is
  /// found. In the rest of a page a flip may hit a value, which only a checksum could find.
  @Test(arguments: [1, 2] as [UInt64])
  func `a flipped bit in a page's structure is found`(seed: UInt64) throws {
    try makeStore(seed)
    let sound = try Data(contentsOf: URL(fileURLWithPath: path))
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    let header = try #require(try StoreHeader.read(descriptor: descriptor, path: path))
    var random = SeededRandom(seed: seed)
    var found = 0
    for _ in 0..<400 {
      var bytes = [UInt8](sound)
      let root = Int(header.main.root)
      let page =
        Bool.random(using: &random) ? root : Int.random(in: 2..<bytes.count / 4096, using: &random)
      let offset = Int.random(in: 0..<40, using: &random)
      bytes[page * 4096 + offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      let report = PageWalker.walk(bytes, header: header)
      // The pad is not used; everything else in the root page's first bytes is structure.
      if page == root && !(8..<10).contains(offset) {
        #expect(!report.isSound, "root, offset \(offset)")
      }
      found += report.isSound ? 0 : 1
    }
    #expect(found > 100)
  }

  @Test(arguments: [5, 6] as [UInt64])
  func `random bytes anywhere never stop the walk`(seed: UInt64) throws {
    try makeStore(seed)
    let sound = try Data(contentsOf: URL(fileURLWithPath: path))
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    let header = try #require(try StoreHeader.read(descriptor: descriptor, path: path))
    var random = SeededRandom(seed: seed)
    for _ in 0..<200 {
      var bytes = [UInt8](sound)
      for _ in 0..<200 {
        bytes[Int.random(in: 8192..<bytes.count, using: &random)] = .random(
          in: 0...255, using: &random)
      }
      let report = PageWalker.walk(bytes, header: header)
      #expect(report.problems.count <= PageWalker.problemsMax)
    }
  }

  /// Of a page of the tree, of a value and of the free list alike.
  @Test func `a page that cannot be read is named`() throws {
    try makeStore(4)
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    let header = try #require(try StoreHeader.read(descriptor: descriptor, path: path))
    let report = PageWalker.walk(bytes, header: header)
    var named = 0
    for number in 2..<UInt64(report.pageCount) {
      let problems = PageWalker.walk(bytes, header: header, unreadable: [number]).problems
      // Free pages are not read.
      guard let first = problems.first(where: { $0.contains("cannot be read") }) else { continue }
      #expect(first == "page \(number) cannot be read: Input/output error")
      named += 1
    }
    #expect(named == report.branchPages + report.leafPages + report.overflowPages)
  }

  /// A leaf of the tree and what `change` makes of it, its bytes counted from its start.
  private func problems(_ change: (inout [UInt8], _ leaf: Int) -> Void) throws -> [String] {
    try makeStore(1)
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    let header = try #require(try StoreHeader.read(descriptor: descriptor, path: path))
    var page = Int(header.main.root)
    for _ in 1..<Int(header.main.depth) {
      let node = page * 4096 + Int(bytes[page * 4096 + 16]) + Int(bytes[page * 4096 + 17]) << 8
      page = Int(bytes[node]) | Int(bytes[node + 1]) << 8
    }
    change(&bytes, page * 4096)
    return PageWalker.walk(bytes, header: header).problems
  }

  /// LMDB would change such a page in place, which is read-only memory.
  @Test func `a page that is marked as being written is found`() throws {
    let found = try problems { bytes, leaf in bytes[leaf + 10] |= 0x10 }
    #expect(found.contains { $0.contains("is not a leaf page") })
  }

  @Test func `a leaf without nodes is found`() throws {
    let found = try problems { bytes, leaf in
      (bytes[leaf + 12], bytes[leaf + 13]) = (16, 0)
      (bytes[leaf + 14], bytes[leaf + 15]) = (0, 0x10)
    }
    #expect(found.contains { $0.contains("has 0 nodes") })
  }

  /// The lengths still add up: one node is longer by two, the next shorter.
  @Test func `nodes that overlap are found`() throws {
    let found = try problems { bytes, leaf in
      let count = (Int(bytes[leaf + 12]) + Int(bytes[leaf + 13]) << 8 - 16) / 2
      // As they lie in the page.
      let nodes = (0..<count).map { index in
        leaf + Int(bytes[leaf + 16 + 2 * index]) + Int(bytes[leaf + 17 + 2 * index]) << 8
      }.sorted()
      bytes[nodes[0]] += 2
      bytes[nodes[1]] -= 2
    }
    #expect(found.contains { $0.contains("overlaps another") })
  }

  @Test func `a walk beside writers finds nothing`() throws {
    try makeStore(1)
    let environment = try Environment.open(path: path)
    defer { environment.close() }
    for round in 0..<40 {
      let report = try environment.verifyPages()
      #expect(report.isSound, "\(report.problems)")
      try environment.write { transaction throws(StorageError) in
        for n in stride(from: round, to: 600, by: 7) {
          let key = [UInt8(n >> 8), UInt8(n & 255)] + [UInt8](repeating: 3, count: 40)
          try transaction.put([UInt8](repeating: UInt8(round), count: 30 + round), key)
        }
      }
    }
  }

  @Test func `a cycle is found`() throws {
    try makeStore(1)
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    let header = try #require(try StoreHeader.read(descriptor: descriptor, path: path))
    // The first node of the root, a branch page, names the root itself.
    let base = Int(header.main.root) * 4096
    let node = base + Int(bytes[base + 16]) + Int(bytes[base + 17]) << 8
    bytes[node] = UInt8(header.main.root & 255)
    bytes[node + 1] = UInt8(header.main.root >> 8)
    let report = PageWalker.walk(bytes, header: header)
    #expect(report.problems.contains { $0.contains("used twice") })
  }
}
