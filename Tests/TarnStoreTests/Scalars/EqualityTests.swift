import TestSupport
import Testing

@testable import TarnStore

/// The three rules of equality, and every other form of them, against the table.
@Suite struct EqualityTests {
  private static let values = EqualValues.all

  private static func forEachPair(_ body: (Value, Value, _ isSameElement: Bool) throws -> Void)
    rethrows
  {
    for a in values {
      for b in values { try body(a.value, b.value, a.element == b.element) }
    }
  }

  @Test func `the three rules are those of the table`() {
    for (i, a) in Self.values.enumerated() {
      for (j, b) in Self.values.enumerated() {
        let isSame = a.element == b.element
        let said = "\(a.value) and \(b.value)"
        #expect((a.value == b.value) == (i == j), "\(said)")
        #expect(a.value.isSameElement(as: b.value) == isSame, "\(said)")
        #expect(a.value.isEqual(inCondition: b.value) == isSame, "\(said)")
        #expect((SequenceOrder.compare(a.value, b.value) == 0) == isSame, "\(said)")
        #expect((ElementKey(a.value) == ElementKey(b.value)) == isSame, "\(said)")
      }
    }
    #expect(Set(Self.values.map(\.value)).count == Self.values.count)
    #expect(Set(Self.values.map { ElementKey($0.value) }).count == EqualValues.elements.count)
  }

  @Test func `lists and maps within values are the same as themselves only`() {
    let all = [1, 2].flatMap { id -> [Value] in
      [.list(CollectionID(id)), .map(CollectionID(id)), .int(Int64(id))]
    }
    for (i, a) in all.enumerated() {
      for (j, b) in all.enumerated() {
        #expect((a == b) == (i == j))
        #expect(a.isSameElement(as: b) == (i == j))
        #expect(a.isEqual(inCondition: b) == (i == j && a.collection == nil))
      }
    }
  }

  @Test func `texts are their bytes`() {
    let texts = ["", "e", "\u{e9}", "e\u{301}", "\u{212b}", "\u{c5}", "A\u{30a}", "漢字", "🐟\0🐟"]
    for (i, a) in texts.enumerated() {
      for (j, b) in texts.enumerated() {
        #expect(a.hasSameBytes(as: b) == (i == j))
        #expect((StoredText(a) == StoredText(b)) == (i == j))
        #expect([a, "x"].haveSameBytes(as: [b, "x"]) == (i == j))
      }
    }
    #expect(![""].haveSameBytes(as: []))
    #expect(Set(texts.map(StoredText.init)).count == texts.count)
  }

  @Test func `the forms in which values are compared quickly say the same`() {
    let column = { (type: ColumnType) in
      ColumnSchema(id: ColumnID(0), name: "", type: type, isOptional: true)
    }
    Self.forEachPair { a, b, isSame in
      if let x = Scalar(a), let y = Scalar(b) {
        #expect((x == y) == isSame, "\(a) and \(b)")
        if isSame { #expect(x.hashValue == y.hashValue, "\(a) and \(b)") }
      }
      if isSame {
        let (x, y) = (OrderPrefix(ofAny: a), OrderPrefix(ofAny: b))
        #expect(x.high == y.high, "\(a) and \(b)")
        #expect(x.low == y.low, "\(a) and \(b)")
      }
      guard let type = a.scalarType, b.scalarType == type, type != .link else { return }
      guard let x = OrderKey(a, type: type), let y = OrderKey(b, type: type),
        let inAny = (OrderKey(a, type: .any), OrderKey(b, type: .any)) as? (OrderKey, OrderKey)
      else {
        Issue.record("\(a) and \(b) have no keys")
        return
      }
      #expect(x == y || !isSame, "\(a) and \(b)")
      #expect(inAny.0 == inAny.1 || !isSame, "\(a) and \(b)")
      #expect(x != y || x.isTruncated || isSame, "\(a) and \(b)")
      let rule = [column(type)]
      #expect((UniqueKey([a], rule) == UniqueKey([b], rule)) == isSame, "\(a) and \(b)")
    }
  }
}

/// The same in files: every way to write a value over another, and every way to find it.
@Suite struct StoredEqualityTests {
  private static let id = ClassID(0)
  private static let types: [ColumnType] = [
    .int, .bool, .float, .double, .string, .data, .date, .objectID, .uuid, .decimal, .any,
  ]

  /// Per type a plain column, an indexed one, a list and a set, and a map.
  private static let classes = [
    ClassDefinition(
      name: "Sample",
      properties: types.flatMap { type -> [ClassDefinition.Property] in
        [
          .init(name: "\(type)", type: type, isOptional: true),
          .init(name: "\(type)Indexed", type: type, isOptional: true, isIndexed: true),
          .init(name: "\(type)List", type: type, collection: .list, isOptional: true),
          .init(name: "\(type)Set", type: type, collection: .set, isOptional: true),
        ]
      })
  ]

