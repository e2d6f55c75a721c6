import TestSupport
import Testing

@testable import TarnStore

/// A store with lists, sets or maps, random changes to them, and what they should hold.
struct CollectionModel {
  static let things = ClassID(0)
  static let targets = ClassID(1)

  /// An element, and in a map its key.
  struct Element: Equatable {
    var key = ""
    var value: Value
  }

  let store: Store
  let kind: CollectionKind
  let columns: [ColumnSchema]
  var random: SeededRandom
  /// How many elements a sequence may come to have.
  let sizeMax: Int
  private(set) var objects: [ObjectKey]
  private(set) var model: [SequencePlace: [Element]] = [:]
  /// The model while a write is open.
  private var draft: [SequencePlace: [Element]] = [:]
  /// What the open write did to each position: the old one, nil for a new element.
  private var origins: [SequencePlace: [(old: Int?, isModified: Bool)]] = [:]

  static func classes(_ kind: CollectionKind) -> [ClassDefinition] {
    var properties: [ClassDefinition.Property] = []
    for type in ColumnType.allCases {
      for isOptional in [false, true] {
        // Links and values of any type may be nothing only where the model says so.
        if type == .link && isOptional && kind != .map || type == .any && !isOptional { continue }
        properties.append(
          .init(
            name: "\(type)\(isOptional)", type: type, collection: kind, isOptional: isOptional,
            target: type == .link ? "Target" : nil))
      }
    }
    return [
      ClassDefinition(name: "Thing", properties: properties),
      ClassDefinition(name: "Target", properties: [.init(name: "n", type: .int)]),
    ]
  }

  init(_ store: Store, _ kind: CollectionKind, seed: UInt64, sizeMax: Int) throws {
    self.store = store
    self.kind = kind
    self.sizeMax = sizeMax
    random = SeededRandom(seed: seed)
    objects = try store.write { session in
      for number in 0..<50 {
        try session.create([ColumnID(0): .int(Int64(number))], in: Self.targets)
      }
      return try (0..<2).map { _ in try session.create([:], in: Self.things) }
    }
    let all = try store.newestSnapshot().schema[Self.things].columns
    var some: [ColumnSchema] = []
    for _ in 0..<3 { some.append(random.pick(all)) }
    columns = some
    for key in objects { for column in all { model[Self.place(key, column)] = [] } }
  }

  static func place(_ key: ObjectKey, _ column: ColumnSchema) -> SequencePlace {
    SequencePlace(classID: things, key: key, column: column.id)
  }

  // MARK: - Values

  mutating func value(_ column: ColumnSchema) -> Value {
    if column.isOptional && random.chance(10) { return .null }
    return value(column.type)
  }

  private mutating func value(_ type: ColumnType) -> Value {
    switch type {
    case .int:
      .int(random.chance(10) ? Int64(bitPattern: random.next()) : Int64(random.below(3_000)))
    case .bool: .bool(random.chance(50))
    case .string: .string(text())
    case .data: .data(random.bytes(length()))
    case .date:
      .date(Timestamp(seconds: Int64(random.below(1 << 40)), nanoseconds: Int32(random.below(3))))
    case .float: .float(Float(random.below(1_000)) / 8)
    case .double: .double(random.chance(2) ? .infinity : Double(random.below(100_000)) / 16)
    case .link: .link(ObjectKey(Int64(random.below(50))))
    case .objectID: .objectID(Bytes12(high: random.next(), low: UInt32(random.below(9))))
    case .decimal: .decimal(DecimalNumber(Int64(random.below(5_000))).cell)
    case .uuid: .uuid(Bytes16(high: random.next(), low: random.next()))
    case .any:
      random.chance(10)
        ? .object(Self.targets, ObjectKey(Int64(random.below(50))))
        : value(
          random.pick([
            .int, .bool, .string, .data, .date, .uuid, .objectID, .double, .float, .decimal,
          ]))
    }
  }

  mutating func text() -> String {
    let count = length()
    return String((0..<count).map { _ in random.pick(["a", "b", "é", "x", "0", "ß", "\u{0}"]) })
  }

