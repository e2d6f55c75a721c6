import TarnStore
import TestSupport
import Testing

@testable import TarnSync

extension FileReplica {
  /// Lets a new version of the program migrate the file: properties get other names.
  ///
  /// - Parameter renames: the class, the former name and the new one.
  func migrate(renaming renames: [(name: String, from: String, to: String)]) throws {
    var classes = Self.classes
    for rename in renames {
      let place = try #require(classes.firstIndex { $0.name == rename.name })
      let property = try #require(
        classes[place].properties.firstIndex { $0.name == rename.from })
      classes[place].properties[property].name = rename.to
    }
    let token = try store.acquireGate()
    let migration = try SchemaMigration(
      store.newestSnapshot(), to: 1, classes, path: store.path, rowsMoved: {})
    for rename in renames {
      let working = try #require(migration.plan.working.named(rename.name))
      let from = try #require(migration.plan.stored.named(rename.name)?.named(rename.from))
      let to = try #require(working.named(rename.to))
      try migration.takeOver(from.id, to.id, in: working.id)
    }
    try store.commit(try migration.finish(), token)
    disconnect()
  }
}
