import TarnStore
import ToolSupport

/// The changes that `tarn alter` makes. Columns have the names that they have before; a command may
/// also use the new name of a renamed one.
struct ClassEdits {
  /// A column and its new type.
  struct Typed {
    var name: String
    var reading: ColumnReading
    var word: String
  }

  let added: [Typed]
  let typed: [Typed]
  let renamed: [(from: String, to: String)]
  let dropped: [String]
  let nullable: [String]
  let indexed: [String]
  let unindexed: [String]

  static let options = ["add", "type", "rename", "drop", "nullable", "index", "no-index"]

  init(_ arguments: ParsedArguments) throws {
    let renamed: [(from: String, to: String)] = try StoreAccess.names("rename", arguments).map {
      word in
      let (from, to) = PathText.first(of: word, before: "=")
      guard let to, !from.isEmpty, !to.isEmpty else {
        throw UsageError("--rename takes OLD=NEW, not '\(word)'")
      }
      return (PathText.name(from), PathText.name(String(to)))
    }
    self.renamed = renamed
    func former(_ name: String) -> String { renamed.first { $0.to == name }?.from ?? name }
    func names(_ option: String) -> [String] {
      StoreAccess.names(option, arguments).map { former(PathText.name(String($0))) }
    }
    added = try Self.types("add", arguments)
    typed = try Self.types("type", arguments).map {
      Typed(name: former($0.name), reading: $0.reading, word: $0.word)
    }
    dropped = names("drop")
    nullable = names("nullable")
    indexed = names("index")
    unindexed = names("no-index")
    try checkNames()
  }

  private static func types(_ option: String, _ arguments: ParsedArguments) throws -> [Typed] {
    try StoreAccess.names(option, arguments).map { item in
      guard let colon = item.lastASCII(":") else {
        throw UsageError("--\(option) takes COLUMN:TYPE, not '\(item)'")
      }
      let word = String(item[item.utf8.index(after: colon)...])
      let name = PathText.name(String(item[..<colon]))
      guard let reading = ColumnReading(name: name, typeName: word), reading.unixTime == nil,
        !name.isEmpty
      else {
        throw UsageError(
          "--\(option): there is no type '\(word)'; types are "
            + ValueTypes.names + ", the names of classes, and list<…>, set<…>, map<…> of them")
      }
      return Typed(name: name, reading: reading, word: word)
    }
  }

  /// Each column may be given once for each option, and a column that is dropped for no other.
  private func checkNames() throws {
    let lists = [
      ("add", added.map(\.name) + renamed.map(\.to)), ("type", typed.map(\.name)),
      ("rename", renamed.map(\.from)), ("drop", dropped), ("nullable", nullable),
      ("index", indexed + unindexed),
    ]
    for (option, names) in lists where Set(names).count < names.count {
      throw UsageError("--\(option): a column is given twice")
    }
    let changed = Set(typed.map(\.name) + renamed.map(\.from) + nullable + indexed + unindexed)
    if let name = dropped.first(where: changed.contains) {
      throw UsageError("'\(name)' is to be dropped and changed")
    }
  }
}
