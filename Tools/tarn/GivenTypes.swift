import TarnStore
import ToolSupport

/// What `--types` says: `size:int,name:string?,owner:Person,Person.friends:list<Person>`.
struct GivenTypes {
  /// A column of one class, or of each that has it.
  private struct Item {
    var className: String?
    var column: ColumnReading
  }
  private var items: [Item] = []

  init(_ arguments: ParsedArguments, classes: [String]) throws {
    for item in arguments.values("types").flatMap({ $0.split(separator: ",") }) {
      guard let colon = item.lastIndex(of: ":") else {
        throw UsageError("--types takes COLUMN:TYPE, not '\(item)'")
      }
      let word = String(item[item.index(after: colon)...])
      let (className, name) = qualified(String(item[..<colon]), classes)
      guard let reading = ColumnReading(name: name, typeName: word) else {
        throw UsageError("--types: no type '\(word)'; there are \(Self.known)")
      }
      items.append(Item(className: className, column: reading))
    }
  }

  /// For messages about a type that there is not.
  static var known: String {
    ValueText.typeNames.joined(separator: ", ")
      + ", the names of classes, and list<…>, set<…>, map<…> of them"
  }

  func type(of name: String, in className: String) -> ColumnReading? {
    let fitting = items.filter { $0.column.name == name }
    return (fitting.last { $0.className == className } ?? fitting.last { $0.className == nil })?
      .column
  }
}

/// What `--key` says: `id`, or `Person.id`.
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

/// A column's name without its class before it, and that class. A point that follows no class is
/// part of the name.
private func qualified(_ word: String, _ classes: [String]) -> (className: String?, name: String) {
  for name in classes where word.hasPrefix(name + ".") && word.count > name.count + 1 {
    return (name, String(word.dropFirst(name.count + 1)))
  }
  return (nil, word)
}

extension ColumnReading {
  /// What `int`, `string?`, `list<int>`, `set<string>`, `map<double?>` and `list<Person>` say; nil
  /// for what can be no type. A word that is no type of values names a class.
  init?(name: String, typeName: String) {
    var word = Substring(typeName)
    var collection = CollectionKind.none
    if word.last == ">", let open = word.firstIndex(of: "<") {
      switch word[..<open].lowercased() {
      case "list": collection = .list
      case "set": collection = .set
      case "map": collection = .map
      default: return nil
      }
      word = word[word.index(after: open)...].dropLast()
    }
    let isOptional = word.last == "?"
    if isOptional { word.removeLast() }
    if let type = ValueText.type(named: String(word)) {
      self.init(name: name, type: type, collection: collection, isOptional: isOptional)
      return
    }
    guard !word.isEmpty, word.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }) else {
      return nil
    }
    // Links lead nowhere where that is possible at all: lists and sets have no place for it.
    self.init(
      name: name, type: .link, collection: collection,
      isOptional: collection == .none || collection == .map, targetName: String(word))
  }
}
