import TestSupport
import Testing

@testable import TarnStore

/// The values that the types of a program have, as a file keeps them.
@Suite struct DomainRecordTests {
  private static let small = ValueDomain.integers(-128...127)
  private static let moods = ValueDomain.values([.string("calm"), .string("wild")])

  private func classes(
    _ number: ValueDomain?, _ mood: ValueDomain? = nil, hasTypes: Bool = true,
    and others: [ClassDefinition.Property] = []
  ) -> [ClassDefinition] {
    [
      ClassDefinition(name: "Other", properties: [.init(name: "number", type: .int)]),
      ClassDefinition(
        name: "Box",
        properties: [
          .init(name: "number", type: .int, isOptional: true, domain: number),
          .init(name: "moods", type: .string, collection: .list, domain: mood),
        ] + others, hasTypes: hasTypes),
    ]
  }

  private func domains(_ store: Store) throws -> [ValueDomain?] {
    try store.newestSnapshot().schema.schema.named("Box")?.columns.map(\.domain) ?? []
  }

  private func records(_ store: Store) throws -> [ReplicaKey] {
    let snapshot = try store.newestSnapshot()
    defer { withExtendedLifetime(snapshot) {} }
    var cursor = try Cursor(snapshot.transaction)
    return try ReplicaRecords.all(of: ReplicaKey.domains, &cursor).map(\.key)
  }

  @Test func `a file keeps them, and no other process needs the classes`() throws {
    let file = TemporaryStore()
    var store: Store? = try file.open(classes(Self.small, Self.moods))
    #expect(try domains(#require(store)) == [Self.small, Self.moods])
    store = nil
    let again = try file.open()
    #expect(try domains(again) == [Self.small, Self.moods])
    #expect(try records(again) == [ReplicaKey(255, ClassID(1), 0)])
    // They do not make it a replica.
    let snapshot = try again.newestSnapshot()
    #expect(try !ReplicaRecords.exist(in: snapshot.transaction))
    #expect(try TreeCheck(SnapshotReader(snapshot)).problems == [])
  }

  @Test func `a file without such columns has no record`() throws {
    let store = try TemporaryStore().open(classes(nil))
    #expect(try records(store) == [])
  }

  @Test func `values of all types and any number come back`() throws {
    let many = (0..<3_000).map { Value.string("case \($0) with a long name") }
    let all: [ValueDomain] = [
      .values(Set(many)), .values([.int(.min), .int(0), .int(.max)]), .values([]),
      .values([.float(1.5), .float(-0.0)]), .values([.double(.infinity), .double(2)]),
      .integers(.min ... .max), .integers(-32_768...32_767),
    ]
    for domain in all {
      let file = TemporaryStore()
      var store: Store? = try file.open(classes(domain))
      #expect(try domains(#require(store)).first == domain)
      store = nil
      #expect(try domains(file.open()).first == domain)
    }
    #expect(Self.moods.contains(.string("wild")))
    #expect(Self.moods.contains(.null))
    #expect(!Self.moods.contains(.string("Wild")))
    #expect(ValueDomain.values([.string("e\u{301}")]).contains(.string("\u{e9}")))
    #expect(ValueDomain.values([.double(0)]).contains(.double(-0.0)))
    #expect(!Self.small.contains(.int(128)))
    #expect(Self.small.contains(.int(-128)))
  }

  @Test func `other types make a new epoch and no version`() throws {
    let file = TemporaryStore()
    let store = try file.open(classes(Self.small, Self.moods))
    let before = try store.newestSnapshot().head
    _ = try file.open(classes(Self.small, Self.moods))
    #expect(try store.newestSnapshot().head == before)
    _ = try file.open(classes(nil, Self.moods))
    let after = try store.newestSnapshot().head
    #expect(after.version == before.version && after.schemaVersion == before.schemaVersion)
    #expect(after.schemaEpoch == before.schemaEpoch + 1)
    #expect(try domains(store) == [nil, Self.moods])
    // The first program does not insist.
    _ = try file.open(classes(Self.small, Self.moods))
    #expect(try store.newestSnapshot().head == after)
    // Classes without types leave them as they are.
    _ = try file.open(classes(nil, nil, hasTypes: false))
    #expect(try domains(store) == [nil, Self.moods])
    _ = try file.open(classes(nil, nil))
    #expect(try records(store) == [])
  }

  @Test func `who only reads changes nothing`() throws {
    let file = TemporaryStore()
    var store: Store? = try file.open(classes(Self.small))
    let before = try #require(store).newestSnapshot().head
    store = nil
    var options = Store.Options()
    options.isReadOnly = true
    options.classes = classes(nil, Self.moods)
    let reading = try StoreRegistry.open(file.path, options)
    #expect(try reading.newestSnapshot().head == before)
    #expect(try domains(reading) == [Self.small, nil])
  }

  @Test func `an opener in a write does not wait for ever, and the next one records them`() throws {
    let file = TemporaryStore()
    let store = try file.open(classes(Self.small))
    let token = try store.acquireGate()
    _ = try file.open(classes(nil))
    #expect(try domains(store).first == Self.small)
    token.release()
    _ = try file.open(classes(nil))
    #expect(try domains(store) == [nil, nil])
  }

  @Test func `additions and migrations have them in the same transaction`() throws {
    let file = TemporaryStore()
    let store = try file.open(classes(nil))
    let more = ClassDefinition.Property(name: "more", type: .int, domain: Self.small)
    _ = try file.open(classes(Self.small, nil, and: [more]))
    #expect(try domains(store) == [Self.small, nil, Self.small])
    #expect(try store.newestSnapshot().schema.epoch == 2)
    // A property that changes its type has a new column.
    var wanted = classes(nil, Self.moods)
    wanted[1].properties[0].isOptional = false
    wanted[1].properties[0].domain = .integers(0...9)
    let migration = try SchemaMigration(
      store.newestSnapshot(), to: 1, wanted, path: file.path
    ) {}
    _ = try store.commit(migration.finish())
    let box = try #require(try store.newestSnapshot().schema.schema.named("Box"))
    #expect(box.named("number")?.domain == .integers(0...9))
    #expect(box.named("moods")?.domain == Self.moods)
    #expect(box.columns.filter(\.isRemoved).allSatisfy { $0.domain == nil })
  }
}
