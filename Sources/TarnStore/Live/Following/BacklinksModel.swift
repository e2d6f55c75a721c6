/// The objects that link to one object through one property.
///
/// They are ordered by key, each listed as often as it links, so the keys before and after a step
/// give its changes.
package struct BacklinksModel: LiveModel {
  package struct Content: LiveContent {
    package internal(set) var isOwnerGone: Bool
    package internal(set) var keys: [ObjectKey]

    package var count: Int { keys.count }
  }

  private let target: ObjectRef
  private let column: ColumnID
  /// The query for all objects of the origins' class, which finds the changed ones.
  private let origins: CompiledQuery
  /// The column, if it holds one link.
  private let path: ColumnPath?

  package init(
    to target: ObjectRef, from origin: ClassID, _ column: ColumnID, _ schema: SchemaView
  ) {
    self.target = target
    self.column = column
    origins = CompiledQuery(everythingIn: origin, schema)
    let described = schema[origin][column]
    let hasOne = described.type == .link && described.collection == .none
    path = hasOne ? ColumnPath(described, of: origin) : nil
  }

  package var owner: ObjectRef? { target }
  package var concerningClasses: Set<ClassID> { origins.concerningClasses }
  package var elementClasses: Set<ClassID> { [origins.classID] }
  package var route: Route? { path.map { Route(linkingTo: target, through: $0) } }
  package var needsOwner: Bool { true }

  package func isConcerned(by changes: ChangeSet) -> Bool {
    changes.contains(target.classID) || origins.isConcerned(by: changes)
  }

  package func evaluate(_ rows: Rows) throws(StorageError) -> Content {
    guard try rows.contains(target) else { return Content(isOwnerGone: true, keys: []) }
    return Content(isOwnerGone: false, keys: try keys(rows))
  }

  private func keys(_ rows: Rows) throws(StorageError) -> [ObjectKey] {
    try rows.origins(of: target, in: origins.classID, through: column)
  }

  package func elements(
    _ content: Content, _ rows: Rows
  ) throws(StorageError) -> LiveElements {
    .rows(ResultRows(.keys(content.keys)))
  }

  package func cost(ofEvaluating rows: Rows) throws(StorageError) -> LiveCost { .none }

  package func cost(
    ofFollowing changes: ChangeSet, from content: Content, seen scopes: [BoundScope]
  ) -> LiveCost {
    content.isOwnerGone || !hasStep(over: changes, seen: scopes)
      ? .none : .passing(content.keys.count)
  }

  // MARK: - Steps

  /// The step is the move of the origins.
  package func advance(
    _ content: inout Content, over move: LiveMove
  ) throws(StorageError) -> EditScript {
    if move.changes.deletes(target) {
      // Also if another object has its key: the collection belongs to the object, not to the key.
      let count = content.keys.count
      content = Content(isOwnerGone: true, keys: [])
      return EditScript.replacingAll(oldCount: count, newCount: 0)
    }
    return try moves(&content.keys, move)
  }

  package func isQuiet(_ moves: EditScript) -> Bool { moves.isIdentity }

  package func change(
    _ moves: inout EditScript, _ content: inout Content, _ move: LiveMove, seen scope: BoundScope
  ) throws(StorageError) -> LiveChange? {
    .news(moves.modifying(try positions(in: content.keys, move, scope)))
  }

  /// How the origins moved. The change record of the target notes every new and removed link.
  private func moves(
    _ keys: inout [ObjectKey], _ move: LiveMove
  ) throws(StorageError) -> EditScript {
    let own = move.changes[target.classID]
    guard
      own?.backTouchedKeys(from: origins.classID, column).contains(target.key) == true
        || move.changes.schemaChanged
    else { return .identity(count: keys.count) }
    let old = keys
    keys = try self.keys(move.rows)
    let replaced = move.changes[origins.classID]
    var builder = EditScript.Builder(oldCount: old.count)
    var index = 0
    for key in keys {
      while index < old.count, old[index] < key { index += 1 }
      if index < old.count, old[index] == key, replaced?.isReplaced(key) != true {
        builder.append(old: index)
        index += 1
      } else {
        builder.appendFresh()
      }
    }
    return builder.finish()
  }

  /// The positions of the origins whose data changed.
  private func positions(
    in keys: [ObjectKey], _ move: LiveMove, _ scope: BoundScope
  ) throws(StorageError) -> KeySet {
    guard !keys.isEmpty, scope.mayBeConcerned(by: move.changes) else { return KeySet() }
    let observed = ObservedObjects(count: keys.count) { [origins.classID: KeySet(keys)] }
    let concerned = try scope.concerned(by: move.changes, move.rows, among: observed)
    guard let modified = concerned[origins.classID] else { return KeySet() }
    var positions: [ObjectKey] = []
    for key in modified {
      var index = keys.partitioningIndex { $0 >= key }
      while index < keys.count, keys[index] == key {
        positions.append(ObjectKey(Int64(index)))
        index += 1
      }
    }
    return KeySet(positions)
  }
}
