/// Adding classes and properties together with objects: the file has both after the commit, or
/// neither.
extension Store {
  /// Begins a write with rows of the classes that the file has and of those that it lacks. Unlike a
  /// migration, it reports its changes one by one, and keeps what was there before.
  ///
  /// - Parameter wanted: adds no unique rule to a class of the file.
  /// - Throws: `.schemaMismatch` for a difference that needs more than an addition.
  package func beginWrite(
    over snapshot: Snapshot, adding wanted: [ClassDefinition]
  ) throws(StorageError) -> WriteSession {
    let reader = try SnapshotReader(snapshot)
    let plan = try plan(wanted, over: snapshot)
    let stored = snapshot.schema.schema
    guard plan.schema != stored else { return WriteSession(reader) {} }
    try plan.schema.requireRoom(addingTo: stored, path: path)
    require(
      plan.newRules.allSatisfy { stored[$0.0]?.isVacant != false } && plan.fills.isEmpty,
      "rows that are there must not change with an addition")
    let session = WriteSession(
      reader, schema: SchemaView(schema: plan.schema, epoch: snapshot.schema.epoch + 1))
    session.schemaChange = SchemaChange(
      adding: plan.schema, to: stored, version: snapshot.head.schemaVersion)
    return session
  }
}