  private mutating func length() -> Int {
    random.chance(2)
      ? random.below(9_000) : random.chance(10) ? random.below(300) : random.below(12)
  }

  // MARK: - Writing

  enum Ending { case commit, cancel }

  mutating func write(steps: Int, _ ending: Ending) throws {
    let base = try store.newestSnapshot()
    let session = try WriteSession(SnapshotReader(base)) {}
    draft = model
    origins = model.mapValues { (0..<$0.count).map { ($0, false) } }
    for _ in 0..<steps {
      let place = try step(session)
      try session.sequence(at: place)?.checkInvariants()
    }
    try session.checkInvariants()
    for key in objects {
      for column in columns { try checkReading(session, Self.place(key, column)) }
    }
    guard ending == .commit else { return }
    let (snapshot, changes) = try store.commit(session)
    changes.checkInvariants()
    try checkScripts(changes)
    model = draft
    #expect(try ChangeLog.changes(from: base, to: snapshot) == changes)
  }

  /// Changes one of the collections and says which.
  private mutating func step(_ session: WriteSession) throws -> SequencePlace {
    let place = Self.place(random.pick(objects), random.pick(columns))
    let column = session.schema[Self.things][place.column]
    let count = draft[place]!.count
    if random.chance(1) && random.chance(30) {
      try session.removeAll(in: place)
      draft[place] = []
      origins[place] = []
    } else if random.chance(count > sizeMax ? 60 : 25), count > 0 {
      let first = random.below(count)
      let most = random.chance(5) ? count - first : min(3, count - first)
      try remove(first..<first + 1 + random.below(most), session, place)
    } else {
      switch kind {
      case .list: try changeList(session, place, column)
      case .set: try changeSet(session, place, column)
      default: try changeMap(session, place, column)
      }
    }
    return place
  }

  private mutating func remove(
    _ range: Range<Int>, _ session: WriteSession, _ place: SequencePlace
  ) throws {
    let element = draft[place]![range.lowerBound]
    if range.count == 1, kind == .set {
      #expect(try session.remove(element.value, fromSet: place))
      #expect(try !session.remove(element.value, fromSet: place))
    } else if range.count == 1, kind == .map {
      #expect(try session.removeValue(forKey: element.key, fromMap: place))
      #expect(try !session.removeValue(forKey: element.key, fromMap: place))
    } else {
      try session.remove(range, in: place)
    }
    draft[place]!.removeSubrange(range)
    origins[place]!.removeSubrange(range)
  }

  private mutating func changeList(
    _ session: WriteSession, _ place: SequencePlace, _ column: ColumnSchema
  ) throws {
    let count = draft[place]!.count
    switch random.below(10) {
    case 0...1 where count > 0:
      let index = random.below(count)
      let new = random.chance(10) ? draft[place]![index].value : value(column)
      try session.set(new, at: index, in: place)
      draft[place]![index].value = new
      if origins[place]![index].old != nil { origins[place]![index].isModified = true }
    case 2 where count > 0:
      let (from, to) = (random.below(count), random.below(count))
      try session.move(from: from, to: to, in: place)
      draft[place]!.insert(draft[place]!.remove(at: from), at: to)
      origins[place]!.insert(origins[place]!.remove(at: from), at: to)
    case 3 where count > 0:
      let (a, b) = (random.below(count), random.below(count))
      try session.swap(a, b, in: place)
      draft[place]!.swapAt(a, b)
      origins[place]!.swapAt(a, b)
    default:
      let index = random.chance(30) ? count : random.below(count + 1)
      let many = random.chance(8) ? random.below(sizeMax) : 1 + random.below(3)
      let values = (0..<many).map { _ in value(column) }
      try session.insert(values, at: index, in: place)
      draft[place]!.insert(contentsOf: values.map { Element(value: $0) }, at: index)
      origins[place]!.insert(contentsOf: values.map { _ in (nil, false) }, at: index)
    }
  }

