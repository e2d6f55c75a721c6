import TestSupport

@testable import TarnStore

/// The content of the golden files: each type of column, lists, sets and maps small and large,
/// collections within values, embedded objects, long values, and commits that leave records.
///
/// Never change what is here: another content needs another file beside the old ones.
struct GoldenStore {
  static let things = ClassID(0)
  static let parts = ClassID(1)
  static let shelves = ClassID(2)

  private static let scalars: [ClassDefinition.Property] = ColumnType.allCases
    .filter { $0 != .link && $0 != .any }
    .flatMap { type -> [ClassDefinition.Property] in
      [
        .init(name: "\(type)", type: type, isIndexed: type == .string),
        .init(name: "\(type)OrNull", type: type, isOptional: true, isIndexed: type == .int),
      ]
    }

  private static let others: [ClassDefinition.Property] = [
    .init(name: "friend", type: .link, isOptional: true, target: "Thing"),
    .init(name: "part", type: .link, isOptional: true, target: "Part"),
    .init(name: "any", type: .any, isOptional: true),
  ]

  private static let key = ClassDefinition.Property(name: "id", type: .int, isPrimaryKey: true)

  static let classes = [
    ClassDefinition(name: "Thing", properties: [key] + scalars + others),
    ClassDefinition(
      name: "Part", properties: [.init(name: "name", type: .string)], isEmbedded: true),
    ClassDefinition(name: "Shelf", properties: collections),
  ]

  /// A collection of each kind over each type.
  private static let collections: [ClassDefinition.Property] = {
    var properties = [ClassDefinition.Property(name: "name", type: .string, isPrimaryKey: true)]
    for kind in [CollectionKind.list, .set, .map] {
      for type in ColumnType.allCases {
        let isOptional = type == .any || type == .double || type == .link && kind == .map
        properties.append(
          .init(
            name: "\(type)\(kind)", type: type, collection: kind, isOptional: isOptional,
            target: type == .link ? "Thing" : nil))
      }
    }
    properties.append(.init(name: "partlist", type: .link, collection: .list, target: "Part"))
    properties.append(
      .init(name: "partmap", type: .link, collection: .map, isOptional: true, target: "Part"))
    return properties
  }()

  // MARK: - Writing

  /// Fills a new store: three commits after the one that made its classes.
  static func write(to store: Store) throws {
    // Held, so that no change record is thrown away meanwhile.
    let first = try store.newestSnapshot()
    try store.write { session in
      for number in 1...24 { try makeThing(Int64(number), session) }
      for (name, count) in [("empty", 0), ("small", 3), ("large", 400)] {
        try makeShelf(name, count, session)
      }
    }
    try store.write(change)
    try store.write { session in
      try session.delete(ObjectKey(5), in: things)
      try session.set(ColumnID(1), at: ObjectKey(7), in: things, to: .int(-7))
    }
    withExtendedLifetime(first) {}
  }

  private static func makeThing(_ id: Int64, _ session: WriteSession) throws {
    let number = Int(id)
    var values: [ColumnID: Value] = [ColumnID(0): .int(id)]
    for (index, scalar) in scalars.enumerated() {
      let isNull = scalar.isOptional && number % 3 == 0
      values[column(index + 1)] = isNull ? .null : value(scalar.type, number)
    }
    let key = try session.create(values, in: things)
    let next = scalars.count + 1
    if number > 1 {
      try session.set(column(next), at: key, in: things, to: .link(ObjectKey(id - 1)))
    }
    if number % 4 == 0 {
      try session.set(column(next + 1), at: key, in: things, to: makePart("of \(id)", session))
    }
    let place = SequencePlace(classID: things, key: key, column: column(next + 2))
    switch number % 5 {
    case 0: try makeNested(place, session)
    case 1: try session.set(place.column, at: key, in: things, to: .object(things, key))
    case 2: try session.set(place.column, at: key, in: things, to: value(.string, number))
    case 3: try session.set(place.column, at: key, in: things, to: value(.decimal, number))
    default: break
    }
  }

  private static func makePart(_ name: String, _ session: WriteSession) throws -> Value {
    .link(try session.create([ColumnID(0): .string(name)], in: parts))
  }

