public import Foundation
import TarnStore

/// A version whose change record is in the file: the commit that made it.
public struct RetainedVersion: Hashable, Sendable {
  /// The version that the commit made.
  public let version: UInt64
  /// The time of the commit, by the clock of the machine that made it. Nil for a commit of a
  /// library that recorded no time. Clocks can jump: versions are ordered by number.
  public let date: Date?
  /// The author of the commit, from ``Realm/Configuration/origin``. Empty if unknown.
  public let origin: String
  /// The size of its change record in bytes.
  public let byteCount: Int
  /// The names of the classes that it changed; only the first ones if there are very many.
  public let classNames: [String]
  /// Whether it changed classes or properties.
  public let isMigration: Bool

  init(_ record: RetainedRecord, _ schema: StoreSchema) {
    version = record.version.rawValue
    date = record.note.map { Date(timeIntervalSince1970: Double($0.time) / 1_000_000) }
    origin = record.note?.origin ?? ""
    byteCount = record.byteCount
    classNames = record.classes.compactMap { schema[$0.id]?.name }
    isMigration = record.schemaChanged
  }
}

extension Realm {
  /// The versions whose change records are in the file, oldest first. The newest version is always
  /// included once the file has had a commit.
  ///
  /// Reads one header per version. Threading: like the Realm.
  ///
  /// - Throws: `Realm.Error` if the file cannot be read.
  public var versions: [RetainedVersion] {
    get throws {
      core.checkThread()
      return try publicly { () throws(StorageError) in
        let schema = try core.store.newestSnapshot().schema.schema
        return try core.store.retainedVersions().map { RetainedVersion($0, schema) }
      }
    }
  }

  /// How long the file keeps change records without a cursor: a record is kept as long as any of
  /// these keeps it, because programs may have set limits of different kinds.
  ///
  /// - Throws: `Realm.Error` if the file cannot be read.
  public var retention: [Retention] {
    get throws {
      core.checkThread()
      let policy = try publicly { () throws(StorageError) in try core.store.retention() }
      return policy.limits.map { Retention($0, keepsOldValues: policy.keepsOldValues) }
    }
  }

  /// Sets how long the file keeps change records without a cursor, for all programs. Unlike a
  /// configuration, it can also lower the retention. Records that are no longer needed are removed.
  ///
  /// Waits for other writers. Creates no version and calls no observer. Traps in a write and for a
  /// frozen Realm.
  ///
  /// - Parameter retention: nil to keep records only for cursors and readers.
  /// - Throws: `Realm.Error` if the file cannot be written.
  public func setRetention(_ retention: Retention?) throws {
    core.checkThread()
    if core.isFrozen { core.trapFrozen("Cannot set the retention of") }
    require(
      !core.isInWriteTransaction,
      "The retention cannot be set in a write: that is a commit of its own. Set it before.")
    try publicly { () throws(StorageError) in
      try core.store.setRetention(retention?.policy ?? RetentionPolicy())
    }
  }
}
