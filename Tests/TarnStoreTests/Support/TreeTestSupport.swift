import TarnStore
import TestSupport
import Testing

/// What the tests of trees share.
enum TreeTest {
  static let seeds: [UInt64] = Seeds.of([1, 0xdead_beef, 2, 3])

  /// Runs `body` with a store in a new folder and removes the folder.
  static func withStore(_ body: (Environment) throws -> Void) throws {
    let folder = TemporaryFolder()
    var options = EnvironmentOptions()
    options.durability = .relaxed
    let environment = try Environment.open(path: folder.file("test.realm"), options: options)
    defer { environment.close() }
    try body(environment)
  }

  /// Runs `body` with a cursor over the newest state.
  static func withCursor<R>(
    _ environment: Environment, _ body: (inout Cursor) throws -> R
  ) throws -> R {
    let transaction = try environment.beginRead()
    defer { transaction.end() }
    var cursor = try Cursor(transaction)
    return try body(&cursor)
  }

  /// Every key of the tree with its value, copied.
  static func contents(_ environment: Environment) throws -> [(key: [UInt8], value: [UInt8])] {
    try withCursor(environment) { cursor in
      var all: [(key: [UInt8], value: [UInt8])] = []
      while try cursor.next() { all.append((Array(cursor.key), Array(cursor.value))) }
      return all
    }
  }

  static func put(_ value: [UInt8], under key: [UInt8], _ environment: Environment) throws {
    try put([(key, value)], environment)
  }

  /// Puts all of that into the tree.
  static func put(
    _ contents: [(key: [UInt8], value: [UInt8])], _ environment: Environment
  ) throws {
    try environment.write { transaction throws(StorageError) in
      for (key, value) in contents {
        try key.withUnsafeBufferPointer { key throws(StorageError) in
          try value.withUnsafeBufferPointer { value throws(StorageError) in
            try transaction.put(
              UnsafeRawBufferPointer(value), forKey: UnsafeRawBufferPointer(key))
          }
        }
      }
    }
  }

  /// Runs `body` and reports any error but those that damaged bytes may cause.
  static func expectDamageIsReported(_ body: () throws -> Void) {
    do {
      try body()
    } catch let error as StorageError {
      #expect(error.code == .corrupted || error.code == .newerFormat, "\(error)")
    } catch {
      Issue.record(error)
    }
  }
}
