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

/// What numbers count in a column of dates that is given as Unix time.
enum UnixTime: Int64, CaseIterable {
  case seconds = 1
  case milliseconds = 1_000

  /// By the word for it in `--types`.
  init?(typeName: String) {
    guard let found = Self.allCases.first(where: { $0.typeName == typeName.lowercased() }) else {
      return nil
    }
    self = found
  }

  var typeName: String {
    switch self {
    case .seconds: "unixtime"
    case .milliseconds: "unixtime-ms"
    }
  }

  /// The date that a number stands for; nil for other texts, and for what JSON has else.
  func date(_ raw: RawValue) -> Timestamp? {
    switch raw {
    case .text(let text?), .json(.string(let text)):
      Timestamp(unixTime: text, perSecond: rawValue)
    case .json(.integer(let number)): Timestamp(unixTime: "\(number)", perSecond: rawValue)
    case .json(.double(let number)): Timestamp(unixTime: "\(number)", perSecond: rawValue)
    case .text, .json: nil
    }
  }
}

/// A column that values are read for, be it in the file already or about to be added.
struct ColumnReading {
  let name: String
  let type: ColumnType
  let collection: CollectionKind
  /// Whether the value, or an element, may be null.
  let isOptional: Bool
  let target: ClassID?
  /// The class that a new column links to, which may have no id yet.
  let targetName: String?
  /// Dates come as numbers; nil where they come as dates are written.
  var unixTime: UnixTime?

  init(
    name: String, type: ColumnType, collection: CollectionKind = .none, isOptional: Bool,
    targetName: String? = nil
  ) {
    self.name = name
    self.type = type
    self.collection = collection
    self.isOptional = isOptional || type == .any
    target = nil
    self.targetName = targetName
  }

  init(_ column: ColumnSchema) {
    name = column.name
    type = column.type
    collection = column.collection
    // A to-one link may always lead nowhere.
    isOptional =
      column.isOptional || column.type == .any
      || column.type == .link && column.collection == .none
    target = column.target
    targetName = nil
  }
}
