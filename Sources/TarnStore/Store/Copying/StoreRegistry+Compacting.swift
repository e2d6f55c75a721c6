internal import Glibc

/// The sizes of a file before and after it was compacted.
package struct Compaction: Sendable, Equatable {
  package let byteCountBefore: Int
  package let byteCount: Int
}

extension StoreRegistry {
  /// Replaces a file by one without free pages that is the same store: history, version, change
  /// records, cursors and the state of a replica stay. The file at the path is always complete.
  ///
  /// No process may have it open. Openers wait meanwhile, and open the new file.
  ///
  /// - Parameters:
  ///   - isWorthwhile: gets the bytes of the file and those in use.
  /// - Returns: nil if it is not worthwhile.
  /// Errors: `.alreadyOpen` names who has it open; `.busy`, `.permissionDenied`, `.diskFull`,
  /// `.invalidInput` for a file with several names. The file is unchanged.
  package static func compact(
    _ path: String, deadline: Deadline = Deadline(after: .seconds(10)),
    if isWorthwhile: (_ total: Int, _ used: Int) -> Bool = { _, _ in true },
    progress: StoreCopy.Watching = { _ in }
  ) throws(StorageError) -> Compaction? {
    try alone { () throws(StorageError) in
      guard !isOpen(.file(path)) else {
        throw StorageError(
          .alreadyOpen, operation: operation, path: path,
          detail: "this process has it open, so nothing was changed")
      }
      // Ends after the store is closed.
      var use: SoleUse?
      let result = try compactClosed(path, deadline, isWorthwhile, progress, &use)
      use = nil
      return result
    }
  }

  private static let operation = "compact"

  private static func compactClosed(
    _ path: String, _ deadline: Deadline, _ isWorthwhile: (_ total: Int, _ used: Int) -> Bool,
    _ progress: StoreCopy.Watching, _ use: inout SoleUse?
  ) throws(StorageError) -> Compaction? {
    var options = Store.Options()
    options.adoptsClasses = false
    options.deadline = deadline
    guard let facts = FileFacts.at(path) else {
      throw StorageError(errno: ENOENT, operation: operation, path: path)
    }
    guard facts.linkCount == 1 else {
      throw StorageError(
        .invalidInput, operation: operation, path: path,
        detail: "the file has \(facts.linkCount) names (hard links), and only one of them would "
          + "lead to the compacted file")
    }
    let (store, _) = try Store.open(.file(path), options)
    use = try SoleUse(of: store.environment, deadline, operation: operation)
    // The next opener would take one that is just releasing it for a user of the former file.
    guard deadline.wait(until: { !store.signal.isHeldElsewhere }) else {
      throw StorageError(
        .busy, operation: operation, path: path,
        detail: "a process has not finished closing the file")
    }
    let token = try store.acquireGate(timeout: deadline.remaining)
    let before = store.environment.statistics
    let usedPages = before.branchPages + before.leafPages + before.overflowPages + 2
    guard isWorthwhile(before.fileByteCount, usedPages * before.pageByteCount) else { return nil }
    // The original ends.
    try store.environment.requireSoundPages()
    let byteCount = try replace(store, facts, progress)
    token.release()
    StoreLog.shared.write(
      .info, "compacted \(path) from \(before.fileByteCount) to \(byteCount) bytes")
    return Compaction(byteCountBefore: before.fileByteCount, byteCount: byteCount)
  }

  /// No other process has the store open, or can open it.
  private static func replace(
    _ store: Store, _ facts: FileFacts, _ progress: StoreCopy.Watching
  ) throws(StorageError) -> Int {
    let environment = store.environment
    let file = try FileInMaking(for: environment.path, mode: facts.mode, operation: operation)
    let made = FileFacts.of(descriptor: file.descriptor)
    if made?.owner != facts.owner || made?.group != facts.group {
      guard fchown(file.descriptor, facts.owner, facts.group) == 0,
        fchmod(file.descriptor, facts.mode) == 0
      else {
        throw StorageError(
          .permissionDenied, operation: operation, path: environment.path,
          detail: "the new file cannot get its owner and group, \(facts.owner) and "
            + "\(facts.group); let the owner compact it")
      }
    }
    let snapshot = try store.newestSnapshot()
    let number = max(snapshot.transaction.transactionID, environment.newestTransactionIDHint)
    let report = try StoreCopy(snapshot, .exact).fill(
      file.descriptor, path: environment.path, transactionID: number, progress: progress)
    try environment.checkIdentity(operation)
    try file.publish(replacing: true)
    return report.byteCount
  }
}
