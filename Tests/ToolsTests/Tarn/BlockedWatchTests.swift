import Foundation
import TarnStore
import TestSupport
import Testing

/// `tarn watch` into a pipe that nobody reads: it holds no version for that, and tells all of it in
/// one difference once somebody reads.
@Suite struct BlockedWatchTests {
  private struct Impatience: Error {}

  private static let objects = 400
  private static let commits = 2000

  private let folder = TemporaryFolder()
  private let store: Store
  private let random = Random()

  /// What a test changes while it goes on.
  private final class Random {
    var source = SeededRandom(seed: 16)
  }

  init() throws {
    var options = Store.Options()
    options.isDurable = false
    typealias Property = ClassDefinition.Property
    options.classes = [
      ClassDefinition(
        name: "Crate",
        properties: [
          Property(name: "id", type: .int, isPrimaryKey: true),
          Property(name: "age", type: .int), Property(name: "text", type: .string),
          Property(name: "numbers", type: .int, collection: .list),
          Property(name: "next", type: .link, isOptional: true, target: "Crate"),
        ])
    ]
    store = try StoreRegistry.open(folder.file("a.realm"), options)
    // More than a pipe holds, so that the reader is stuck in the first state already.
    try commit { session, crate in
      for id in 0..<Self.objects {
        try session.create(
          [
            crate[0]: .int(Int64(id)), crate[1]: .int(Int64(id % 7)),
            crate[2]: .string(String(repeating: "a crate that holds \(id) ", count: 16)),
          ], in: session.schema.schema.classes[0].id)
      }
    }
  }

  private func commit(_ body: (WriteSession, [ColumnID]) throws -> Void) throws {
    let token = try store.acquireGate()
    let session = WriteSession(try SnapshotReader(store.newestSnapshot())) {}
    try body(session, session.schema.schema.classes[0].columns.map(\.id))
    try store.commit(session, token)
  }

  /// A few changes of every kind.
  private func change() throws {
    try commit { session, crate in
      let id = session.schema.schema.classes[0].id
      for _ in 0..<5 {
        let key = ObjectKey(Int64(random.source.below(Self.objects)))
        let isThere = try session.location(of: key, in: id) != nil
        switch random.source.below(5) {
        case 0 where isThere: try session.delete(key, in: id)
        case _ where !isThere:
          try session.create([crate[0]: .int(key.rawValue), crate[2]: .string("new")], in: id)
        case 1: try session.set(crate[1], at: key, in: id, to: .int(Int64(random.source.below(9))))
        case 2:
          let place = SequencePlace(classID: id, key: key, column: crate[3])
          try session.insert([.int(Int64(random.source.below(100)))], at: 0, in: place)
        case 3:
          let other = ObjectKey(Int64(random.source.below(Self.objects)))
          if try session.location(of: other, in: id) != nil {
            try session.set(crate[4], at: key, in: id, to: .link(other))
          }
        default: try session.set(crate[2], at: key, in: id, to: .string("text \(key.rawValue)"))
        }
      }
    }
  }

  /// Returns when nobody but this process holds anything but the newest version. Readers tell no
  /// one that they have moved, so their table is looked at. The limit only ends a hang.
  private func awaitFollowers() throws {
    let newest = try store.newestSnapshot().transaction.transactionID
    let start = ContinuousClock.now
    while store.environment.readers().contains(where: { $0.transactionID < newest }) {
      guard ContinuousClock.now - start < .seconds(300) else { throw Impatience() }
      sched_yield()
    }
  }

  private var fileBytes: Int { (try? Data(contentsOf: folder.url("a.realm")).count) ?? 0 }

