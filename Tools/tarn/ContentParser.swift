import TarnStore
import TarnText
import ToolSupport

/// Reads contents that `ContentJSON` writes, as the types of the columns. An error names the place
/// inside the value, such as `address.tags[2]`.
struct ContentParser {
  /// For the columns of embedded objects.
  let schema: StoreSchema
  let links: any LinkFinding
  /// Whether a member that is missing from an embedded object, and an empty field, becomes the zero
  /// of its type if it cannot be null. Otherwise it is an error.
  var usesDefaults = false
  /// Whether a number that its column does not hold becomes the nearest one. Otherwise it is an
  /// error.
  var rounds = false
  /// Called with the error for each link to a missing object, which is then left out. Without it,
  /// such a link is an error.
  var leaveOut: ((ToolError) -> Void)?

  /// The content for the column.
  ///
  /// - Throws: a `ToolError` that names the value and the type it should have; `LinkIsLeftOut` for
  ///   a link alone.
  func content(_ raw: GivenValue, _ column: ColumnReading) throws -> Content {
    switch raw {
    case .json(let value): return try content(value, column, column.name)
    case .text(let text):
      if column.collection == .none, column.type != .any, embedded(column) == nil {
        return .value(try scalar(text, column))
      }
      // An empty field of CSV.
      guard let text else { return column.empty }
      let value: JSONValue
      do {
        value = try JSONScanner.exactValue(in: Array(text.utf8))
      } catch {
        throw ToolError("column '\(column.name)': \(Self.quoted(text)) is not valid JSON: \(error)")
      }
      return try content(value, column, column.name)
    }
  }

  private func content(_ json: JSONValue, _ column: ColumnReading, _ path: String) throws -> Content
  {
    switch (column.collection, json) {
    case (.none, _): return try single(json, column, path)
    case (.list, .array(let items)):
      return .list(
        try items.enumerated().compactMap { index, item in
          try kept { try single(item, column, "\(path)[\(index)]") }
        })
    case (.set, .array(let items)):
      return .list(
        Self.sorted(
          try items.enumerated().compactMap { index, item in
            switch try kept({ try single(item, column, "\(path)[\(index)]") }) {
            case nil: return nil
            case .value(let value)?: return value
            default:
              throw ToolError("column '\(path)[\(index)]': a set cannot hold arrays or objects")
            }
          }))
    case (.map, .object(let members)):
      return .map(
        try pairs(members) { try single($1, column, "\(path)[\(Self.quoted($0))]") })
    case (_, .null): return column.empty
    default:
      let wanted = column.collection == .map ? "object, which a map needs" : "array"
      throw ToolError("column '\(path)': \(Self.quoted(json)) is not an \(wanted)")
    }
  }

  // MARK: - Single values

  private func single(_ json: JSONValue, _ column: ColumnReading, _ path: String) throws -> Content
  {
    if json == .null {
      guard column.isOptional else { throw ToolError("column '\(path)' cannot be null") }
      return .value(.null)
    }
    if column.type == .any { return try any(json, path, 0) }
    if let described = embedded(column) { return try object(json, described, path) }
    if let target = column.target { return .value(try link(.json(json), target, path)) }
    guard let value = Self.value(.json(json), column, rounding: rounds) else {
      throw misfit(Self.quoted(json), .json(json), column, path)
    }
    return .value(value)
  }

  private static func value(
    _ raw: GivenValue, _ column: ColumnReading, rounding: Bool
  ) -> Value? {
    if let unixTime = column.unixTime { return unixTime.date(raw).map { .date($0) } }
    let found: Value?
    switch raw {
    case .json(let json): found = ValueText.parse(json, as: column.type, rounding: rounding)
    case .text(let text):
      found = text.flatMap { ValueText.parse($0, as: column.type, rounding: rounding) }
    }
    guard found == nil, rounding, column.type == .int else { return found }
    return nearest(raw).map { .int($0) }
  }

  /// The integer nearest to a number with a fraction.
  private static func nearest(_ raw: GivenValue) -> Int64? {
    let text: String
    switch raw {
    case .text(let field?): text = field
    case .json(.double(let number)): text = "\(number)"
    case .json(.number(let digits)): text = digits
    default: return nil
    }
    guard WrittenNumber(text) != nil, let double = Double(text) else { return nil }
    // Above, a double has no halves, and fewer digits than an integer.
    if double.magnitude < 0x1p52 { return Int64(double.rounded()) }
    let whole = text.partsAroundASCII(".")
    return whole.flatMap { part in
      part.behind.utf8.allSatisfy { 0x30...0x39 ~= $0 }
        ? Int64(part.before).flatMap { Self.rounded($0, part.behind) } : nil
    }
  }

