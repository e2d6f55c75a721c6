import TarnStore
import TestSupport

@testable import TarnSync

/// A prepared server, and stores of classes and properties with given names, for tests of names.
class NamedClasses {
  let database: PostgresDatabase
  let server: ServerConnection
  private let folder = TemporaryFolder()

  init() throws {
    database = try PostgresDatabase()
    server = try database.connect()
    _ = try ServerSetup.run(server)
  }

  /// A class with a string as its primary key.
  ///
  /// - Parameter property: makes a property with a name, by its place among them.
  func definition(
    _ name: String, key: String, _ names: some Sequence<String>,
    _ property: (Int, String) -> ClassDefinition.Property
  ) -> ClassDefinition {
    let key = ClassDefinition.Property(
      name: key, type: .string, isIndexed: true, isPrimaryKey: true)
    return ClassDefinition(name: name, properties: [key] + names.enumerated().map(property))
  }

  /// A new store with these classes, which the server gets, too.
  ///
  /// - Parameter writer: the connection that creates the tables; nil for the server's own.
  func store(
    _ classes: [ClassDefinition], _ file: String = "a", migratedBy writer: ServerConnection? = nil
  ) throws -> Store {
    var options = Store.Options()
    options.classes = classes
    let store = try StoreRegistry.open(folder.file(file), options)
    try ServerMigration(writer ?? server).run(store.newestSnapshot().schema.schema)
    return store
  }
}
