package import TarnStore

/// Which properties of a store are renamed ones of the server: as an administrator says, as the
/// store's own migration says, or as the administrator answers.
package struct PropertyRenames {
  /// A property of the store that is one of the server's under another name.
  struct Rename: Equatable {
    /// Nil for the only class that has it.
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
  /// Former names to free, as `Class.name`.
  let freed: [String]
  /// The former names of each property, by class, as the store's migrations note them.
  private let known: [String: [String: [String]]]
  /// Answers a question with yes or no; nil without a terminal.
  let asks: ((String) -> Bool)?

  package init() { (given, freed, known, asks) = ([], [], [:], nil) }

  /// - Parameters:
  ///   - texts: `Class.old=new`, or `old=new` if one class has it.
  ///   - freed: `Class.name`, names that properties had and that new ones may have.
  ///   - snapshot: of the store, which notes those of its migrations.
  package init(
    _ texts: [String], freeing freed: [String] = [], in snapshot: Snapshot? = nil,
    asking asks: ((String) -> Bool)? = nil
  ) throws {
    given = try texts.map { text throws(ServerError) in try Rename(text) }
    self.freed = freed
    self.asks = asks
    known = try snapshot.map { try Self.known(in: $0) } ?? [:]
  }

  /// Only the renames that the store's migrations note.
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

  /// The property of the server that one of the store was when it was last exchanged.
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
