import TarnStore
import ToolSupport

/// Finds links of loaded objects to objects that the dump does not have. Lines and objects are in
/// the same order, so the line of an object needs no memory.
struct LoadedLinks {
  private let reader: SnapshotReader

  init(_ reader: SnapshotReader) { self.reader = reader }

  /// - Throws: a `ToolError` that names the line of the first such link.
  func check(_ sections: [DumpLoader.Section], _ name: String) throws {
    for section in sections {
      let described = section.described
      let columns = described.columns.filter { $0.type == .any || $0.target != nil }
      if columns.isEmpty { continue }
      var line = section.firstLine
      var failure: (any Error)?
      try reader.forEachCluster(in: described.id) { found throws(StorageError) in
        do {
          for slot in 0..<found.image.rowCount {
            try check(found.image.key(at: slot), columns, of: described, "\(name), line \(line)")
            line += 1
          }
        } catch {
          failure = error
        }
        return failure == nil
      }
      if let failure { throw failure }
    }
  }

  private func check(
    _ key: ObjectKey, _ columns: [ColumnSchema], of described: ClassSchema, _ place: String
  ) throws {
    for column in columns {
      let content = try Rows(reader).content(of: column, at: key, in: described.id)
      guard let target = try missing(content, column) else { continue }
      throw ToolError(
        "\(place): column '\(column.name)' links to the key \(target.key.rawValue) of class "
          + "\(reader.schema[target.classID].name), which the dump does not have")
    }
  }

  /// The first missing target in a content.
  private func missing(_ content: Content, _ column: ColumnSchema) throws -> ObjectRef? {
    switch content {
    case .value(let value):
      guard let target = column.linkTarget(of: value) else { return nil }
      return try reader.row(target.key, in: target.classID) == nil ? target : nil
    case .list(let items):
      for item in items {
        if let found = try missing(item, column) { return found }
      }
    case .map(let pairs):
      for pair in pairs {
        if let found = try missing(pair.value, column) { return found }
      }
    case .object(let parts):
      guard let target = column.target else { return nil }
      for part in parts {
        let inner = reader.schema[target][part.column]
        if let found = try missing(part.content, inner) { return found }
      }
    }
    return nil
  }
}
