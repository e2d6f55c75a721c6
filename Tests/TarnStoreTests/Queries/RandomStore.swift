import TestSupport

@testable import TarnStore

/// A store with a random schema and random objects, and the same objects as plain values.
struct RandomStore {
  static let scalarTypes: [ColumnType] = [
    .int, .bool, .float, .double, .decimal, .string, .data, .date, .objectID, .uuid,
  ]
  static let mapKeys = ["a", "b \"c\""]
  /// What some values of a type are made from, so that many are equal.
  private static let few = 6

  let definitions: [ClassDefinition]
  let file = TemporaryStore()
  let store: Store
  let schema: StoreSchema
  private(set) var rows: [ClassID: [Int64: [Value]]] = [:]
  private(set) var elements: [SequencePlace: [Value]] = [:]
  private(set) var maps: [SequencePlace: [String: Value]] = [:]
  var random: SeededRandom

  init(seed: UInt64) throws {
    random = SeededRandom(seed: seed)
    definitions = Self.definitions(&random)
    store = try file.open(definitions)
    schema = try store.newestSnapshot().schema.schema
    for one in schema.classes { rows[one.id] = [:] }
  }

  /// The objects as they are now, for a model of queries.
  var model: QueryModel {
    let (rows, elements, maps) = (rows, elements, maps)
    return QueryModel(schema) {
      rows[$0]![$1]
    } elements: { id, key, column in
      let place = SequencePlace(classID: id, key: ObjectKey(key), column: column)
      return elements[place] ?? maps[place].map { Array($0.values) } ?? []
    } entry: { id, key, column, name in
      maps[SequencePlace(classID: id, key: ObjectKey(key), column: column)]?[name]
    }
  }

  func keys(_ id: ClassID) -> [Int64] { rows[id]!.keys.sorted() }

  // MARK: - Schema

  /// Two to four classes that link to each other, with properties of all kinds.
  private static func definitions(_ random: inout SeededRandom) -> [ClassDefinition] {
    let names = Array(["A", "B", "C", "D"].prefix(2 + random.below(3)))
    return names.map { name in
      var properties: [ClassDefinition.Property] = []
      if random.chance(50) {
        properties.append(.init(name: "id", type: .int, isPrimaryKey: true))
      }
      for number in 0..<(2 + random.below(6)) {
        let type = random.pick(scalarTypes)
        let isOptional = random.chance(60)
        properties.append(
          .init(
            name: "p\(number)", type: type, isOptional: isOptional, isIndexed: random.chance(50)))
      }
      for number in 0..<(1 + random.below(2)) {
        properties.append(
          .init(name: "to\(number)", type: .link, isOptional: true, target: random.pick(names)))
      }
      properties.append(
        .init(name: "many", type: .link, collection: .list, target: random.pick(names)))
      properties.append(
        .init(name: "all", type: random.pick([.int, .double, .string]), collection: .list))
      properties.append(.init(name: "any", type: .any, isOptional: true))
      properties.append(.init(name: "other", type: .any, isOptional: true))
      properties.append(.init(name: "mixed", type: .any, collection: .list, isOptional: true))
      properties.append(
        .init(name: "map", type: random.pick([.int, .decimal, .string, .any]), collection: .map))
      return ClassDefinition(name: name, properties: properties)
    }
  }

  // MARK: - Objects

  private mutating func value(_ column: ColumnSchema) -> Value {
    if column.type == .link {
      let targets = rows[column.target!]!.keys.sorted()
      return targets.isEmpty || random.chance(20) ? .null : .link(ObjectKey(random.pick(targets)))
    }
    if column.isOptional, random.chance(20) { return .null }
    if column.type == .any, random.chance(10) {
      let one = random.pick(schema.classes)
      let targets = rows[one.id]!.keys.sorted()
      if !targets.isEmpty { return .object(one.id, ObjectKey(random.pick(targets))) }
    }
    return random.smallValue(column.type, of: Self.few)
  }

  private mutating func element(_ column: ColumnSchema) -> Value? {
    if column.type != .link { return random.smallValue(column.type, of: Self.few) }
    let targets = rows[column.target!]!.keys.sorted()
    return targets.isEmpty ? nil : .link(ObjectKey(random.pick(targets)))
  }

  /// A few changes of one open write.
  mutating func change(_ session: WriteSession, _ count: Int) throws {
    for _ in 0..<count {
      let one = random.pick(schema.classes)
      let keys = keys(one.id)
      switch keys.isEmpty ? 0 : random.below(10) {
      case 0...2: try create(one, session)
      case 3: try delete(random.pick(keys), one.id, session)
      case 4: try changeElements(of: random.pick(keys), one, session)
      case 5: try changeMap(of: random.pick(keys), one, session)
      default:
        let column = random.pick(one.columns)
        guard column.collection == .none, column.id != one.primaryKey else { continue }
        let (key, value) = (random.pick(keys), value(column))
        try session.set(column.id, at: ObjectKey(key), in: one.id, to: value)
        rows[one.id]![key]![column.id.index] = value
      }
    }
  }