  /// A list within a value, with a map in it.
  private static func makeNested(_ place: SequencePlace, _ session: WriteSession) throws {
    let list = try session.makeNested(.list, in: place)
    try session.set(place.column, at: place.key, in: place.classID, to: .list(list))
    let map = try session.makeNested(.map, in: place)
    try session.insert(
      [.int(1), .map(map), .string("last"), .null], at: 0, in: place.nested(list))
    for number in 0..<60 {
      try session.set(value(.string, number), forKey: "k\(number)", inMap: place.nested(map))
    }
  }

  private static func makeShelf(_ name: String, _ count: Int, _ session: WriteSession) throws {
    let key = try session.create([ColumnID(0): .string(name)], in: shelves)
    for (index, property) in collections.enumerated() where property.collection != .none {
      let place = SequencePlace(classID: shelves, key: key, column: column(index))
      for number in 0..<min(count, most(property.type)) {
        var value = element(property.type, number)
        if property.isOptional, property.collection != .set, number % 7 == 2 { value = .null }
        if property.target == "Part" { value = try makePart("\(number)", session) }
        switch property.collection {
        case .none: break
        case .list: try session.insert(value, at: number / 2, in: place)
        case .set: try session.insert(value, intoSet: place)
        case .map: try session.set(value, forKey: "key \(number * 7919 % 1000)", inMap: place)
        }
      }
    }
  }

  /// Enough for a tree; of some for several pages in it.
  private static func most(_ type: ColumnType) -> Int {
    switch type {
    case .link, .any: 20
    case .int, .bool, .string, .objectID: 250
    default: 60
    }
  }

  /// Edits of all kinds, for their scripts.
  private static func change(_ session: WriteSession) throws {
    guard let key = try session.find(primaryKey: .string("large"), in: shelves) else { return }
    for (index, property) in collections.enumerated() where property.collection != .none {
      let place = SequencePlace(classID: shelves, key: key, column: column(index))
      if property.type == .link || property.type == .any { continue }
      switch property.collection {
      case .none: break
      case .list:
        try session.insert(element(property.type, 1000), at: 20, in: place)
        try session.remove(4..<9, in: place)
        try session.move(from: 2, to: 30, in: place)
        try session.set(element(property.type, 1001), at: 12, in: place)
      case .set: try session.insert(element(property.type, 1000), intoSet: place)
      case .map:
        try session.set(element(property.type, 1000), forKey: "key 14", inMap: place)
        try session.removeValue(forKey: "key 919", fromMap: place)
      }
    }
  }

  private static func column(_ index: Int) -> ColumnID { ColumnID(UInt16(index)) }

  // MARK: - Values

  private static func element(_ type: ColumnType, _ number: Int) -> Value {
    switch type {
    case .link: .link(ObjectKey(Int64(1 + number % 20)))
    case .any where number % 3 == 0: .object(things, ObjectKey(1))
    case .any: value(number % 3 == 1 ? .int : .uuid, number)
    default: value(type, number)
    }
  }

  /// A value that the number decides. Every fiftieth text and data value is long.
  private static func value(_ type: ColumnType, _ number: Int) -> Value {
    var random = SeededRandom(seed: UInt64(number))
    let wide = Int64(truncatingIfNeeded: random.next())
    switch type {
    case .int: return .int(number % 9 == 0 ? wide : Int64(number) * 3 - 50)
    case .bool: return .bool(number % 2 == 1)
    case .string:
      return .string(
        number % 50 == 17 ? String(repeating: "long \(number) ", count: 60) : "text é \(number)")
    case .data:
      let long = number == 17 ? 5000 : 300
      return .data(random.bytes(number % 50 == 17 ? long : number % 12))
    case .date: return .date(Timestamp(seconds: wide >> 30, nanoseconds: Int32(number % 1000)))
    case .float: return .float(Float(number) / 3)
    case .double: return .double(Double(wide) / 7)
    case .objectID: return .objectID(Bytes12(high: random.next(), low: UInt32(number)))
    case .decimal: return .decimal(DecimalNumber(Int64(number) * 1001).cell)
    case .uuid: return .uuid(Bytes16(high: random.next(), low: random.next()))
    case .link, .any: preconditionFailure("made elsewhere")
    }
  }
}
