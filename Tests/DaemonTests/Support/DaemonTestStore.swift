import TarnStore

enum DaemonTestStore {
  /// The newest version of a file that this process has open.
  static func version(_ path: String) throws -> UInt64 {
    try StoreRegistry.open(path, Store.Options()).newestSnapshot().version.rawValue
  }

  /// The newest state, which this process reads as long as it has this.
  static func snapshot(_ path: String) throws -> (Store, Snapshot) {
    let store = try StoreRegistry.open(path, Store.Options())
    return (store, try store.newestSnapshot())
  }

  static func rename(_ path: String, _ name: String, to newName: String) throws {
    try StoreRegistry.open(path, Store.Options()).renameCursor(name, to: newName)
  }

  static func delete(_ path: String, _ name: String) throws {
    try StoreRegistry.open(path, Store.Options()).deleteCursor(name)
  }

  static func cursors(_ path: String) throws -> [String] {
    try StoreRegistry.open(path, Store.Options()).cursors().map(\.record.name)
  }
}
