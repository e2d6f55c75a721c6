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
    let properties: [PlannedProperty]
    let columnCount: Int
    let keyIsPrimary: Bool
    let primaryKey: PlannedProperty?
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
        described.named(property.definition.name).map { PlannedProperty(property, $0) }
      }
      columnCount = described.columns.count
      keyIsPrimary = described.keyIsPrimary
      primaryKey = properties.first { $0.column.id == described.primaryKey }
      isEmbedded = source.isEmbedded
      lookup = RealmLookup(file, source.table)
    }
  }

  /// A property with its places in the file and in the store.
  private final class PlannedProperty {
    /// The position among the columns of the table.
    let position: Int
    /// The index of the column in the store.
    let index: Int
    let column: ColumnSchema
    let isCollection: Bool
    /// Whether null is not a value of it.
    let isRequired: Bool
    /// The table that links lead to.
    let target: Int?
    /// Whether its values are read one by one: they may be large.
    let isLarge: Bool

    init(_ source: RealmSchema.Property, _ column: ColumnSchema) {
      position = source.position
      self.column = column
      index = column.id.index
      isCollection = column.collection != .none
      isRequired = !column.isOptional && column.type != .any
      target = source.column.target
      isLarge = isCollection || column.type == .any
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
        let columns = try plan.properties.map { $0.isLarge ? [] : try cluster.values($0.position) }
        for row in 0..<cluster.count {
          _ = try create(plan, cluster, row, columns, depth: 0)
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

  /// Creates an object.
  ///
  /// - Parameter columns: the values of the cluster that are read, by property; empty for the
  ///   others.
  private func create(
    _ plan: Plan, _ cluster: RealmCluster, _ row: Int, _ columns: [[RealmValue]] = [], depth: Int
  ) throws -> ObjectKey {
    var values = [Value?](repeating: nil, count: plan.columnCount)
    var rest: [(PlannedProperty, RealmValue)] = []
    for number in plan.properties.indices {
      let property = plan.properties[number]
      let isRead = number < columns.count && !columns[number].isEmpty
      let found =
        isRead ? columns[number][row] : try cluster.value(property.position, row)
      switch found {
      case .link: values[property.index] = try single(found, property, depth)
      case .list(let items) where items.isEmpty && property.isCollection: break
      case .dictionary(let entries) where entries.isEmpty && property.isCollection: break
      case .list, .dictionary: rest.append((property, found))
      default:
        let value = found.plain ?? .null
        if property.isRequired, value == .null {
          throw RealmFileError(.damaged, "a required property is nil")
            .within("class '\(plan.name)', property '\(property.column.name)'")
        }
        note(value)
        values[property.index] = value
      }
    }
    if let primary = plan.primaryKey { try checkKey(values[primary.index], plan) }
    let key = try session.create(in: plan.id) { values[$0.index] }
    for (property, value) in rest {
      let place = SequencePlace(classID: plan.id, key: key, column: property.column.id)
      try put(value, property, place, depth)
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

  private func checkKey(_ value: Value?, _ plan: Plan) throws {
    guard let value, try session.find(primaryKey: value, in: plan.id) != nil else { return }
    throw RealmFileError(.damaged, "two objects have the primary key \(value)")
      .within("class '\(plan.name)'")
  }

  // MARK: - Links

  /// A value that is neither a list nor a dictionary. An embedded object is created.
  private func single(
    _ value: RealmValue, _ property: PlannedProperty, _ depth: Int
  ) throws -> Value {
    guard case .link(let table, let key) = value else {
      guard let plain = value.plain else {
        throw Self.damaged("a list or dictionary is where none can be", property)
      }
      note(plain)
      return plain
    }
    guard let target = byTable[table] else { return lost() }
    if property.column.type == .link, property.target != table {
      throw Self.damaged("a link leads to an object of another class", property)
    }
    if target.isEmbedded { return try embedded(target, key, property, depth) }
    guard let found = try self.key(of: key, in: target) else { return lost() }
    return property.column.type == .link ? .link(found) : .object(target.id, found)
  }

  private static func damaged(_ detail: String, _ property: PlannedProperty) -> RealmFileError {
    RealmFileError(.damaged, detail).within("property '\(property.column.name)'")
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
    _ target: Plan, _ key: Int64, _ property: PlannedProperty, _ depth: Int
  ) throws -> Value {
    guard property.column.type == .link else { return lost() }
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
    _ value: RealmValue, _ property: PlannedProperty, _ place: SequencePlace, _ depth: Int
  ) throws {
    let column = property.column
    switch (column.collection, value) {
    case (.none, _):
      let stored = try session.make(copy(value, property, depth), in: place)
      try session.set(column.id, at: place.key, in: place.classID, to: stored)
    case (.set, .list(let items)):
      for item in items {
        let element = try single(item, property, depth)
        if try isLeftOut(.value(element), property) { continue }
        if try !session.insert(element, intoSet: place).isNew { equalElements += 1 }
      }
    case (_, .list(let items)):
      var elements: [CopiedValue] = []
      for item in items {
        let element = try copy(item, property, depth)
        if try !isLeftOut(element, property) { elements.append(element) }
      }
      try session.assign(elements, keys: [], in: place)
    case (_, .dictionary(let entries)):
      var elements: [CopiedValue] = []
      for entry in entries {
        let element = try copy(entry.value, property, depth)
        _ = try isLeftOut(element, property)
        elements.append(element)
      }
      try session.assign(elements, keys: entries.map(\.key), in: place)
    default: throw Self.damaged("a list or dictionary is where none can be", property)
    }
  }

  /// Whether an element is left out of a list or a set: a link to an object that does not exist.
  private func isLeftOut(
    _ element: CopiedValue, _ property: PlannedProperty
  ) throws -> Bool {
    let column = property.column
    if column.type == .any { return false }
    guard case .value(let value) = element else {
      throw Self.damaged("a list or dictionary is where none can be", property)
    }
    if value == .null {
      if column.isOptional { return false }
      guard column.type == .link else { throw Self.damaged("a required element is nil", property) }
      return true
    }
    guard value.fits(column.type) else {
      throw Self.damaged("an element has another type than its property", property)
    }
    return false
  }

  private func copy(
    _ value: RealmValue, _ property: PlannedProperty, _ depth: Int
  ) throws -> CopiedValue {
    bytesInSession += 8
    switch value {
    case .list(let items): return .list(try items.map { try copy($0, property, depth) })
    case .dictionary(let entries):
      return .map(
        keys: entries.map(\.key), values: try entries.map { try copy($0.value, property, depth) })
    default: return .value(try single(value, property, depth))
    }
  }
}
