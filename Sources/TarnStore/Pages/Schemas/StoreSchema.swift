/// The classes of a file. They are data in the file, so that a tool can open any file without the
/// program that wrote it.
package struct StoreSchema: Equatable, Sendable {
  package var classes: [ClassSchema]
  package init(classes: [ClassSchema] = []) { self.classes = classes }

  /// The class of that name, or nil.
  package func named(_ name: String) -> ClassSchema? { classes.first { $0.name == name } }
  /// The class with that id, or nil. Ids are dense, and `classes` is in their order.
  package subscript(id: ClassID) -> ClassSchema? {
    let index = Int(id.rawValue)
    return index < classes.count ? classes[index] : nil
  }

  /// The classes, and those of the objects embedded in their objects, at any depth.
  package func withEmbedded(_ ids: Set<ClassID>) -> Set<ClassID> {
    var found = ids
    var pending = Array(ids)
    while let id = pending.popLast() {
      for column in self[id]?.columns ?? [] {
        guard !column.isRemoved, let target = column.target, self[target]?.isEmbedded == true,
          found.insert(target).inserted
        else { continue }
        pending.append(target)
      }
    }
    return found
  }
}

/// A class: its columns in the order of their ids, including removed ones.
package struct ClassSchema: Equatable, Sendable {
  package var id: ClassID
  package var name: String
  package var columns: [ColumnSchema]
  package var primaryKey: ColumnID?
  package var isEmbedded: Bool
  /// Combinations of columns whose values must be unique. A rule's index in the list identifies it
  /// in the tree.
  package var uniqueRules: [[ColumnID]]

  package init(
    id: ClassID, name: String, columns: [ColumnSchema], primaryKey: ColumnID? = nil,
    isEmbedded: Bool = false, uniqueRules: [[ColumnID]] = []
  ) {
    self.uniqueRules = uniqueRules
    self.id = id
    self.name = name
    self.columns = columns
    self.primaryKey = primaryKey
    self.isEmbedded = isEmbedded
  }

  package func named(_ name: String) -> ColumnSchema? {
    columns.first { $0.name == name && !$0.isRemoved }
  }
  /// The columns of those names in order, nil if one is missing.
  package func columns(named names: [String]) -> [ColumnID]? {
    let columns = names.compactMap { named($0)?.id }
    return columns.count == names.count ? columns : nil
  }
  /// True for a class that a migration removed with all its objects: its name and id stay.
  package var isVacant: Bool { !columns.isEmpty && columns.allSatisfy(\.isRemoved) }
  package subscript(id: ColumnID) -> ColumnSchema { columns[id.index] }

  /// True if the primary key's value is the object key itself (a non-optional integer).
  package var keyIsPrimary: Bool {
    guard let primaryKey else { return false }
    let column = columns[primaryKey.index]
    return column.type == .int && !column.isOptional
  }
}

/// A column. `isIndexed` means an index over its values. A link column is always indexed: that
/// index holds the backlinks. For a collection `type`, `isOptional` and `target` describe the
/// elements.
package struct ColumnSchema: Equatable, Sendable {
  package var id: ColumnID
  package var name: String
  package var type: ColumnType
  package var collection: CollectionKind
  package var isOptional: Bool
  package var isIndexed: Bool
  /// The target's class of a link, otherwise nil.
  package var target: ClassID?
  /// For a link, the effect on its target when the object is deleted.
  package var deleteRule: DeleteRule
  /// The property was removed from the model; its id stays reserved, and clusters store nothing for
  /// it.
  package var isRemoved: Bool
  /// The values that the type of the program has; nil if it has all. Not part of the encoded
  /// schema: see `DomainRecords`.
  package var domain: ValueDomain?

  package init(
    id: ColumnID, name: String, type: ColumnType, collection: CollectionKind = .none,
    isOptional: Bool = false, isIndexed: Bool = false, target: ClassID? = nil,
    deleteRule: DeleteRule = .nullify, isRemoved: Bool = false, domain: ValueDomain? = nil
  ) {
    self.id = id
    self.name = name
    self.type = type
    self.collection = collection
    self.isOptional = isOptional
    self.isIndexed = isIndexed
    self.target = target
    self.deleteRule = deleteRule
    self.isRemoved = isRemoved
    self.domain = domain
  }

  /// The object that a value in this column, or an element of it, links to; nil if it is not a
  /// link.
  package func linkTarget(of value: Value) -> ObjectRef? {
    switch value {
    case .link(let key): target.map { ObjectRef(classID: $0, key: key) }
    case .object(let id, let key): ObjectRef(classID: id, key: key)
    default: nil
    }
  }
}
