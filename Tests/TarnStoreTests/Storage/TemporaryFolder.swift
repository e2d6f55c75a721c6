import Foundation

@testable import TarnStore

/// A folder of one test, gone with everything in it when the test lets go of it.
final class TemporaryFolder {
  let path: String

  init() {
    let base = FileManager.default.temporaryDirectory.path
    path = base + "/tarn-test-" + UUID().uuidString
    try! FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { path + "/" + name }

  var names: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: path).sorted()) ?? []
  }
}

/// Bytes as they are handed to the storage layer.
func withBytes<R>(
  _ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws(StorageError) -> R
) throws(StorageError) -> R {
  let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, bytes.count), alignment: 1)
  defer { copy.deallocate() }
  copy.copyBytes(from: bytes)
  return try body(UnsafeRawBufferPointer(rebasing: copy[..<bytes.count]))
}

extension Environment {
  func put(_ pairs: [[UInt8]: [UInt8]]) throws(StorageError) {
    try write { transaction throws(StorageError) in
      for (key, value) in pairs { try transaction.put(value, key) }
    }
  }

  func get(_ key: [UInt8]) throws(StorageError) -> [UInt8]? {
    let transaction = try beginRead()
    defer { transaction.end() }
    return try transaction.get(key)
  }
}

extension ReadTransaction {
  func get(_ key: [UInt8]) throws(StorageError) -> [UInt8]? {
    try withBytes(key) { key throws(StorageError) in try value(forKey: key).map { Array($0) } }
  }
}

extension WriteTransaction {
  func put(_ value: [UInt8], _ key: [UInt8]) throws(StorageError) {
    try withBytes(key) { key throws(StorageError) in
      try withBytes(value) { value throws(StorageError) in try put(value, forKey: key) }
    }
  }
}

/// A generator whose numbers are the same in every run with the same seed.
struct StorageSeed: RandomNumberGenerator {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }
  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state &* 0x2545_F491_4F6C_DD1D
  }
}
