import TarnStore
import Testing

@testable import TarnSync

@Suite struct ServerRenameTests {
  private let connection: ServerConnection

  init() throws {
    connection = try PostgresDatabase([.todo]).connect()
    try connection.run(
      """
      INSERT INTO "Todo" (_id, title) VALUES ('a', 'x'), ('b', 'y');
      UPDATE "Todo" SET title = 'z', tags = '["t"]' WHERE _id = 'a';
      """, for: "fill")
  }

  /// The class with other names of its properties.
  private func todo(_ names: [String: String]) -> StoreSchema {
    var described = ClassSchema.todo
    for place in described.columns.indices {
      let name = described.columns[place].name
      described.columns[place].name = names[name] ?? name
    }
    return StoreSchema(classes: [described])
  }

  @discardableResult
  private func migrate(
    _ schema: StoreSchema, _ renames: [String] = [], freeing freed: [String] = [],
    asking asks: ((String) -> Bool)? = nil
  ) throws -> [String] {
    try ServerMigration(connection).run(
      schema, renaming: PropertyRenames(renames, freeing: freed, asking: asks))
  }

  private func refusal(_ schema: StoreSchema, _ renames: [String] = []) -> String {
    (#expect(throws: ServerError.self) { try migrate(schema, renames) })?.message ?? ""
  }

  private let state = """
    SELECT _id, _tarn_xid, _tarn_oid, _tarn_at, _tarn_cols->'title', _tarn_parts->'title'
    FROM "Todo" ORDER BY _id
    """

  @Test func `a rename moves the column and all state of it`() throws {
    try connection.run(
      """
      ALTER TABLE "Todo" DISABLE TRIGGER "~tarn";
      UPDATE "Todo" SET _tarn_parts = '{"title": [1, 0, "AA=="]}' WHERE _id = 'b';
      ALTER TABLE "Todo" ENABLE ALWAYS TRIGGER "~tarn";
      CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql
        AS 'BEGIN RAISE EXCEPTION ''it ran''; END';
      CREATE TRIGGER a BEFORE UPDATE ON "Todo" FOR EACH ROW EXECUTE FUNCTION f();
      CREATE TRIGGER b AFTER UPDATE ON "Todo" FOR EACH ROW EXECUTE FUNCTION f();
      ALTER TABLE "Todo" ENABLE ALWAYS TRIGGER a, ENABLE REPLICA TRIGGER b,
        FORCE ROW LEVEL SECURITY;
      """, for: "prepare")
    let triggers = "SELECT tgname, tgenabled FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1"
    let (before, modes) = (try connection.rows(state), try connection.rows(triggers))
    let done = try migrate(todo(["title": "name"]), ["title=name"])
    let first = try #require(done.first)
    #expect(first.hasPrefix("renamed Todo.title to name, in the state of 2 rows; "))
    let after = state.replacing("title", with: "name")
    #expect(try connection.rows(after) == before)
    #expect(try connection.rows(triggers) == modes)
    #expect(
      try connection.rows("SELECT count(*) FROM \"Todo\" WHERE _tarn_cols ? 'title'") == [["0"]])
    try connection.run("DROP TRIGGER a ON \"Todo\"; DROP TRIGGER b ON \"Todo\"", for: "test")
    try connection.rows("UPDATE \"Todo\" SET name = 'new' WHERE _id = 'b'")
    #expect(
      try connection.value("SELECT _tarn_cols ? 'name' FROM \"Todo\" WHERE _id = 'b'") == "t")
    let definitions = try ServerDefinitions(connection).run(nil)
    #expect(definitions[0].properties.map(\.name) == ["_id", "name", "count", "tags"])
    #expect(try migrate(todo(["title": "name"]), ["title=name"]) == [])
  }

  @Test func `properties with parts and the key are renamed, too`() throws {
    try migrate(todo(["tags": "labels", "_id": "id"]), ["Todo.tags=labels", "Todo._id=id"])
    #expect(
      try connection.rows("SELECT id, labels, _tarn_cols ? 'labels' FROM \"Todo\" ORDER BY id")
        == [["a", "[\"t\"]", "t"], ["b", "[]", nil]])
    try connection.rows("UPDATE \"Todo\" SET labels = '[]' WHERE id = 'a'")
    let entry = try ServerCatalog(connection, "test").existing("Todo")
    #expect(entry.key == "id")
    #expect(try ServerRepair(connection).touch("Todo") == 2)
  }

  /// An older program would add it again, empty.
  @Test func `a former name is served under the new one, until it is freed`() throws {
    try migrate(todo(["title": "name"]), ["title=name"])
    #expect(try migrate(todo([:])) == [])
    let entry = try ServerCatalog(connection, "test").existing("Todo")
    #expect(entry.columns.map(\.name) == ["_id", "count", "name", "tags"])
    let older = try ExchangeClass(entry, .todo)
    #expect(older.missing == [])
    #expect(older.others.map(\.name) == ["name", "count", "tags"])
    var both = todo(["title": "name"]).classes[0]
    both.columns.append(ColumnSchema(id: ColumnID(4), name: "title", type: .string))
    let schema = StoreSchema(classes: [both])
    #expect(refusal(schema).hasPrefix("Todo.title is a former name of name"))
    #expect(
      try ExchangeClass(entry, both).mismatched == [
        "Todo.title is the former name of name on the server"
      ])
    #expect(
      try migrate(schema, freeing: ["Todo.title"])
        == ["Todo.title is free for a new property", "added Todo.title"])
    try connection.rows("UPDATE \"Todo\" SET title = 'x', name = 'y'")
  }

  @Test func `a second rename and one back leave one name each`() throws {
    try migrate(todo(["title": "name"]), ["title=name"])
    try migrate(todo(["title": "text"]), ["name=text"])
    let names = "SELECT name, now FROM tarn.former ORDER BY name"
    #expect(try connection.rows(names) == [["name", "text"], ["title", "text"]])
    try migrate(todo([:]), ["text=title"])
    #expect(try connection.rows(names) == [["name", "title"], ["text", "title"]])
  }

  @Test func `a column that SQL has renamed is found again`() throws {
    try connection.rows("ALTER TABLE \"Todo\" RENAME title TO name")
    #expect(connection.refusal("UPDATE \"Todo\" SET count = 1") == "42703")
    #expect(try migrate(todo(["title": "name"]), ["title=name"]).count == 1)
    try connection.rows("UPDATE \"Todo\" SET name = 'new'")
    #expect(
      try connection.rows("SELECT name, _tarn_cols ? 'name', _tarn_cols ? 'title' FROM \"Todo\"")
        == [["new", "t", "f"], ["new", "t", "f"]])
  }

  @Test func `a column that SQL has dropped is forgotten, or added again`() throws {
    try connection.rows("ALTER TABLE \"Todo\" DROP COLUMN title")
    #expect(connection.refusal("UPDATE \"Todo\" SET count = 1") == "42703")
    #expect(
      try ServerMigration(connection).run()
        == ["Todo.title no longer has a column, and is not exchanged"])
    try connection.rows("UPDATE \"Todo\" SET count = 1")
    #expect(try connection.rows("SELECT DISTINCT _tarn_cols ? 'title' FROM \"Todo\"") == [["f"]])
    #expect(
      try migrate(todo([:]))
        == ["added Todo.title again: stores take its values from the server"])
    try connection.rows("UPDATE \"Todo\" SET title = 'back'")
    #expect(try migrate(todo([:])) == [])
  }

  @Test func `a column that SQL has added is taken`() throws {
    try connection.rows("ALTER TABLE \"Todo\" ADD COLUMN rank double precision")
    var described = ClassSchema.todo
    described.columns.append(
      ColumnSchema(id: ColumnID(4), name: "rank", type: .double, isOptional: true))
    #expect(try migrate(StoreSchema(classes: [described])) == ["added Todo.rank"])
    try connection.rows("UPDATE \"Todo\" SET rank = 1")
    #expect(try connection.rows("SELECT DISTINCT _tarn_cols ? 'rank' FROM \"Todo\"") == [["t"]])
    described.columns.append(ColumnSchema(id: ColumnID(5), name: "note", type: .string))
    try connection.rows("ALTER TABLE \"Todo\" ADD COLUMN note int")
    #expect(
      refusal(StoreSchema(classes: [described]))
        .hasPrefix("Todo.note is integer on the server and would be text"))
  }

  @Test func `someone who is asked decides`() throws {
    var questions: [String] = []
    let schema = todo(["title": "name"])
    #expect(
      try migrate(schema) {
        questions.append($0)
        return true
      }.count == 1)
    #expect(questions.count == 1)
    #expect(questions[0].hasPrefix("Is Todo.name the property title of the server, renamed?"))
    #expect(try migrate(todo(["title": "text"])) { _ in false } == ["added Todo.text"])
  }

  @Test(arguments: [
    ("nothing", "a rename is CLASS.OLD=NEW or OLD=NEW"), ("a=", "a rename is"),
    ("title=other", "cannot rename title: the store has no property other there"),
    ("Todo.title=count", "cannot rename Todo.title: the store still has a property title"),
    ("Note.title=count", "cannot rename Note.title: the store has no property count there"),
  ])
  func `a rename that is impossible says why`(_ text: String, _ reason: String) throws {
    #expect(refusal(todo([:]), [text]).hasPrefix(reason), "\(refusal(todo([:]), [text]))")
  }

  @Test func `a rename to a property of another type, or of two, says why`() throws {
    #expect(
      refusal(todo(["count": "title", "title": "text"]), ["tags=title"])
        == "cannot rename tags: the store still has a property tags")
    #expect(
      refusal(todo(["title": "count", "count": "number"]), ["title=number"])
        == "cannot rename title: it is text, and number is bigint")
    #expect(
      refusal(todo(["title": "name"]), ["rank=name"])
        == "cannot rename rank: the server has no such property")
    try migrate(todo(["title": "name"]))
    #expect(
      refusal(todo(["title": "name"]), ["title=name"])
        == "cannot rename title: the server has Todo.name, too")
  }

  @Test func `changed policies and rights are noticed once`() throws {
    func warnings() throws -> [String] {
      try ServerStatus(connection).warnings.filter { $0.contains("the policies or rights") }
    }
    #expect(try warnings() == [])
    #expect(try migrate(todo([:])) == [])
    for change in [
      "ALTER TABLE \"Todo\" ENABLE ROW LEVEL SECURITY",
      "CREATE POLICY p ON \"Todo\" USING (title = current_user)",
      "CREATE TABLE members (name text); "
        + "ALTER POLICY p ON \"Todo\" USING (title IN (SELECT name FROM members))",
      "GRANT SELECT ON \"Todo\" TO pg_monitor",
      "GRANT UPDATE (title) ON \"Todo\" TO pg_monitor",
    ] {
      try connection.run(change, for: "test")
      #expect(try warnings().count == 1, "\(change)")
      let renewals = try connection.value("SELECT count(*) FROM tarn.renewal") ?? ""
      #expect(
        try migrate(todo([:]))
          == ["the policies or rights of Todo have changed: replicas compare its objects"])
      #expect(try connection.value("SELECT count(*) > \(renewals) FROM tarn.renewal") == "t")
      #expect(try warnings() == [])
    }
    try connection.rows("DROP POLICY p ON \"Todo\"")
    _ = try ServerRepair(connection).touch("Todo")
    #expect(try warnings() == [])
  }
}
