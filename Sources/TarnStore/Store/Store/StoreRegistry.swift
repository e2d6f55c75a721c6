/// The open stores of this process: one for each file, however many paths lead to it, and one for
/// each in-memory name.
package enum StoreRegistry {
  private struct WeakStore {
    weak var store: Store?
  }

  private enum Key: Hashable {
    case file(FileIdentity)
    case memory(String)

    /// Nil for a file that does not exist.
    init?(_ location: StoreLocation) {
      switch location {
      case .memory(let name): self = .memory(name)
      case .file(let path):
        guard let identity = FileFacts.at(path)?.identity else { return nil }
        self = .file(identity)
      }
    }
  }

  private struct Stores {
    private var stores: [Key: WeakStore] = [:]
    /// Closed stores are removed in batches, so that adding one costs the same however many are
    /// open.
    private var sweepsAt = 16

    subscript(key: Key) -> Store? { stores[key]?.store }

    mutating func add(_ store: Store, _ key: Key) {
      stores[key] = WeakStore(store: store)
      guard stores.count >= sweepsAt else { return }
      stores = stores.filter { $0.value.store != nil }
      sweepsAt = max(16, 2 * stores.count)
    }
  }

  private static let stores = Lock(ofProcess: Stores())
  /// Opening is rare and uses several files; one at a time keeps it simple.
  private static let opening = Lock<Void>(())

  /// Runs `body` while no other thread opens a store, and the process does not fork.
  static func alone<Result: Sendable>(
    _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    try BackgroundThread.holdingForks { () throws(StorageError) in
      try opening.withLock { _ throws(StorageError) in try body() }
    }
  }

  /// Opens a file and adds the classes, or returns the store that has it open already.
  package static func open(
    _ path: String, _ options: Store.Options
  ) throws(StorageError) -> Store {
    try open(.file(path), options)
  }

  /// The same for a store that may be in memory.
  package static func open(
    _ location: StoreLocation, _ options: Store.Options
  ) throws(StorageError) -> Store {
    let (store, news): (Store, [(StoreLog.Level, String)])
    do throws(StorageError) {
      (store, news) = try alone { () throws(StorageError) in try openLocked(location, options) }
    } catch {
      StoreLog.shared.write(.info, "refused: \(error)")
      throw error
    }
    for (level, message) in news { StoreLog.shared.write(level, message) }
    return store
  }

  /// - Returns: the store, and the messages to log outside of the lock.
  private static func openLocked(
    _ location: StoreLocation, _ options: Store.Options
  ) throws(StorageError) -> (Store, [(StoreLog.Level, String)]) {
    if let known = store(at: location), !known.isPrivateCopy || options.isReadOnly {
      try known.environment.checkLength("open")
      let isExtended = try known.adopt(options)
      return (known, isExtended ? [(.info, known.extensionNews)] : [])
    }
    let (store, isExtended) = try Store.open(location, options)
    let key =
      switch location {
      case .file: Key.file(store.environment.sourceIdentity)
      case .memory(let name): Key.memory(name)
      }
    stores.withLock { $0.add(store, key) }
    let news = try store.openingNews + store.durabilityNews(options)
    return (store, news + (isExtended ? [(.info, store.extensionNews)] : []))
  }

  /// The store that this process has open there. In a forked child the parent's stores are
  /// unusable; it opens its own.
  package static func store(at location: StoreLocation) -> Store? {
    guard let key = Key(location), let known = stores.withLock({ $0[key] }) else {
      return nil
    }
    return known.environment.isForked ? nil : known
  }

  /// Removes a file with its companions, unless it is in use or belongs to a newer program.
  ///
  /// - Parameter version: the schema version of the program that removes the file; nil if it has
  ///   none.
  /// - Throws: `.alreadyOpen` if this process or another has it open; `.olderProgram` if the file
  ///   has a higher version by now.
  package static func removeUnused(
    _ location: StoreLocation, schemaVersion version: UInt64? = nil
  ) throws(StorageError) {
    try alone { () throws(StorageError) in
      guard !isOpen(location) else {
        throw StorageError(
          .alreadyOpen, operation: "delete", path: location.description,
          detail: "this process has it open")
      }
      guard case .file(let path) = location else { return }
      var options = Store.Options()
      options.adoptsClasses = false
      options.isReadOnly = true
      options.schemaVersion = version
      let (store, _) = try Store.open(location, options)
      if let cause = store.environment.copyCause {
        throw StorageError(
          cause.code, operation: "delete", path: path,
          detail: "without a lock on the file, this process cannot know whether others have it "
            + "open: \(cause.detail)")
      }
      let others = store.signal.processes().count - 1
      guard others <= 0 else {
        throw StorageError(
          .alreadyOpen, operation: "delete", path: path,
          detail: "\(others) other process\(others == 1 ? " has" : "es have") the file open")
      }
      _ = try store.needsMigration(options)
      store.removeFiles()
    }
  }

  /// Removes a file that is damaged, with its companions.
  ///
  /// - Throws: `.alreadyOpen` if this process or another has it open; `.busy`.
  package static func removeDamaged(_ path: String) throws(StorageError) {
    try opening.withLock { _ throws(StorageError) in
      guard let path = FilePaths.resolved(path) else { return }
      guard !isOpen(.file(path)) else {
        throw StorageError(
          .alreadyOpen, operation: "delete", path: path, detail: "this process has it open")
      }
      let use = try SoleUse(
        of: path, isDamaged: true, Deadline(after: .seconds(10)), operation: "delete")
      Store.removeFiles(at: path)
      _ = consume use
    }
  }

  /// Whether this process has the store open.
  package static func isOpen(_ location: StoreLocation) -> Bool {
    guard let key = Key(location) else { return false }
    return stores.withLock { $0[key] != nil }
  }
}