  /// A whole part away from zero by one if the first digit behind it is 5 or more.
  private static func rounded(_ whole: Int64, _ fraction: some StringProtocol) -> Int64? {
    guard let first = fraction.utf8.first, first >= UInt8(ascii: "5") else { return whole }
    let (sum, overflows) = whole.addingReportingOverflow(whole < 0 ? -1 : 1)
    return overflows ? nil : sum
  }

  /// The error for a value that does not fit its column.
  private func misfit(
    _ quoted: String, _ raw: GivenValue, _ column: ColumnReading, _ path: String
  ) -> ToolError {
    let isRoundable = Self.value(raw, column, rounding: true) != nil
    if isRoundable, column.type != .int {
      let other = column.type == .decimal ? "" : "; a decimal column keeps up to 34 digits"
      return ToolError(
        "column '\(path)': \(quoted) has digits that a \(column.typeName) does not hold "
          + "(--round rounds it\(other))")
    }
    var hint = isRoundable ? " (--round rounds it)" : ""
    if column.type == .int, case .json(.whole) = raw {
      hint = ": it has more than 64 bits (--types \(path):decimal keeps its digits)"
    }
    return ToolError("column '\(path)': \(quoted) is not of type \(column.typeName)\(hint)")
  }

  private func scalar(_ text: String?, _ column: ColumnReading) throws -> Value {
    guard let text else {
      if column.isOptional { return .null }
      if column.type == .string { return .string("") }
      if usesDefaults, column.target == nil { return column.type.zero }
      throw ToolError("column '\(column.name)' cannot be null")
    }
    if let target = column.target { return try link(.text(text), target, column.name) }
    guard let value = Self.value(.text(text), column, rounding: rounds) else {
      throw misfit(Self.quoted(text), .text(text), column, column.name)
    }
    return value
  }

  /// The object with that primary key, or with that object key if the class has no primary key.
  private func link(_ raw: GivenValue, _ target: ClassID, _ path: String) throws -> Value {
    guard let view = schema[target] else { return .null }
    let type = view.primaryKey.map { view[$0].type } ?? .int
    let (found, quoted) =
      switch raw {
      case .json(let json): (ValueText.parse(json, as: type), Self.quoted(json))
      case .text(let text): (ValueText.parse(text ?? "", as: type), Self.quoted(text ?? ""))
      }
    guard let found else {
      throw ToolError("column '\(path)': \(quoted) is not of type \(ValueText.name(of: type))")
    }
    guard let key = try links.find(found, in: target, at: path) else {
      let error = ToolError("column '\(path)': there is no \(view.name) \(quoted)")
      guard let leaveOut else { throw error }
      leaveOut(error)
      throw LinkIsLeftOut()
    }
    return .link(key)
  }

  /// The content of an element or a member; nil for a link that is left out.
  private func kept(_ read: () throws -> Content) throws -> Content? {
    do {
      return try read()
    } catch is LinkIsLeftOut {
      return nil
    }
  }

  // MARK: - Embedded objects

  private func embedded(_ column: ColumnReading) -> ClassSchema? {
    column.target.flatMap { schema[$0] }.flatMap { $0.isEmbedded ? $0 : nil }
  }

  private func object(_ json: JSONValue, _ described: ClassSchema, _ path: String) throws -> Content
  {
    guard case .object(let members) = json else {
      throw ToolError(
        "column '\(path)': \(Self.quoted(json)) is not an object of \(described.name)")
    }
    for member in members where described.named(member.name) == nil {
      throw ToolError("column '\(path)': class \(described.name) has no '\(member.name)'")
    }
    if let fault = members.faultAsProperties { throw ToolError("column '\(path)': \(fault)") }
    return .object(
      try described.shownColumns.map { field in
        let reading = ColumnReading(field)
        guard let value = members.first(where: { $0.name == field.name })?.value else {
          guard usesDefaults || !reading.isRequired else {
            throw ToolError("column '\(path).\(field.name)' is missing and cannot be null")
          }
          return Content.Part(
            column: field.id,
            content: reading.isRequired ? .value(reading.type.zero) : reading.empty)
        }
        let found = try kept { try content(value, reading, "\(path).\(field.name)") }
        return Content.Part(column: field.id, content: found ?? reading.empty)
      })
  }

  // MARK: - Mixed values

