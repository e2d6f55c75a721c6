import RealmFiles
import TarnStore

/// Creates the objects of a file in a store that has its classes and nothing else.
final class ObjectImporter {
  /// About how many bytes of long values a transaction may have.
  private static let bytesMax = 32 << 20
  /// The deepest nesting of embedded objects.
  private static let depthMax = 100

  /// A class, with its places in the file and in the store.
  private final class Plan {
    let table: RealmTable
    let name: String
    let id: ClassID
    let properties: [(source: RealmSchema.Property, column: ColumnSchema)]
    let columnCount: Int
    let keyIsPrimary: Bool
    let primaryKey: RealmSchema.Property?
    let isEmbedded: Bool
    let lookup: RealmLookup
    /// How many objects of an embedded class have been created, and how many there are.
    var created = 0
    var objectCount = 0

    init(_ file: RealmFile, _ source: RealmSchema.Class, _ described: ClassSchema) {
      table = source.table
      name = source.name
      id = described.id
      properties = source.properties.compactMap { property in
        described.named(property.definition.name).map { (property, $0) }
      }
      columnCount = described.columns.count
      keyIsPrimary = described.keyIsPrimary
      primaryKey = source.properties.first { $0.definition.isPrimaryKey }
      isEmbedded = source.isEmbedded
      lookup = RealmLookup(file, source.table)
    }
  }

  private let file: RealmFile
  private let store: Store
  /// About how many objects a transaction may have.
  private let objectsMax: Int
  /// The classes in the order of the file, and by the positions of their tables.
  private let plans: [Plan]
  private var byTable: [Int: Plan] = [:]
  private var session: WriteSession
  private var objectsInSession = 0
  private var bytesInSession = 0
  private(set) var objectCount = 0
  private var totalCount = 0
  /// How many links led to objects that do not exist, and how many elements of sets were equal.
  private var lostLinks = 0
  private var equalElements = 0

  init(
    _ file: RealmFile, _ mapping: RealmSchema, _ store: Store, objectsPerTransaction: Int
  ) throws {
    objectsMax = objectsPerTransaction
    self.file = file
    self.store = store
    let schema = try store.newestSnapshot().schema.schema
    plans = mapping.classes.compactMap { source in
      schema.named(source.name).map { Plan(file, source, $0) }
    }
    session = try Self.begin(store)
    for plan in plans {
      byTable[plan.table.index] = plan
      plan.objectCount = try RealmObjects(file, plan.table).count
      if !plan.isEmbedded { totalCount += plan.objectCount }
    }
  }

  /// Sentences on values that the store does not have.
  var notes: [String] {
    var notes: [String] = []
    if lostLinks > 0 {
      notes.append("links to missing objects, which are nil or left out: \(lostLinks)")
    }
    if equalElements > 0 {
      notes.append(
        "elements of sets that equal another one, such as 0.0 and -0.0, and are left out: "
          + "\(equalElements)")
    }
    for plan in plans where plan.isEmbedded && plan.created < plan.objectCount {
      notes.append(
        "objects of the embedded class '\(plan.name)' that have no owner, and are left out: "
          + "\(plan.objectCount - plan.created)")
    }
    return notes
  }

  func run(_ progress: (RealmImportProgress) throws -> Void) throws {
    file.beginWalk()
    for plan in plans where !plan.isEmbedded {
      var objects = try RealmObjects(file, plan.table)
      while let cluster = try next(&objects) {
        for row in 0..<cluster.count {
          _ = try create(plan, cluster, row, depth: 0)
          objectCount += 1
        }
        objectsInSession += cluster.count
        if objectsInSession >= objectsMax || bytesInSession >= Self.bytesMax {
          try commit()
          session = try Self.begin(store)
        }
        try progress(RealmImportProgress(objects: objectCount, objectCount: totalCount))
      }
    }
    try commit()
  }

  private func next(_ objects: inout RealmObjects) throws -> RealmCluster? {
    for plan in plans { plan.lookup.forget() }
    return try objects.next(trimming: true)
  }

  // MARK: - Transactions

  private static func begin(_ store: Store) throws -> WriteSession {
    WriteSession(try SnapshotReader(store.newestSnapshot())) {}
  }

  private func commit() throws {
    guard !session.isEmpty else { return }
    _ = try store.commit(session, store.acquireGate())
    (objectsInSession, bytesInSession) = (0, 0)
  }

  // MARK: - Objects

  private func create(
    _ plan: Plan, _ cluster: RealmCluster, _ row: Int, depth: Int
  ) throws -> ObjectKey {
    var values = [Value?](repeating: nil, count: plan.columnCount)
    var rest: [(ColumnSchema, RealmSchema.Property, RealmValue)] = []
    for (source, column) in plan.properties {
      let found = try cluster.value(source.position, row)
      switch found {
      case .link: values[column.id.index] = try single(found, source, depth)
      case .list(let items) where items.isEmpty && column.collection != .none: break
      case .dictionary(let entries) where entries.isEmpty && column.collection != .none: break
      case .list, .dictionary: rest.append((column, source, found))
      default:
        let value = found.plain ?? .null
        guard value != .null || column.isOptional || column.type == .any else {
          throw RealmFileError(.damaged, "a required property is nil")
            .within("class '\(plan.name)', property '\(column.name)'")
        }
        note(value)
        values[column.id.index] = value
      }
    }
    if let primary = plan.primaryKey { try checkKey(values, plan, primary) }
    let key = try session.create(in: plan.id) { values[$0.index] }
    for (column, source, value) in rest {
      try put(
        value, source, column, SequencePlace(classID: plan.id, key: key, column: column.id), depth)
    }
    return key
  }

