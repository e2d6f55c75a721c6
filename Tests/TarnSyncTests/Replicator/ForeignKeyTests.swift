import TarnStore
import TestSupport
import Testing

@testable import TarnSync

/// Foreign keys of the server, whose rules hold for what a push does as a whole.
@Suite final class ForeignKeyTests {
  private let database: PostgresDatabase
  private let server: ServerConnection
  private let role: String
  private let folder = TemporaryFolder()

  init() throws {
    database = try PostgresDatabase()
    server = try database.connect()
    role = try database.makeClient(preparing: server) { [folder] in
      try FamilyFile.open(folder.file("schema")).newestSnapshot().schema.schema
    }
  }

  private func addKeys(_ action: String) throws {
    try server.run(
      """
      ALTER TABLE "Child" ADD FOREIGN KEY (parent) REFERENCES "Parent" ON DELETE \(action);
      ALTER TABLE "Parent" ADD FOREIGN KEY (up) REFERENCES "Parent" ON DELETE \(action),
        ADD FOREIGN KEY (favorite) REFERENCES "Child" ON DELETE \(action)
      """, for: "make foreign keys")
  }

  /// A file with two parents, of which the first one has children, and the server with them.
  private func family() throws -> FamilyFile {
    let (database, role) = (database, role)
    let file = try FamilyFile(folder.file("a")) { try database.connect(as: role) }
    try file.replicator.synchronize()
    try file.commit { session in
      for key in 1...2 { try session.makeParent(Int64(key)) }
      for key in 7...8 { try session.makeChild(Int64(key), of: 1) }
    }
    try file.replicator.synchronize()
    return file
  }

  /// As `FamilyFile.objects` has them.
  private var rows: [String] {
    get throws {
      let children = try server.rows("SELECT _id, parent FROM \"Child\" ORDER BY _id")
      let parents = try server.rows("SELECT _id FROM \"Parent\" ORDER BY _id")
      return children.map { "\($0[0] ?? "") of \($0[1] ?? "none")" } + parents.map { $0[0] ?? "" }
    }
  }

  private func expect(_ expected: [String], _ file: FamilyFile) throws {
    try file.replicator.synchronize()
    #expect(try rows == expected)
    #expect(try file.objects == expected)
    #expect(file.refused.map(\.error.message) == [])
  }

  private static let actions = ["CASCADE", "RESTRICT", "NO ACTION", "SET NULL", "SET DEFAULT"]

  @Test(arguments: actions, [1, 2])
  func `children that move survive their former parent`(action: String, commits: Int) throws {
    try addKeys(action)
    let file = try family()
    try file.commit { session in
      for key in 7...8 { try session.move(Int64(key), to: 2) }
      if commits == 1 { try session.deleteParent(1) }
    }
    if commits == 2 { try file.commit { try $0.deleteParent(1) } }
    try expect(["7 of 2", "8 of 2", "2"], file)
  }

  @Test(arguments: actions)
  func `one write deletes a parent with its children`(action: String) throws {
    try addKeys(action)
    let file = try family()
    try file.commit { session in
      try session.deleteParent(1)
      for key in 7...8 { try session.deleteChild(Int64(key)) }
    }
    try expect(["2"], file)
  }

  @Test(arguments: actions)
  func `one write makes objects that need each other`(action: String) throws {
    try addKeys(action)
    let file = try family()
    try file.commit { session in
      try session.makeParent(4, up: nil)
      try session.makeParent(3, up: 4)
      try session.makeChild(9, of: 3)
      try session.set(1, of: 4, to: 3)
      try session.set(2, of: 4, to: 9)
    }
    try expect(["7 of 1", "8 of 1", "9 of 3", "1", "2", "3", "4"], file)
  }

