import TarnStore
import TarnText
import ToolSupport

/// `tarn schema`: prints the classes of a file: for people, as Swift, or as JSON.
struct SchemaCommand {
  private let path: String
  private let className: String?
  private let asSwift: Bool
  private let usesJSON: Bool

  init(_ arguments: ParsedArguments) throws {
    path = arguments.required("FILE")
    className = arguments.positional("CLASS")
    asSwift = arguments.has("swift")
    usesJSON = arguments.has("json")
    if asSwift, usesJSON { throw UsageError("--swift and --json cannot be combined") }
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    let schema = try StoreAccess.openExisting(path).newestSnapshot().schema
    if let className { _ = try ClassView.named(className, in: schema, path) }
    let classes = schema.schema.classes.filter {
      !$0.isVacant && (className == nil || $0.name == className)
    }
    if usesJSON {
      try output.write(JSONText.text(SchemaJSON.json(classes, schema.schema)) + "\n")
    } else if asSwift {
      try output.write(SwiftSource.text(classes, schema.schema))
    } else {
      for described in classes { try output.write(Self.text(described, schema.schema)) }
    }
    return .success
  }

  private static func text(_ described: ClassSchema, _ schema: StoreSchema) -> String {
    var text = printable(described.name) + (described.isEmbedded ? " (embedded)" : "") + "\n"
    for column in described.columns where !column.isRemoved {
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

/// Classes as Swift source that the library compiles.
enum SwiftSource {
  private static let keywords: Set<String> = [
    "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer",
    "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for",
    "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "let", "nil",
    "operator", "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return",
    "self", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try",
    "typealias", "var", "where", "while", "Any", "Self",
  ]

  static func text(_ classes: [ClassSchema], _ schema: StoreSchema) -> String {
    "import Foundation\nimport Tarn\n" + classes.map { "\n" + text($0, schema) }.joined()
  }

  private static func text(_ described: ClassSchema, _ schema: StoreSchema) -> String {
    let base = described.isEmbedded ? "EmbeddedObject" : "Object"
    let columns = described.columns.filter { !$0.isRemoved }
    var text = "final class \(identifier(described.name)): \(base) {\n"
    for column in columns {
      text += "  \(wrapper(column, described)) var \(identifier(column.name)): "
      text += "\(SchemaText.type(of: column, schema))\n"
    }
    let renamed = columns.filter { plain($0.name) != $0.name }
    if !renamed.isEmpty {
      let pairs = renamed.map { "\"\(plain($0.name))\": \(literal($0.name))" }
      text += "\n  override class func propertiesMapping() -> [String: String] {\n"
      text += "    [\(pairs.joined(separator: ", "))]\n  }\n"
    }
    if !described.uniqueRules.isEmpty {
      let rules = described.uniqueRules.map { rule in
        "[" + rule.map { literal(plain(described[$0].name)) }.joined(separator: ", ") + "]"
      }
      text += "\n  override class func uniqueProperties() -> [[String]] {\n"
      text += "    [\(rules.joined(separator: ", "))]\n  }\n"
    }
    return text + "}\n"
  }

  private static func wrapper(_ column: ColumnSchema, _ described: ClassSchema) -> String {
    if column.id == described.primaryKey { return "@Persisted(primaryKey: true)" }
    if column.isIndexed { return "@Persisted(indexed: true)" }
    return column.deleteRule == .cascade ? "@Persisted(onDelete: .cascade)" : "@Persisted"
  }

  /// A name with only what a Swift name may have.
  private static func plain(_ name: String) -> String {
    let letters = name.map { character -> Character in
      character.isLetter || character.isNumber || character == "_" ? character : "_"
    }
    let text = String(letters)
    return text.first?.isNumber ?? true ? "_" + text : text
  }

  private static func identifier(_ name: String) -> String {
    let name = plain(name)
    return keywords.contains(name) ? "`\(name)`" : name
  }

  private static func literal(_ text: String) -> String { JSONText.text(.string(text)) }
}
