import TarnStore

/// The result of a migration, or of a dry run.
public struct MigrationReport: Sendable, Equatable, CustomStringConvertible {
  /// Counts for the objects of one class.
  public struct ClassCounts: Sendable, Equatable {
    /// The number of objects that `enumerateObjects` passed to the block.
    public var enumerated = 0
    /// The number of objects that the migration created.
    public var inserted = 0
    /// The number of objects that it deleted.
    public var deleted = 0
    /// The number of remaining objects that had a property set, by the block or by a rule.
    public var modified = 0
    /// The number of objects afterwards.
    public var remaining = 0
  }

  /// False if the file already had the version and nothing had to be done.
  public let wasNeeded: Bool
  /// The file's version before.
  public let oldSchemaVersion: UInt64
  /// The file's version after.
  public let newSchemaVersion: UInt64
  /// A sentence for each difference in the schema.
  public let differences: [String]
  /// Counts by class name, for the classes that the file has afterwards.
  public let classes: [String: ClassCounts]

  init(unneededAt version: UInt64) {
    wasNeeded = false
    oldSchemaVersion = version
    newSchemaVersion = version
    differences = []
    classes = [:]
  }

  init(_ migration: Migration, _ result: WriteSession, to version: UInt64) {
    wasNeeded = true
    oldSchemaVersion = migration.migration.oldVersion
    newSchemaVersion = version
    differences = migration.migration.plan.differences
    let changes = result.recorder.changeSet(from: .zero, to: .zero)
    var classes: [String: ClassCounts] = [:]
    for described in result.schema.schema.classes where !described.isVacant {
      var counts = ClassCounts()
      counts.enumerated = migration.enumerated[described.name] ?? 0
      counts.remaining = trapping { () throws(StorageError) in
        try result.rowCount(of: described.id)
      }
      if let change = changes[described.id] {
        counts.inserted = change.inserted.count
        counts.deleted = change.deleted.count
        counts.modified = change.touched.reduce(KeySet()) { $0.union($1.keys) }.count
      }
      classes[described.name] = counts
    }
    self.classes = classes
  }

  /// The report as several lines of text.
  public var description: String {
    guard wasNeeded else { return "Schema version \(newSchemaVersion): nothing to migrate." }
    let counts = classes.sorted { $0.key < $1.key }.map { name, counts in
      "\(name): \(counts.remaining) objects; \(counts.inserted) inserted, \(counts.deleted) "
        + "deleted, \(counts.modified) modified"
    }
    let title = "From schema version \(oldSchemaVersion) to \(newSchemaVersion):"
    return ([title] + differences + counts).joined(separator: "\n")
  }
}
