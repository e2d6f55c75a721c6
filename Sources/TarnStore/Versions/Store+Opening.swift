internal import Glibc

/// Opening a file: the first head record, and the classes that it lacks.
///
/// Both are commits of their own, under the gate. They do not raise the version: nobody's data
/// changes. The schema's epoch in the head record tells everybody else.
extension Store {
  static func open(_ path: String, _ options: Options) throws(StorageError) -> Store {
    var environmentOptions = EnvironmentOptions()
    environmentOptions.isReadOnly = options.isReadOnly
    environmentOptions.durability = options.isDurable ? .strict : .none
    let environment = try Environment.open(path: path, options: environmentOptions)
    let signal: SignalFile
    do {
      signal = try SignalFile(for: environment)
    } catch {
      environment.close()
      throw error
    }
    let store = Store(
      environment: environment, signal: signal, isTemporary: options.isTemporary)
    try store.prepareHead(options)
    try store.adopt(options)
    signal.raise(to: try store.newestSnapshot().version.rawValue)
    return store
  }

  /// Removes the file and its companions.
  func removeFiles() {
    for suffix in ["", "-lock", "-signal"] { _ = unsafe unlink(path + suffix) }
  }

  /// Writes the first head record into a file that has none.
  private func prepareHead(_ options: Options) throws(StorageError) {
    let transaction = try environment.beginRead()
    defer { transaction.end() }
    if try HeadRecord.find(in: transaction) != nil { return }
    guard environment.statistics.entries == 0 else { throw HeadRecord.missing(path) }
    guard !options.isReadOnly else {
      throw StorageError(
        .notAStore, operation: "open", path: path, detail: "the file holds no store yet")
    }
    try holdingGate { () throws(StorageError) in
      try environment.write { transaction throws(StorageError) in
        if try HeadRecord.find(in: transaction) != nil { return }
        var head = HeadRecord(historyID: .random(), commitID: .random(in: 1 ... .max))
        head.durability = options.isDurable ? 0 : 1
        try SchemaCodec.write(StoreSchema(), in: transaction)
        try head.put(in: transaction)
      }
    }
  }

  /// Adds what the classes of an opener have and the file lacks.
  ///
  /// - Throws: `.schemaMismatch` naming every difference that adding cannot mend.
  func adopt(_ options: Options) throws(StorageError) {
    let wanted = options.classes
    let snapshot = try newestSnapshot()
    try checkDurability(snapshot.head, options)
    let first = try plan(wanted, over: snapshot.schema.schema)
    guard first.schema != snapshot.schema.schema else { return }
    guard !options.isReadOnly else {
      throw StorageError(
        .schemaMismatch, operation: "open read-only", path: path,
        detail: "the file lacks classes or properties of the program, and cannot be changed")
    }
    try holdingGate { () throws(StorageError) in try extend(with: wanted) }
  }

  /// One process that does not sync its commits endangers those of all others: the file says what
  /// its commits wait for, since it was created. To wait for more than that harms nobody.
  ///
  /// - Throws: `.invalidInput` for an opener who would wait for less.
  private func checkDurability(
    _ head: HeadRecord, _ options: Options
  ) throws(StorageError) {
    guard head.durability == 0, !options.isDurable, !options.isReadOnly else { return }
    throw StorageError(
      .invalidInput, operation: "open", path: path,
      detail: "the file was created with durability .full and cannot be opened with .relaxed:"
        + " commits that are not synced could destroy those of everybody else")
  }

  /// The caller holds the gate. Somebody else may have added the classes while it waited.
  private func extend(with wanted: [ClassDefinition]) throws(StorageError) {
    let reader = try SnapshotReader(newestSnapshot())
    let plan = try plan(wanted, over: reader.schema.schema)
    guard plan.schema != reader.schema.schema else { return }
    try environment.write { transaction throws(StorageError) in
      var head = try HeadRecord.read(from: transaction)
      for (id, column) in plan.newIndexes {
        try buildIndex(id, column, reader, in: transaction)
      }
      try SchemaCodec.write(plan.schema, in: transaction)
      head.schemaEpoch += 1
      head.commitID = .random(in: 1 ... .max)
      try head.put(in: transaction)
    }
  }

  private func plan(
    _ wanted: [ClassDefinition], over stored: StoreSchema
  ) throws(StorageError) -> SchemaPlan {
    let plan = SchemaPlan(stored: stored, wanted: wanted)
    guard plan.differences.isEmpty else {
      let list = plan.differences.map { "- " + $0 }.joined(separator: "\n")
      throw StorageError(
        .schemaMismatch, operation: "open", path: path,
        detail: "the classes do not fit the file:\n\(list)")
    }
    return plan
  }

  /// Files the rows that exist already.
  private func buildIndex(
    _ id: ClassID, _ column: ColumnID, _ reader: SnapshotReader,
    in transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    var changes = PackedIndexChanges()
    let described = reader.schema[id][column]
    try reader.forEachCluster(in: id) { found throws(StorageError) in
      for slot in 0..<found.image.rowCount {
        let key = found.image.key(at: slot)
        let value = try reader.value(of: column, at: key, in: id) ?? .null
        if let order = OrderKey(value, type: described.type) { changes.add(order, key) }
      }
      return true
    }
    changes.sort()
    try PackedIndex(id, column).apply(changes, in: transaction)
  }
}