  @Test(arguments: [[], ["--where", "age < 6", "--sort", "age:desc,text"]])
  func aWatchThatNobodyReadsHoldsNoVersion(_ query: [String]) throws {
    let watch = try ToolProcess(folder, ["watch", "a.realm", "Crate", "--json"] + query)
    try watch.awaitOutput()
    let before = fileBytes
    for number in 1...Self.commits {
      try change()
      // A machine under load gives it its turn late; the file may grow by what lies between.
      if number % 50 == 0 { try awaitFollowers() }
    }
    #expect(fileBytes < before + (8 << 20), "\(fileBytes) bytes, \(before) before")
    let seen = try ToolProcess.run(folder, "inspect", "a.realm", "--json")
    #expect(
      seen.output.contains(
        "{\"pid\":\(watch.processID),\"commitsBehind\":0,\"versionsBehind\":0,\"keptBytes\":0}"))
    var replay = WatchReplay()
    let last = Int64(try store.newestSnapshot().version.rawValue)
    var lines = 0
    while replay.version < last, let line = try watch.line() {
      try replay.take(line)
      lines += 1
    }
    // The first state, what fitted into the pipe, and the rest as one.
    #expect(lines < Self.commits / 2)
    let export = try ToolProcess(folder, ["export", "a.realm", "Crate"] + query).finish()
    #expect(replay.lines == export.output)
    // It goes on as if nothing had been.
    try change()
    if let line = try watch.line() { try replay.take(line) }
    let after = try ToolProcess(folder, ["export", "a.realm", "Crate"] + query).finish()
    #expect(replay.lines == after.output)
    watch.signal(SIGTERM)
    #expect(watch.status() == 0)
  }

  /// One that takes the key of a row, outside of the result at first, is not that row.
  @Test func whatComesUnderARowsKeyIsAnotherRow() throws {
    let watch = try ToolProcess(
      folder, ["watch", "a.realm", "Crate", "--where", "age < 6", "--json", "--exit-after", "1"])
    try watch.awaitOutput()
    try commit { session, crate in
      try session.delete(ObjectKey(1), in: session.schema.schema.classes[0].id)
    }
    try awaitFollowers()
    try commit { session, crate in
      try session.create(
        [crate[0]: .int(1), crate[1]: .int(9)], in: session.schema.schema.classes[0].id)
    }
    try awaitFollowers()
    try commit { session, crate in
      let id = session.schema.schema.classes[0].id
      try session.set(crate[1], at: ObjectKey(1), in: id, to: .int(2))
    }
    try awaitFollowers()
    #expect(try watch.line()?.contains("\"initial\":[{\"id\":0") == true)
    let line = try watch.line() ?? ""
    #expect(line.contains("\"deletions\":[{\"index\":1,\"key\":1,\"old\":{\"id\":1,\"age\":1,"))
    #expect(
      line.hasSuffix(
        """
        "insertions":[{"index":1,"key":1,\
        "new":{"id":1,"age":2,"text":"","numbers":[],"next":null}}],"modifications":[]}
        """), "\(line)")
    #expect(try watch.finish().status == 0)
  }

  @Test func allClassesAreGatheredToo() throws {
    let watch = try ToolProcess(folder, ["watch", "a.realm", "--json", "--exit-after", "1"])
    try watch.awaitOutput()
    // A line in the pipe that is not read yet is the first state, which is longer than the pipe.
    for _ in 0..<20 { try change() }
    try commit { session, crate in
      let id = session.schema.schema.classes[0].id
      for key in try session.allKeys(in: id) { try session.delete(key, in: id) }
      try session.create([crate[0]: .int(1), crate[2]: .string("last")], in: id)
    }
    try awaitFollowers()
    #expect(try watch.line()?.contains("\"initial\":[{\"id\":0") == true)
    let line = try watch.line() ?? ""
    #expect(line.contains("\"version\":22,"))
    #expect(
      line.hasSuffix(
        """
        "insertions":[{"key":1,"new":{"id":1,"age":0,"text":"last","numbers":[],"next":null}}],\
        "modifications":[]}
        """))
    #expect(line.components(separatedBy: "\"old\":").count == Self.objects + 1)
    #expect(try watch.finish().status == 0)
  }

  @Test func inspectTellsWhoKeepsWhat() throws {
    let pin = try store.newestSnapshot()
    for _ in 0..<20 { try change() }
    let text = try ToolProcess.run(folder, "inspect", "a.realm")
    #expect(text.status == 0, "\(text.errors)")
    let readers = text.output.components(separatedBy: "Readers\n").last ?? ""
    #expect(readers.contains("keeps  at least since"), "\(readers)")
    let lines = readers.split(separator: "\n")
    let row = try #require(lines.first { $0.contains(" \(getpid()) ") })
    #expect(row.contains("kB"), "\(row)")
    #expect(row.hasSuffix("Z"), "\(row)")
    let json = try ToolProcess.run(folder, "inspect", "a.realm", "--json").output
    let own = "{\"pid\":\(getpid()),\"commitsBehind\":20,\"versionsBehind\":20,\"keptBytes\":"
    #expect(json.contains(own), "\(json)")
    #expect(json.contains(",\"since\":\"20"))
    withExtendedLifetime(pin) {}
  }
}
