import Foundation
import TarnStore
import TestSupport
import Testing

/// `tarn inspect --check` on files with every kind of property and every kind of index: sound ones
/// are found sound, and `tarn reindex` mends what is wrong with indexes alone.
@Suite struct SoundFileTests {
  private let folder = TemporaryFolder()

  private func open() throws -> Store {
    var options = Store.Options()
    options.isDurable = false
    options.classes = EveryType.indexedClasses
    return try StoreRegistry.open(folder.file("a.realm"), options)
  }

  private func fill(_ store: Store, seed: UInt64) throws {
    try store.write { session in
      var every = try EveryType(seed: seed, session)
      for id in 0..<20 {
        try every.add("Thing", id: id)
        try every.add("Loose", id: id)
      }
      try every.addKeyed(30)
    }
  }

  private func tarn(_ arguments: String...) throws -> ToolProcess.Result {
    try ToolProcess(folder, arguments).finish()
  }

  private func checkIsSound(_ when: String = "") throws {
    let check = try tarn("inspect", "a.realm", "--check")
    #expect(check.status == 0, "\(when): \(check.output)")
    #expect(check.output.contains("Sound"), "\(when): \(check.output)")
  }

  @Test(arguments: Seeds.of([1, 2, 3]))
  func soundFilesAreSound(_ seed: UInt64) throws {
    let store = try open()
    try checkIsSound("empty")
    try fill(store, seed: seed)
    try checkIsSound("full")
    for round in 0..<3 {
      try store.write { session in
        var every = try EveryType(seed: seed + 100 + UInt64(round), session)
        for id in stride(from: round, to: 20, by: 2) {
          try every.change("Thing", id: id)
          try every.change("Loose", id: id)
        }
      }
      try checkIsSound("changed")
    }
    try store.write { session in
      for described in session.schema.schema.classes where !described.isEmbedded {
        for (number, key) in try session.allKeys(in: described.id).enumerated()
        where number % 2 == 0 {
          try session.delete(key, in: described.id)
        }
      }
    }
    try checkIsSound("half deleted")
    try store.write { session in
      for described in session.schema.schema.classes where !described.isEmbedded {
        for key in try session.allKeys(in: described.id) {
          try session.delete(key, in: described.id)
        }
      }
    }
    try checkIsSound("emptied")
  }

  /// Takes each index away in turn, in another process than the one that mends it.
  @Test func everyIndexIsMended() throws {
    let store = try open()
    try fill(store, seed: 7)
    let reader = try SnapshotReader(store.newestSnapshot())
    let version = reader.snapshot.version
    var broken = 0
    for described in reader.schema.schema.classes {
      for index in reader.indexNames(of: described.id) {
        let count = try count(index, store)
        if count == 0 { continue }
        broken += 1
        try store.environment.write { transaction throws(StorageError) in
          try index.packed.removeAll(in: transaction)
        }
        let title = reader.title(of: index)
        let check = try tarn("inspect", "a.realm", "--check")
        #expect(check.status == 1, "\(title): \(check.output)")
        #expect(check.output.contains(title), "\(title): \(check.output)")
        #expect(check.output.hasSuffix("this rebuilds them: tarn reindex a.realm\n"))
        let done = try tarn("reindex", "a.realm", wanted(index, described))
        #expect(done.status == 0, "\(title): \(done.errors)")
        #expect(try self.count(index, store) == count, "\(title)")
        try checkIsSound(title)
      }
    }
    #expect(broken > 40)
    #expect(try store.newestSnapshot().version == version)
  }

  private func wanted(_ index: IndexName, _ described: ClassSchema) -> String {
    switch index {
    case .column(_, let column): "\(described.name).\(described[column].name)"
    case .rule: described.name
    }
  }

  private func count(_ index: IndexName, _ store: Store) throws -> Int {
    let snapshot = try store.newestSnapshot()
    defer { withExtendedLifetime(snapshot) {} }
    var cursor = try Cursor(snapshot.transaction)
    return try index.packed.count(&cursor)
  }

