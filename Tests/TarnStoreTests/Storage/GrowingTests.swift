import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// Files that outgrow the address space that was taken for them.
@Suite struct GrowingTests {
  let folder = TemporaryFolder()
  var path: String { folder.file("x.realm") }

  /// The smallest map at first.
  static func options(max: Int = 1 << 40) -> EnvironmentOptions {
    var options = EnvironmentOptions()
    options.durability = .relaxed
    options.mapByteCount = max
    options.budget.byteCount = 0
    options.budget.smallMapByteCount = 1 << 20
    return options
  }

  static let value = [UInt8](repeating: 7, count: 4000)

  /// Commits of 32 KiB each.
  static func put(_ rounds: Range<UInt8>, in environment: Environment) throws {
    for round in rounds {
      try environment.write { transaction throws(StorageError) in
        for n in 0..<8 { try transaction.put(value, [round, UInt8(n)]) }
      }
    }
  }

  @Test(arguments: [true, false])
  func `a store grows beyond its first map while views of it live`(_ isInMemory: Bool) throws {
    let location = isInMemory ? StoreLocation.memory("growing") : .file(path)
    let environment = try Environment.open(location, options: Self.options())
    defer { environment.close() }
    #expect(environment.mapByteCount == 1 << 20)
    try Self.put(0..<1, in: environment)
    let before = try environment.beginRead()
    var cursor = try Cursor(before)
    #expect(try cursor.first())
    // 255 rounds are 8 MiB.
    try Self.put(1..<255, in: environment)
    #expect(environment.mapByteCount == 1 << 26)
    #expect(environment.state.withLock { $0.engines.count } == 4)
    // The view from before shows what it did, through old pointers and new ones.
    var count = 1
    while try cursor.next() { count += 1 }
    #expect(count == 8)
    #expect(try before.get([0, 7]) == Self.value)
    #expect(try before.get([1, 0]) == nil)
    let now = try environment.beginRead()
    #expect(try now.get([254, 7]) == Self.value)
    try cursor.renew(now)
    count = 0
    while try cursor.next() { count += 1 }
    #expect(count == 255 * 8)
    before.end()
    now.end()
  }

  /// Its file is as long as the map.
  @Test func `a store in memory counts the pages that it has`() throws {
    let environment = try Environment.open(.memory("pages"), options: Self.options())
    defer { environment.close() }
    try Self.put(0..<1, in: environment)
    let statistics = environment.statistics
    #expect(statistics.fileByteCount == statistics.pageCount * statistics.pageByteCount)
    #expect(statistics.fileByteCount < 1 << 19)
    let length = FileFacts.of(descriptor: environment.descriptor)?.byteCount
    #expect(length == 1 << 20)
  }

  @Test func `a commit larger than the map fails once, and finds room when it is tried again`()
    throws
  {
    let environment = try Environment.open(path: path, options: Self.options())
    defer { environment.close() }
    try Self.put(0..<1, in: environment)
    func putMuch() throws(StorageError) {
      try environment.write { transaction throws(StorageError) in
        for n in 0..<400 { try transaction.put(Self.value, [1, UInt8(n / 200), UInt8(n % 200)]) }
      }
    }
    let error = #expect(throws: StorageError.self) { try putMuch() }
    #expect(error?.code == .addressSpace)
    for part in ["1048576 bytes", "nothing was changed", "4194304 bytes now", "try again"] {
      #expect(error?.detail.contains(part) == true, "\(error?.detail ?? "")")
    }
    #expect(try environment.get([1, 0, 0]) == nil)
    try putMuch()
    #expect(try environment.get([1, 1, 199]) == Self.value)
  }

  @Test func `at the largest size the error says so, and all that was committed is there`() throws {
    let environment = try Environment.open(path: path, options: Self.options(max: 1 << 21))
    defer { environment.close() }
    var rounds: UInt8 = 0
    let error = #expect(throws: StorageError.self) {
      while true {
        try Self.put(rounds..<rounds + 1, in: environment)
        rounds += 1
      }
    }
    #expect(error?.code == .addressSpace)
    #expect(error?.detail.contains("2097152 bytes at most") == true, "\(error?.detail ?? "")")
    #expect(environment.mapByteCount == 1 << 21)
    for round in 0..<rounds { #expect(try environment.get([round, 7]) == Self.value) }
    #expect(try environment.get([rounds, 0]) == nil)
    // Pages that are free now have room.
    try environment.write { transaction throws(StorageError) in
      for n in 0..<8 {
        _ = try withBytes([0, UInt8(n)]) { key throws(StorageError) in
          try transaction.delete(key)
        }
      }
    }
    try environment.put([[200]: [1]])
  }

  @Test func `a reader meets a file that another process has made larger than its map`()
    async throws
  {
    let environment = try Environment.open(path: path, options: Self.options())
    defer { environment.close() }
    try Self.put(0..<1, in: environment)
    let before = try environment.beginRead()
    await #expect(processExitsWith: .success) { [path = path as String] in
      var options = EnvironmentOptions()
      options.durability = .relaxed
      let environment = try Environment.open(path: path, options: options)
      try GrowingTests.put(1..<255, in: environment)
      environment.close()
    }
    #expect(try environment.get([254, 7]) == Self.value)
    #expect(environment.mapByteCount >= 8 << 20)
    #expect(try before.get([0, 7]) == Self.value)
    #expect(try before.get([1, 7]) == nil)
    // And writes, while the view from before is pinned: its pages are not used again.
    try Self.put(0..<8, in: environment)
    #expect(try before.get([0, 7]) == Self.value)
    before.end()
    #expect(environment.readers().allSatisfy { $0.processID == getpid() })
  }

  @Test func `the locks of this process hold through growth and after it`() async throws {
    let environment = try Environment.open(path: path, options: Self.options())
    defer { environment.close() }
    try Self.put(0..<255, in: environment)
    let view = try environment.beginRead()
    // Drops LMDB's own locks, as a copy of the files does.
    _ = try Data(contentsOf: URL(fileURLWithPath: path + "-lock"))
    await #expect(processExitsWith: .success) {
      [path = path as String, parent = getpid() as Int32] in
      var options = EnvironmentOptions()
      options.durability = .relaxed
      let environment = try Environment.open(path: path, options: options)
      try environment.clearStaleReaders()
      precondition(environment.readers().contains { $0.processID == parent })
      try GrowingTests.put(0..<40, in: environment)
      environment.close()
    }
    #expect(try view.get([254, 7]) == Self.value)
    view.end()
  }

  @Test func `threads read and write while the file grows`() async throws {
    let environment = try Environment.open(path: path, options: Self.options())
    defer { environment.close() }
    try Self.put(0..<1, in: environment)
    try await withThrowingTaskGroup { group in
      for thread in 1..<4 as Range<UInt8> {
        group.addTask {
          for round in 0..<80 as Range<UInt8> {
            try environment.write { transaction throws(StorageError) in
              for n in 0..<8 { try transaction.put(Self.value, [thread, round, UInt8(n)]) }
            }
            let view = try environment.beginRead()
            for round in 0...round {
              let found = try view.get([thread, round, 7])
              #expect(found == Self.value)
            }
            view.end()
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(environment.mapByteCount == 1 << 24)
  }
}
