public import Foundation
import TarnStore

extension Realm {
  /// How far a copy or a compaction is.
  public struct CopyProgress: Sendable {
    /// The part that is written, from 0 to 1.
    public let fraction: Double
    /// By how many bytes the original file has grown since the copy began. The copied version is in
    /// use until the copy ends, so the pages that later commits free cannot be reused.
    public let growth: Int

    init(_ progress: StoreCopy.Progress) {
      fraction = Double(progress.entries) / Double(max(1, progress.entryCount))
      growth = progress.growth
    }
  }

  /// The result of a copy.
  public struct CopyReport: Sendable {
    /// The number of bytes of the copy.
    public let byteCount: Int
    /// By how many bytes the original file has grown while it was copied.
    public let growth: Int
  }

  /// The result of a compaction.
  public struct CompactionReport: Sendable {
    /// The number of bytes of the file before.
    public let byteCountBefore: Int
    /// The number of bytes of the file now.
    public let byteCount: Int
  }

  /// Writes a copy of the version that this Realm shows, without free space. Others may write
  /// meanwhile.
  ///
  /// The copy is another store with the same objects and schema: it has a history of its own, and
  /// neither change records nor cursors, a retention or the state of a synchronized Realm. The file
  /// appears when it is complete and synced to the disk; a process that is killed leaves none. All
  /// pages are checked first, and the checksum of each record when it is copied: a damaged file is
  /// not copied.
  ///
  /// - Parameters:
  ///   - fileURL: the new file. An existing one is not replaced.
  ///   - progress: called on this thread from time to time.
  /// - Throws: `Realm.Error.fileExists`; `.fileNotFound` for a missing folder;
  ///   `.filePermissionDenied`, `.outOfDiskSpace`, `.fileOperationFailed`; `.invalidDatabase` names
  ///   a page or a record that is damaged, or a page that the disk cannot read;
  ///   `.fail` within a write transaction, whose changes no file has.
  @discardableResult
  public func writeCopy(
    toFile fileURL: URL, progress: ((CopyProgress) -> Void)? = nil
  ) throws -> CopyReport {
    try writeCopy(to: fileURL, isDurable: nil, progress)
  }

  /// The same to the file of a configuration, and with its durability.
  @discardableResult
  public func writeCopy(
    configuration: Configuration, progress: ((CopyProgress) -> Void)? = nil
  ) throws -> CopyReport {
    guard let fileURL = configuration.fileURL else {
      throw Error(.invalidInput, message: "A copy needs a configuration with a fileURL.")
    }
    return try writeCopy(to: fileURL, isDurable: configuration.durability != .relaxed, progress)
  }

  private func writeCopy(
    to fileURL: URL, isDurable: Bool?, _ progress: ((CopyProgress) -> Void)?
  ) throws -> CopyReport {
    core.checkThread()
    guard !core.isInWriteTransaction else {
      throw Error(
        .fail, message: "Cannot copy within a write transaction: commit it first.",
        fileURL: fileURL)
    }
    let copy = StoreCopy(core.shown().snapshot, isDurable: isDurable)
    let report = try publicly { () throws(StorageError) in
      try copy.checkPages()
      return try copy.write(to: fileURL.path) { progress?(CopyProgress($0)) }
    }
    return CopyReport(byteCount: report.byteCount, growth: report.growth)
  }

  /// Makes a file as short as its contents allow. It stays the same store: version, history, change
  /// records, cursors and the state of a synchronized Realm are kept.
  ///
  /// The new file takes the place of the old one in one step, when it is complete and synced; until
  /// then there must be room for both. A process that opens the file meanwhile waits.
  ///
  /// - Parameters:
  ///   - fileURL: the file. No process may have it open.
  ///   - progress: called on this thread from time to time.
  /// - Throws: `Realm.Error.alreadyOpen` names who has it open; `.busy`; `.fileNotFound`,
  ///   `.filePermissionDenied`, `.outOfDiskSpace`, `.invalidDatabase` if it is damaged. The file is
  ///   unchanged.
  @discardableResult
  public static func compact(
    at fileURL: URL, progress: ((CopyProgress) -> Void)? = nil
  ) throws -> CompactionReport {
    StoreLeave.wait(for: .file(fileURL.path), atMost: StoreOpening.leaving)
    let sizes = try publicly { () throws(StorageError) in
      try StoreRegistry.compact(fileURL.path, progress: { progress?(CopyProgress($0)) })
    }
    guard let sizes else { trap("internal error: a compaction without a result") }
    return CompactionReport(byteCountBefore: sizes.byteCountBefore, byteCount: sizes.byteCount)
  }
}
