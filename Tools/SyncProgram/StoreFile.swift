import TarnStore
import TarnSync
import ToolSupport

/// Opens stores for the commands.
enum StoreFile {
  static func existing(_ path: String) throws -> Store {
    guard FileFacts.at(path) != nil else {
      throw ToolError(notFound: path)
    }
    var options = Store.Options()
    options.createsStore = false
    options.verifiesPages = true
    return try StoreRegistry.open(path, options)
  }

  /// A store that was exchanged before, with the names of the classes to exchange; nil for another
  /// store, or if it lacks some.
  ///
  /// - Parameter names: the classes; empty for those of the last exchange.
  static func exchanged(_ path: String, _ names: [String]) throws -> (Store, [String])? {
    guard FileFacts.at(path) != nil else { return nil }
    let store = try existing(path)
    guard let report = try ReplicaReport.of(store) else { return nil }
    let known = Set(report.classes)
    let wanted = names.isEmpty ? report.classes : names
    return wanted.isEmpty || !known.isSuperset(of: wanted) ? nil : (store, wanted)
  }

  /// A store with the classes of a server. An existing store keeps its contents.
  ///
  /// - Parameter names: the classes; empty for all of the server.
  /// - Returns: the store, and the names of the classes to exchange.
  static func meeting(
    _ path: String, _ connection: ServerConnection, _ names: [String]
  ) throws -> (Store, [String]) {
    let definitions = try ServerDefinitions(connection).run(names.isEmpty ? nil : names)
    var options = Store.Options()
    if FileFacts.at(path) != nil {
      options.createsStore = false
      let schema = try existing(path).newestSnapshot().schema.schema
      options.classes = definitions.filter { schema.named($0.name) == nil }
      // Without names only the classes that both have.
      if names.isEmpty, schema.classes.contains(where: { !$0.isVacant }) { options.classes = [] }
    } else {
      options.classes = definitions
    }
    let store = try StoreRegistry.open(path, options)
    let schema = try store.newestSnapshot().schema.schema
    let known = definitions.map(\.name).filter { schema.named($0)?.isVacant == false }
    let common = known.isEmpty ? [] : try ExchangedClasses.chosen(known, schema, path)
    let lost = try problems(schema, besides: known, connection)
    guard !common.isEmpty else {
      if let first = lost.first { throw first }
      throw ToolError(
        "\(path) and the server have no class in common. 'tarn server migrate' adds the classes"
          + " of a store to the server")
    }
    for problem in lost { SyncProgram.complain("tarn: \(printableLines("\(problem)"))\n") }
    return (store, common)
  }

  /// Why classes of the store are not exchanged although the server has them; for a store without
  /// classes, why those of the server are not.
  private static func problems(
    _ schema: StoreSchema, besides known: [String], _ connection: ServerConnection
  ) throws -> [ServerError] {
    let own = schema.classes.filter { !$0.isVacant && !$0.isEmbedded }.map(\.name)
    let others = own.filter { !known.contains($0) }
    if others.isEmpty, !known.isEmpty { return [] }
    return try ServerDefinitions(connection).problems(of: own.isEmpty ? nil : others)
  }
}
