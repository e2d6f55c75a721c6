import TarnStore
import TarnText
import ToolSupport

/// Copies the objects of a damaged file into a new store: first those of the newest version, then
/// those of the version before where the newest is lost, then those of unused pages.
final class RepairCopy {
  /// Where an object was found.
  enum Origin { case newest, before, stale }

  /// The most objects of one commit.
  private static let batch = 2_000

  private struct Row {
    let key: ObjectKey
    let origin: Origin
    let contents: [ColumnID: Content]
  }

  private let salvage: Salvage
  private let store: Store
  private let patience: WriterPatience
  private let newest: SalvagedState
  /// Nil if it is lost, or has other classes.
  private let before: SalvagedState?
  private let ids: RepairIDs
  private(set) var report = RepairReport()
  private var rows: [Row] = []

  /// - Parameter store: a new store with the classes of the newest state.
  init(_ salvage: Salvage, _ store: Store, _ patience: WriterPatience) {
    self.salvage = salvage
    self.patience = patience
    self.store = store
    newest = salvage.states[0]
    let other = salvage.states.dropFirst().first
    before = other?.schema == newest.schema ? other : nil
    ids = RepairIDs(from: newest.schema, to: store)
    for problem in salvage.problems + newest.problems { report.note(problem) }
    if other != nil, before == nil, !newest.problems.isEmpty {
      report.note("the version before has other classes and was not used")
    }
  }

  // MARK: - Objects

  func copy(_ described: ClassSchema, takingStale takesStale: Bool) throws {
    try copyAll(of: described, from: newest, .newest) { _ in true }
    let lost = newest.lostRows.filter { $0.classID == described.id }
    if let before {
      for rows in lost {
        try copyAll(of: described, from: before, .before, within: rows.keys) { [newest] key in
          try newest.reader.row(key, in: described.id) == nil
        }
      }
    }
    for rows in lost {
      report.note(
        "class \(described.name): objects with keys from \(rows.keys.lowerBound.rawValue) to "
          + "\(rows.keys.upperBound.rawValue) are lost"
          + (before == nil ? "" : ", if the version before has none"))
    }
    try commit(described)
    try copyStale(described, lost, takesStale)
    try keepCounter(described)
  }

  private func copyAll(
    of described: ClassSchema, from state: SalvagedState, _ origin: Origin,
    within keys: ClosedRange<ObjectKey> = .smallest ... .largest,
    where isWanted: (ObjectKey) throws -> Bool
  ) throws {
    var failure: (any Error)?
    var taken: (count: Int, first: ObjectKey, last: ObjectKey)?
    do throws(StorageError) {
      try state.reader.forEachCluster(in: described.id, holding: keys) {
        found throws(StorageError) in
        do {
          for slot in 0..<found.image.rowCount {
            let key = found.image.key(at: slot)
            guard keys.contains(key), try isWanted(key) else { continue }
            // In a wrong place, it is found here only.
            let isMisplaced = (try? state.reader.row(key, in: described.id)) == nil
            let contents =
              isMisplaced
              ? misplaced(found.image, slot, described) : contents(key, described, state)
            try add(Row(key: key, origin: origin, contents: contents), described)
            taken = ((taken?.count ?? 0) + 1, taken?.first ?? key, key)
          }
        } catch {
          failure = error
        }
        return failure == nil
      }
    } catch {
      report.note("class \(described.name): \(error.detail)")
    }
    if let failure { throw failure }
    if origin == .before, let taken {
      report.noteOlder(taken.count, taken.first...taken.last, of: described.name)
    }
  }

  private func misplaced(
    _ image: ClusterImage, _ slot: Int, _ described: ClassSchema
  ) -> [ColumnID: Content] {
    let apart = described.shownColumns.filter { $0.mayHaveParts(newest.reader.schema) }
    let lost = apart.isEmpty ? "" : "; lost: \(apart.map(\.name).joined(separator: ", "))"
    let key = image.key(at: slot).rawValue
    report.note("class \(described.name), object \(key), was in a wrong place\(lost)")
    return simple(image, slot, described)
  }

  /// The readable values of an object, also from the version before.
  private func contents(
    _ key: ObjectKey, _ described: ClassSchema, _ state: SalvagedState
  ) -> [ColumnID: Content] {
    var contents: [ColumnID: Content] = [:]
    for column in described.shownColumns {
      let place = "class \(described.name), object \(key.rawValue), \(column.name): "
      do {
        let found = try Rows(state.reader).content(of: column, at: key, in: described.id) { lost in
          self.embedded(lost, place)
        }
        contents[column.id] = try held(found, by: column) { report.note(place + $0) }
      } catch {
        if state === newest, let before,
          let found = try? Rows(before.reader).content(of: column, at: key, in: described.id),
          (try? before.reader.row(key, in: described.id)) != nil,
          let older = try? held(found, by: column, { _ in })
        {
          contents[column.id] = older
          report.note(place + "as in the version before; \(error)")
        } else {
          report.note(place + "lost; \(error)")
        }
      }
    }
    return contents
  }

