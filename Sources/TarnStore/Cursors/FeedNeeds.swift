/// How much of the state before a commit its record keeps, of each class: as much as any cursor or
/// the retention asks for.
package struct FeedNeeds: Equatable, Sendable {
  private let all: BeforeLevel
  private let byClass: [ClassID: BeforeLevel]

  package init(_ table: FeedTable, _ schema: StoreSchema) {
    var all = table.settings.retention.keepsOldValues ? BeforeLevel.oldValues : .none
    var byClass: [ClassID: BeforeLevel] = [:]
    for cursor in table.cursors.values where cursor.keepsRecords {
      guard let selection = cursor.selection else {
        all = max(all, cursor.level)
        continue
      }
      var pending = selection.compactMap { part in
        schema.classes.first { $0.name == part.className }?.id
      }
      var seen = Set(pending)
      while let id = pending.popLast() {
        byClass[id] = max(byClass[id] ?? .none, cursor.level)
        // Objects embedded in an object are part of it.
        for column in schema.classes[Int(id.rawValue)].columns {
          guard !column.isRemoved, let target = column.target, schema[target]?.isEmbedded == true,
            seen.insert(target).inserted
          else { continue }
          pending.append(target)
        }
      }
    }
    self.all = all
    self.byClass = byClass
  }

  package var isEmpty: Bool { all == .none && byClass.values.allSatisfy { $0 == .none } }

  package func level(of id: ClassID) -> BeforeLevel { max(all, byClass[id] ?? .none) }
}
