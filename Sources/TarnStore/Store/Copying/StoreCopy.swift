internal import Glibc

/// Copies one version of a store into a new file, entry by entry, so the copy has no free pages.
/// Others may write meanwhile. Each entry is checked as it is copied (`EntryCheck`): damage is an
/// error, and there is no copy.
///
/// The version stays pinned until the copy ends: pages that later commits free cannot be reused, so
/// the file may grow. `Report.growth` says by how much.
package struct StoreCopy {
  package enum Kind: Sendable {
    /// Another store with the same objects: it has its own history id, and neither change records
    /// nor cursors nor the state of a server's replica.
    case independent
    /// The same, with a history id that shows which store it is a backup of, or is made of.
    case backup
    /// The same store: everything is kept. For moving and compacting a file.
    case exact
  }

  package struct Progress: Sendable {
    package let entries: Int
    /// The number of entries in the end, about.
    package let entryCount: Int
    /// By how many bytes the file has grown since the copy began.
    package let growth: Int
  }

  package struct Report: Sendable {
    package let version: Version
    /// The length of the copy.
    package let byteCount: Int
    /// By how many bytes the file has grown while it was copied.
    package let growth: Int
  }

  /// Called between entries; an error ends the copy.
  package typealias Watching = (Progress) throws(StorageError) -> Void

  private static let operation = "copy"
  /// Entries between two calls of the progress.
  private static let stride = 256

  private let snapshot: Snapshot
  private let kind: Kind
  private let durability: UInt8?
  private let deltas: [String]
  private var environment: Environment { snapshot.transaction.environment }

  package var entryCount: Int { snapshot.transaction.entryCount }

  /// - Parameters:
  ///   - isDurable: whether commits to the copy are synced; nil for as in the original.
  ///   - deltas: differences that lead back to the version to copy, its own first.
  package init(
    _ snapshot: Snapshot, _ kind: Kind = .independent, isDurable: Bool? = nil,
    through deltas: [String] = []
  ) {
    self.snapshot = snapshot
    self.deltas = deltas
    self.kind = kind
    durability = isDurable.map { $0 ? 0 : 1 }
  }

  /// Reads and checks all pages of the file: one that the disk cannot read is an error here, and
  /// would end the process when it is copied. The commands of `tarn` have done so already.
  ///
  /// Errors: `.corrupted` names the page.
  package func checkPages() throws(StorageError) { try environment.requireSoundPages() }

  // MARK: - Targets

  /// Makes the file at the path. It appears complete and synced, or not at all.
  ///
  /// - Parameter replaces: whether it replaces a store that is there and that no process has open.
  /// Errors: `.fileExists`, `.alreadyOpen`, `.notFound` for a missing folder, `.permissionDenied`,
  /// `.diskFull`, `.inputOutput`, `.corrupted`, and those of `progress`.
  package func write(
    to path: String, replacing replaces: Bool = false, progress: Watching = { _ in }
  ) throws(StorageError) -> Report {
    guard Self.isTaken(path) else {
      return try make(path, isNew: true, progress)
    }
    guard replaces else { throw FileInMaking.exists(path, Self.operation) }
    // The name may be a link, which stays one.
    guard let target = FilePaths.resolved(path) else {
      throw StorageError(errno: errno, operation: Self.operation, path: path)
    }
    let facts = FileFacts.at(target)
    guard facts?.isRegularFile != false else {
      throw StorageError(
        .notAStore, operation: Self.operation, path: path,
        detail: "it is not a regular file, and was not replaced")
    }
    guard facts?.identity != environment.sourceIdentity else {
      throw StorageError(
        .invalidInput, operation: Self.operation, path: path,
        detail: "it is the file itself; compacting it needs no copy")
    }
    guard !StoreRegistry.isOpen(.file(target)) else {
      throw StorageError(
        .alreadyOpen, operation: Self.operation, path: path, detail: "this process has it open")
    }
    let hadLock = FileFacts.at(target + "-lock") != nil
    // Before the copy, which may take long; and again at its end, when others may have opened it.
    _ = try SoleUse(of: target, Deadline(after: Self.patience), operation: Self.operation)
    do throws(StorageError) {
      return try make(target, isNew: false, progress)
    } catch {
      if !hadLock { SoleUse.removeLock(of: target) }
      throw error
    }
  }

  private static let patience = Duration.seconds(10)

  private func make(
    _ path: String, isNew: Bool, _ progress: Watching
  ) throws(StorageError) -> Report {
    let file = try FileInMaking(for: path, mode: mode, operation: Self.operation)
    let report = try fill(file.descriptor, path: path, progress: progress)
    guard !isNew else {
      try file.publish(replacing: false)
      return report
    }
    let use = try SoleUse(of: path, Deadline(after: Self.patience), operation: Self.operation)
    try file.publish(replacing: true)
    _ = consume use
    return report
  }

  /// The permissions of the file.
  private var mode: UInt32? { FileFacts.at(environment.path).map { $0.mode & 0o666 } }

  private static func isTaken(_ path: String) -> Bool {
    var facts = stat()
    return unsafe path.withPath { unsafe lstat($0, &facts) } == 0
  }

  /// Fills an empty file and syncs it.
  ///
  /// - Parameters:
  ///   - file: open for reading and writing.
  ///   - path: the path in errors.
  ///   - transactionID: LMDB's number of the state; nil for one that the records allow.
  package func fill(
    _ file: Int32, path: String, transactionID: UInt64? = nil, progress: Watching = { _ in }
  ) throws(StorageError) -> Report {
    let silence = SizeLimit.Silence()
    defer { silence.end() }
    FaultPoint.hit("copy.begun")
    let start = environment.statistics.fileByteCount
    let entryCount = snapshot.transaction.entryCount
    let changed = deltas.reduce(0) { $0 + Int(FileFacts.at($1)?.byteCount ?? 0) }
    let bulk = try BulkFile(file, path: path, roomFor: start + 2 * changed)
    var done = 0
    var version = snapshot.version
    var check = EntryCheck(environment.path)
    func take(
      _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) throws(StorageError) {
      if unsafe kind == .exact || Self.isOfEveryCopy(key) {
        unsafe try check.take(key, value)
        if let head = unsafe try copy(key, value, to: bulk) { version = head.version }
      }
      done += 1
      guard done % Self.stride == 0 else { return }
      let grown = environment.statistics.fileByteCount - start
      try progress(Progress(entries: done, entryCount: entryCount, growth: max(0, grown)))
    }
    if deltas.isEmpty {
      var cursor = try Cursor(snapshot.transaction)
      var isThere = try cursor.first()
      while isThere {
        unsafe try take(cursor.key, cursor.value)
        isThere = try cursor.next()
      }
    } else {
      unsafe try DeltaMerge(deltas).forEach(over: snapshot.transaction, take)
    }
    try check.finish()
    // With differences, their checksum of the whole copy has settled it.
    if check.isInDoubt, deltas.isEmpty { try checkLongValues() }
    var number = transactionID
    // A reader may see one commit more than its number says.
    if kind == .exact, number == nil { number = snapshot.transaction.transactionID + 1 }
    let byteCount = try bulk.finish(transactionID: number)
    let growth = max(0, environment.statistics.fileByteCount - start)
    try progress(Progress(entries: done, entryCount: done, growth: growth))
    return Report(version: version, byteCount: byteCount, growth: growth)
  }

  /// Checks the long values against the lengths that their owners state.
  private func checkLongValues() throws(StorageError) {
    let reader = try SnapshotReader(snapshot)
    var problems = TreeCheck(reader).problems + SequenceCheck(reader).problems
    if kind == .exact { problems += ChangeLog.problems(in: snapshot) }
    if let problem = problems.first {
      throw StorageError(
        .corrupted, operation: Self.operation, path: environment.path, detail: problem)
    }
  }

  /// - Returns: the head record, if it is that.
  private func copy(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, to bulk: BulkFile
  ) throws(StorageError) -> HeadRecord? {
    guard unsafe isHead(key) else {
      unsafe try bulk.append(value, forKey: key)
      return nil
    }
    var head = unsafe try HeadRecord(decoding: value)
    switch kind {
    case .independent: head.historyID = .random()
    case .backup: head.becomeBackup()
    case .exact: break
    }
    if kind != .exact { head.featureFlags &= ~HeadRecord.feedFeature }
    if let durability { head.durability = durability }
    head.isHeaderUnsynced = false
    unsafe try head.withEncoded { bytes throws(StorageError) in
      unsafe try bulk.append(bytes, forKey: key)
    }
    return head
  }

  private func isHead(_ key: UnsafeRawBufferPointer) -> Bool {
    unsafe key.count == 1 && key[0] == TreeKey.Tag.head.rawValue
  }

  /// False for change records, cursors, and what belongs to a server's replica.
  private static func isOfEveryCopy(_ key: UnsafeRawBufferPointer) -> Bool {
    switch unsafe key.first.flatMap({ TreeKey.Tag(rawValue: $0) }) {
    case .change, .feed, .oldValue: false
    case .replica: unsafe key.count > 1 && key[1] == ReplicaKey.domains
    default: true
    }
  }
}