  /// The server's rule for a deleted parent must not reach the children of the new one.
  @Test(arguments: actions)
  func `one write replaces everything by objects with the same keys`(action: String) throws {
    try addKeys(action)
    let file = try family()
    try file.commit { session in
      for key in 1...2 { try session.deleteParent(Int64(key)) }
      for key in 7...8 { try session.deleteChild(Int64(key)) }
      for key in 1...2 { try session.makeParent(Int64(key)) }
      try session.makeChild(7, of: 1)
      try session.makeChild(9, of: 2)
    }
    try expect(["7 of 1", "9 of 2", "1", "2"], file)
  }

  /// The server does what the key says: it deletes the children too, lets them be, or gets the nil
  /// that the file has.
  @Test(arguments: actions, [false, true])
  func `a deletion sets links to nil where the key would refuse it`(
    action: String, isJoined: Bool
  ) throws {
    try addKeys(action)
    let file = try family()
    try file.commit { try $0.deleteParent(1) }
    if isJoined { #expect(try UnsentJoin.run(file.replica, above: 0)) }
    try expect(action == "CASCADE" ? ["2"] : ["7 of none", "8 of none", "2"], file)
  }

  /// A part of joined commits that the server takes must not do what all of them would not.
  @Test func `joined commits that are sent in parts keep the children`() throws {
    try addKeys("CASCADE")
    try server.rows("ALTER TABLE \"Child\" ADD CHECK (n <> 13)")
    let file = try family()
    try file.commit { session in
      try session.deleteParent(1)
      for key in 7...8 { try session.move(Int64(key), to: 2) }
    }
    try file.commit { session in
      try session.makeChild(9, of: 2)
      try session.set(ColumnID(2), at: ObjectKey(9), in: FamilyFile.child, to: .int(13))
    }
    #expect(try UnsentJoin.run(file.replica, above: 0))
    try file.replicator.synchronize()
    #expect(try rows == ["7 of 2", "8 of 2", "2"])
    #expect(try file.objects == ["7 of 2", "8 of 2", "2"])
    #expect(file.refused.map(\.error.state) == ["23514"])
  }

  /// More than a push has, each of which refers to one that comes later; in a ring there is no
  /// order at all.
  @Test(arguments: [false, true])
  func `a file that had objects brings them in the order of the keys`(isRing: Bool) throws {
    try addKeys("RESTRICT")
    let (database, role, count) = (database, role, Int64(2_500))
    let file = try FamilyFile(folder.file("a")) { session in
      for key in 1...count {
        try session.makeParent(key)
        try session.makeChild(key, of: key)
      }
      for key in 1..<count {
        try session.set(1, of: key, to: key + 1)
        if key % 100 == 0 { try session.set(2, of: key, to: key - 50) }
      }
      if isRing { try session.set(1, of: count, to: 1) }
    } _: {
      try database.connect(as: role)
    }
    try file.replicator.synchronize()
    #expect(file.refused.map(\.error.message) == [])
    #expect(try server.value("SELECT count(parent) FROM \"Child\"") == "\(count)")
    let links = "SELECT count(up) || ' ' || count(favorite) FROM \"Parent\""
    #expect(try server.value(links) == "\(isRing ? count : count - 1) 24")
  }

  /// Others do not wait for an object whose key leads nowhere.
  @Test func `an object that refers to none of the server is named alone`() throws {
    try server.run(
      """
      CREATE TABLE numbers (n bigint PRIMARY KEY); INSERT INTO numbers VALUES (0);
      GRANT SELECT ON numbers TO tarn_client;
      ALTER TABLE "Child" ADD FOREIGN KEY (n) REFERENCES numbers
      """, for: "make a table")
    try addKeys("RESTRICT")
    let (database, role) = (database, role)
    let file = try FamilyFile(folder.file("a")) { session in
      for key in 1...1_200 {
        try session.makeParent(Int64(key))
        try session.makeChild(Int64(key), of: Int64(key))
      }
      try session.set(ColumnID(2), at: ObjectKey(500), in: FamilyFile.child, to: .int(1))
    } _: {
      try database.connect(as: role)
    }
    try file.replicator.synchronize()
    #expect(file.refused.map(\.error.state) == ["23503"])
    #expect(file.refused.first?.objects.map(\.primaryKey) == [.int(500)])
    #expect(try server.value("SELECT count(*) FROM \"Child\"") == "1199")
  }

  @Test func `a key that comes during a session is noticed`() throws {
    let file = try family()
    try addKeys("CASCADE")
    try file.commit { session in
      try session.makeParent(3)
      try session.move(7, to: 3)
      try session.deleteParent(1)
    }
    try expect(["7 of 3", "2", "3"], file)
  }

  /// A policy sees the rows as they were before a statement.
  @Test func `a policy may want the parent to be there`() throws {
    try server.run(
      """
      ALTER TABLE "Child" ENABLE ROW LEVEL SECURITY;
      CREATE POLICY see ON "Child" FOR SELECT USING (true);
      CREATE POLICY own ON "Child" FOR INSERT
        WITH CHECK (EXISTS (SELECT FROM "Parent" p WHERE p._id = parent));
      """, for: "make policies")
    try addKeys("CASCADE")
    let file = try family()
    try file.commit { session in
      try session.makeParent(3)
      try session.makeChild(9, of: 3)
    }
    try expect(["7 of 1", "8 of 1", "9 of 3", "1", "2", "3"], file)
  }

  /// The server refuses a trigger that changes a row which the statement changes too.
  @Test func `a trigger may change the parent before a child is made`() throws {
    try server.run(
      """
      CREATE FUNCTION count_children() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        UPDATE "Parent" SET favorite = NULL WHERE _id = OLD.parent;
        RETURN OLD;
      END $$;
      CREATE TRIGGER counting BEFORE DELETE ON "Child" FOR EACH ROW
        EXECUTE FUNCTION count_children();
      """, for: "make a trigger")
    try addKeys("RESTRICT")
    let file = try family()
    try file.commit { session in
      try session.set(ColumnID(3), at: ObjectKey(1), in: FamilyFile.parent, to: .int(5))
      try session.deleteChild(7)
    }
    try expect(["8 of 1", "1", "2"], file)
    #expect(try server.value("SELECT n FROM \"Parent\" WHERE _id = 1") == "5")
  }

  /// As for objects that only report something, of several classes.
  @Test(arguments: ["NO ACTION", "CASCADE"])
  func `a role that may only insert sends classes of which one refers to another`(
    _ action: String
  ) throws {
    try addKeys(action)
    try server.run(
      """
      REVOKE ALL ON "Child", "Parent" FROM tarn_client;
      GRANT INSERT ON "Child", "Parent" TO tarn_client
      """, for: "take rights")
    let (database, role) = (database, role)
    let file = try FamilyFile(folder.file("a")) { try database.connect(as: role) }
    try file.store.editSubscriptions { set in
      set.asymmetric = ["Child", "Parent"]
      set.renew()
      return true
    }
    try file.replicator.synchronize()
    try file.commit { session in
      try session.makeParent(1)
      try session.makeChild(7, of: 1)
    }
    try file.commit { try $0.makeChild(8, of: nil) }
    try file.replicator.synchronize()
    #expect(try rows == ["7 of 1", "8 of none", "1"])
    #expect(file.refused.isEmpty)
    #expect(
      try UnsentCount(file.store)?.isNothing(upTo: file.store.newestSnapshot().version) == true)
  }
}

extension PostgresDatabase {
  /// Brings the classes of a store to an empty server.
  ///
  /// - Returns: a login that may do what programs may.
  func makeClient(
    preparing server: ServerConnection, _ schema: () throws -> StoreSchema
  ) throws -> String {
    _ = try ServerSetup.run(server)
    try ServerMigration(server).run(schema())
    return try makeClient()
  }
}
