import TarnStore
import TarnText

/// Classes as Swift source that compiles with the library, and with which a program opens their
/// file, whatever their names are: a name that Swift or the library already uses, or that two of
/// them would share, is replaced by another one, which is mapped to the name in the file.
struct SwiftSource {
  /// Names that the source uses for types.
  private static let types: Set<String> = [
    "Int", "Bool", "String", "Data", "Date", "Float", "Double", "Decimal128", "ObjectId", "UUID",
    "AnyRealmValue", "List", "MutableSet", "Map", "Object", "EmbeddedObject", "Persisted",
  ]
  /// Names of modules, and names that no backticks make a declaration's.
  private static let others: Set<String> = [
    "Tarn", "Foundation", "Swift", "Type", "Protocol", "Self", "Any", "self", "init", "_",
  ]
  /// Members that every object has.
  private static let members: Set<String> = [
    "description", "debugDescription", "customMirror", "hash", "hashValue", "realm",
    "isInvalidated", "isFrozen", "objectSchema", "changes", "observe", "freeze", "thaw", "detached",
    "value", "setValue", "isSameObject", "encode", "className", "primaryKey", "ignoredProperties",
    "indexedProperties", "uniqueProperties", "propertiesMapping", "shouldIncludeInDefaultSchema",
    "dynamicList", "dynamicMutableSet", "dynamicMap", "dynamicValue", "objectWillChange",
  ]
  private static let keywords: Set<String> = [
    "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer",
    "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for",
    "func", "guard", "if", "import", "in", "inout", "internal", "is", "let", "nil", "operator",
    "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return", "static",
    "struct", "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var",
    "where", "while",
  ]

  /// Words with a special meaning before a type, or in place of one.
  private static let keywordsOfTypes: Set<String> = [
    "any", "some", "each", "borrowing", "consuming", "sending", "isolated", "nonisolated", "async",
    "await", "package", "macro", "actor",
  ]

  private let classes: [ClassSchema]
  private let schema: StoreSchema
  /// The names in the source, by the ids of the classes.
  private var names: [ClassID: String] = [:]

  init(_ classes: [ClassSchema], _ schema: StoreSchema) {
    self.classes = classes
    self.schema = schema
    let found = Self.distinct(classes.map(\.name), besides: Self.types.union(Self.others))
    names = Dictionary(uniqueKeysWithValues: zip(classes.map(\.id), found))
  }

  var text: String {
    "import Foundation\nimport Tarn\n" + classes.map { "\n" + text($0) }.joined()
  }

  private func text(_ described: ClassSchema) -> String {
    let base = described.isEmbedded ? "EmbeddedObject" : "Object"
    let columns = described.shownColumns
    let name = names[described.id] ?? described.name
    let taken = Self.types.union(Self.others).union(Self.members).union(names.values)
    let properties = Self.distinct(columns.map(\.name), besides: taken, areWrapped: true)
    var text = "final class \(Self.typeName(name)): \(base) {\n"
    for (column, property) in zip(columns, properties) {
      text += "  \(wrapper(column, described)) var \(Self.identifier(property)): "
      text += SchemaText.type(of: column) { Self.typeName(names[$0] ?? "") } + "\n"
    }
    if !name.hasSameBytes(as: described.name) {
      text += "\n  override class func className() -> String { \(Self.literal(described.name)) }\n"
    }
    let renamed = zip(properties, columns).filter { !$0.hasSameBytes(as: $1.name) }
    if !renamed.isEmpty {
      let pairs = renamed.map { "\(Self.literal($0)): \(Self.literal($1.name))" }
      text += "\n  override class func propertiesMapping() -> [String: String] {\n"
      text += "    [\(pairs.joined(separator: ", "))]\n  }\n"
    }
    if !described.uniqueRules.isEmpty {
      let ids = Dictionary(uniqueKeysWithValues: zip(columns.map(\.id), properties))
      let rules = described.uniqueRules.map { rule in
        "[" + rule.map { Self.literal(ids[$0] ?? "") }.joined(separator: ", ") + "]"
      }
      text += "\n  override class func uniqueProperties() -> [[String]] {\n"
      text += "    [\(rules.joined(separator: ", "))]\n  }\n"
    }
    return text + "}\n"
  }

  private func wrapper(_ column: ColumnSchema, _ described: ClassSchema) -> String {
    if column.id == described.primaryKey { return "@Persisted(primaryKey: true)" }
    // The index of links serves backlinks, and is not declared.
    if column.isIndexed, column.type != .link { return "@Persisted(indexed: true)" }
    return column.deleteRule == .cascade ? "@Persisted(onDelete: .cascade)" : "@Persisted"
  }

  // MARK: - Names

  /// A name for each of some names: itself if it can be.
  ///
  /// - Parameters:
  ///   - taken: names with another meaning.
  ///   - areWrapped: whether each has a wrapper, whose name has an underscore in front.
  private static func distinct(
    _ names: [String], besides taken: Set<String>, areWrapped: Bool = false
  ) -> [String] {
    var used = taken
    var found = [String?](repeating: nil, count: names.count)
    func take(_ name: String) -> Bool {
      let wrapper = "_" + name
      if used.contains(name) || areWrapped && used.contains(wrapper) { return false }
      used.insert(name)
      if areWrapped { used.insert(wrapper) }
      return true
    }
    // Unchanged names first.
    for (index, name) in names.enumerated() where plain(name).hasSameBytes(as: name) {
      if take(name) { found[index] = name }
    }
    for (index, name) in names.enumerated() where found[index] == nil {
      var number = 1
      var next = plain(name)
      while !take(next) {
        number += 1
        next = plain(name) + (number == 2 ? "_" : "_\(number)")
      }
      found[index] = next
    }
    return found.map { $0 ?? "" }
  }

  /// A name with only the letters that a Swift name may have.
  private static func plain(_ name: String) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in name.unicodeScalars {
      let isPart = scalar == "_" || scalar.properties.isXIDContinue
      scalars.append(isPart ? scalar : "_")
    }
    let isStart = scalars.first.map { $0 == "_" || $0.properties.isXIDStart } ?? false
    return (isStart ? "" : "_") + String(scalars)
  }

  private static func identifier(_ name: String) -> String {
    keywords.contains(name) ? "`\(name)`" : name
  }

  private static func typeName(_ name: String) -> String {
    keywordsOfTypes.contains(name) ? "`\(name)`" : identifier(name)
  }

  private static func literal(_ text: String) -> String {
    var literal = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\", "\"": literal += "\\\(scalar)"
      case _
      where scalar.value < 0x20 || scalar.value == 0x7f
        || scalar.properties.isWhitespace && scalar != " ":
        literal += "\\u{\(String(scalar.value, radix: 16))}"
      default: literal.unicodeScalars.append(scalar)
      }
    }
    return "\"\(literal)\""
  }
}
