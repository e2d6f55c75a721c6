/// The file's schema at one epoch, with precomputed answers to frequent questions.
package final class SchemaView: Sendable {
  /// A link column of some class.
  package struct LinkColumn: Hashable, Sendable {
    package var origin: ClassID
    package var column: ColumnID
  }

  package let schema: StoreSchema
  package let epoch: UInt64
  /// For each class, by id: the link columns that point to it.
  package let incoming: [[LinkColumn]]
  /// The columns that may hold an object of any class.
  package let anyColumns: [LinkColumn]
  /// For each class, by id: the link columns whose targets are deleted with the object.
  package let owning: [[ColumnSchema]]
  /// For each class, by id: the columns with an index (links, the primary key unless it is the
  /// object key itself, and those declared as indexed).
  package let indexed: [[ColumnSchema]]
  /// For each class, by id: the columns whose values may be stored outside of the object, under
  /// their own ids: collections, and mixed values.
  package let holding: [[ColumnSchema]]
  /// For each class, by id: its primary key. It is needed for each new object, and copying a whole
  /// `ClassSchema` is expensive.
  private let primaryKeys: [PrimaryKey?]

  /// The column of a class's primary key, and whether its value is the object key itself.
  package struct PrimaryKey: Sendable {
    package var column: ColumnID
    package var isObjectKey: Bool
  }

  package init(schema: StoreSchema, epoch: UInt64) {
    self.schema = schema
    self.epoch = epoch
    var incoming = Array(repeating: [LinkColumn](), count: schema.classes.count)
    for origin in schema.classes {
      for column in origin.columns where column.type == .link && !column.isRemoved {
        guard let target = column.target, schema[target] != nil else { continue }
        incoming[Int(target.rawValue)].append(LinkColumn(origin: origin.id, column: column.id))
      }
    }
    self.incoming = incoming
    holding = schema.classes.map { described in
      described.columns.filter { !$0.isRemoved && ($0.collection != .none || $0.type == .any) }
    }
    anyColumns = schema.classes.flatMap { origin in
      origin.columns.filter { $0.type == .any && !$0.isRemoved }
        .map { LinkColumn(origin: origin.id, column: $0.id) }
    }
    owning = schema.classes.map { described in
      described.columns.filter { column in
        guard !column.isRemoved, let target = column.target else { return false }
        return column.deleteRule == .cascade || schema[target]?.isEmbedded == true
      }
    }
    primaryKeys = schema.classes.map { described in
      described.primaryKey.map { PrimaryKey(column: $0, isObjectKey: described.keyIsPrimary) }
    }
    self.indexed = schema.classes.map { described in
      described.columns.filter { described.hasIndex($0) }
    }
  }

  package subscript(id: ClassID) -> ClassSchema { schema.classes[Int(id.rawValue)] }
  package func primaryKey(of id: ClassID) -> PrimaryKey? { primaryKeys[Int(id.rawValue)] }
  package func incoming(to id: ClassID) -> [LinkColumn] { incoming[Int(id.rawValue)] }
  package func holding(in id: ClassID) -> [ColumnSchema] { holding[Int(id.rawValue)] }
  package func indexed(in id: ClassID) -> [ColumnSchema] { indexed[Int(id.rawValue)] }
  package func owning(in id: ClassID) -> [ColumnSchema] { owning[Int(id.rawValue)] }

  /// A mixed value, after checking that the file has the class of an object in it, because later
  /// code reads the class.
  @inline(__always)
  package func checked(_ value: Value) throws(StorageError) -> Value {
    if case .object(let id, _) = value, id.rawValue >= UInt32(schema.classes.count) {
      throw unknownClass(id)
    }
    return value
  }

  /// The same for an element.
  @inline(__always)
  func checked(_ element: TaggedValue) throws(StorageError) -> TaggedValue {
    if case .value(let value) = element { _ = try checked(value) }
    return element
  }

  @inline(never)
  private func unknownClass(_ id: ClassID) -> StorageError {
    StorageError(
      .corrupted, operation: "read value", path: "",
      detail:
        "A mixed value is an object of class number \(id.rawValue), which the file does "
        + "not have.")
  }

  /// True if objects of that class are owned by the single object that links to them.
  package func isEmbedded(_ id: ClassID) -> Bool { self[id].isEmbedded }

  /// True if the file has an index over that column; false also if it lacks the column.
  func hasIndex(_ column: ColumnID, in id: ClassID) -> Bool {
    guard let described = schema[id], column.index < described.columns.count else { return false }
    return described.hasIndex(described[column])
  }
}

extension ColumnSchema {
  /// True if an index over the column has the values of all objects. One over links omits nil; one
  /// over mixed values has only links, unless the model wants it indexed.
  package var filesAll: Bool {
    type != .link && collection == .none && (type != .any || isIndexed)
  }
}

extension ClassSchema {
  /// True if the file has an index over that column.
  package func hasIndex(_ column: ColumnSchema) -> Bool {
    if column.isRemoved { return false }
    if column.type == .link || column.type == .any { return true }
    if column.id == primaryKey { return !keyIsPrimary }
    return column.isIndexed
  }
}
