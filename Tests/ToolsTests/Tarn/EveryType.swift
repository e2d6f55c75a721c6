import Foundation
import TarnStore
import TestSupport

/// Classes with a column of every type that there is, and objects with random values in them.
struct EveryType {
  static let plainTypes = ColumnType.allCases.filter { $0 != .link }

  /// What `--types` calls the columns of `Thing` that link to nothing.
  static let typeWords = columns.filter { $0.type != .link }.map { column in
    let element = (column.type == .objectID ? "objectId" : "\(column.type)")
    let word = element + (column.isOptional ? "?" : "")
    return "\(column.name):" + (column.collection == .none ? word : "\(column.collection)<\(word)>")
  }.joined(separator: ",")

  private static let columns: [ClassDefinition.Property] = {
    var columns: [ClassDefinition.Property] = []
    for type in plainTypes {
      for kind in CollectionKind.allCases {
        for isOptional in type == .any ? [false] : [false, true] {
          columns.append(
            ClassDefinition.Property(
              name: "\(type)_\(kind)_\(isOptional)", type: type, collection: kind,
              isOptional: isOptional))
        }
      }
    }
    return columns
  }()

  private static let links: [ClassDefinition.Property] = {
    var columns: [ClassDefinition.Property] = []
    for target in ["Target", "Keyless", "Inner"] {
      for kind in CollectionKind.allCases where target != "Inner" || kind != .set {
        columns.append(
          ClassDefinition.Property(
            name: "\(target)_\(kind)", type: .link, collection: kind,
            isOptional: kind == .none || kind == .map, target: target))
      }
    }
    return columns
  }()

  /// Of `Inner`, which is embedded and may hold others of its class.
  private static let inner = [
    ClassDefinition.Property(name: "name", type: .string),
    ClassDefinition.Property(name: "sums", type: .decimal, collection: .list, isOptional: true),
    ClassDefinition.Property(name: "value", type: .any),
    ClassDefinition.Property(
      name: "more", type: .link, collection: .list, target: "Inner"),
    ClassDefinition.Property(name: "next", type: .link, isOptional: true, target: "Inner"),
  ]

  static let id = ClassDefinition.Property(name: "id", type: .int, isPrimaryKey: true)

  static let classes = [
    ClassDefinition(
      name: "Target",
      properties: [ClassDefinition.Property(name: "name", type: .string, isPrimaryKey: true)]),
    ClassDefinition(
      name: "Keyless", properties: [ClassDefinition.Property(name: "number", type: .int)]),
    ClassDefinition(name: "Inner", properties: inner, isEmbedded: true),
    ClassDefinition(name: "Thing", properties: [id] + columns + links),
    ClassDefinition(name: "Loose", properties: [id] + columns),
  ]

  /// The same with an index over every column that may have one, primary keys of every type, and
  /// unique rules.
  static let indexedClasses: [ClassDefinition] = {
    let types: [ColumnType] = [.int, .bool, .string, .date, .objectID, .uuid, .any]
    var indexed = classes.map { definition in
      var definition = definition
      for index in definition.properties.indices {
        let property = definition.properties[index]
        guard property.collection == .none, types.contains(property.type), !property.isPrimaryKey
        else { continue }
        definition.properties[index].isIndexed = true
      }
      return definition
    }
    for type in [ColumnType.string, .objectID, .uuid] {
      indexed.append(
        ClassDefinition(
          name: "By_\(type)",
          properties: [
            ClassDefinition.Property(name: "key", type: type, isPrimaryKey: true),
            ClassDefinition.Property(name: "a", type: .int, isOptional: true),
            ClassDefinition.Property(name: "b", type: .string),
            ClassDefinition.Property(name: "c", type: .any),
          ], uniqueRules: [["a", "b"], ["b"]]))
    }
    return indexed
  }()

