import TarnStore
import TarnText
import TestSupport
import Testing

@testable import TarnSync

/// Equal elements of sets in several forms: stores have the same one.
@Suite struct SetFormTests {
  private static let definitions = [
    ClassDefinition(
      name: "Bag",
      properties: [
        .init(name: "_id", type: .int, isPrimaryKey: true),
        .init(name: "decimals", type: .decimal, collection: .set),
        .init(name: "doubles", type: .double, collection: .set),
        .init(name: "mixed", type: .any, collection: .set, isOptional: true),
        .init(name: "part", type: .link, isOptional: true, target: "Part"),
      ]),
    ClassDefinition(
      name: "Part", properties: [.init(name: "decimals", type: .decimal, collection: .set)],
      isEmbedded: true),
  ]

  private let folder = TemporaryFolder()
  private let database: PostgresDatabase
  private let role: String
  private let server: ServerConnection

  init() throws {
    (database, role) = try TestReplica.server(Self.definitions, "SELECT 1")
    server = try database.connect()
  }

  private func replica(_ name: String) throws -> TestReplica {
    try TestReplica(folder.file(name), Self.definitions, exchanging: ["Bag"]) {
      try database.connect(as: role)
    }
  }

  /// The elements of the bag, with their forms.
  private func elements(_ replica: TestReplica) throws -> String {
    let reader = try SnapshotReader(replica.store.newestSnapshot())
    let items = LocalItems(rows: PastRows(reader, RecordedPast(at: reader.snapshot.version)))
    var all: [JSONValue] = []
    for column in 1...4 as ClosedRange<UInt16> {
      let found = try items.elements(of: Self.place(column)).items.map(\.json)
      all.append(column == 4 ? .array(found) : ItemCoder.set(found))
    }
    return JSONText.text(.array(all))
  }

  private static func place(_ column: UInt16) -> SequencePlace {
    SequencePlace(classID: ClassID(0), key: ObjectKey(1), column: ColumnID(column))
  }

  private static func decimal(_ text: String) throws -> Value {
    .decimal(try #require(DecimalNumber.parse(text)).value.cell)
  }

  @Test func `a set that SQL wrote has the form that comes first, in every store`() throws {
    try server.rows(
      """
      INSERT INTO "Bag" (_id, decimals, doubles, mixed, part) VALUES (1,
        '["1.00", "1", "1.0", "7.50"]', '[{"$type": "double", "value": "-0.0"}, 0]',
        '[2, 1.0, 1, true]', '{"decimals": ["3.0", "3"]}')
      """)
    for name in ["a", "b", "c", "d"] {
      let one = try replica(name)
      defer { one.end() }
      try one.synchronize()
      #expect(
        try elements(one) == #"[["1","7.50"],[0.0],[1,2,true],[{"decimals":["3"]}]]"#)
    }
  }

  @Test(arguments: [false, true])
  func `two stores put in one element in two forms`(isReversed: Bool) throws {
    let (a, b) = (try replica("a"), try replica("b"))
    defer { for one in [a, b] { one.end() } }
    try server.rows("INSERT INTO \"Bag\" (_id) VALUES (1)")
    for one in [a, b] { try one.synchronize() }
    for (one, decimal, mixed) in [(a, "1.0", Value.int(1)), (b, "1.00", .double(1))] {
      try one.commit { session in
        try session.insert(Self.decimal(decimal), intoSet: Self.place(1))
        try session.insert(.double(decimal == "1.0" ? -0.0 : 0), intoSet: Self.place(2))
        try session.insert(mixed, intoSet: Self.place(3))
      }
    }
    for one in isReversed ? [b, a, b] : [a, b, a] { try one.synchronize() }
    let all = #"[["1.0"],[0.0],[1],[]]"#
    #expect(try elements(a) == all)
    #expect(try elements(b) == all)
    let row = try server.rows("SELECT decimals, doubles, mixed FROM \"Bag\"")[0]
    #expect(row == ["[\"1.0\"]", "[0.0]", "[1]"])
    // What one of them takes out goes, whatever its form is there.
    try server.rows("UPDATE \"Bag\" SET decimals = '[\"1.00\", \"2\"]'")
    try a.commit { try $0.remove(Self.decimal("1.0"), fromSet: Self.place(1)) }
    for one in [a, b] { try one.synchronize() }
    #expect(try elements(b) == #"[["2"],[0.0],[1],[]]"#)
  }
}
