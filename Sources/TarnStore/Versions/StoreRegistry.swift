import Synchronization

/// The stores that this process has open: one for each file, however many paths lead to it.
package enum StoreRegistry {
  private struct WeakStore {
    weak var store: Store?
  }

  private static let stores = Mutex<[FileIdentity: WeakStore]>([:])
  /// Opening is rare and touches several files; one at a time keeps it simple to reason about.
  private static let opening = Mutex<Void>(())

  /// Opens a file, or gives the store that has it open already, with the classes added.
  package static func open(
    _ path: String, _ options: Store.Options
  ) throws(StorageError) -> Store {
    try opening.withLock { _ throws(StorageError) in
      if let identity = FileFacts.at(path)?.identity,
        let known = stores.withLock({ $0[identity]?.store }),
        // In a forked child the parent's stores are dead; it opens its own.
        !known.environment.isForked
      {
        try known.adopt(options)
        return known
      }
      let store = try Store.open(path, options)
      stores.withLock { stores in
        stores = stores.filter { $0.value.store != nil }
        stores[store.environment.dataIdentity] = WeakStore(store: store)
      }
      return store
    }
  }

  /// Removes a file with its companions, unless somebody uses it.
  ///
  /// - Throws: `.alreadyOpen` if this process or another has it open.
  package static func removeUnused(_ path: String) throws(StorageError) {
    try opening.withLock { _ throws(StorageError) in
      guard !isOpen(path) else {
        throw StorageError(
          .alreadyOpen, operation: "delete", path: path, detail: "this process has the file open")
      }
      var options = Store.Options()
      options.adoptsClasses = false
      options.isReadOnly = true
      let store = try Store.open(path, options)
      let others = store.signal.processes().count - 1
      guard others <= 0 else {
        throw StorageError(
          .alreadyOpen, operation: "delete", path: path,
          detail: "\(others) other process\(others == 1 ? " has" : "es have") the file open")
      }
      store.removeFiles()
    }
  }

  /// True if this process has the file open.
  package static func isOpen(_ path: String) -> Bool {
    guard let identity = FileFacts.at(path)?.identity else { return false }
    return stores.withLock { $0[identity]?.store != nil }
  }
}