  private func held(
    _ found: Content, by column: ColumnSchema, _ note: (String) -> Void
  ) throws -> Content {
    guard let held = found.held(by: column, newest.reader.schema, note) else {
      throw ToolError("the file is damaged: it has no value")
    }
    return held
  }

  /// What stands for a lost embedded object: itself in the version before, or null.
  private func embedded(_ object: ObjectRef, _ place: String) -> Content {
    guard let before, (try? before.reader.row(object.key, in: object.classID)) != nil else {
      report.note(place + "an embedded object is lost")
      return .value(.null)
    }
    report.note(place + "an embedded object is as in the version before")
    return .object(
      before.reader.schema[object.classID].shownColumns.compactMap { column in
        guard
          let content = try? Rows(before.reader).content(
            of: column, at: object.key, in: object.classID)
        else {
          report.note(place + "\(column.name) of an embedded object is lost")
          return nil
        }
        return Content.Part(column: column.id, content: content)
      })
  }

  // MARK: - Unused pages

  private func copyStale(
    _ described: ClassSchema, _ lost: [SalvagedState.LostRows], _ takesStale: Bool
  ) throws {
    guard !lost.isEmpty else { return }
    let reader = try SnapshotReader(store.newestSnapshot())
    let target = ids.classes[described.id]!.id
    var met: Set<ObjectKey> = []
    try salvage.forEachUnusedCluster(of: described) { image in
      for slot in 0..<image.rowCount {
        let key = image.key(at: slot)
        guard lost.contains(where: { $0.keys.contains(key) }), !met.contains(key),
          try newest.reader.row(key, in: described.id) == nil,
          try reader.row(key, in: target) == nil
        else { continue }
        met.insert(key)
        guard takesStale else {
          report.countLeft()
          continue
        }
        try add(Row(key: key, origin: .stale, contents: simple(image, slot, described)), described)
      }
    }
    try commit(described)
  }

  /// Values that are in the row itself. The parts of others may have been overwritten.
  private func simple(
    _ image: ClusterImage, _ slot: Int, _ described: ClassSchema
  ) -> [ColumnID: Content] {
    var contents: [ColumnID: Content] = [:]
    for column in described.shownColumns where !column.mayHaveParts(newest.reader.schema) {
      if let value = try? image.value(column, slot) {
        contents[column.id] = .value(value)
      } else {
        report.note(
          "class \(described.name), object \(image.key(at: slot).rawValue), \(column.name): lost")
      }
    }
    return contents
  }

  // MARK: - Writing

  private func add(_ row: Row, _ described: ClassSchema) throws {
    rows.append(row)
    if rows.count >= Self.batch { try commit(described) }
  }

  private func commit(_ described: ClassSchema) throws {
    let all = rows.sorted { $0.key < $1.key }
    rows = []
    guard !all.isEmpty else { return }
    do {
      try write(all, described)
      for row in all { report.count(row.origin) }
    } catch let error as StorageError where Self.isAboutRows(error) {
      // One by one, so that only the object that contradicts others is left out.
      for row in all {
        do {
          try write([row], described)
          report.count(row.origin)
        } catch let error as StorageError where Self.isAboutRows(error) {
          report.note(
            "class \(described.name), object \(row.key.rawValue), was left out: \(error.detail)")
        }
      }
    }
  }

  private static func isAboutRows(_ error: StorageError) -> Bool {
    error.code == .notUnique || error.code == .invalidInput
  }

  private func write(_ rows: [Row], _ described: ClassSchema) throws {
    let target = ids.classes[described.id]!
    _ = try StoreAccess.write(store, patience) { session in
      for row in rows {
        // Keys of a damaged cluster may come twice.
        guard try session.location(of: row.key, in: target.id) == nil else {
          throw StorageError(
            .notUnique, operation: "repair", path: store.path,
            detail: "there is another object with its key")
        }
        var contents = ids.translated(row.contents, of: described)
        if let primary = target.primaryKey, target.keyIsPrimary {
          contents[primary] = .value(.int(row.key.rawValue))
        }
        try checkPrimaryKey(contents, in: target, session)
        try session.create(contents, at: row.key, in: target.id)
        if !target.keyIsPrimary { try session.continueKeys(of: target.id, after: row.key) }
      }
    }
    Interruption.endCommit(isResult: false)
    try Interruption.check()
  }

