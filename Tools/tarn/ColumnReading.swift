import TarnStore
import TarnText
import ToolSupport

/// A value as a file or the command line gives it.
enum GivenValue {
  case json(JSONValue)
  /// A string; nil if it is empty and not quoted.
  case text(String?)

  var isNull: Bool {
    switch self {
    case .json(let value): value == .null
    case .text(let text): text == nil
    }
  }
}

/// The unit of numbers in a column of Unix times.
enum UnixTime: Int64, CaseIterable {
  case seconds = 1
  case milliseconds = 1_000

  /// The unit that `--types` calls by that name.
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

  /// The date that a number represents; nil for anything but a number.
  func date(_ raw: GivenValue) -> Timestamp? {
    switch raw {
    case .text(let text?), .json(.string(let text)):
      Timestamp(unixTime: text, perSecond: rawValue)
    case .json(.integer(let number)): Timestamp(unixTime: "\(number)", perSecond: rawValue)
    case .json(.double(let number)): Timestamp(unixTime: "\(number)", perSecond: rawValue)
    case .json(.number(let text)): Timestamp(unixTime: text, perSecond: rawValue)
    case .text, .json: nil
    }
  }
}

/// A column that values are read for. It is in the file, or about to be added.
struct ColumnReading {
  let name: String
  let type: ColumnType
  let collection: CollectionKind
  /// Whether the value, or an element, may be null.
  let isOptional: Bool
  let target: ClassID?
  /// The class that a new column links to, which may have no id yet.
  let targetName: String?
  /// The unit of dates given as numbers; nil if dates are written as strings.
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
    // A to-one link may always be nil.
    isOptional =
      column.isOptional || column.type == .any
      || column.type == .link && column.collection == .none
    target = column.target
    targetName = nil
  }
}
