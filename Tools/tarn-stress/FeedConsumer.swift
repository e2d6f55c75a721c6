import Foundation
import Tarn
import TarnStore
import ToolSupport

/// A consumer of a cursor that is killed now and then: it keeps its copies in a file next to the
/// store, replaced as a whole after each batch, and acknowledges after that.
struct FeedConsumer {
  /// The cursor of a worker, by the worker's number.
  struct Kind {
    let name: String
    let selection: CursorSelection
    var limit = BatchLimit.none
    /// Nil for those that a cursor keeps by itself.
    var values: KeptValues?
    /// Whether it gives back the position that it keeps with its copies.
    var keepsPosition = false
    /// The selection's condition on things; nil for one that selects owners, too.
    var condition: (@Sendable (FeedThing) -> Bool)?
    /// The properties whose changes are delivered; nil for all.
    var properties: Set<String>?
    /// The parts of a thing whose changes are delivered.
    var text: @Sendable (FeedThing) -> String = { thing in
      "\(thing.number) \(thing.text) \(thing.owner?.name ?? "") \(Array(thing.marks)) "
        + (thing.place?.city ?? "-")
    }

    var isOfThings: Bool { condition != nil }
    var keepsOldValues: Bool { values == .oldValues || (values == nil && isOfThings) }
    /// Whether batches show with certainty which objects matched before.
    var knowsMatches: Bool { keepsOldValues || !isOfThings }
    func selects(_ thing: FeedThing) -> Bool { condition?(thing) ?? true }
  }

  private static let mayMove: @Sendable (FeedThing) -> Bool = { thing in
    thing.number > 2 && (thing.owner.map { $0.rank < 4 } ?? false)
  }

  static let kinds = [
    Kind(name: "whole", selection: .wholeRealm),
    Kind(name: "position", selection: .wholeRealm, keepsPosition: true),
    Kind(name: "each", selection: .wholeRealm, limit: .everyCommit, values: .oldValues),
    Kind(
      name: "condition",
      selection: .objects(of: FeedThing.self) { $0.number > 2 && $0.owner.rank < 4 },
      values: .deletedObjects, condition: mayMove),
    Kind(
      name: "exact", selection: .objects(of: FeedThing.self) { $0.owner.rank > 1 },
      limit: BatchLimit(commits: 3), values: .oldValues, keepsPosition: true,
      condition: { ($0.owner?.rank ?? 0) > 1 }),
    Kind(
      name: "standard",
      selection: .objects(of: FeedThing.self) { $0.number > 2 && $0.owner.rank < 4 },
      condition: mayMove),
    Kind(
      name: "elements", selection: .objects(of: FeedThing.self) { $0.marks.count > 1 },
      limit: .everyCommit, condition: { $0.marks.count > 1 }),
    Kind(
      name: "path",
      selection: .objects(of: FeedThing.self, keyPaths: ["place.city"]) { $0.number > 2 },
      keepsPosition: true, condition: { $0.number > 2 }, properties: ["place"],
      text: { $0.place?.city ?? "-" }),
  ]

  let path: String
  let kind: Kind
  /// Leaves out some batches, to test the checks.
  let isSabotaged: Bool

  init(_ path: String, _ number: Int, sabotaged isSabotaged: Bool = false) {
    self.path = path
    self.isSabotaged = isSabotaged
    kind = Self.kinds[number % Self.kinds.count]
  }

  var file: URL { URL(fileURLWithPath: "\(path).\(kind.name).json") }

  /// The classes that it has copies of.
  var names: [String] {
    kind.isOfThings ? ["FeedThing"] : ["FeedThing", "FeedOwner"]
  }

  var copies: FeedCopies {
    get throws {
      guard let data = try? Data(contentsOf: file) else { return FeedCopies() }
      return try JSONDecoder().decode(FeedCopies.self, from: data)
    }
  }

  /// Opens the cursor. A new one starts with a snapshot.
  func open(_ realm: Realm) throws -> ChangeCursor {
    try realm.cursor(
      kind.name, of: kind.selection, startingAt: .snapshot, keeping: kind.values,
      expecting: kind.keepsPosition ? copies.position : nil, waiting: .seconds(60))
  }

  /// Applies all available batches.
  ///
  /// - Parameter check: called with each batch and the copies after it.
  func consume(_ cursor: ChangeCursor, _ check: (ChangeBatch, FeedCopies) throws -> Void) throws {
    var copies = try copies
    while let batch = try cursor.next(limit: kind.limit) {
      if !isSabotaged || batch.to % 3 != 0 { copies.apply(batch, names, only: kind.properties) }
      try JSONEncoder().encode(copies).write(to: file, options: .atomic)
      try check(batch, copies)
      try batch.acknowledge()
    }
  }

  /// The copies that it must have in the end.
  func expected(_ realm: Realm) throws -> FeedCopies {
    let other = try realm.cursor(
      "expected", of: kind.selection, startingAt: .snapshot, waiting: .seconds(60))
    defer { other.close() }
    guard let batch = try other.next() else { throw ToolError("a snapshot has no batch") }
    defer { try? other.delete(realm) }
    return FeedCopies(batch, names, only: kind.properties)
  }
}

extension ChangeCursor {
  /// Deletes the cursor from the file of `realm`.
  func delete(_ realm: Realm) throws {
    close()
    guard let url = realm.configuration.fileURL,
      let store = StoreRegistry.store(at: .file(url.path))
    else { return }
    try store.deleteCursor(name)
  }
}

extension Worker {
  /// Random commits, as many as the seed says; with TARN_FAULT set the process dies in one.
  func commitRandomly() throws {
    let realm = try Realm(configuration: FeedFile.configuration(path))
    var program = FeedProgram(seed: seed)
    for _ in 0..<number { try program.commit(realm) }
    WorkerLine.say("committed")
  }

  /// A consumer until it has everything; with TARN_FAULT set it dies on the way.
  func consumeFeed() throws {
    let realm = try Realm(configuration: FeedFile.configuration(path))
    let consumer = FeedConsumer(path, number)
    let cursor = try consumer.open(realm)
    WorkerLine.say("open")
    try consumer.consume(cursor) { _, _ in }
    cursor.close()
    WorkerLine.say("done")
  }

  /// A consumer that has a batch and acknowledges it when it receives SIGUSR1.
  func holdFeed() throws {
    var wanted = sigset_t()
    sigemptyset(&wanted)
    sigaddset(&wanted, SIGUSR1)
    pthread_sigmask(SIG_BLOCK, &wanted, nil)
    let realm = try Realm(configuration: FeedFile.configuration(path))
    let cursor = try realm.cursor("held", startingAt: .snapshot)
    guard let batch = try cursor.next() else { WorkerLine.bad("there is no batch") }
    WorkerLine.say("holds \(batch.to)")
    var got: Int32 = 0
    sigwait(&wanted, &got)
    do {
      try batch.acknowledge()
      WorkerLine.say("acknowledged")
    } catch {
      WorkerLine.say("refused \(error)")
    }
  }
}
