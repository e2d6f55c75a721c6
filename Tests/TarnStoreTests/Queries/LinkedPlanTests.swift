import TestSupport
import Testing

@testable import TarnStore

/// Conditions behind links go through an index of the class there and back along the links, and
/// find what a scan finds: the same objects are in classes with indexes and in ones without.
@Suite struct LinkedPlanTests {
  private static func definitions(_ prefix: String, isIndexed: Bool) -> [ClassDefinition] {
    typealias Property = ClassDefinition.Property
    let name = Property(name: "name", type: .string, isOptional: true, isIndexed: isIndexed)
    return [
      ClassDefinition(
        name: prefix + "Dog",
        properties: [
          Property(name: "age", type: .int),
          Property(name: "owner", type: .link, isOptional: true, target: prefix + "Person"),
          Property(name: "friends", type: .link, collection: .list, target: prefix + "Person"),
        ]),
      ClassDefinition(
        name: prefix + "Person",
        properties: [
          name, Property(name: "home", type: .link, isOptional: true, target: prefix + "City"),
          Property(name: "stays", type: .link, collection: .list, target: prefix + "City"),
        ]),
      ClassDefinition(name: prefix + "City", properties: [name]),
    ]
  }

  private static let classes =
    definitions("Indexed", isIndexed: true) + definitions("Plain", isIndexed: false)

  /// The classes of one half.
  private struct Half {
    let dog: ClassID
    var person: ClassID { ClassID(dog.rawValue + 1) }
    var city: ClassID { ClassID(dog.rawValue + 2) }
    static let indexed = Half(dog: ClassID(0))
    static let plain = Half(dog: ClassID(3))
    static let both = [indexed, plain]
  }

  private static let (persons, cities) = (400, 40)

  private static func fill(
    _ dogs: Int, _ session: WriteSession, _ random: inout SeededRandom
  ) throws {
    for half in Half.both {
      for _ in 0..<cities { try session.create([:], in: half.city) }
      for _ in 0..<persons { try session.create([:], in: half.person) }
      for _ in 0..<dogs { try session.create([:], in: half.dog) }
    }
    for key in 0..<Int64(cities) { try changeCity(ObjectKey(key), session, &random) }
    for key in 0..<Int64(persons) { try changePerson(ObjectKey(key), session, &random) }
    for key in 0..<Int64(dogs) { try changeDog(ObjectKey(key), session, &random) }
  }

  private static func changeCity(
    _ key: ObjectKey, _ session: WriteSession, _ random: inout SeededRandom
  ) throws {
    let name: Value = random.chance(5) ? .null : .string("c\(random.below(cities))")
    for half in Half.both where try session.location(of: key, in: half.city) != nil {
      try session.set(ColumnID(0), at: key, in: half.city, to: name)
    }
  }

  private static func changePerson(
    _ key: ObjectKey, _ session: WriteSession, _ random: inout SeededRandom
  ) throws {
    let name: Value = random.chance(5) ? .null : .string("p\(random.below(persons))")
    let home = Int64(random.below(cities))
    let stay = Int64(random.below(cities))
    for half in Half.both where try session.location(of: key, in: half.person) != nil {
      try session.set(ColumnID(0), at: key, in: half.person, to: name)
      try link(ColumnID(1), key, half.person, home, half.city, session)
      try append(ColumnID(2), key, half.person, stay, half.city, session)
    }
  }

  private static func changeDog(
    _ key: ObjectKey, _ session: WriteSession, _ random: inout SeededRandom
  ) throws {
    let (age, isFree) = (Int64(random.below(10)), random.chance(10))
    let (owner, friend) = (Int64(random.below(persons)), Int64(random.below(persons)))
    for half in Half.both where try session.location(of: key, in: half.dog) != nil {
      try session.set(ColumnID(0), at: key, in: half.dog, to: .int(age))
      if isFree {
        try session.set(ColumnID(1), at: key, in: half.dog, to: .null)
      } else {
        try link(ColumnID(1), key, half.dog, owner, half.person, session)
      }
      try append(ColumnID(2), key, half.dog, friend, half.person, session)
    }
  }

  private static func link(
    _ column: ColumnID, _ key: ObjectKey, _ id: ClassID, _ target: Int64, _ targetID: ClassID,
    _ session: WriteSession
  ) throws {
    guard try session.location(of: ObjectKey(target), in: targetID) != nil else { return }
    try session.set(column, at: key, in: id, to: .link(ObjectKey(target)))
  }

  private static func append(
    _ column: ColumnID, _ key: ObjectKey, _ id: ClassID, _ target: Int64, _ targetID: ClassID,
    _ session: WriteSession
  ) throws {
    guard try session.location(of: ObjectKey(target), in: targetID) != nil else { return }
    let place = SequencePlace(classID: id, key: key, column: column)
    try session.insert(.link(ObjectKey(target)), at: 0, in: place)
  }

  private static func change(_ session: WriteSession, _ random: inout SeededRandom) throws {
    for _ in 0..<20 {
      switch random.below(8) {
      case 0: try changeCity(ObjectKey(Int64(random.below(cities))), session, &random)
      case 1, 2: try changePerson(ObjectKey(Int64(random.below(persons))), session, &random)
      case 3:
        let key = ObjectKey(Int64(random.below(persons)))
        for half in Half.both where try session.location(of: key, in: half.person) != nil {
          try session.delete(key, in: half.person)
        }
      default: try changeDog(ObjectKey(Int64(random.below(4000))), session, &random)
      }
    }
  }

