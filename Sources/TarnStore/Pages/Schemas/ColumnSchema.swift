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