  /// - Parameter depth: the number of lists and maps around it.
  private func any(_ json: JSONValue, _ path: String, _ depth: Int) throws -> Content {
    switch json {
    case .null: return .value(.null)
    case .bool(let value): return .value(.bool(value))
    case .integer(let value): return .value(.int(value))
    case .double(let value): return .value(.double(value))
    case .whole, .number:
      // The first type that holds it.
      let types: [ColumnType] = if case .number = json { [.double, .decimal] } else { [.decimal] }
      guard
        let value = types.lazy.compactMap({ ValueText.parse(json, as: $0, rounding: rounds) }).first
      else {
        throw ToolError(
          "column '\(path)': \(Self.quoted(json)) is not a number that can be stored exactly "
            + "(--round rounds it)")
      }
      return .value(value)
    case .string(let text): return .value(.string(text))
    case .array(let items):
      try checkDepth(depth, path)
      return .list(
        try items.enumerated().compactMap { index, item in
          try kept { try any(item, "\(path)[\(index)]", depth + 1) }
        })
    case .object(let members):
      return json[MixedJSON.typeKey] == nil
        ? try map(members, path, depth) : try typed(json, members, path, depth)
    }
  }

  private func map(_ members: [JSONMember], _ path: String, _ depth: Int) throws -> Content {
    try checkDepth(depth, path)
    return .map(try pairs(members) { try any($1, "\(path)[\(Self.quoted($0))]", depth + 1) })
  }

  private func checkDepth(_ depth: Int, _ path: String) throws {
    if depth < SequencePlace.depthMax { return }
    throw ToolError(
      "column '\(path.prefix(40))…': lists and maps within values may be up to "
        + "\(SequencePlace.depthMax) deep")
  }

  private func typed(
    _ json: JSONValue, _ members: [JSONMember], _ path: String, _ depth: Int
  ) throws -> Content {
    guard case .string(let name)? = json[MixedJSON.typeKey], let value = json["value"] else {
      throw ToolError("column '\(path)': \(Self.quoted(json)) has no type, or no \"value\"")
    }
    let isLink = name == ValueText.name(of: .link)
    let known = [MixedJSON.typeKey, "value"] + (isLink ? ["class"] : [])
    if let other = members.first(where: { !known.contains($0.name) }) {
      throw ToolError(
        "column '\(path)': \(Self.quoted(json)) has the unknown member '\(other.name)'")
    }
    if let members = MixedJSON.members(ofMap: json) { return try map(members, path, depth) }
    if isLink {
      guard case .string(let target)? = json["class"] else {
        throw ToolError("column '\(path)': \(Self.quoted(json)) does not name a class")
      }
      guard let described = schema.named(target), !described.isEmbedded else {
        throw ToolError("column '\(path)': there is no class '\(target)' to link to")
      }
      guard case .link(let key) = try link(.json(value), described.id, path) else {
        return .value(.null)
      }
      return .value(.object(described.id, key))
    }
    guard let type = ValueText.type(named: name), type != .any else {
      throw ToolError("column '\(path)': there is no type '\(name)'")
    }
    guard value != .null, let found = ValueText.parse(value, as: type, rounding: rounds) else {
      throw ToolError("column '\(path)': \(Self.quoted(value)) is not of type \(name)")
    }
    return .value(found)
  }

  // MARK: - Order and texts

  /// A set's elements in the set's order, without duplicates.
  private static func sorted(_ values: [Value]) -> [Content] {
    var unique: [Value] = []
    for value in values.sorted(by: { SequenceOrder.compare($0, $1) < 0 }) {
      if let last = unique.last, SequenceOrder.compare(last, value) == 0 { continue }
      unique.append(value)
    }
    return unique.map { .value($0) }
  }

  /// A map's pairs in the map's order. The scanner has refused a key that occurs twice.
  private func pairs(
    _ members: [JSONMember], _ read: (String, JSONValue) throws -> Content
  ) throws -> [Content.Pair] {
    try members.sorted { SequenceOrder.compare($0.name, $1.name) < 0 }.compactMap { member in
      try kept { try read(member.name, member.value) }.map {
        Content.Pair(key: member.name, value: $0)
      }
    }
  }

  private static func quoted(_ text: String) -> String { "'\(text.prefix(40))'" }
  private static func quoted(_ json: JSONValue) -> String { String(JSONText.text(json).prefix(40)) }
}

extension ColumnReading {
  /// The name of the type in `--types`.
  fileprivate var typeName: String { unixTime?.typeName ?? ValueText.name(of: type) }

  /// Whether an object needs a value for the column.
  var isRequired: Bool { collection == .none && !isOptional }

  /// An empty collection, or null.
  var empty: Content {
    switch collection {
    case .list, .set: .list([])
    case .map: .map([])
    case .none: .value(.null)
    }
  }
}
