internal import Glibc

/// The head records of backups. Each copy has a history id of its own, so its head record is that
/// of no other.
extension StoreDelta {
  /// That of a backup that is a whole store, without files beside it.
  ///
  /// Errors: those of opening a store; `.identity` while a process has it open.
  package static func head(ofStoreAt path: String) throws(StorageError) -> HeadRecord {
    let file = try OwnedDescriptor(opening: path, flags: O_RDWR, operation: operation)
    guard FileFacts.of(descriptor: file.raw)?.isRegularFile == true else {
      throw StorageError(
        .notAStore, operation: operation, path: path, detail: "it is not a regular file")
    }
    let environment = try Environment.open(owned: file.raw, path: path)
    defer { environment.close() }
    let transaction = try environment.beginRead()
    defer { transaction.end() }
    let head = unsafe try TreeKey.head.withBytes { key throws(StorageError) in
      guard let bytes = unsafe try transaction.value(forKey: key) else { return HeadRecord?.none }
      return unsafe try HeadRecord(decoding: bytes)
    }
    guard let head else {
      throw StorageError(.notAStore, operation: operation, path: path, detail: "it is not a store")
    }
    return head
  }

  /// Those of a difference: of the older copy, which is made of it, and of the newer one. The rest
  /// of the file is not read.
  ///
  /// Errors: `.corrupted`, `.newerFormat`, and those of the system calls.
  package static func heads(
    at path: String
  ) throws(StorageError) -> (older: HeadRecord, newer: HeadRecord) {
    let reader = try DeltaReader(path)
    let newer = try decoded(reader.base)
    return (try decoded(reader.lastValue()), newer)
  }

  private static func decoded(_ bytes: [UInt8]) throws(StorageError) -> HeadRecord {
    try unsafe withBytes(of: bytes) { bytes throws(StorageError) in
      unsafe try HeadRecord(decoding: bytes)
    }
  }
}
