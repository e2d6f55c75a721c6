import TarnStore
import ToolSupport

/// The objects of a file in one of its versions: the newest, or one that the change records lead
/// back to.
enum ComparedRows {
  case newest(SnapshotReader)
  case past(PastRows)

  /// - Parameter text: the path of a file, or `FILE@VERSION`.
  init(_ text: String) throws {
    let (path, version) = Self.split(text)
    let reader = try SnapshotReader(StoreAccess.openExisting(path).newestSnapshot())
    let newest = reader.snapshot.version
    guard let version, version != newest else {
      self = .newest(reader)
      return
    }
    guard version < newest else {
      throw ToolError(
        "\(path) has no version \(version.rawValue): the newest is \(newest.rawValue)")
    }
    self = .past(try Self.past(version, reader, path))
  }

  /// An existing file whose name ends in that way is opened itself.
  private static func split(_ text: String) -> (path: String, version: Version?) {
    guard FileFacts.at(text) == nil, let sign = text.lastASCII("@"),
      let number = UInt64(text[text.utf8.index(after: sign)...])
    else { return (text, nil) }
    return (String(text[..<sign]), Version(number))
  }

  private static func past(
    _ version: Version, _ reader: SnapshotReader, _ path: String
  ) throws -> PastRows {
    let oldest = try ChangeLog.oldestVersion(in: reader.snapshot.transaction)
    guard let oldest, oldest.rawValue <= version.rawValue + 1 else {
      throw ToolError(
        "\(path): the change records after version \(version.rawValue) were removed, so its "
          + "objects are not known. \(PastHint.text(path))")
    }
    let past = try PastRows(at: version, from: reader)
    guard !past.changes.schemaChanged else {
      throw ToolError(
        "\(path): a migration came after version \(version.rawValue), so its objects cannot be read"
      )
    }
    return past
  }

  var schema: SchemaView {
    switch self {
    case .newest(let reader): reader.schema
    case .past(let rows): rows.schema
    }
  }

  /// The keys of a class's objects, each with its primary key, or with the object key where the
  /// class has none.
  func keys(
    of described: ClassSchema, _ path: String
  ) throws -> [(identity: Value, key: ObjectKey)] {
    switch self {
    case .newest(let reader):
      var keys: [(identity: Value, key: ObjectKey)] = []
      let query = try Condition().query(on: described.id, reader.schema, sorted: [])
      let rows = Rows(reader)
      try query.evaluate(rows).forEach(in: 0..<Int.max) { key in
        keys.append((try ContentJSON.name(of: key, in: described.id, rows), key))
      }
      return keys
    case .past(let rows):
      do {
        return try rows.keys(of: described.id).map { key in
          (try ContentJSON.name(of: key, in: described.id, rows.rows), key)
        }
      } catch let error as StorageError where error.code == .invalidInput {
        throw ToolError("\(path): \(error.detail) \(PastHint.text(Self.split(path).path))")
      }
    }
  }

  func fields(of key: ObjectKey, _ view: ClassView) throws -> [Field]? {
    switch self {
    case .newest(let reader): try view.fields(of: key, Rows(reader))
    case .past(let rows): try view.fields(of: key, rows.rows)
    }
  }
}

/// How to keep the records that reading former versions needs.
enum PastHint {
  static func text(_ path: String) -> String {
    "Former values of later commits are kept by 'tarn retention set \(path) --age 7d --old-values'"
  }
}
