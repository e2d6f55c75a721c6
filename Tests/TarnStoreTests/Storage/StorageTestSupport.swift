import Foundation

@testable import TarnStore

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
