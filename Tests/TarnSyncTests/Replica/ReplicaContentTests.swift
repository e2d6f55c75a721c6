import TarnStore
import TarnText
import TestSupport
import Testing

@testable import TarnSync

/// What two files show of lists, sets, maps, embedded objects and mixed values, rule by rule.
@Suite final class ReplicaContentTests: ReplicaPair {
  // MARK: - Helpers

  /// Makes a box with these items in both files.
  private func make(_ items: [Int64] = []) throws {
    try makeBox(a, items)
    try synchronize()
  }

  private func insert(_ values: [Int64], at index: Int, _ replica: FileReplica) throws {
    try change(replica, 1) { try $0.insert(values.map { .int($0) }, at: index, in: $1) }
  }

  private func setMixed(_ text: String, _ replica: FileReplica) throws {
    let json = try JSONScanner.value(in: text)
    try change(replica, 7) { session, place in
      let writer = LocalWriter(session: session)
      let copy = try writer.copy(json, session.schema[FileBox.id][ColumnID(7)])
      _ = try writer.set(copy, at: place)
    }
  }

  private func makeSpot(_ city: String, _ replica: FileReplica) throws {
    try change(replica, 5) { session, place in
      let spot = try session.create([ColumnID(0): .string(city)], in: FileBox.spotID)
      try session.set(ColumnID(5), at: place.key, in: FileBox.id, to: .link(spot))
    }
  }

  private func setSpot(_ column: UInt16, _ value: Value, _ replica: FileReplica) throws {
    try change(replica, 5) { session, place in
      let link = try session.value(of: ColumnID(5), at: place.key, in: FileBox.id)
      guard case .link(let spot)? = link else { throw Missing() }
      try session.set(ColumnID(column), at: spot, in: FileBox.spotID, to: value)
    }
  }

  private struct Missing: Error {}

  /// A property of the box as JSON.
  private func shown(_ column: UInt16, _ replica: FileReplica) throws -> String {
    let reader = try SnapshotReader(replica.store.newestSnapshot())
    let rows = PastRows(reader, RecordedPast(at: reader.snapshot.version))
    guard let key = try rows.find(primaryKey: .int(1), in: FileBox.id) else { throw Missing() }
    let elements = try LocalItems(rows: rows).elements(of: FileBox.place(key, column))
    let texts = elements.items.map { String(decoding: $0.text, as: UTF8.self) }
    switch reader.schema[FileBox.id][ColumnID(column)].collection {
    case .none: return texts.first ?? "null"
    case .map: return zip(elements.keys, texts).map { "\($0): \($1)" }.joined(separator: ", ")
    case .list, .set: return "[" + texts.joined(separator: ",") + "]"
    }
  }

