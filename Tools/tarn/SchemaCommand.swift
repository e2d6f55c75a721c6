import TarnStore
import TarnText
import ToolSupport

/// `tarn schema`: prints the classes of a file: for people, as Swift, or as JSON.
struct SchemaCommand {
  private let path: String
  private let className: String?
  private let asSwift: Bool
  private let usesJSON: Bool
  private let realm: RealmFileArguments?

  init(_ arguments: ParsedArguments) throws {
    path = arguments.required("FILE")
    className = arguments.positional("CLASS")
    asSwift = arguments.has("swift")
    usesJSON = arguments.has("json")
    realm = RealmFileArguments(describing: arguments)
    if asSwift, usesJSON { throw UsageError("--swift and --json cannot be combined") }
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    let schema =
      try realm.map { SchemaView(schema: try RealmFileSchema($0).schema, epoch: 0) }
      ?? StoreAccess.openExisting(path).newestSnapshot().schema
    if let className { _ = try ClassView.named(className, in: schema, path) }
    let classes = schema.schema.classes.filter {
      !$0.isVacant && (className == nil || $0.name == className)
    }
    if usesJSON {
      try output.write(JSONText.text(SchemaJSON.json(classes, schema.schema)) + "\n")
    } else if asSwift {
      let chosen = className == nil ? classes : Self.reached(from: classes, schema.schema)
      try output.write(SwiftSource(chosen, schema.schema).text)
    } else {
      for described in classes { try output.write(Self.text(described, schema.schema)) }
    }
    return .success
  }

  /// The classes, and those that their properties refer to, without which they do not compile.
  private static func reached(
    from classes: [ClassSchema], _ schema: StoreSchema
  ) -> [ClassSchema] {
    var ids = Set(classes.map(\.id))
    var open = classes
    while let next = open.popLast() {
      for column in next.shownColumns {
        guard let target = column.target.flatMap({ schema[$0] }), ids.insert(target.id).inserted
        else { continue }
        open.append(target)
      }
    }
    return schema.classes.filter { ids.contains($0.id) }
  }

  private static func text(_ described: ClassSchema, _ schema: StoreSchema) -> String {
    var text = printable(described.name) + (described.isEmbedded ? " (embedded)" : "") + "\n"
    for column in described.shownColumns {
      let notes = [
        column.id == described.primaryKey ? "primary key" : nil,
        column.isIndexed ? "indexed" : nil,
        column.deleteRule == .cascade ? "deletes its targets" : nil,
      ].compactMap { $0 }
      text += "  \(printable(column.name)): \(printable(SchemaText.type(of: column, schema)))"
      text += (notes.isEmpty ? "" : "  (\(notes.joined(separator: ", ")))") + "\n"
    }
    for rule in described.uniqueRules {
      let names = rule.map { printable(described[$0].name) }
      text += "  unique: \(names.joined(separator: ", "))\n"
    }
    return text
  }
}
