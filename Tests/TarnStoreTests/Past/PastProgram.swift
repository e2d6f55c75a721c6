import TestSupport

@testable import TarnStore

/// Random commits over every kind of property.
struct PastProgram {
  let store: Store
  var random: SeededRandom

  init(seed: UInt64, store: Store) {
    self.store = store
    random = SeededRandom(seed: seed)
  }

  mutating func commit() throws {
    let session = WriteSession(try SnapshotReader(store.newestSnapshot())) {}
    for _ in 0..<random.pick([1, 3, 12, 40]) { try change(session) }
    _ = try store.commit(session)
  }

  // MARK: - Objects

  private func keys(_ id: ClassID, _ session: WriteSession) throws -> [ObjectKey] {
    var keys: [ObjectKey] = []
    try session.forEachImage(in: id) { image in
      for slot in 0..<image.rowCount { keys.append(image.key(at: slot)) }
      return true
    }
    return keys
  }

  private mutating func pick(_ id: ClassID, _ session: WriteSession) throws -> ObjectKey? {
    let keys = try keys(id, session)
    return keys.isEmpty ? nil : random.pick(keys)
  }

  private mutating func change(_ session: WriteSession) throws {
    switch random.below(60) {
    case 0: try session.clear(random.pick([PastClasses.thing, PastClasses.other]))
    case 1: try session.clear([PastClasses.thing, PastClasses.other])
    case 2...9: try create(session)
    case 10...14:
      let id = ClassID(UInt32(random.below(3)))
      if let key = try pick(id, session) { try session.delete(key, in: id) }
    default:
      let id = random.pick([
        PastClasses.thing, PastClasses.thing, PastClasses.other, PastClasses.part,
      ])
      guard let key = try pick(id, session) else { return try create(session) }
      let columns = session.schema[id].columns.filter { $0.id != session.schema[id].primaryKey }
      try change(random.pick(columns), key, id, session)
    }
  }

  private mutating func create(_ session: WriteSession) throws {
    if random.chance(60) {
      let key: Value = .int(Int64(random.below(12)))
      guard try session.find(primaryKey: key, in: PastClasses.thing) == nil else { return }
      let made = try session.create([ColumnID(0): key], in: PastClasses.thing)
      for column in session.schema[PastClasses.thing].columns.dropFirst() where random.chance(40) {
        try change(column, made, PastClasses.thing, session)
      }
    } else {
      let name: Value = random.chance(10) ? .null : .string(text())
      guard try session.find(primaryKey: name, in: PastClasses.other) == nil else { return }
      try session.create([ColumnID(0): name], in: PastClasses.other)
    }
  }

  // MARK: - Properties

  private mutating func change(
    _ column: ColumnSchema, _ key: ObjectKey, _ id: ClassID, _ session: WriteSession
  ) throws {
    let place = SequencePlace(classID: id, key: key, column: column.id)
    guard column.collection == .none else { return try changeSequence(place, column, session) }
    if column.type == .any, let value = try session.value(of: column.id, at: key, in: id),
      let nested = value.collection, random.chance(60)
    {
      return try changeSequence(place.nested(nested), column, session)
    }
    let value = try value(column, place, session)
    try session.set(column.id, at: key, in: id, to: value)
  }

  private mutating func text() -> String {
    let length = random.pick([0, 1, 3, 3, 3, 250, 257, 600, 9_000])
    return random.pick(["a", "é", "z"]) + String(repeating: random.pick(["x", "y"]), count: length)
  }

  private mutating func value(
    _ column: ColumnSchema, _ place: SequencePlace, _ session: WriteSession
  ) throws -> Value {
    if column.isOptional || column.type == .any, random.chance(15) { return .null }
    switch column.type {
    case .link:
      let target = column.target!
      if session.schema.isEmbedded(target) { return .link(try session.create([:], in: target)) }
      if let found = try pick(target, session) { return .link(found) }
      if column.collection == .none || column.collection == .map { return .null }
      return .link(try create(target, session))
    case .any: return try anything(place, session, isInSet: column.collection == .set)
    default: return scalar(column.type)
    }
  }