  /// Counts the memory of a value that is larger than most.
  private func note(_ value: Value) {
    switch value {
    case .string(let text): bytesInSession += text.utf8.count
    case .data(let bytes): bytesInSession += bytes.count
    default: break
    }
  }

  private func checkKey(
    _ values: [Value?], _ plan: Plan, _ primary: RealmSchema.Property
  ) throws {
    guard
      let column = plan.properties.first(where: { $0.source.position == primary.position })?.column,
      let value = values[column.id.index]
    else { return }
    guard try session.find(primaryKey: value, in: plan.id) == nil else {
      throw RealmFileError(.damaged, "two objects have the primary key \(value)")
        .within("class '\(plan.name)'")
    }
  }

  // MARK: - Links

  /// A value that is neither a list nor a dictionary. An embedded object is created.
  private func single(
    _ value: RealmValue, _ source: RealmSchema.Property, _ depth: Int
  ) throws -> Value {
    guard case .link(let table, let key) = value else {
      guard let plain = value.plain else {
        throw Self.damaged("a list or dictionary is where none can be", source)
      }
      note(plain)
      return plain
    }
    guard let target = byTable[table] else { return lost() }
    if source.definition.type == .link, source.column.target != table {
      throw Self.damaged("a link leads to an object of another class", source)
    }
    if target.isEmbedded { return try embedded(target, key, source, depth) }
    guard let found = try self.key(of: key, in: target) else { return lost() }
    return source.definition.type == .link ? .link(found) : .object(target.id, found)
  }

  private static func damaged(_ detail: String, _ source: RealmSchema.Property) -> RealmFileError {
    RealmFileError(.damaged, detail).within("property '\(source.column.name)'")
  }

  private func lost() -> Value {
    lostLinks += 1
    return .null
  }

  /// The key that an object has in the store, or will have.
  private func key(of key: Int64, in target: Plan) throws -> ObjectKey? {
    guard target.keyIsPrimary, let primary = target.primaryKey else {
      return try target.lookup.position(key).map { ObjectKey(Int64($0)) }
    }
    guard let (cluster, row) = try target.lookup.find(key),
      case .int(let number) = try cluster.value(primary.position, row)
    else { return nil }
    return ObjectKey(number)
  }

  private func embedded(
    _ target: Plan, _ key: Int64, _ source: RealmSchema.Property, _ depth: Int
  ) throws -> Value {
    guard source.definition.type == .link else { return lost() }
    guard let (cluster, row) = try target.lookup.find(key) else { return lost() }
    target.created += 1
    objectsInSession += 1
    guard target.created <= target.objectCount, depth < Self.depthMax else {
      throw RealmFileError(.damaged, "an embedded object has several owners, or owns itself")
        .within("class '\(target.name)'")
    }
    return .link(try create(target, cluster, row, depth: depth + 1))
  }

  // MARK: - Collections

  private func put(
    _ value: RealmValue, _ source: RealmSchema.Property, _ column: ColumnSchema,
    _ place: SequencePlace, _ depth: Int
  ) throws {
    switch (column.collection, value) {
    case (.none, _):
      let stored = try session.make(copy(value, source, depth), in: place)
      try session.set(column.id, at: place.key, in: place.classID, to: stored)
    case (.set, .list(let items)):
      for item in items {
        let element = try single(item, source, depth)
        if try isLeftOut(.value(element), source, column) { continue }
        if try !session.insert(element, intoSet: place).isNew { equalElements += 1 }
      }
    case (_, .list(let items)):
      var elements: [CopiedValue] = []
      for item in items {
        let element = try copy(item, source, depth)
        if try !isLeftOut(element, source, column) { elements.append(element) }
      }
      try session.assign(elements, keys: [], in: place)
    case (_, .dictionary(let entries)):
      var elements: [CopiedValue] = []
      for entry in entries {
        let element = try copy(entry.value, source, depth)
        _ = try isLeftOut(element, source, column)
        elements.append(element)
      }
      try session.assign(elements, keys: entries.map(\.key), in: place)
    default: throw Self.damaged("a list or dictionary is where none can be", source)
    }
  }

  /// Whether an element is left out of a list or a set: a link to an object that does not exist.
  private func isLeftOut(
    _ element: CopiedValue, _ source: RealmSchema.Property, _ column: ColumnSchema
  ) throws -> Bool {
    if column.type == .any { return false }
    guard case .value(let value) = element else {
      throw Self.damaged("a list or dictionary is where none can be", source)
    }
    if value == .null {
      if column.isOptional { return false }
      guard column.type == .link else { throw Self.damaged("a required element is nil", source) }
      return true
    }
    guard value.fits(column.type) else {
      throw Self.damaged("an element has another type than its property", source)
    }
    return false
  }

  private func copy(
    _ value: RealmValue, _ source: RealmSchema.Property, _ depth: Int
  ) throws -> CopiedValue {
    bytesInSession += 8
    switch value {
    case .list(let items): return .list(try items.map { try copy($0, source, depth) })
    case .dictionary(let entries):
      return .map(
        keys: entries.map(\.key), values: try entries.map { try copy($0.value, source, depth) })
    default: return .value(try single(value, source, depth))
    }
  }
}
