package import TarnStore

/// The properties of a store that are renamed ones of the server: given by an administrator,
/// recorded by the store's own migration, or confirmed by the administrator.
package struct PropertyRenames {
  /// A property of the store that has another name on the server.
  struct Rename: Equatable {
    /// Nil for the only class that has the property.
    let className: String?
    let from: String
    let to: String

    /// - Parameter text: `Class.old=new` or `old=new`.
    init(_ text: String) throws(ServerError) {
      let sides = text.utf8.split(separator: UInt8(ascii: "="), omittingEmptySubsequences: false)
      let left = sides[0].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      let names = (left + sides.dropFirst()).map { String(decoding: $0, as: UTF8.self) }
      guard sides.count == 2, left.count <= 2, !names.contains(where: \.isEmpty) else {
        throw ServerError("rename \(text)", "a rename is CLASS.OLD=NEW or OLD=NEW")
      }
      className = left.count == 2 ? names[0] : nil
      from = names[left.count - 1]
      to = names[left.count]
    }
  }

  let given: [Rename]
  /// Former names to release, as `Class.name`.
  let freed: [String]
  /// The former names of each property, by class, from the store's migrations.
  private let known: [String: [String: [String]]]
  /// Answers a question with yes or no; nil without a terminal.
  let asks: ((String) -> Bool)?

  package init() { (given, freed, known, asks) = ([], [], [:], nil) }

  /// - Parameters:
  ///   - texts: `Class.old=new`, or `old=new` if only one class has it.
  ///   - freed: `Class.name`, former names that new properties may use.
  ///   - snapshot: a snapshot of the store, which records the renames of its migrations.
  package init(
    _ texts: [String], freeing freed: [String] = [], in snapshot: Snapshot? = nil,
    asking asks: ((String) -> Bool)? = nil
  ) throws {
    given = try texts.map { text throws(ServerError) in try Rename(text) }
    self.freed = freed
    self.asks = asks
    known = try snapshot.map { try Self.known(in: $0) } ?? [:]
  }

  /// Only the renames that the store's migrations recorded.
  init(in snapshot: Snapshot) throws(StorageError) {
    (given, freed, asks) = ([], [], nil)
    known = try Self.known(in: snapshot)
  }

  private static func known(
    in snapshot: Snapshot
  ) throws(StorageError) -> [String: [String: [String]]] {
    var known: [String: [String: [String]]] = [:]
    for described in snapshot.schema.schema.classes {
      let origins = try ColumnOrigins(of: described.id, in: snapshot.transaction)
      for column in described.columns where !column.isRemoved {
        let names = origins.formerNames(of: column, in: described)
        if !names.isEmpty { known[described.name, default: [:]][column.name] = names }
      }
    }
    return known
  }

  /// The property of the server that a property of the store was at the last exchange.
  ///
  /// - Parameter names: the names of the store's properties.
  func known(
    _ name: String, of entry: ServerCatalog.Entry, besides names: Set<String>
  ) -> String? {
    known[entry.name]?[name]?.first { former in
      !names.contains(former) && entry.columns.contains { $0.name == former }
    }
  }
}
