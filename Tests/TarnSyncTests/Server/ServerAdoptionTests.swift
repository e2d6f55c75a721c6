import Foundation
import TarnStore
import TestSupport
import Testing

@testable import TarnSync

@Suite struct ServerAdoptionTests {
  /// A database with a table of an application's, which belongs to a role that can log in.
  private func prepared(_ table: String) throws -> (PostgresDatabase, ServerConnection, String) {
    let database = try PostgresDatabase([])
    let connection = try database.connect()
    let role = "app_" + database.name.suffix(8).lowercased()
    try connection.run(
      """
      CREATE ROLE \(role) LOGIN; CREATE SCHEMA app AUTHORIZATION \(role);
      SET ROLE \(role); \(table); RESET ROLE
      """, for: "make a table")
    return (database, connection, role)
  }

  private let orders = """
    CREATE TABLE app.orders (
      id integer PRIMARY KEY, name varchar(20) NOT NULL, price numeric(10,2), note jsonb,
      total numeric GENERATED ALWAYS AS (price * 2) STORED, words tsvector);
    INSERT INTO app.orders (id, name, price) SELECT i, 'n' || i, i FROM generate_series(1, 5) i
    """

  @Test func `rows of an application's table get a state and keep their values`() throws {
    let (database, connection, role) = try prepared(orders)
    let lines = try ServerAdoption(connection).run(table: "app.orders", as: "Order")
    #expect(
      lines == [
        "adopted app.orders as Order",
        "not in new stores yet: note, of type jsonb. Run 'tarn server migrate' with a store that "
          + "has it as a list, set, map, embedded object or mixed value",
        "left alone: total, a generated column",
        "left alone: words, of type tsvector",
        "only its owner has rights on app.orders, so stores of other roles cannot exchange it; "
          + "GRANT USAGE ON SCHEMA app TO tarn_client; "
          + "GRANT SELECT, INSERT, UPDATE, DELETE ON app.orders TO tarn_client "
          + "(it has no row security: each of them will see and change all rows)",
      ])
    #expect(
      try connection.value(
        "SELECT count(DISTINCT _tarn_oid) FROM app.orders WHERE name = 'n' || id") == "5")
    // The application goes on, and its writes are stamped.
    let app = try database.connect(as: role)
    try app.rows("UPDATE app.orders SET price = 7 WHERE id = 1")
    try app.rows("INSERT INTO app.orders (id, name) VALUES (6, 'six')")
    try app.rows("ALTER TABLE app.orders ADD COLUMN later text")
    #expect(
      try app.rows("SELECT id, _tarn_cols ? 'price' FROM app.orders WHERE id IN (1, 6) ORDER BY id")
        == [["1", "t"], ["6", nil]])
    try app.rows("DELETE FROM app.orders WHERE id = 6")
    #expect(try connection.value("SELECT count(*) FROM tarn.gone") == "1")
  }

  /// The functions that replicas call are the owner's, who sees rows past all policies.
  @Test func `replicas hear of rows that a policy hides from them`() throws {
    let (database, connection, role) = try prepared(
      orders + "; ALTER TABLE app.orders ENABLE ROW LEVEL SECURITY")
    _ = try ServerAdoption(connection).run(table: "app.orders", as: "Order")
    let client = try database.connect(as: database.makeClient())
    let id = try connection.value("SELECT id FROM tarn.class") ?? ""
    #expect(
      try client.value("SELECT count(*) FROM tarn.changed(\(id), '3', '{}')") == "5")
    #expect(client.refusal("SELECT FROM app.orders") == "42501")
    #expect(try connection.value("SELECT pg_has_role('tarn_owner', '\(role)', 'USAGE')") == "t")
  }

  @Test func `a store's class fits to the adopted table, also with narrower types`() throws {
    let (_, connection, _) = try prepared(orders)
    _ = try ServerAdoption(connection).run(table: "app.orders", as: "Order")
    let order = ClassSchema(
      id: ClassID(0), name: "Order",
      columns: [
        ColumnSchema(id: ColumnID(0), name: "id", type: .int),
        ColumnSchema(id: ColumnID(1), name: "name", type: .string),
        ColumnSchema(id: ColumnID(2), name: "price", type: .decimal, isOptional: true),
        ColumnSchema(id: ColumnID(3), name: "rank", type: .int),
      ], primaryKey: ColumnID(0))
    #expect(
      try ServerMigration(connection).run(StoreSchema(classes: [order])) == ["added Order.rank"])
    try connection.rows("UPDATE app.orders SET rank = 1 WHERE id = 2")
    #expect(
      try connection.value("SELECT _tarn_cols ? 'rank' FROM app.orders WHERE id = 2") == "t")
  }

  @Test func `columns of arrays are left alone, and settings do not change types`() throws {
    let (database, connection, _) = try prepared(
      """
      CREATE TABLE app.x (
        id bytea PRIMARY KEY, a numeric[], b numeric(6,2)[], c varchar[], d varchar(5)[], e text[],
        f timestamptz(0)[], g varchar(5), h numeric(6,2), i timestamptz(0), j text, k uuid);
      INSERT INTO app.x (id, j) VALUES (decode(repeat('ab', 12), 'hex'), 'x')
      """)
    try connection.run(
      "ALTER DATABASE \"\(database.name)\" SET quote_all_identifiers = on", for: "test")
    let administrator = try database.connect()
    let lines = try ServerAdoption(administrator).run(table: "app.x", as: "X")
    #expect(
      Set(lines.filter { $0.hasPrefix("left alone") }.compactMap { $0.dropFirst(12).first })
        == Set("abcdef"))
    #expect(try administrator.value("SELECT type FROM tarn.property WHERE name = 'j'") == "text")
    try administrator.run("GRANT USAGE ON SCHEMA app TO tarn_client", for: "test")
    try administrator.run("GRANT ALL ON app.x TO tarn_client", for: "test")
    let warnings = try ServerStatus(administrator).warnings
    #expect(!warnings.contains { $0.contains(" now, and was ") }, "\(warnings)")
    let role = try database.makeClient()
    let folder = TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    var options = Store.Options()
    options.classes = try ServerDefinitions(administrator).run(["X"])
    let store = try StoreRegistry.open(folder.file("x"), options)
    let replica = try Replica(store, classes: ["X"])
    defer { replica.close() }
    try Replicator(replica, database.connect(as: role)).synchronize()
    let reader = try SnapshotReader(store.newestSnapshot())
    let described = try #require(reader.schema.schema.named("X"))
    #expect(described.columns.map(\.name).sorted() == ["g", "h", "i", "id", "j", "k"])
    #expect(described.named("id")?.type == .objectID)
    let key = try #require(try reader.allKeys(in: described.id).first)
    let column = try #require(described.named("j"))
    #expect(try reader.value(of: column.id, at: key, in: described.id) == .string("x"))
  }

  @Test func `a table of a superuser goes to the owner of the schema`() throws {
    let database = try PostgresDatabase([])
    let connection = try database.connect()
    try connection.rows("CREATE TABLE notes (id text PRIMARY KEY)")
    _ = try ServerAdoption(connection).run(table: "notes", as: "Note")
    #expect(
      try connection.value(
        "SELECT relowner::regrole FROM pg_class WHERE oid = 'notes'::regclass") == "tarn_owner")
    #expect(try connection.value("SELECT pg_has_role('tarn_owner', 'tester', 'USAGE')") == "f")
  }

  /// `tarn server init` makes its login a member of the owner of the schema, so that cannot become
  /// a member of the login.
  @Test func `the login that has prepared the server can adopt its own tables`() throws {
    let database = try PostgresDatabase()
    let connection = try database.connect()
    let login = "admin_" + UUID().uuidString.prefix(8).lowercased()
    _ = try ServerSetup.run(connection)
    try connection.run(
      """
      CREATE ROLE \(login) LOGIN; GRANT tarn_owner TO \(login);
      CREATE SCHEMA own AUTHORIZATION \(login)
      """, for: "make a role")
    let own = try database.connect(as: login)
    try own.rows("CREATE TABLE own.notes (id text PRIMARY KEY, a integer)")
    let lines = try ServerAdoption(own).run(table: "own.notes", as: "Note")
    #expect(lines.first == "adopted own.notes as Note")
    let owner = "SELECT relowner::regrole FROM pg_class WHERE oid = 'own.notes'::regclass"
    #expect(try connection.value(owner) == "tarn_owner")
    // It has the rights of the new owner.
    try own.rows("INSERT INTO own.notes VALUES ('a', 1)")
    try own.rows("ALTER TABLE own.notes ADD COLUMN b integer")
    #expect(try own.value("SELECT _tarn_xid IS NOT NULL FROM own.notes") == "t")
  }

  @Test func `a key in the order of a language gets an index in the order of bytes`() throws {
    let (_, connection, _) = try prepared(
      "CREATE TABLE app.words (word text COLLATE \"und-x-icu\" PRIMARY KEY)")
    _ = try ServerAdoption(connection).run(table: "app.words", as: "Word")
    let indexes = try connection.rows(
      "SELECT indexdef FROM pg_indexes WHERE tablename = 'words' AND indexdef LIKE '%COLLATE%'")
    #expect(indexes.count == 1)
  }

  @Test(arguments: [
    ("CREATE VIEW app.x AS SELECT 1 AS id", "not an ordinary table"),
    ("CREATE TABLE app.x (id int) PARTITION BY RANGE (id)", "not an ordinary table"),
    ("CREATE UNLOGGED TABLE app.x (id int PRIMARY KEY)", "unlogged"),
    (
      "CREATE TABLE app.x (id int PRIMARY KEY); CREATE TABLE app.y () INHERITS (app.x)",
      "child tables"
    ),
    (
      "CREATE TABLE app.y (id int); CREATE TABLE app.x (PRIMARY KEY (id)) INHERITS (app.y)", "child"
    ),
    (
      "CREATE TABLE app.y (id int PRIMARY KEY) PARTITION BY RANGE (id);"
        + " CREATE TABLE app.x PARTITION OF app.y DEFAULT", "a partition"
    ),
    (
      "DO $$ BEGIN EXECUTE 'CREATE TABLE app.x (id int PRIMARY KEY'"
        + " || (SELECT string_agg(', c' || i || ' int', '') FROM generate_series(1, 300) i)"
        + " || ')'; END $$", "more than one object can hold"
    ),
    (
      "CREATE TABLE app.x (a int, id int GENERATED ALWAYS AS (a + 1) STORED PRIMARY KEY)",
      "a generated column"
    ),
    ("CREATE TABLE app.x (id varchar(5)[] PRIMARY KEY)", "is of type character varying(5)[]"),
    ("CREATE TABLE app.x (id int)", "primary key of one column"),
    ("CREATE TABLE app.x (a int, b int, PRIMARY KEY (a, b))", "primary key of one column"),
    ("CREATE TABLE app.x (id date PRIMARY KEY)", "is of type date"),
    (
      """
      CREATE COLLATION app.lax (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
      CREATE TABLE app.x (id text COLLATE app.lax PRIMARY KEY)
      """, "different strings as one key"
    ),
    (
      "CREATE TABLE app.x (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY)",
      "SET GENERATED BY DEFAULT"
    ),
    ("CREATE TABLE app.x (id int PRIMARY KEY, at point NOT NULL)", "give it a default"),
    ("CREATE TABLE app.x (id int PRIMARY KEY, _tarn_a int)", "begin with _tarn_"),
    (
      "CREATE TABLE app.x (id int PRIMARY KEY DEFERRABLE)",
      "its primary key x_pkey is DEFERRABLE"
    ),
    (
      """
      CREATE TABLE app.x (id int PRIMARY KEY);
      CREATE RULE r AS ON INSERT TO app.x DO INSTEAD NOTHING
      """, "its rule r writes"
    ),
    (
      "CREATE TABLE app.top (id int); CREATE TABLE app.x (PRIMARY KEY (id)) INHERITS (app.top)",
      "a child or a partition of app.top"
    ),
  ])
  func `a table that cannot be a class is refused with the reason`(
    _ table: String, _ reason: String
  ) throws {
    let (_, connection, _) = try prepared(table)
    let error = #expect(throws: ServerError.self) {
      try ServerAdoption(connection).run(table: "app.x", as: "X")
    }
    #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    #expect(try connection.value("SELECT count(*) FROM tarn.class") == "0")
  }

  @Test func `a login that cannot grant the owner's role says who can`() throws {
    let (database, connection, role) = try prepared(orders)
    let helper = "helper_" + role.suffix(8)
    try connection.run(
      """
      CREATE ROLE \(helper) LOGIN; GRANT tarn_owner TO \(helper);
      CREATE TABLE app.grand (id int PRIMARY KEY)
      """, for: "test")
    let adoption = ServerAdoption(try database.connect(as: helper))
    let refused = #expect(throws: ServerError.self) {
      try adoption.run(table: "app.orders", as: "Order")
    }
    #expect(refused?.message == "app.orders cannot be a class")
    #expect(
      refused?.detail.contains(
        "- it belongs to \(role), and \(helper) cannot make tarn_owner a member of that role: let "
          + "a superuser, or a role with the admin option for \(role), adopt it, or run "
          + "'GRANT \"\(role)\" TO tarn_owner' before") == true, "\(refused?.detail ?? "")")
    let grand = #expect(throws: ServerError.self) {
      try adoption.run(table: "app.grand", as: "Grand")
    }
    #expect(
      grand?.detail.contains("'ALTER TABLE app.grand OWNER TO tarn_owner'") == true,
      "\(grand?.detail ?? "")")
    try connection.run(
      """
      GRANT \(role) TO tarn_owner; ALTER TABLE app.grand OWNER TO tarn_owner;
      GRANT USAGE, CREATE ON SCHEMA app TO tarn_owner
      """, for: "do as it says")
    #expect(
      try adoption.run(table: "app.orders", as: "Order").first == "adopted app.orders as Order")
    #expect(try adoption.run(table: "app.grand", as: "Grand").first == "adopted app.grand as Grand")
    // A member with the admin option needs nobody.
    try connection.run(
      """
      CREATE ROLE \(helper)_b LOGIN; CREATE ROLE \(role)_b;
      GRANT tarn_owner TO \(helper)_b; GRANT \(role)_b TO \(helper)_b WITH ADMIN OPTION;
      CREATE TABLE app.more (id int PRIMARY KEY); ALTER TABLE app.more OWNER TO \(role)_b
      """, for: "test")
    let other = ServerAdoption(try database.connect(as: helper + "_b"))
    #expect(try other.run(table: "app.more", as: "More").first == "adopted app.more as More")
  }

  @Test func `a table is adopted again after the schema tarn was dropped`() throws {
    let (_, connection, _) = try prepared(orders)
    let adoption = ServerAdoption(connection)
    _ = try adoption.run(table: "app.orders", as: "Order")
    try connection.run("DROP SCHEMA tarn CASCADE", for: "test")
    _ = try ServerSetup.run(connection)
    let lines = try adoption.run(table: "app.orders", as: "Order")
    #expect(lines[0] == "adopted app.orders as Order")
    #expect(lines[1].hasPrefix("made anew: _tarn_xid, "))
    #expect(!lines.contains { $0.hasPrefix("left alone: _tarn_") })
    try connection.rows("UPDATE app.orders SET price = 7 WHERE id = 1")
    #expect(
      try connection.value("SELECT _tarn_cols ? 'price' FROM app.orders WHERE id = 1") == "t")
    #expect(
      try connection.value("SELECT count(*) FROM tarn.property WHERE name LIKE '\\_tarn%'") == "0")
  }

  @Test func `a table is adopted once, and one that is not there never`() throws {
    let (_, connection, _) = try prepared(orders)
    let adoption = ServerAdoption(connection)
    _ = try adoption.run(table: "app.orders", as: "Order")
    let again = #expect(throws: ServerError.self) {
      try adoption.run(table: "app.orders", as: "Other")
    }
    #expect(again?.message == "app.orders is the class Order already")
    try connection.rows("CREATE TABLE others (id int PRIMARY KEY)")
    let taken = #expect(throws: ServerError.self) {
      try adoption.run(table: "others", as: "Order")
    }
    #expect(taken?.message == "app.orders is the class Order already")
    try connection.rows("DROP TABLE app.orders")
    let dropped = #expect(throws: ServerError.self) {
      try adoption.run(table: "others", as: "Order")
    }
    #expect(dropped?.description.contains("tarn server forget") == true)
    let missing = #expect(throws: ServerError.self) {
      try adoption.run(table: "app.others", as: "Other")
    }
    #expect(missing?.message == "the database does not have a table app.others")
  }

  @Test func `columns that SQL has added are taken when the table is adopted again`() throws {
    let (_, connection, _) = try prepared(orders)
    let adoption = ServerAdoption(connection)
    _ = try adoption.run(table: "app.orders", as: "Order")
    try connection.run(
      """
      ALTER TABLE app.orders ADD COLUMN later text DEFAULT 'x', ADD COLUMN place point,
        ADD COLUMN count integer NOT NULL DEFAULT 7
      """, for: "test")
    let renewals = "SELECT count(*) FROM tarn.renewal"
    let before = try connection.value(renewals)
    #expect(
      try adoption.run(table: "app.orders", as: "Order") == [
        "added Order.later", "added Order.count", "left alone: total, a generated column",
        "left alone: words, of type tsvector", "left alone: place, of type point",
      ])
    #expect(try connection.value(renewals) != before)
    try connection.rows("UPDATE app.orders SET count = 8 WHERE id = 1")
    #expect(
      try connection.value("SELECT _tarn_cols ? 'count' FROM app.orders WHERE id = 1") == "t")
    let definition = try #require(try ServerDefinitions(connection).run(["Order"]).first)
    #expect(
      definition.properties.map(\.name).sorted() == ["count", "id", "later", "name", "price"])
    let again = #expect(throws: ServerError.self) {
      try adoption.run(table: "app.orders", as: "Order")
    }
    #expect(again?.message == "app.orders is the class Order already")
    try connection.rows(
      "ALTER TABLE app.orders ADD COLUMN n integer GENERATED ALWAYS AS IDENTITY, ADD COLUMN m text")
    let refused = #expect(throws: ServerError.self) {
      try adoption.run(table: "app.orders", as: "Order")
    }
    #expect(refused?.detail.contains("n is GENERATED ALWAYS AS IDENTITY") == true)
    #expect(
      try ServerStatus(connection).columns == [
        "app.orders has columns that are not properties of Order: n, m; 'tarn server adopt' with "
          + "app.orders and Order adds them"
      ])
  }

  @Test func `columns that are added by SQL reach new stores of a class that a store has declared`()
    throws
  {
    let connection = try PostgresDatabase([.todo]).connect()
    try connection.rows("ALTER TABLE \"Todo\" ADD COLUMN later text, ADD COLUMN many bigint[]")
    #expect(
      try ServerAdoption(connection).run(table: "\"Todo\"", as: "Todo") == [
        "added Todo.later", "left alone: many, of type bigint[]",
      ])
    let definition = try #require(try ServerDefinitions(connection).run(nil).first)
    let later = try #require(definition.properties.last)
    #expect(later.name == "later" && later.type == .string && later.isOptional)
    #expect(definition.properties.count == ClassSchema.todo.columns.count + 1)
  }

  @Test func `columns that the index of the key includes are properties like others`() throws {
    let (_, connection, _) = try prepared(
      "CREATE TABLE app.x (a int, id int, b text, PRIMARY KEY (id) INCLUDE (a, b))")
    _ = try ServerAdoption(connection).run(table: "app.x", as: "X")
    let entry = try ServerCatalog(connection, "test").existing("X")
    #expect(entry.key == "id")
    #expect(entry.others.map(\.name) == ["a", "b"])
    try connection.rows("INSERT INTO app.x (id, a) VALUES (1, 2)")
    try connection.rows("UPDATE app.x SET a = 3")
    #expect(try connection.value("SELECT _tarn_cols ? 'a' FROM app.x") == "t")
  }

  @Test(arguments: ["app.Orders", "app.\"Orders\"", "\"Orders\"", "Orders"])
  func `a table is found by its plain name, too`(_ name: String) throws {
    let (database, _, role) = try prepared(
      "CREATE TABLE app.\"Orders\" (id int PRIMARY KEY)")
    let connection = try database.connect()
    try connection.run("SET search_path = app", for: "test")
    let lines = try ServerAdoption(connection).run(table: name, as: "Order")
    #expect(lines.first == "adopted app.\"Orders\" as Order")
    #expect(role.hasPrefix("app_"))
  }

  @Test func `of two tables that have the name none is taken`() throws {
    let (_, connection, _) = try prepared(
      "CREATE TABLE app.orders (id int PRIMARY KEY); CREATE TABLE app.\"Orders\" (id int)")
    let error = #expect(throws: ServerError.self) {
      try ServerAdoption(connection).run(table: "app.Orders", as: "Order")
    }
    #expect(error?.message == "app.Orders may be app.\"Orders\" or app.orders")
    let odd = #expect(throws: ServerError.self) {
      try ServerAdoption(connection).run(table: "a b.\"", as: "Order")
    }
    #expect(odd?.message == "the database does not have a table a b.\"")
  }

  @Test func `a schema in which no index can be created gives the right, or names it`() throws {
    let (database, connection, role) = try prepared(
      "CREATE TABLE app.x (id int PRIMARY KEY)")
    let helper = "helper_" + role.suffix(8)
    try connection.run(
      """
      ALTER SCHEMA app OWNER TO \(PostgresServer.administrator);
      GRANT USAGE ON SCHEMA app TO \(role);
      CREATE ROLE \(helper) LOGIN; GRANT tarn_owner, \(role) TO \(helper);
      """, for: "test")
    let refused = #expect(throws: ServerError.self) {
      try ServerAdoption(database.connect(as: helper)).run(table: "app.x", as: "X")
    }
    #expect(refused?.detail.contains("GRANT CREATE ON SCHEMA \"app\" TO tarn_owner") == true)
    _ = try ServerAdoption(connection).run(table: "app.x", as: "X")
    #expect(try connection.value("SELECT count(*) FROM tarn.class") == "1")
  }
}