  private mutating func create(_ id: ClassID, _ session: WriteSession) throws -> ObjectKey {
    let primary: Value =
      id == PastClasses.thing ? .int(Int64(100 + random.below(1_000))) : .string(text() + "!")
    if let found = try session.find(primaryKey: primary, in: id) { return found }
    return try session.create([ColumnID(0): primary], in: id)
  }

  private mutating func scalar(_ type: ColumnType) -> Value {
    let number = random.below(6)
    switch type {
    case .int, .link, .any: return .int(random.pick([0, 1, -1, .max, .min, 40_000]))
    case .bool: return .bool(random.chance(50))
    case .string: return .string(text())
    case .data: return .data(random.bytes(random.pick([0, 3, 256, 257, 5_000])))
    case .date: return .date(Timestamp(seconds: Int64(number - 3), nanoseconds: 999_999_999))
    case .float: return .float(random.pick([0, -0.0, 1.5, .nan, .infinity]))
    case .double: return .double(random.pick([0, -0.0, 1.5, .nan, -.infinity]))
    case .objectID: return .objectID(Bytes12(high: UInt64(number), low: 7))
    case .uuid: return .uuid(Bytes16(high: random.next(), low: UInt64(number)))
    case .decimal: return .decimal(DecimalNumber(Int64(number)).cell)
    }
  }

  private mutating func anything(
    _ place: SequencePlace, _ session: WriteSession, isInSet: Bool
  ) throws -> Value {
    switch random.below(8) {
    case 0...2 where !isInSet: return try session.make(tree(2), in: place)
    case 3:
      let id = random.pick([PastClasses.thing, PastClasses.other])
      return try pick(id, session).map { .object(id, $0) } ?? .null
    default: return scalar(random.pick(PastClasses.scalarTypes))
    }
  }

  private mutating func tree(_ depth: Int) -> CopiedValue {
    let count = random.pick([0, 1, 3, 60])
    switch random.below(depth == 0 ? 1 : 3) {
    case 1: return .list((0..<min(count, 20 * depth)).map { _ in tree(depth - 1) })
    case 2:
      let keys = (0..<min(count, 9)).map { "key \($0)" }
      return .map(keys: keys, values: keys.map { _ in tree(depth - 1) })
    default: return .value(scalar(random.pick(PastClasses.scalarTypes)))
    }
  }

  // MARK: - Collections

  private mutating func changeSequence(
    _ place: SequencePlace, _ column: ColumnSchema, _ session: WriteSession
  ) throws {
    guard let sequence = try session.sequence(at: place) else { return }
    let count = sequence.count
    if count > 0, random.chance(25) {
      let value = try sequence.value(at: random.below(count))
      if let nested = value.collection {
        return try changeSequence(place.nested(nested), column, session)
      }
    }
    let (first, second) = (random.below(count), random.below(count))
    let isOwned = session.ownsElements(place)
    switch random.below(10) {
    case 0: try session.removeAll(in: place)
    case 1 where count > 0, 2 where count > 0:
      try session.remove(first..<min(count, first + 2), in: place)
    case 3 where first != second && sequence.shape.kind == .list:
      try session.move(from: first, to: second, in: place)
    case 4 where first != second && sequence.shape.kind == .list:
      try session.swap(first, second, in: place)
    default:
      let value = try value(column, place, session)
      if value == .null, !sequence.shape.accepts(.null) { return }
      switch sequence.shape.kind {
      case .list where count > 0 && random.chance(30) && !isOwned:
        try session.set(value, at: first, in: place)
      case .list: try session.insert(value, at: random.below(count + 1), in: place)
      case .set: try session.insert(value, intoSet: place)
      case .map: try session.set(value, forKey: random.pick(["a", "b", text()]), inMap: place)
      case .none: break
      }
    }
  }
}