  private func expect(
    _ text: String, _ column: UInt16, in replicas: [FileReplica]? = nil, line: Int = #line
  ) throws {
    let location = SourceLocation(
      fileID: #fileID, filePath: #filePath, line: line, column: 1)
    for replica in replicas ?? [a, b] {
      let found = try shown(column, replica)
      #expect(found == text, sourceLocation: location)
    }
  }

  // MARK: - Lists

  @Test func `runs at one place stand side by side, whole`() throws {
    try make([1, 2])
    try insert([10, 11], at: 1, a)
    try insert([12], at: 3, a)
    // Typed backwards.
    try insert([22], at: 1, b)
    try insert([20, 21], at: 1, b)
    try synchronize()
    try expect("[1,20,21,22,10,11,12,2]", 1)
  }

  @Test func `an element that one removes and the other moves is gone`() throws {
    try make([1, 2, 3])
    try change(a, 1) { try $0.remove(0..<1, in: $1) }
    try change(b, 1) { try $0.move(from: 0, to: 2, in: $1) }
    try synchronize()
    try expect("[2,3]", 1)
  }

  @Test func `of one element the later value stays`() throws {
    try make([1, 2])
    try change(b, 1) { try $0.set(.int(7), at: 0, in: $1) }
    try change(a, 1) { try $0.set(.int(8), at: 0, in: $1) }
    try change(b, 1) { try $0.set(.int(9), at: 1, in: $1) }
    try synchronize()
    try expect("[8,9]", 1)
  }

  @Test func `insertions stand beside a replacement of all`() throws {
    try make([1, 2])
    try change(a, 1) { try $0.put([.int(5), .int(6)], keys: [], in: $1) }
    try insert([3], at: 2, b)
    try synchronize()
    #expect(try shown(1, a) == shown(1, b))
    #expect(["[5,6,3]", "[3,5,6]"].contains(try shown(1, a)))
  }

  @Test func `two creations of one key have the elements of both`() throws {
    for (replica, value) in [(a, Int64(1)), (b, 2)] {
      try replica.commit { session in
        let key = try session.create([ColumnID(0): .int(1)], in: FileBox.id)
        try session.insert(.int(value), at: 0, in: FileBox.place(key, 1))
        try session.insert(.string("t\(value)"), intoSet: FileBox.place(key, 2))
      }
    }
    try synchronize()
    #expect(try Set([shown(1, a), shown(1, b)]).count == 1)
    #expect(try ["[1,2]", "[2,1]"].contains(shown(1, a)))
    try expect("[\"t1\",\"t2\"]", 2)
  }

  @Test func `a list that SQL has replaced keeps what is inserted beside its elements`() throws {
    try make([1, 2, 3])
    try insert([9], at: 2, b)
    try server.rows("UPDATE \"Box\" SET items = '[0, 2, 3, 4]'")
    try synchronize()
    try expect("[0,2,9,3,4]", 1)
  }

  @Test func `a download changes only what differs`() throws {
    try make([1, 2, 3])
    try insert([9], at: 1, a)
    try a.synchronize()
    let before = try b.store.newestSnapshot().version
    try b.synchronize()
    let snapshot = try b.store.newestSnapshot()
    let history = try SequenceHistory(
      after: before, upTo: snapshot.version, of: [FileBox.id], assignmentsOf: [:],
      without: .max, in: snapshot)
    let script = history.steps(of: FileBox.place(ObjectKey(1), 1)).last?.script
    #expect(script?.runs == [.old(first: 0, count: 1), .fresh(1), .old(first: 1, count: 2)])
  }

  @Test func `a refused commit's elements go, and later ones stay`() throws {
    try make([1])
    try a.commit { session in
      try session.insert(.int(5), at: 1, in: FileBox.place(ObjectKey(1), 1))
      try session.create([ColumnID(0): .int(1), ColumnID(1): .int(13)], in: ClassID(0))
    }
    try insert([6], at: 2, a)
    try synchronize()
    #expect(a.refused.count == 1)
    try expect("[1,6]", 1)
  }

  // MARK: - Sets and maps

  @Test func `what one puts into a set and the other takes out`() throws {
    try make()
    try change(a, 2) { session, place in
      for tag in ["x", "y"] { try session.insert(.string(tag), intoSet: place) }
    }
    try synchronize()
    try change(a, 2) { try $0.remove(.string("x"), fromSet: $1) }
    try change(b, 2) { try $0.insert(.string("z"), intoSet: $1) }
    try synchronize()
    try expect("[\"y\",\"z\"]", 2)
  }

  @Test func `a map is merged key by key`() throws {
    try make()
    try change(a, 3) { session, place in
      for key in ["k", "l", "m"] { try session.set(.int(1), forKey: key, inMap: place) }
    }
    try synchronize()
    try change(b, 3) { session, place in
      try session.set(.int(2), forKey: "k", inMap: place)
      try session.removeValue(forKey: "l", fromMap: place)
      try session.set(.int(2), forKey: "m", inMap: place)
    }
    try change(a, 3) { session, place in
      try session.set(.int(3), forKey: "k", inMap: place)
      try session.set(.null, forKey: "n", inMap: place)
    }
    try synchronize()
    try expect("k: 3, m: 2, n: null", 3)
  }

  // MARK: - Embedded objects

  @Test func `an embedded object is merged property by property`() throws {
    try make()
    try makeSpot("Oslo", a)
    try synchronize()
    try setSpot(0, .string("Bergen"), a)
    try setSpot(1, .int(7), b)
    try synchronize()
    try expect("{\"city\":\"Bergen\",\"facts\":{},\"note\":null,\"rank\":7}", 5)
  }

  @Test func `another embedded object replaces the former one as a whole`() throws {
    try make()
    try makeSpot("Oslo", a)
    try synchronize()
    try setSpot(1, .int(7), b)
    try makeSpot("Rome", a)
    try synchronize()
    try expect("{\"city\":\"Rome\",\"facts\":{},\"note\":null,\"rank\":0}", 5)
  }

  @Test func `members that are unknown here stay`() throws {
    try make()
    try makeSpot("Oslo", a)
    try synchronize()
    try server.rows("UPDATE \"Box\" SET spot = spot || '{\"extra\": [1]}'")
    try synchronize()
    try setSpot(1, .int(7), b)
    try synchronize()
    try expect("{\"city\":\"Oslo\",\"facts\":{},\"note\":null,\"rank\":7}", 5)
    #expect(try server.value("SELECT spot->>'extra' FROM \"Box\"") == "[1]")
  }

  @Test(arguments: [false, true])
  func `a key that is removed from a map of an embedded object goes everywhere`(
    removesAll: Bool
  ) throws {
    try make()
    for column in [5, 6] as [UInt16] {
      try change(a, column) { session, place in
        let spot = try session.create([ColumnID(0): .string("Oslo")], in: FileBox.spotID)
        let facts = SequencePlace(classID: FileBox.spotID, key: spot, column: ColumnID(3))
        for key in ["k", "l"] { try session.set(.int(1), forKey: key, inMap: facts) }
        if column == 5 {
          try session.set(ColumnID(5), at: place.key, in: FileBox.id, to: .link(spot))
        } else {
          try session.insert(.link(spot), at: 0, in: place)
        }
      }
    }
    try synchronize()
    try server.rows("UPDATE \"Box\" SET spot = spot || '{\"extra\": 1}'")
    try synchronize()
    try change(b, 6) { session, place in
      let single = try session.value(of: ColumnID(5), at: place.key, in: FileBox.id)
      let listed = try session.sequence(at: place)?.value(at: 0)
      for case .link(let spot)? in [single, listed] {
        let facts = SequencePlace(classID: FileBox.spotID, key: spot, column: ColumnID(3))
        if removesAll {
          try session.removeAll(in: facts)
        } else {
          try session.removeValue(forKey: "k", fromMap: facts)
        }
      }
    }
    try synchronize()
    let facts = removesAll ? "{}" : "{\"l\":1}"
    let oslo = "{\"city\":\"Oslo\",\"facts\":\(facts),\"note\":null,\"rank\":0}"
    try expect(oslo, 5)
    try expect("[\(oslo)]", 6)
    #expect(try server.value("SELECT spot->>'extra' FROM \"Box\"") == "1")
  }

  @Test func `an embedded object of a list keeps its identity`() throws {
    try make()
    for replica in [a, b] {
      try change(replica, 6) { session, place in
        let spot = try session.create([ColumnID(0): .string("Oslo")], in: FileBox.spotID)
        try session.insert(.link(spot), at: 0, in: place)
      }
      try synchronize()
    }
    func key() throws -> Value? {
      let reader = try SnapshotReader(b.store.newestSnapshot())
      return try reader.sequence(at: FileBox.place(ObjectKey(1), 6))?.value(at: 1)
    }
    let former = try key()
    try change(a, 6) { session, place in
      guard case .link(let spot)? = try session.sequence(at: place)?.value(at: 1) else {
        throw Missing()
      }
      try session.set(ColumnID(1), at: spot, in: FileBox.spotID, to: .int(5))
    }
    try synchronize()
    let oslo = "{\"city\":\"Oslo\",\"facts\":{},\"note\":null,\"rank\":0}"
    try expect("[\(oslo),\(oslo.replacing("0}", with: "5}"))]", 6)
    #expect(try key() == former)
  }

  // MARK: - Mixed values

  @Test func `a map in a mixed value is merged member by member`() throws {
    try make()
    try setMixed("{\"x\": 1, \"y\": {\"z\": 1}}", a)
    try synchronize()
    try setMixed("{\"x\": 2, \"y\": {\"z\": 1}}", a)
    try setMixed("{\"x\": 1, \"y\": {\"z\": 1, \"w\": 3}}", b)
    try synchronize()
    try expect("{\"x\":2,\"y\":{\"w\":3,\"z\":1}}", 7)
  }

  @Test(arguments: [
    "0.5", "1e+300", "-0.0", "9223372036854775807", "\"a\\u0000b\"", "\"\\ue000\"",
    "{\"$type\":\"double\",\"value\":\"NaN\"}", "{\"$type\":\"decimal\",\"value\":\"1E+3\"}",
    "{\"$type\":\"date\",\"value\":\"1999-12-31T23:59:59.123456789Z\"}",
    "{\"$type\":\"map\",\"value\":{\"$type\":1}}", "{\"\":[[],{}]}",
  ])
  func `mixed values arrive exactly`(text: String) throws {
    try make()
    try setMixed(text, a)
    let written = try shown(7, a)
    #expect(written != "null")
    try synchronize()
    try expect(written, 7)
    // What came is not sent again.
    #expect(try server.value("SELECT max(_tarn_by) FROM \"Box\"") == "1")
  }

  /// A push then meets a stamp that no download brings.
  @Test func `a list that was written past the triggers is fetched`() throws {
    try make([1])
    var script = ""
    for change in [
      "DISABLE TRIGGER ALL", "ENABLE ALWAYS TRIGGER \"~tarn\"", "ENABLE ALWAYS TRIGGER \"}tarn\"",
    ] {
      script += "ALTER TABLE \"Box\" \(change);"
      guard script.count(where: { $0 == ";" }) == 1 else { continue }
      script += "UPDATE \"Box\" SET items = '[1, 5]', _tarn_cols = '{\"items\": [9, 0]}';"
    }
    try server.run(script, for: "write past the triggers")
    try insert([2], at: 0, a)
    try synchronize()
    try expect("[2,1,5]", 1)
  }

  // MARK: - Links

  /// Where the target of a link is created again: here also before the deletion is sent.
  enum Again { case bySQL, here, hereBefore }

  @Test func `a link in a list comes back to its place with its target`() throws {
    try make()
    for name in ["n1", "n2", "n3"] { try a.create("Note", .string(name), a: 1) }
    try link(a, to: "n1", "n2", "n3")
    try synchronize()
    try server.rows("DELETE FROM \"Note\" WHERE _id = 'n2'")
    try synchronize()
    try expect("[\"n1\",\"n3\"]", 4)
    // A push of the list keeps the link that is not shown.
    try change(b, 4) { try $0.remove(0..<1, in: $1) }
    try synchronize()
    try expect("[\"n3\"]", 4)
    #expect(try server.value("SELECT notes::text FROM \"Box\"") == "[\"n2\", \"n3\"]")
    try b.create("Note", .string("n2"), a: 2)
    try synchronize()
    try expect("[\"n2\",\"n3\"]", 4)
  }

  @Test(arguments: [Again.bySQL, .here, .hereBefore])
  func `links to an object that was deleted here come back with it`(again: Again) throws {
    try make()
    try a.create("Note", .string("n1"), a: 1)
    try a.create("Thing", .int(1), a: 1, note: "n1")
    try link(a, to: "n1")
    try setMixed("{\"$type\": \"link\", \"class\": \"Note\", \"value\": \"n1\"}", a)
    try change(a, 6) { session, place in
      let note = try note("n1", session)
      let values = [ColumnID(0): Value.string("Oslo"), ColumnID(2): .link(note)]
      try session.insert(
        .link(try session.create(values, in: FileBox.spotID)), at: 0, in: place)
    }
    try synchronize()
    try a.delete("Note", .string("n1"))
    if again != .hereBefore {
      try synchronize()
      for column in [4, 7] as [UInt16] { try expect(column == 4 ? "[]" : "null", column) }
    }
    if again == .bySQL {
      try server.rows("INSERT INTO \"Note\" (_id, a) VALUES ('n1', 5)")
    } else {
      try a.create("Note", .string("n1"), a: 5)
    }
    try synchronize()
    try expect("[\"n1\"]", 4)
    try expect("{\"$type\":\"link\",\"class\":\"Note\",\"value\":\"n1\"}", 7)
    try expect("[{\"city\":\"Oslo\",\"facts\":{},\"note\":\"n1\",\"rank\":0}]", 6)
    for replica in [a, b] {
      #expect(try replica.objects()["Thing 1"]?.note?.contains("n1") == true)
    }
  }

  /// Names are for replicas: the column that SQL writes has none.
  @Test func `a member that SQL writes stands beside an unsent change of another`() throws {
    try make()
    try makeSpot("Oslo", a)
    try synchronize()
    try server.rows("UPDATE \"Box\" SET spot = jsonb_set(spot, '{rank}', '31')")
    try setSpot(0, .string("Rome"), b)
    try b.synchronize()
    try expect("{\"city\":\"Rome\",\"facts\":{},\"note\":null,\"rank\":31}", 5, in: [b])
    // It is still the same object for a store that has downloaded nothing since.
    a.pause()
    try setSpot(0, .string("Bonn"), a)
    try synchronize()
    try expect("{\"city\":\"Bonn\",\"facts\":{},\"note\":null,\"rank\":31}", 5)
  }

  @Test func `of a mixed value the later one of a store and SQL stays`() throws {
    try make()
    try setMixed("1", b)
    try server.rows("UPDATE \"Box\" SET \"any\" = '2'")
    try synchronize()
    try expect("2", 7)
    try server.rows("UPDATE \"Box\" SET \"any\" = '3'")
    b.pause()
    try setMixed("4", b)
    try synchronize()
    try expect("4", 7)
  }
}