  private static func condition(depth: Int, _ random: inout SeededRandom) -> Predicate {
    if depth > 0 {
      let terms = (0..<2).map { _ in condition(depth: depth - 1, &random) }
      switch random.below(6) {
      case 0, 1: return .and(terms)
      case 2: return .or(terms)
      case 3: return .not(terms[0])
      default: break
      }
    }
    let (person, city) = ("p\(random.below(persons))", "c\(random.below(cities))")
    switch random.below(10) {
    case 0, 1: return .compare("owner.name", .equal, .string(person))
    case 2: return .compare("owner.home.name", .equal, .string(city))
    case 3: return .isIn("owner.name", [.string(person), .string("p1"), .null])
    case 4: return .compare("owner.name", .beginsWith, .string(person))
    case 5:
      return .any(["friends", "name"], .equal, .value(.string(person)))
    case 6:
      return .any(["owner", "stays", "name"], .equal, .value(.string(city)))
    case 7:
      return .any(["friends", "stays", "name"], .equal, .value(.string(city)))
    case 8: return .compare("owner.name", random.pick([.equal, .notEqual]), .null)
    default: return .compare("age", .less, .int(Int64(random.below(10))))
    }
  }

  private static func check(
    _ rows: Rows, _ random: inout SeededRandom, _ indexed: inout Int
  ) throws {
    let predicate = condition(depth: random.below(3), &random)
    let (quick, slow) = (
      try CompiledQuery(predicate, [], on: Half.indexed.dog, rows.schema),
      try CompiledQuery(predicate, [], on: Half.plain.dog, rows.schema)
    )
    #expect(try !slow.plan(rows).usesIndex, "\(predicate)")
    if try quick.plan(rows).usesIndex { indexed += 1 }
    #expect(try quick.evaluate(rows).keys == slow.evaluate(rows).keys, "\(predicate)")
  }

  @Test(arguments: Seeds.of(1...4 as ClosedRange<UInt64>))
  func `indexes behind links lead to the rows that a scan finds`(_ seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let file = TemporaryStore()
    let store = try file.open(Self.classes)
    try store.write { try Self.fill(4000, $0, &random) }
    let reader = try SnapshotReader(store.newestSnapshot())
    var indexed = 0
    for _ in 0..<100 { try Self.check(Rows(reader), &random, &indexed) }
    let session = WriteSession(reader) {}
    for _ in 0..<4 {
      try Self.change(session, &random)
      for _ in 0..<25 { try Self.check(Rows(reader, session), &random, &indexed) }
    }
    #expect(indexed > 40, "\(indexed)")
  }

  @Test func `few clusters are read for a condition behind links`() throws {
    var random = SeededRandom(seed: 5)
    let file = TemporaryStore()
    let store = try file.open(Self.classes)
    try store.write { session in
      try Self.fill(20_000, session, &random)
      for half in Half.both {
        try session.set(ColumnID(0), at: ObjectKey(7), in: half.person, to: .string("Star"))
        try session.set(ColumnID(0), at: ObjectKey(8), in: half.person, to: .string("hub"))
        for key in 0..<Int64(12_000) {
          try session.set(
            ColumnID(1), at: ObjectKey(key), in: half.dog, to: .link(ObjectKey(8)))
        }
      }
    }
    let reader = try SnapshotReader(store.newestSnapshot())
    let rows = Rows(reader)
    func reads(_ predicate: Predicate, _ half: Half) throws -> (keys: [ObjectKey], clusters: Int) {
      let query = try CompiledQuery(predicate, [], on: half.dog, rows.schema)
      let before = reader.clustersRead
      return (try query.evaluate(rows).keys, reader.clustersRead - before)
    }
    func lines(_ predicate: Predicate) throws -> [String] {
      try CompiledQuery(predicate, [], on: Half.indexed.dog, rows.schema).explanation(rows)
    }
    let star = Predicate.compare("owner.name", .equal, .string("Star"))
    let (found, scanned) = (try reads(star, .indexed), try reads(star, .plain))
    #expect(found.keys == scanned.keys)
    #expect(!found.keys.isEmpty)
    // At most a cluster for each dog and one for its owner, who is tested; and the way there.
    #expect(found.clusters <= 2 * found.keys.count + 4, "\(found)")
    #expect(scanned.clusters > 20, "\(scanned)")
    #expect(scanned.clusters > found.clusters, "\(scanned)")
    let find =
      "find: the index on 'name' of 'IndexedPerson', then the links of 'owner'"
    let line = try lines(star)[0]
    #expect(line.hasPrefix(find), "\(line)")
    #expect(line.hasSuffix("of 20000 objects"), "\(line)")
    #expect(try lines(star)[1] == "test: the whole condition")
    // That one links to most of them is seen before they are looked up.
    let hub = Predicate.compare("owner.name", .equal, .string("hub"))
    #expect(
      try lines(hub)[0]
        == "find: scan of all 20000 objects: a scan is quicker than " + find.dropFirst(6))
    #expect(try reads(hub, .indexed).keys == reads(hub, .plain).keys)
    let far = Predicate.compare("owner.home.name", .equal, .string("c3"))
    #expect(try reads(far, .indexed).keys == reads(far, .plain).keys)
  }
}
