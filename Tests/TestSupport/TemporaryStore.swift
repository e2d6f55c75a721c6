package import TarnStore

/// A store in a folder of its own, which goes when the test lets go of this.
package final class TemporaryStore: Sendable {
  package let folder = TemporaryFolder()
  package var path: String { folder.file("test.realm") }

  package init() {}

  /// The store, without waiting for the disk at each commit.
  package func open(_ classes: [ClassDefinition] = []) throws -> Store {
    var options = Store.Options()
    options.isDurable = false
    options.classes = classes
    return try StoreRegistry.open(path, options)
  }
}

extension Store {
  /// One committed write.
  @discardableResult
  package func write<R>(_ body: (WriteSession) throws -> R) throws -> R {
    let session = try WriteSession(SnapshotReader(newestSnapshot())) {}
    let result = try body(session)
    _ = try commit(session)
    return result
  }
}