  private mutating func changeSet(
    _ session: WriteSession, _ place: SequencePlace, _ column: ColumnSchema
  ) throws {
    for _ in 0..<(random.chance(8) ? sizeMax / 2 : 2) {
      let value = value(column)
      let known = draft[place]!
      let index = known.firstIndex { SequenceOrder.compare($0.value, value) >= 0 } ?? known.count
      let isNew = index == known.count || SequenceOrder.compare(known[index].value, value) != 0
      let result = try session.insert(value, intoSet: place)
      #expect(result == (index, isNew))
      guard isNew else { continue }
      draft[place]!.insert(Element(value: value), at: index)
      origins[place]!.insert((nil, false), at: index)
    }
  }

  private mutating func changeMap(
    _ session: WriteSession, _ place: SequencePlace, _ column: ColumnSchema
  ) throws {
    for _ in 0..<(random.chance(8) ? sizeMax / 2 : 2) {
      let value = value(column)
      let known = draft[place]!
      let key = random.chance(20) && !known.isEmpty ? random.pick(known).key : text()
      let index = known.firstIndex { SequenceOrder.compare($0.key, key) >= 0 } ?? known.count
      let isNew = index == known.count || SequenceOrder.compare(known[index].key, key) != 0
      try session.set(value, forKey: key, inMap: place)
      if isNew {
        draft[place]!.insert(Element(key: key, value: value), at: index)
        origins[place]!.insert((nil, false), at: index)
      } else {
        draft[place]![index].value = value
        if origins[place]![index].old != nil { origins[place]![index].isModified = true }
      }
    }
  }
}

// MARK: - Checking

extension CollectionModel {
  private mutating func checkReading(_ session: WriteSession, _ place: SequencePlace) throws {
    let sequence = try #require(try session.sequence(at: place))
    let wanted = draft[place]!
    try #require(sequence.count == wanted.count)
    var all: [Value] = []
    try sequence.forEach(in: 0..<wanted.count) { value in
      all.append(value)
      return true
    }
    #expect(all == wanted.map(\.value))
    for _ in 0..<min(20, wanted.count) {
      let index = random.below(wanted.count)
      #expect(try sequence.value(at: index) == wanted[index].value)
      if kind == .map {
        #expect(try sequence.key(at: index) == wanted[index].key)
        #expect(try sequence.find(key: wanted[index].key) == (index, true))
      }
      if kind == .set { #expect(try sequence.find(wanted[index].value) == (index, true)) }
    }
  }

  /// Compares what the file holds.
  mutating func checkFile() throws {
    let reader = try SnapshotReader(store.newestSnapshot())
    let check = SequenceCheck(reader)
    #expect(check.problems == [])
    #expect(check.elements == model.values.reduce(0) { $0 + $1.count })
    for (place, wanted) in model {
      let sequence = try #require(try reader.sequence(at: place))
      try #require(sequence.count == wanted.count)
      var all: [Value] = []
      try sequence.forEach(in: 0..<wanted.count) { value in
        all.append(value)
        return true
      }
      #expect(all == wanted.map(\.value))
      for _ in 0..<min(10, wanted.count) {
        let index = random.below(wanted.count)
        #expect(try sequence.value(at: index) == wanted[index].value)
        if kind == .map {
          #expect(try sequence.key(at: index) == wanted[index].key)
          #expect(try sequence.find(key: wanted[index].key) == (index, true))
        }
        if kind == .set { #expect(try sequence.find(wanted[index].value) == (index, true)) }
      }
    }
  }

  private func checkScripts(_ changes: ChangeSet) throws {
    let noted = changes[Self.things]?.sequences ?? []
    for (place, elements) in draft {
      let name = SequenceName(column: place.column, key: place.key)
      let script = noted.first { $0.name == name }?.script
      var builder = EditScript.Builder(oldCount: model[place]!.count)
      for origin in origins[place]! {
        if let old = origin.old {
          builder.append(old: old, isModified: origin.isModified)
        } else {
          builder.appendFresh()
        }
      }
      let wanted = builder.finish()
      #expect(wanted.newCount == elements.count)
      #expect((script ?? .identity(count: elements.count)) == wanted.limited)
      #expect(
        wanted.isIdentity || changes[Self.things]!.touchedKeys(in: place.column).contains(place.key)
      )
    }
  }
}
