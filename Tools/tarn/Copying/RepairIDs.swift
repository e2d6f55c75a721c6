import TarnStore

/// The classes and columns of a damaged file in the new store, which has no removed ones.
struct RepairIDs {
  /// By the class in the damaged file.
  let classes: [ClassID: ClassSchema]
  private let schema: StoreSchema

  init(from schema: StoreSchema, to store: Store) {
    self.schema = schema
    let target = (try? store.newestSnapshot().schema.schema) ?? StoreSchema()
    var classes: [ClassID: ClassSchema] = [:]
    for described in schema.classes where !described.isVacant {
      classes[described.id] = target.named(described.name)
    }
    self.classes = classes
  }

  func translated(
    _ contents: [ColumnID: Content], of described: ClassSchema
  ) -> [ColumnID: Content] {
    var translated: [ColumnID: Content] = [:]
    for (id, content) in contents {
      let column = described[id]
      guard let target = classes[described.id]?.named(column.name), fits(content, column) else {
        continue
      }
      translated[target.id] = self.translated(content, column)
    }
    return translated
  }

  /// False for the null of a lost embedded object's property that is not optional: it becomes 0.
  private func fits(_ content: Content, _ column: ColumnSchema) -> Bool {
    guard case .value(.null) = content else { return true }
    return column.isOptional || column.type == .any
  }

  private func translated(_ content: Content, _ column: ColumnSchema) -> Content {
    switch content {
    case .value(.object(let id, let key)):
      return .value(classes[id].map { .object($0.id, key) } ?? .null)
    case .value: return content
    case .list(let items): return .list(items.map { translated($0, column) })
    case .map(let pairs):
      return .map(pairs.map { Content.Pair(key: $0.key, value: translated($0.value, column)) })
    case .object(let parts):
      guard let id = column.target, let inner = schema[id] else { return .value(.null) }
      return .object(
        parts.compactMap { part in
          let field = inner[part.column]
          guard let target = classes[id]?.named(field.name), fits(part.content, field) else {
            return nil
          }
          return Content.Part(column: target.id, content: translated(part.content, field))
        })
    }
  }
}
