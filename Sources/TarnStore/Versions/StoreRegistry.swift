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

  /// True if this process has the file open.
  package static func isOpen(_ path: String) -> Bool {
    guard let identity = FileFacts.at(path)?.identity else { return false }
    return stores.withLock { $0[identity]?.store != nil }
  }
}