  /// Random classes instead of `Thing` and `Loose`, with some of their columns under odd names.
  static func randomClasses(seed: UInt64) -> [ClassDefinition] {
    var random = SeededRandom(seed: seed)
    let names = ["Ox", "class", "$type", "Zwei Wörter", "a.b"].shuffled(using: &random)
    return Array(classes.prefix(3))
      + names.prefix(1 + random.below(4)).map { name in
        var properties: [ClassDefinition.Property] = []
        if random.chance(70) {
          let types: [ColumnType] = [.int, .string, .objectID, .uuid]
          properties.append(.init(name: "id", type: random.pick(types), isPrimaryKey: true))
        }
        for (number, column) in (columns + links).shuffled(using: &random)
          .prefix(random.below(12)).enumerated()
        {
          var column = column
          column.name = random.pick(["objects", "$value", "é \"x\"", "`q`"]) + "\(number)"
          column.isIndexed =
            column.collection == .none && [.int, .string, .date].contains(column.type)
            && random.chance(50)
          properties.append(column)
        }
        let unique = properties.filter {
          $0.type == .string && $0.collection == .none && !$0.isPrimaryKey
        }.map(\.name)
        return ClassDefinition(
          name: name, properties: properties, uniqueRules: unique.isEmpty ? [] : [["id"] + unique])
      }.map { definition in
        var definition = definition
        if definition.properties.first?.name != "id" { definition.uniqueRules = [] }
        return definition
      }
  }

  private var random: SeededRandom
  private let session: WriteSession
  private let targets: [ObjectKey]
  private let keyless: [ObjectKey]
  private var linksInAny = true

  /// Finds the objects that are linked to, or adds them.
  init(seed: UInt64, _ session: WriteSession) throws {
    random = SeededRandom(seed: seed)
    self.session = session
    let target = session.schema.schema.named("Target")!
    targets = try (0..<5).map { number in
      let name = Value.string("t\(number) \"é\"")
      return try session.find(primaryKey: name, in: target.id)
        ?? session.create([ColumnID(0): name], in: target.id)
    }
    let other = session.schema.schema.named("Keyless")!
    keyless = try (0..<5).map { number in
      let key = ObjectKey(Int64(number))
      if try session.location(of: key, in: other.id) != nil { return key }
      return try session.create([ColumnID(0): .int(Int64(number))], in: other.id)
    }
  }

  /// Adds an object of that class with random values in all of its columns.
  mutating func add(_ name: String, id number: Int) throws {
    let described = session.schema.schema.named(name)!
    linksInAny = name != "Loose"
    let key = try session.create([ColumnID(0): .int(Int64(number))], in: described.id)
    try fill(described, key, depth: 0, from: 1)
  }

  /// Adds an object to one of the random classes, whatever its primary key is.
  mutating func addRandom(to described: ClassSchema, id number: Int) throws {
    linksInAny = true
    var values: [ColumnID: Value] = [:]
    if let primary = described.primaryKey {
      values[primary] =
        switch described[primary].type {
        case .int: .int(Int64(number) * 7 - 20)
        case .string: .string(text() + "\(number)")
        case .objectID: .objectID(Bytes12(high: UInt64(number), low: 7))
        default: .uuid(Bytes16(high: UInt64(number), low: 7))
        }
    }
    let key = try session.create(values, in: described.id)
    try fill(described, key, depth: 0, from: values.count)
  }

  /// Gives an object other values in all of its columns.
  mutating func change(_ name: String, id number: Int) throws {
    let described = session.schema.schema.named(name)!
    linksInAny = name != "Loose"
    guard let key = try session.find(primaryKey: .int(Int64(number)), in: described.id) else {
      return
    }
    try fill(described, key, depth: 0, from: 1)
  }

  /// Adds objects to the classes that `indexedClasses` has besides, changes and deletes some.
  mutating func addKeyed(_ count: Int) throws {
    for type in [ColumnType.string, .objectID, .uuid] {
      let described = session.schema.schema.named("By_\(type)")!
      for number in 0..<count {
        let key: Value =
          switch type {
          case .string: .string(text() + "\(number)")
          case .objectID: .objectID(Bytes12(high: UInt64(number), low: 7))
          default: .uuid(Bytes16(high: UInt64(number), low: 7))
          }
        _ = try session.create(
          [
            ColumnID(0): key, ColumnID(1): number % 3 == 0 ? .null : .int(Int64(number / 2)),
            ColumnID(2): .string("b\(number)" + text()),
          ], in: described.id)
      }
      let keys = try session.allKeys(in: described.id)
      for key in keys where random.chance(20) { try session.delete(key, in: described.id) }
      for key in keys where try session.location(of: key, in: described.id) != nil {
        let place = SequencePlace(classID: described.id, key: key, column: ColumnID(3))
        try session.set(
          ColumnID(3), at: key, in: described.id, to: any(place, 0, mayNest: true))
      }
    }
  }