  private let temporary = TemporaryStore()

  private static func values(_ type: ColumnType) -> [(value: Value, element: Int)] {
    EqualValues.all.filter {
      type == .any || $0.value == .null || $0.value.scalarType == type
    }
  }

  private static func column(_ name: String, _ store: Store) throws -> ColumnID {
    let described = try #require(store.newestSnapshot().schema.schema.named("Sample"))
    return try #require(described.named(name)).id
  }

  private static func checkSound(_ store: Store, _ comment: String) throws {
    let reader = try SnapshotReader(store.newestSnapshot())
    try reader.checkInvariants(of: id)
    #expect(SequenceCheck(reader).problems == [], "\(comment)")
    #expect(TreeCheck(reader).problems == [], "\(comment)")
  }

  private static func keys(
    _ store: Store, _ predicate: Predicate
  ) throws -> Set<ObjectKey> {
    let rows = Rows(try SnapshotReader(store.newestSnapshot()))
    return Set(try CompiledQuery(predicate, [], on: id, rows.schema).evaluate(rows).keys)
  }

  @Test(arguments: types)
  func `a value that is set over another is the one there, and the index has it`(
    _ type: ColumnType
  ) throws {
    let store = try temporary.open(Self.classes)
    let column = try Self.column("\(type)Indexed", store)
    let plain = try Self.column("\(type)", store)
    let values = Self.values(type)
    for a in values {
      // One object for each value that comes over this one.
      let made = try store.write { session in
        try values.map { _ in try session.create([column: a.value, plain: a.value], in: Self.id) }
      }
      try store.write { session in
        for (key, b) in zip(made, values) {
          try session.set(column, at: key, in: Self.id, to: b.value)
          try session.set(plain, at: key, in: Self.id, to: b.value)
        }
      }
      let reader = try SnapshotReader(store.newestSnapshot())
      for (key, b) in zip(made, values) {
        #expect(try reader.value(of: column, at: key, in: Self.id) == b.value, "over \(a.value)")
        #expect(try reader.value(of: plain, at: key, in: Self.id) == b.value, "over \(a.value)")
        let same = zip(made, values).filter { $1.element == b.element && $1.value.isFiled(like: b) }
        let found = try reader.keys(in: Self.id, where: column, is: b.value)
        #expect(found == same.map(\.0), "\(b.value) over \(a.value)")
      }
      try Self.checkSound(store, "\(a.value)")
      try store.write { session in for key in made { try session.delete(key, in: Self.id) } }
    }
  }

  @Test(arguments: types, ["", "Indexed"])
  func `a condition finds what is equal to its constant`(_ type: ColumnType, _ kind: String) throws
  {
    let store = try temporary.open(Self.classes)
    let name = "\(type)\(kind)"
    let column = try Self.column(name, store)
    let values = Self.values(type)
    let made = try store.write { session in
      try values.map { try session.create([column: $0.value], in: Self.id) }
    }
    for (number, constants) in EqualValues.exact.enumerated() {
      let expected = Set(zip(made, values).filter { $1.element == number }.map(\.0))
      // Constants of other types are made ones of the property's, or refused.
      for constant in constants where constant.isOfKind(of: type) {
        let found = try Self.keys(store, .compare(name, .equal, constant))
        #expect(found == expected, "\(name) == \(constant)")
        let others = try Self.keys(store, .compare(name, .notEqual, constant))
        #expect(others == Set(made).subtracting(expected), "\(name) != \(constant)")
        #expect(try Self.keys(store, .isIn(name, [constant])) == expected, "\(name) IN \(constant)")
        guard Scalar(constant)?.isNaN == true else { continue }
        for op in [ComparisonOperator.less, .lessOrEqual, .greater, .greaterOrEqual] {
          #expect(try Self.keys(store, .compare(name, op, constant)).isEmpty, "\(name) \(op) NaN")
        }
      }
    }
  }

  @Test func `two properties are equal as elements are`() throws {
    let store = try temporary.open(Self.classes)
    let values = EqualValues.all
    let left = try Self.column("any", store)
    let right = try Self.column("anyIndexed", store)
    for a in values {
      let made = try store.write { session in
        try values.map { try session.create([left: a.value, right: $0.value], in: Self.id) }
      }
      let expected = Set(zip(made, values).filter { $1.element == a.element }.map(\.0))
      for (op, expected) in [
        (ComparisonOperator.equal, expected), (.notEqual, Set(made).subtracting(expected)),
      ] {
        let pair = Comparison(Operand(path: "any"), op, Operand(path: "anyIndexed"))
        #expect(try Self.keys(store, .comparison(pair)) == expected, "\(a.value) \(op)")
      }
      try store.write { session in for key in made { try session.delete(key, in: Self.id) } }
    }
  }

