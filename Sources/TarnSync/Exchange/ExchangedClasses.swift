package import TarnStore

/// The classes of a file that are exchanged: one rule for synchronized Realms, `tarn sync` and the
/// daemon.
package enum ExchangedClasses {
  /// The classes that have separate rows on a server. Embedded ones are part of the classes that
  /// own them.
  ///
  /// - Parameter names: the classes to choose from; empty for all of the file.
  /// - Returns: their names, in order, including those that the file does not have yet.
  /// - Throws: `.schemaMismatch` if a class has no primary key, which replicas need to identify its
  ///   objects.
  package static func chosen(
    _ names: [String], _ schema: StoreSchema, _ path: String
  ) throws(StorageError) -> [String] {
    let all = names.isEmpty ? schema.classes.filter { !$0.isVacant }.map(\.name) : names
    var chosen: [String] = []
    var keyless: [String] = []
    for name in Set(all).sorted() {
      guard let described = schema.named(name), !described.isVacant else {
        chosen.append(name)
        continue
      }
      if described.isEmbedded { continue }
      chosen.append(name)
      if described.primaryKey == nil { keyless.append(name) }
    }
    guard keyless.isEmpty else {
      throw StorageError(
        .schemaMismatch, operation: "synchronize", path: path,
        detail:
          "replicas identify objects by their primary keys, and \(keyless.joined(separator: ", "))"
          + " has none. Declare one, or leave the class out of the classes to exchange:"
          + " objectTypes of a Realm's configuration, --class of tarn sync, classes of the daemon")
    }
    return chosen
  }
}
