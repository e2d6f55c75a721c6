import TarnStore
import TarnText
import ToolSupport

/// Writes the objects of a dump into a new store, in commits of limited size.
final class DumpLoader {
  /// The most objects and bytes of text in one commit.
  private static let objectsMax = 2_000
  private static let bytesMax: Int64 = 8 << 20

  private let reader: DumpReader
  private let schema: StoreSchema
  /// The classes whose objects have not been read yet.
  private var coming: ArraySlice<ClassSchema>
  private(set) var sections: [Section] = []
  /// The number of objects of the last section that have not been read yet.
  private var missing = 0
  private var lastKey: ObjectKey?
  /// Whether a link led to an object of a later line.
  private(set) var hasLinksAhead = false
  private(set) var objectCount = 0

  /// The objects of a class in the text.
  struct Section {
    let described: ClassSchema
    let firstLine: Int
  }

  init(_ reader: DumpReader, _ schema: StoreSchema) {
    self.reader = reader
    self.schema = schema
    coming = schema.classes.filter { !$0.isEmbedded }[...]
  }

  /// Reads the lines of one commit.
  ///
  /// - Returns: false at the end of the text.
  func fill(_ session: WriteSession) throws -> Bool {
    let start = reader.consumedBytes
    for _ in 0..<Self.objectsMax where reader.consumedBytes - start < Self.bytesMax {
      guard let line = try reader.next() else {
        try checkEnd()
        return false
      }
      if missing == 0 { try begin(line, session) } else { try add(line, session) }
    }
    return true
  }

  private func checkEnd() throws {
    guard missing > 0 || !coming.isEmpty else { return }
    let rest = missing > 0 ? sections.last?.described : coming.first
    throw reader.error(
      "the dump ends here, without \(missing > 0 ? "\(counted(missing, "object"))" : "the objects")"
        + " of class \(rest?.name ?? "")")
  }

  // MARK: - Lines

  private func begin(_ line: JSONValue, _ session: WriteSession) throws {
    guard let described = coming.popFirst() else {
      throw reader.error("the dump has more lines than objects")
    }
    guard case .string(let name)? = line["class"], name.hasSameBytes(as: described.name),
      case .integer(let number)? = line["objects"], let count = Int(exactly: number), count >= 0
    else {
      throw reader.error(
        "expected {\"class\":\(JSONText.text(.string(described.name))),\"objects\":…}")
    }
    if let next = line["nextKey"] {
      guard case .integer(let next) = next, next >= 0, !described.keyIsPrimary else {
        throw reader.error("\"nextKey\" is not a whole number from 0, or the class counts no keys")
      }
      if next > 0 { try session.continueKeys(of: described.id, after: ObjectKey(next - 1)) }
    }
    missing = count
    lastKey = nil
    sections.append(Section(described: described, firstLine: reader.lineNumber + 1))
  }

  private func add(_ line: JSONValue, _ session: WriteSession) throws {
    guard let described = sections.last?.described, case .array(let items) = line, items.count == 2,
      case .integer(let number) = items[0], case .object(let members) = items[1]
    else { throw reader.error("not an object: expected [KEY,{…}]") }
    let key = ObjectKey(number)
    guard lastKey.map({ $0 < key }) ?? true else {
      throw reader.error("the key \(number) does not follow \(lastKey?.rawValue ?? 0)")
    }
    guard described.keyIsPrimary || 0..<Int64.max ~= number else {
      throw reader.error("\(number) cannot be an object key")
    }
    lastKey = key
    do {
      let contents = try contents(members, key, described, session)
      try session.create(contents, at: key, in: described.id)
      if !described.keyIsPrimary { try session.continueKeys(of: described.id, after: key) }
    } catch let error as ToolError {
      throw reader.error(error.message)
    } catch let error as StorageError where error.code == .invalidInput {
      throw reader.error(error.detail)
    }
    missing -= 1
    objectCount += 1
  }

  private func contents(
    _ members: [JSONMember], _ key: ObjectKey, _ described: ClassSchema, _ session: WriteSession
  ) throws -> [ColumnID: Content] {
    let links = DumpLinks(session) { [self] in isAhead($0, in: $1) }
    let parser = ContentParser(schema: schema.withoutPrimaryKeys, links: links)
    var contents: [ColumnID: Content] = [:]
    for member in members {
      guard let column = described.named(member.name) else {
        throw ToolError("class \(described.name) has no '\(member.name)'")
      }
      let content = try parser.content(.json(member.value), ColumnReading(column))
      guard contents.updateValue(content, forKey: column.id) == nil else {
        throw ToolError("'\(member.name)' is given twice")
      }
    }
    for column in described.columns where contents[column.id] == nil {
      guard column.id != described.primaryKey, !ColumnReading(column).isRequired else {
        throw ToolError("'\(column.name)' is missing")
      }
    }
    try checkKey(contents, key, described, session)
    return contents
  }

  private func checkKey(
    _ contents: [ColumnID: Content], _ key: ObjectKey, _ described: ClassSchema,
    _ session: WriteSession
  ) throws {
    guard let primary = described.primaryKey, case .value(let value)? = contents[primary] else {
      return
    }
    if described.keyIsPrimary {
      guard value == .int(key.rawValue) else {
        throw ToolError("the primary key \(ValueText.shown(value)) is not that of the line")
      }
    } else if try session.find(primaryKey: value, in: described.id) != nil {
      throw ToolError("there is a \(described.name) \(ValueText.shown(value)) already")
    }
  }

  /// Whether the object may be on this line or a later one.
  private func isAhead(_ key: ObjectKey, in id: ClassID) -> Bool {
    let isComing = coming.contains { $0.id == id }
    let isHere = sections.last?.described.id == id && lastKey.map { $0 <= key } == true
    if isComing || isHere { hasLinksAhead = true }
    return isComing || isHere
  }
}

/// Takes links as object keys, also to objects of later lines.
private struct DumpLinks: LinkFinding {
  private let session: WriteSession
  private let isAhead: (ObjectKey, ClassID) -> Bool

  init(_ session: WriteSession, isAhead: @escaping (ObjectKey, ClassID) -> Bool) {
    self.session = session
    self.isAhead = isAhead
  }

  func find(_ value: Value, in id: ClassID, at path: String) throws -> ObjectKey? {
    guard case .int(let number) = value else { return nil }
    let key = ObjectKey(number)
    return try isAhead(key, id) || session.location(of: key, in: id) != nil ? key : nil
  }
}