  private mutating func create(_ one: ClassSchema, _ session: WriteSession) throws {
    var values = one.columns.map { $0.collection == .none ? value($0) : .null }
    if let primary = one.primaryKey {
      var id = Int64(random.below(400))
      while rows[one.id]![id] != nil { id += 1 }
      values[primary.index] = .int(id)
    }
    var given: [ColumnID: Value] = [:]
    if let primary = one.primaryKey { given[primary] = values[primary.index] }
    let key = try session.create(given, in: one.id)
    for column in one.columns where column.collection == .none && column.id != one.primaryKey {
      try session.set(column.id, at: key, in: one.id, to: values[column.id.index])
    }
    rows[one.id]![key.rawValue] = values
    for _ in 0..<random.below(3) { try changeElements(of: key.rawValue, one, session) }
    for _ in 0..<random.below(3) { try changeMap(of: key.rawValue, one, session) }
  }

  private mutating func changeMap(
    of key: Int64, _ one: ClassSchema, _ session: WriteSession
  ) throws {
    let column = one.columns.first { $0.collection == .map }!
    let place = SequencePlace(classID: one.id, key: ObjectKey(key), column: column.id)
    let name = random.pick(Self.mapKeys)
    if random.chance(30) {
      try session.removeValue(forKey: name, fromMap: place)
      maps[place]?[name] = nil
    } else {
      let value = random.smallValue(column.type, of: Self.few)
      try session.set(value, forKey: name, inMap: place)
      maps[place, default: [:]][name] = value
    }
  }

  private mutating func changeElements(
    of key: Int64, _ one: ClassSchema, _ session: WriteSession
  ) throws {
    let column = random.pick(one.columns.filter { $0.collection == .list })
    let place = SequencePlace(classID: one.id, key: ObjectKey(key), column: column.id)
    var list = elements[place] ?? []
    if !list.isEmpty, random.chance(35) {
      let index = random.below(list.count)
      try session.remove(index..<index + 1, in: place)
      list.remove(at: index)
    } else if let element = element(column) {
      let index = random.below(list.count + 1)
      try session.insert(element, at: index, in: place)
      list.insert(element, at: index)
    }
    elements[place] = list
  }

  /// What linked to the object does no more.
  private mutating func delete(_ key: Int64, _ id: ClassID, _ session: WriteSession) throws {
    try session.delete(ObjectKey(key), in: id)
    rows[id]![key] = nil
    elements = elements.filter { $0.key.classID != id || $0.key.key != ObjectKey(key) }
    maps = maps.filter { $0.key.classID != id || $0.key.key != ObjectKey(key) }
    let object = Value.object(id, ObjectKey(key))
    for one in schema.classes {
      for column in one.columns where column.type == .any && column.collection == .none {
        for other in keys(one.id) where rows[one.id]![other]![column.id.index] == object {
          rows[one.id]![other]![column.id.index] = .null
        }
      }
    }
    let link = Value.link(ObjectKey(key))
    for one in schema.classes {
      for column in one.columns where column.type == .link && column.target == id {
        for other in keys(one.id) where rows[one.id]![other]![column.id.index] == link {
          rows[one.id]![other]![column.id.index] = .null
        }
        for place in elements.keys where place.classID == one.id && place.column == column.id {
          elements[place]!.removeAll { $0 == link }
        }
      }
    }
  }
}

extension SeededRandom {
  /// One of few values of a type, whose sums are exact.
  mutating func smallValue(_ type: ColumnType, of few: Int) -> Value {
    let number = chance(80) ? below(few) : below(1000)
    switch type {
    case .int, .link: return .int(Int64(number) - 2)
    case .bool: return .bool(number % 2 == 0)
    case .float: return chance(5) ? .float(.nan) : .float(Float(number) / 4 - 1)
    case .double:
      return chance(5) ? .double(.nan) : .double(number == 0 ? -0.0 : Double(number) / 4 - 1)
    case .decimal: return .decimal(DecimalNumber(text: "\(number - 2).50")!.cell)
    case .string: return .string(pick(["", "a", "A", "ab", "é", "É", "Ab", "日本", "b\(number)"]))
    case .data: return .data(Array("d\(number)".utf8))
    case .date: return .date(Timestamp(seconds: Int64(number), nanoseconds: 0))
    case .objectID: return .objectID(Bytes12(high: UInt64(number) << 40, low: 7))
    case .uuid: return .uuid(Bytes16(high: UInt64(number) << 40, low: 7))
    case .any: return anyValue(of: few)
    }
  }

  /// A value of any type but an object; numbers also of the kind that only an exact comparison
  /// tells apart.
  private mutating func anyValue(of few: Int) -> Value {
    func decimal(_ text: String) -> Value { .decimal(DecimalNumber(text: text)!.cell) }
    if chance(15) {
      return pick([
        .int(1 << 53 + 1), .double(0x1p53), decimal("9007199254740993"), .double(0.1),
        decimal("0.1"), .float(0.1), .double(.nan), decimal("NaN"), .int(.max), .double(0x1p63),
        decimal("9223372036854775807"),
      ])
    }
    return smallValue(pick(RandomStore.scalarTypes), of: few)
  }
}
