import TarnStore
import Testing

@testable import TarnSync

@Suite struct ServerClassTests {
  private func problems(_ described: ClassSchema, _ others: [ClassSchema] = []) -> [String] {
    ServerClass.made(described, StoreSchema(classes: [described] + others)).problems
  }

  private func described(
    _ name: String = "Frog", key: ColumnType? = .int, _ names: [String] = []
  ) -> ClassSchema {
    var columns = key.map { [ColumnSchema(id: ColumnID(0), name: "_id", type: $0)] } ?? []
    for name in names {
      columns.append(
        ColumnSchema(id: ColumnID(UInt16(columns.count)), name: name, type: .int))
    }
    return ClassSchema(
      id: ClassID(0), name: name, columns: columns, primaryKey: key.map { _ in ColumnID(0) })
  }

  @Test func `what PostgreSQL cannot have is refused by name`() {
    #expect(problems(described()) == [])
    #expect(problems(described(key: nil)).first?.contains("Frog has no primary key") == true)
    #expect(problems(described(key: .date)).first?.contains("Frog._id must be") == true)
    let long = String(repeating: "é", count: 32)
    #expect(problems(described(long)).first?.contains("has 64 bytes") == true)
    #expect(problems(described("Frog", ["xmin"])).first?.contains("Frog.xmin") == true)
    #expect(problems(described("Frog", ["_tarn_at"])).first?.contains("_tarn_") == true)
    #expect(problems(described("Frog", ["a\0b"])).first?.contains("NUL") == true)
    let wide = described("Frog", (0..<500).map { "p\($0)" })
    #expect(problems(wide).first?.contains("501 properties") == true)
  }

  @Test func `a link needs a target with a primary key`() {
    var pond = described("Pond", key: nil, ["depth"])
    pond.id = ClassID(1)
    var frog = described()
    frog.columns.append(
      ColumnSchema(id: ColumnID(1), name: "home", type: .link, target: ClassID(1)))
    #expect(problems(frog, [pond]) == ["Frog.home links to Pond, which has no primary key"])
    pond.isEmbedded = true
    #expect(problems(frog, [pond]) == [])
    var keyed = described("Pond", key: .uuid)
    keyed.id = ClassID(1)
    let made = ServerClass.made(frog, StoreSchema(classes: [frog, keyed])).class
    #expect(made?.columns.map(\.definition) == ["\"home\" uuid"])
  }

  @Test func `optional properties may be null, others have a value for rows made by SQL`() throws {
    let made = try #require(ServerClass.made(.todo, StoreSchema(classes: [.todo])).class)
    #expect(
      made.columns.map(\.definition) == [
        "\"title\" text COLLATE \"C\" NOT NULL DEFAULT ''", "\"count\" bigint",
        "\"tags\" jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(\"tags\") = 'array')",
      ])
    #expect(made.columns.map(\.isStructured) == [false, false, true])
  }
}
