import TarnStore
import ToolSupport

/// A value as a file or a command line has it.
enum RawValue {
  case json(JSONValue)
  /// A field of text, nil where it is empty without quotes.
  case text(String?)

  var isNull: Bool {
    switch self {
    case .json(let value): value == .null
    case .text(let text): text == nil
    }
  }
}

/// A column that values are read for, be it in the file already or about to be added.
struct ColumnReading {
  let name: String
  let type: ColumnType
  let isOptional: Bool
  let target: ClassID?

  init(name: String, type: ColumnType, isOptional: Bool) {
    self.name = name
    self.type = type
    self.isOptional = isOptional
    target = nil
  }

  init(_ column: ColumnSchema) {
    name = column.name
    type = column.type
    // A link may always lead nowhere.
    isOptional = column.isOptional || column.type == .link
    target = column.target
  }

  /// The value for the column.
  ///
  /// - Throws: a `ToolError` that says what does not fit.
  func value(_ raw: RawValue, _ links: LinkFinder?) throws -> Value {
    if raw.isNull {
      if isOptional { return .null }
      // The text that leaves no trace in a line of CSV.
      if case .text = raw, type == .string { return .string("") }
      throw ToolError("column '\(name)' cannot be null")
    }
    if type == .link { return try link(raw, links) }
    let found: Value? =
      switch raw {
      case .json(let value): ValueText.parse(value, as: type)
      case .text(let text): ValueText.parse(text ?? "", as: type)
      }
    guard let found else {
      throw ToolError("column '\(name)': \(Self.quoted(raw)) is no \(ValueText.name(of: type))")
    }
    return found
  }

  /// The object that a primary key, or an object key where the class has none, stands for.
  private func link(_ raw: RawValue, _ links: LinkFinder?) throws -> Value {
    guard let links, let target else { return .null }
    let view = links.session.schema[target]
    let type = view.primaryKey.map { view[$0].type } ?? .int
    let reading = ColumnReading(name: name, type: type, isOptional: false)
    let value = try reading.value(raw, nil)
    guard let key = try links.find(value, in: target) else {
      throw ToolError("column '\(name)': there is no \(view.name) \(Self.quoted(raw))")
    }
    return .link(key)
  }

  private static func quoted(_ raw: RawValue) -> String {
    switch raw {
    case .text(let text): return "'\((text ?? "").prefix(40))'"
    case .json(let value):
      var json = JSONText()
      json.value(value)
      return String(json.text.prefix(40))
    }
  }
}

/// Finds the targets of links in the write that is under way.
struct LinkFinder {
  let session: WriteSession

  init(_ session: WriteSession) { self.session = session }

  func find(_ value: Value, in id: ClassID) throws -> ObjectKey? {
    if session.schema[id].primaryKey != nil { return try session.find(primaryKey: value, in: id) }
    guard case .int(let number) = value else { return nil }
    let key = ObjectKey(number)
    return try session.place(of: key, in: id) == nil ? nil : key
  }
}