  /// The whole file at once, with wrong entries and wrong counts of links.
  @Test func allOfThemAreMended() throws {
    let store = try open()
    try fill(store, seed: 8)
    let reader = try SnapshotReader(store.newestSnapshot())
    var stray = PackedIndexChanges()
    stray.add(try #require(OrderKey(.int(3), type: .int)), ObjectKey(4_711))
    stray.sort()
    try store.environment.write { [stray] transaction throws(StorageError) in
      for described in reader.schema.schema.classes {
        for index in reader.indexNames(of: described.id) {
          try index.packed.removeAll(in: transaction)
          try index.packed.apply(stray, in: transaction)
        }
      }
    }
    let check = try tarn("inspect", "a.realm", "--check", "--json")
    #expect(
      check.output.contains(#""remedy":"tarn reindex a.realm""#), "\(check.output.suffix(500))")
    #expect(try tarn("reindex", "a.realm").status == 0)
    try checkIsSound()
    #expect(try store.newestSnapshot().version == reader.snapshot.version)
  }

  /// Killed at each point of its way, it leaves the index as it was or as it should be.
  @Test(arguments: ["reindex.begun", "reindex.rows", "storage.beforeCommit", "reindex.done"])
  func aKillLeavesEitherIndex(_ point: String) throws {
    let store = try open()
    try fill(store, seed: 11)
    let id = try #require(store.newestSnapshot().schema.schema.named("By_string")?.id)
    let index = IndexName.column(id, ColumnID(1))
    let whole = try count(index, store)
    try store.environment.write { transaction throws(StorageError) in
      try index.packed.removeAll(in: transaction)
    }
    let killed = try ToolProcess(
      folder, ["reindex", "a.realm"], environment: ["TARN_FAULT": point]
    ).finish()
    #expect(killed.status == -1)
    #expect(try count(index, store) == (point == "reindex.done" ? whole : 0))
    #expect(try tarn("reindex", "a.realm").status == 0)
    #expect(try count(index, store) == whole)
    try checkIsSound(point)
  }

  /// Another process that shows the version goes on with the next one, and finds by the new index.
  @Test func observersHearNothing() throws {
    let store = try open()
    try fill(store, seed: 9)
    let id = try #require(store.newestSnapshot().schema.schema.named("By_string")?.id)
    let rows = try ToolProcess.run(folder, "count", "a.realm", "By_string").output
    let watch = try ToolProcess(folder, ["watch", "a.realm", "By_string", "--json"])
    #expect(try watch.line()?.contains("initial") == true)
    try store.environment.write { transaction throws(StorageError) in
      try IndexName.column(id, ColumnID(1)).packed.removeAll(in: transaction)
    }
    #expect(try tarn("reindex", "a.realm", "By_string.a").status == 0)
    let more = try ToolProcess.run(
      folder, "import", "a.realm", "-", "-f", "jsonl", "-c", "By_string",
      input: #"{"key":"last","a":1000,"b":"last","c":null}"#)
    #expect(more.status == 0, "\(more.errors)")
    let next = try watch.line()
    #expect(next?.contains(#""insertions":[{"#) == true, "\(next ?? "")")
    watch.signal(SIGTERM)
    #expect(try watch.finish().status == 0)
    #expect(try tarn("count", "a.realm", "By_string", "a == 1000").output == "1\n")
    #expect(rows != "0\n")
  }

  /// Objects that only a damaged index let in.
  @Test func doublesAreListedAndNothingIsWritten() throws {
    let store = try open()
    try fill(store, seed: 10)
    let id = try #require(store.newestSnapshot().schema.schema.named("By_uuid")?.id)
    let key = Value.uuid(Bytes16(high: 99, low: 99))
    for text in ["x", "x", "y"] {
      try store.environment.write { transaction throws(StorageError) in
        for index in [IndexName.column(id, ColumnID(0)), .rule(id, 0), .rule(id, 1)] {
          try index.packed.removeAll(in: transaction)
        }
      }
      try store.write { session in
        _ = try session.create(
          [ColumnID(0): key, ColumnID(1): .int(5_000), ColumnID(2): .string(text)], in: id)
      }
    }
    let before = try index(id, store)
    let check = try tarn("inspect", "a.realm", "--check")
    #expect(check.status == 1, "\(check.output)")
    let done = try tarn("reindex", "a.realm")
    #expect(done.status == 1)
    #expect(done.output == "")
    let lines = done.errors.split(separator: "\n")
    #expect(lines.count == 5, "\(done.errors)")
    #expect(lines.count { $0.contains("have the same key \"00000000-0000-0063") } == 2)
    #expect(lines.count { $0.contains("have the same a 5000, b \"x\"") } == 1)
    #expect(lines.count { $0.contains("have the same b \"x\"") } == 1)
    #expect(lines.last?.contains("nothing was written") == true)
    #expect(try index(id, store) == before)
  }

  private func index(_ id: ClassID, _ store: Store) throws -> [Int] {
    try [IndexName.column(id, ColumnID(0)), .rule(id, 0), .rule(id, 1)].map { index in
      try count(index, store)
    }
  }

  @Test func whatThereIsNotIsSaid() throws {
    _ = try open()
    for (wanted, message) in [
      ("Thong", "no class 'Thong'"), ("Thing.nothing", "has no property 'nothing'"),
      ("Thing.int_list_false", "property 'int_list_false' of class Thing has no index"),
    ] {
      let done = try tarn("reindex", "a.realm", wanted)
      #expect(done.status == 1, "\(done.errors)")
      #expect(done.errors.contains(message), "\(done.errors)")
    }
    #expect(try tarn("reindex", "b.realm").errors.contains("there is no such file"))
  }
}
