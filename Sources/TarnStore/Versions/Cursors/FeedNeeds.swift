/// How much of the state before a commit its record keeps, for each class: as much as any cursor or
/// the retention requires.
package struct FeedNeeds: Equatable, Sendable {
  private let all: BeforeLevel
  private let byClass: [ClassID: BeforeLevel]

  package init(_ table: FeedTable, _ schema: StoreSchema) {
    var all = table.settings.retention.keepsOldValues ? BeforeLevel.oldValues : .none
    var byClass: [ClassID: BeforeLevel] = [:]
    func need(_ level: BeforeLevel, of ids: Set<ClassID>) {
      for id in ids { byClass[id] = max(byClass[id] ?? .none, level) }
    }
    for cursor in table.cursors.values where cursor.keepsRecords {
      guard let selection = cursor.selection else {
        all = max(all, cursor.level)
        continue
      }
      // Embedded objects belong to the object that contains them.
      let own = schema.withEmbedded(schema.ids(named: selection.map(\.className)))
      need(cursor.level, of: own)
      guard cursor.level == .oldValues else { continue }
      need(.oldValues, of: schema.ids(named: cursor.related))
      // An old link is a link to a primary key, whatever happened to the object.
      let columns = own.flatMap { schema.classes[Int($0.rawValue)].columns }
      need(.keys, of: Set(columns.compactMap { $0.isRemoved ? nil : $0.target }))
      if columns.contains(where: { !$0.isRemoved && $0.type == .any }) { all = max(all, .keys) }
    }
    self.all = all
    self.byClass = byClass
  }

  package var isEmpty: Bool { all == .none && byClass.values.allSatisfy { $0 == .none } }

  package func level(of id: ClassID) -> BeforeLevel { max(all, byClass[id] ?? .none) }
}

extension StoreSchema {
  fileprivate func ids(named names: [String]) -> Set<ClassID> {
    Set(names.compactMap { name in classes.first { $0.name == name }?.id })
  }
}