  private mutating func fill(
    _ described: ClassSchema, _ key: ObjectKey, depth: Int, from first: Int
  ) throws {
    for column in described.columns[first...] where !random.chance(15) {
      let place = SequencePlace(classID: described.id, key: key, column: column.id)
      guard column.collection != .none else {
        let value = try value(column, place, depth)
        try session.set(column.id, at: key, in: described.id, to: value)
        continue
      }
      let isEmbedded = column.target.map(session.schema.isEmbedded) == true
      let count = isEmbedded ? random.below(3) : random.chance(10) ? 120 : random.below(6)
      var values: [Value] = []
      for _ in 0..<count { values.append(try value(column, place, depth)) }
      // Keys that are not in order, some of them long, or of a name with a meaning.
      let keys = (0..<count).map { index in
        index == 3 ? "$type" : index == 4 ? "" : text() + "\(index)"
      }
      try session.put(values, keys: keys, in: place)
    }
  }

  private mutating func value(
    _ column: ColumnSchema, _ place: SequencePlace, _ depth: Int
  ) throws -> Value {
    if column.isOptional, random.chance(20) { return .null }
    if column.type == .any {
      return try any(place, depth, mayNest: column.collection != .set)
    }
    guard let target = column.target else { return plain(column.type) }
    let described = session.schema[target]
    guard described.isEmbedded else {
      return .link(random.pick(described.name == "Target" ? targets : keyless))
    }
    if column.collection == .none, depth > 2 { return .null }
    let key = try session.create([:], in: target)
    if depth < 3 { try fill(described, key, depth: depth + 1, from: 0) }
    return .link(key)
  }

  private mutating func any(
    _ place: SequencePlace, _ depth: Int, mayNest: Bool
  ) throws -> Value {
    switch random.below(10) {
    case 0: return .null
    case 1 where linksInAny:
      let name = random.pick(["Target", "Keyless"])
      let described = session.schema.schema.named(name)!
      return .object(described.id, random.pick(name == "Target" ? targets : keyless))
    case 2...4 where mayNest && depth < 4:
      let kind: CollectionKind = random.chance(50) ? .list : .map
      let id = try session.makeNested(kind, in: place)
      let inner = place.nested(id)
      for index in 0..<random.below(5) {
        let value = try any(inner, depth + 1, mayNest: true)
        if kind == .list {
          try session.insert(value, at: index, in: inner)
        } else {
          try session.set(value, forKey: index == 2 ? "$type" : text(), inMap: inner)
        }
      }
      return kind == .list ? .list(id) : .map(id)
    default: return plain(random.pick(Self.plainTypes.filter { $0 != .any }))
    }
  }

  private mutating func plain(_ type: ColumnType) -> Value {
    switch type {
    case .int: return .int(Int64(bitPattern: random.next()) >> Int64(random.below(64)))
    case .bool: return .bool(random.chance(50))
    case .string: return .string(text())
    case .data: return .data(random.bytes(random.pick([0, 1, 7, 300])))
    case .date:
      let seconds = Int64(bitPattern: random.next()) >> Int64(14 + random.below(40))
      let nanoseconds = random.chance(50) ? 0 : Int32(random.below(1_000_000_000))
      return .date(Timestamp(seconds: seconds, nanoseconds: nanoseconds))
    case .float:
      let special: [Float] = [0, -0.0, .nan, .infinity, -.infinity, 1.5, 16_777_216]
      let value = Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))
      return .float(random.chance(30) || value.isNaN ? random.pick(special) : value)
    case .double:
      let special: [Double] = [0, -0.0, .nan, .infinity, -.infinity, 7, 1e300]
      let value = Double(bitPattern: random.next())
      return .double(random.chance(30) || value.isNaN ? random.pick(special) : value)
    case .objectID: return .objectID(Bytes12(high: random.next(), low: 7))
    case .uuid: return .uuid(Bytes16(high: random.next(), low: random.next()))
    case .decimal:
      let special = ["0", "-0", "0.00", "1.50", "NaN", "Infinity", "-Infinity", "1E+6000"]
      let digits = "\(random.next()).\(random.next() % 1000)E\(random.below(99) - 50)"
      let text = random.chance(40) ? random.pick(special) : digits
      return .decimal(DecimalNumber(text: text)!.cell)
    case .link, .any: return .null
    }
  }

  private mutating func text() -> String {
    let pieces = ["", "a", "\"", "\\", "\n", "\r\n", ",", "é", "🐕", "\u{0}", "null", "1", "x, y"]
    let text = (0..<random.below(4)).map { _ in random.pick(pieces) }.joined()
    return random.chance(5) ? text + String(repeating: "long", count: 90) : text
  }
}