  private func checkPrimaryKey(
    _ contents: [ColumnID: Content], in target: ClassSchema, _ session: WriteSession
  ) throws {
    guard let primary = target.primaryKey, !target.keyIsPrimary else { return }
    func refusal(_ code: StorageError.Code, _ detail: String) -> StorageError {
      StorageError(code, operation: "repair", path: store.path, detail: detail)
    }
    guard case .value(let value)? = contents[primary] else {
      throw refusal(.invalidInput, "its primary key is lost")
    }
    guard try session.find(primaryKey: value, in: target.id) == nil else {
      throw refusal(.notUnique, "there is another object with its primary key")
    }
  }

  /// No key of a former object is used again.
  private func keepCounter(_ described: ClassSchema) throws {
    let target = ids.classes[described.id]!
    guard !target.keyIsPrimary,
      let next = (try? newest.reader.record(of: described.id))?.nextKey, next.rawValue > 0
    else { return }
    _ = try StoreAccess.write(store, patience) { session in
      try session.continueKeys(of: target.id, after: ObjectKey(next.rawValue - 1))
    }
    Interruption.endCommit(isResult: false)
  }

  // MARK: - Links

  /// Removes links to objects that are lost.
  func removeMissingLinks() throws {
    let reader = try SnapshotReader(store.newestSnapshot())
    for described in reader.schema.schema.classes {
      let columns = described.shownColumns.filter { $0.type == .any || $0.target != nil }
      if columns.isEmpty { continue }
      for key in try reader.allKeys(in: described.id) {
        for column in columns {
          let content = try Rows(reader).content(of: column, at: key, in: described.id)
          guard let kept = try content.withoutMissing(column, reader) else { continue }
          report.note(
            "class \(described.name), object \(key.rawValue), \(column.name): a link to a lost "
              + "object was removed")
          _ = try StoreAccess.write(store, patience) { session in
            try session.put(kept, column, at: key, in: described.id)
          }
          Interruption.endCommit(isResult: false)
        }
      }
    }
  }
}

extension Content {
  /// The part of the content that a column can hold; nil if it can hold none. In a damaged file, a
  /// value may be missing where a column, or a property of an embedded object, must have one.
  ///
  /// - Parameter note: receives a text about each omitted value.
  fileprivate func held(
    by column: ColumnSchema, _ schema: SchemaView, _ note: (String) -> Void
  ) -> Content? {
    func element(_ item: Content) -> Content? {
      if let held = item.heldAsOne(by: column, schema, note) { return held }
      // A lost embedded object was noted when it was read.
      if column.target.map(schema.isEmbedded) != true { note("an element is lost") }
      return nil
    }
    switch (self, column.collection) {
    case (_, .none): return heldAsOne(by: column, schema, note)
    case (.list(let items), .list), (.list(let items), .set):
      return .list(items.compactMap(element))
    case (.map(let pairs), .map):
      return .map(
        pairs.compactMap { pair in element(pair.value).map { Pair(key: pair.key, value: $0) } })
    default: return nil
    }
  }

  private func heldAsOne(
    by column: ColumnSchema, _ schema: SchemaView, _ note: (String) -> Void
  ) -> Content? {
    switch self {
    case .value(.null): return column.isOptional || column.type == .any ? self : nil
    case .object(let parts):
      guard let target = column.target else { return nil }
      return .object(
        parts.compactMap { part in
          let column = schema[target][part.column]
          guard let held = part.content.held(by: column, schema, note) else {
            note("\(column.name) of an embedded object is lost")
            return nil
          }
          return Part(column: part.column, content: held)
        })
    case .value, .list, .map: return self
    }
  }

  /// The content without links to objects that are missing; nil if there are none.
  fileprivate func withoutMissing(
    _ column: ColumnSchema, _ reader: SnapshotReader
  ) throws -> Content? {
    switch self {
    case .value(let value):
      guard let target = column.linkTarget(of: value) else { return nil }
      return try reader.row(target.key, in: target.classID) == nil ? .value(.null) : nil
    case .list(let items):
      var isChanged = false
      let kept = try items.compactMap { item -> Content? in
        guard let other = try item.withoutMissing(column, reader) else { return item }
        isChanged = true
        if case .value = other { return nil }
        return other
      }
      return isChanged ? .list(kept) : nil
    case .map(let pairs):
      var isChanged = false
      let kept = try pairs.map { pair -> Pair in
        guard let other = try pair.value.withoutMissing(column, reader) else { return pair }
        isChanged = true
        return Pair(key: pair.key, value: other)
      }
      return isChanged ? .map(kept) : nil
    // An embedded object's properties are those of its own class.
    case .object: return nil
    }
  }
}