  @Test func `numbers of two types are equal by value`() throws {
    let store = try temporary.open(Self.classes)
    let numbers: [ColumnType] = [.int, .float, .double, .decimal]
    for x in numbers {
      for y in numbers where x != y {
        for a in Self.values(x) {
          for b in Self.values(y) {
            let columns = [
              try Self.column("\(x)", store): a.value, try Self.column("\(y)", store): b.value,
            ]
            let key = try store.write { try $0.create(columns, in: Self.id) }
            let pair = Comparison(Operand(path: "\(x)"), .equal, Operand(path: "\(y)"))
            let found = try Self.keys(store, .comparison(pair))
            #expect(found.contains(key) == (a.element == b.element), "\(a.value) and \(b.value)")
            try store.write { try $0.delete(key, in: Self.id) }
          }
        }
      }
    }
  }

  @Test(arguments: types)
  func `a set has each element once, in the form in which it came`(_ type: ColumnType) throws {
    let store = try temporary.open(Self.classes)
    let column = try Self.column("\(type)Set", store)
    let values = Self.values(type)
    let key = try store.write { try $0.create([:], in: Self.id) }
    let place = SequencePlace(classID: Self.id, key: key, column: column)
    var kept: [Int: Value] = [:]
    for all in [values, values.reversed()] {
      try store.write { session in
        for one in all {
          let isNew = try session.insert(one.value, intoSet: place).isNew
          #expect(isNew == (kept[one.element] == nil), "\(one.value)")
          if isNew { kept[one.element] = one.value }
        }
      }
      try Self.checkSound(store, "\(type)")
      let reader = try SnapshotReader(store.newestSnapshot())
      let stored = try #require(try Rows(reader).elements(of: place))
      #expect(Set(stored) == Set(kept.values))
      #expect(stored.count == kept.count)
    }
    try store.write { session in
      for one in values.reversed() {
        let isFound = try session.remove(one.value, fromSet: place)
        #expect(isFound == (kept.removeValue(forKey: one.element) != nil), "\(one.value)")
      }
    }
    try Self.checkSound(store, "\(type)")
  }

  @Test(arguments: types.filter { $0 != .any })
  func `a unique rule takes equal elements for one`(_ type: ColumnType) throws {
    let store = try temporary.open([
      ClassDefinition(
        name: "Sample", properties: [.init(name: "value", type: type)], uniqueRules: [["value"]])
    ])
    let column = try Self.column("value", store)
    let values = Self.values(type).filter { $0.value != .null }
    for a in values {
      for b in values {
        try store.write { _ = try $0.create([column: a.value], in: Self.id) }
        let isRefused: Bool
        do {
          try store.write { _ = try $0.create([column: b.value], in: Self.id) }
          isRefused = false
        } catch let error as StorageError where error.code == .notUnique {
          isRefused = true
        }
        #expect(isRefused == (a.element == b.element), "\(a.value) and \(b.value)")
        let reader = try SnapshotReader(store.newestSnapshot())
        let described = try #require(reader.schema.schema[Self.id])
        let check = try IndexCheck(described, reader)
        #expect(check.problems + check.broken == [])
        try store.write { try $0.clear(Self.id) }
      }
    }
  }

  @Test(arguments: types)
  func `an element that is set over another is the one there`(_ type: ColumnType) throws {
    let store = try temporary.open(Self.classes)
    let column = try Self.column("\(type)List", store)
    let values = Self.values(type).map(\.value)
    let key = try store.write { try $0.create([:], in: Self.id) }
    let place = SequencePlace(classID: Self.id, key: key, column: column)
    for a in values {
      try store.write { session in
        try session.put(values.map { _ in a }, keys: [], in: place)
      }
      try store.write { session in
        for (index, b) in values.enumerated() { try session.set(b, at: index, in: place) }
      }
      let reader = try SnapshotReader(store.newestSnapshot())
      #expect(try Rows(reader).elements(of: place) == values, "\(a)")
      try Self.checkSound(store, "\(a)")
    }
  }
}

extension Value {
  private static let numbers: [ColumnType] = [.int, .float, .double, .decimal]

  fileprivate func isOfKind(of type: ColumnType) -> Bool {
    guard type != .any, let own = scalarType else { return true }
    return own == type || Self.numbers.contains(own) && Self.numbers.contains(type)
  }

  /// False for numbers of two types, which an index over values of any type has in two places.
  fileprivate func isFiled(like other: (value: Value, element: Int)) -> Bool {
    scalarType == other.value.scalarType
  }
}

extension Rows {
  fileprivate func elements(of place: SequencePlace) throws -> [Value]? {
    var values: [Value] = []
    try forEachElement(of: place) { value in
      values.append(value)
      return true
    }
    return values
  }
}
