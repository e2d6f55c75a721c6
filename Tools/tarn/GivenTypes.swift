import TarnStore
import TarnText
import ToolSupport

/// The argument of `--types`: `size:int,name:string?,owner:Person,Person.friends:list<Person>`.
struct GivenTypes {
  /// A column of one class, or of every class that has it.
  private struct Item {
    var className: String?
    var column: ColumnReading
    /// The text of the type.
    var word: String
  }
  private var items: [Item] = []

  init(_ arguments: ParsedArguments, classes: [String]) throws {
    for item in StoreAccess.names("types", arguments) {
      guard let colon = item.lastASCII(":") else {
        throw UsageError("--types takes COLUMN:TYPE, not '\(item)'")
      }
      let word = String(item[item.utf8.index(after: colon)...])
      let (className, name) = qualified(String(item[..<colon]), classes)
      guard let reading = ColumnReading(name: name, typeName: word) else {
        throw UsageError("--types: there is no type '\(word)'; types are \(Self.known)")
      }
      guard !items.contains(where: { $0.className == className && $0.column.name == name }) else {
        throw UsageError("--types gives '\(item[..<colon])' twice")
      }
      items.append(Item(className: className, column: reading, word: word))
    }
  }

  /// The known types, for a message about an unknown one.
  static var known: String {
    (ValueText.typeNames + UnixTime.allCases.map(\.typeName)).joined(separator: ", ")
      + ", the names of classes, and list<…>, set<…>, map<…> of them"
  }

  func type(of name: String, in className: String) -> ColumnReading? {
    let fitting = items.filter { $0.column.name == name }
    return (fitting.last { $0.className == className } ?? fitting.last { $0.className == nil })?
      .column
  }
}

extension GivenTypes {
  /// - Parameters:
  /// - found: the columns of each input, by its class; nil where some are not known yet.
  /// - stored: the classes of the file.
  /// - Throws: for a column that does not exist, and for one that has another type in the class.
  func check(_ found: [String: [String]?], _ stored: StoreSchema) throws {
    for item in items {
      let name = item.column.name
      var isKnown = false
      for className in item.className.map({ [$0] }) ?? found.keys.sorted() {
        if let column = stored.named(className)?.named(name) {
          isKnown = true
          guard !item.column.contradicts(column, stored) else {
            throw ToolError(
              "--types \(name):\(item.word): class \(className) has '\(name)' as "
                + "\(SchemaText.type(of: column, stored)) already; an import does not change it")
          }
        } else if let columns = found[className] ?? nil {
          isKnown = isKnown || columns.contains(name)
        } else {
          isKnown = true
        }
      }
      if isKnown { continue }
      let names = found.values.flatMap { $0 ?? [] }.map { "'\($0)'" }.joined(separator: ", ")
      throw ToolError(
        "--types \(name):\(item.word): the input has no column '\(name)'; it has \(names)")
    }
  }

  /// The class's columns whose dates are given as numbers.
  func unixTimes(in className: String) -> [String: UnixTime] {
    var found: [String: UnixTime] = [:]
    for item in items where item.className ?? className == className {
      found[item.column.name] = type(of: item.column.name, in: className)?.unixTime
    }
    return found
  }

  /// The columns that `--types` gives for that class and that are not among those names.
  func others(than names: [String], in className: String) -> [ColumnReading] {
    items.filter { $0.className ?? className == className && !names.contains($0.column.name) }
      .map(\.column)
  }
}

extension ColumnReading {
  /// Whether the column of the file has another type than in `--types`. The file's column may be
  /// nullable even if it is not in `--types`.
  fileprivate func contradicts(_ column: ColumnSchema, _ schema: StoreSchema) -> Bool {
    if type != column.type || collection != column.collection { return true }
    if let targetName, column.target.flatMap({ schema[$0]?.name }) != targetName { return true }
    return isOptional && type != .link && !(column.isOptional || type == .any)
  }
}

/// The argument of `--key`: `id`, or `Person.id`.
struct GivenKeys {
  private var names: [String?: String] = [:]

  init(_ arguments: ParsedArguments, classes: [String]) throws {
    for word in arguments.values("key") {
      let (className, name) = qualified(word, classes)
      guard names.updateValue(name, forKey: className) == nil else {
        throw UsageError("--key is given twice\(className.map { " for \($0)" } ?? "")")
      }
    }
  }

  func key(of className: String) -> String? { names[className] ?? names[nil] }
}

/// The argument of `--nullable`: `age,Person.name`.
struct GivenNullables {
  private var items: [(className: String?, name: String, word: String)] = []

  init(_ arguments: ParsedArguments, classes: [String]) {
    for word in StoreAccess.names("nullable", arguments) {
      let (className, name) = qualified(String(word), classes)
      items.append((className, name, String(word)))
    }
  }

  /// The names given for that class, existing columns or not.
  func names(in className: String) -> Set<String> {
    Set(items.filter { $0.className ?? className == className }.map(\.name))
  }

  /// - Throws: for a column that no class of the import has.
  func check(_ plans: [ImportPlan]) throws {
    for item in items
    where !plans.contains(where: {
      $0.className == item.className ?? $0.className && $0.columns[item.name] != nil
    }) {
      throw ToolError(
        "--nullable \(item.word): no class of this import has a column '\(item.name)'")
    }
  }

  /// - Throws: for a column of a class that cannot be null.
  static func check(
    _ names: Set<String>, _ columns: [String: ColumnReading], key: String?
  ) throws {
    for name in names.sorted() {
      guard let column = columns[name] else { continue }
      if name == key {
        throw ToolError("--nullable \(name): '\(name)' is the primary key, which cannot be null")
      }
      if column.collection != .none {
        throw ToolError(
          "--nullable \(name): '\(name)' is a \(column.collection), which cannot be null")
      }
    }
  }
}

/// Splits a column's name from the class in front of it. A dot that does not follow the name of a
/// class is part of the column's name. A name in back quotes is not split.
private func qualified(_ word: String, _ classes: [String]) -> (className: String?, name: String) {
  for name in classes {
    if let rest = word.rest(afterBytesOf: name + "."), !rest.isEmpty {
      return (name, PathText.name(rest))
    }
  }
  return (nil, PathText.name(word))
}

extension ColumnReading {
  /// Parses `int`, `string?`, `list<int>`, `set<string>`, `map<double?>` and `list<Person>`; nil if
  /// the word cannot be a type. A word that is not a type of values names a class.
  init?(name: String, typeName: String) {
    var word = Substring(typeName)
    var collection = CollectionKind.none
    if word.last == ">", let open = word.firstASCII("<") {
      switch word[..<open].lowercased() {
      case "list": collection = .list
      case "set": collection = .set
      case "map": collection = .map
      default: return nil
      }
      word = word[word.utf8.index(after: open)...].dropLast()
    }
    let isOptional = word.last == "?"
    if isOptional { word.removeLast() }
    if let type = ValueText.type(named: String(word)) {
      self.init(name: name, type: type, collection: collection, isOptional: isOptional)
      return
    }
    if let unixTime = UnixTime(typeName: String(word)) {
      self.init(name: name, type: .date, collection: collection, isOptional: isOptional)
      self.unixTime = unixTime
      return
    }
    guard !word.isEmpty, word.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }) else {
      return nil
    }
    // Links are optional, except in lists and sets, which cannot hold null.
    self.init(
      name: name, type: .link, collection: collection,
      isOptional: collection == .none || collection == .map, targetName: String(word))
  }
}
