import Foundation
import StressFaults
import Tarn
import TarnStore
import ToolSupport

/// `tarn-stress worker power-record TRACE COUNT SEED KIND`: a run whose writes are kept in a trace,
/// with notes of the states that were acknowledged. The store is in the trace's folder.
final class PowerWorkload {
  /// The work of a run, with the number of its steps.
  static let kinds: [(name: String, steps: Int)] = [
    ("commits", 60), ("growth", 24), ("beyond4GiB", 24), ("async", 12), ("feed", 60),
    ("things", 16), ("map", 12), ("migrations", 3), ("copies", 3), ("creation", 3),
    ("creatorDied", 3), ("replica", 24), ("consistent", 6), ("consistentAsync", 12),
    ("consistentFeed", 60), ("relaxed", 8), ("relaxedCopies", 3),
  ]

  let folder: String
  private let tracePath: String
  let steps: Int
  private let seed: UInt64
  private(set) var random: StressRandom
  var path: String { folder + "/x.realm" }

  init(_ worker: Worker) {
    tracePath = worker.path
    folder = (worker.path as NSString).deletingLastPathComponent
    steps = worker.number
    seed = worker.seed
    random = StressRandom(worker.seed)
  }

  func run(_ kind: String) throws {
    // States are digested in copies of files, which each opener says.
    StoreLog.shared.setHook { _, _ in }
    switch kind {
    case "commits": try writeAccounts { $0.change($1) }
    case "growth": try grow()
    case "beyond4GiB": try writeBeyond4GiB()
    case "async": try writeAsync(.full)
    case "feed": try feed(.full)
    case "things": try writeThings(isLarge: false)
    case "map": try writeThings(isLarge: true)
    case "migrations": try PowerMigrations(self, path: path).run()
    case "copies": try copy()
    case "creation": try create()
    case "creatorDied": try openAfterDeadCreator()
    case "replica": try PowerReplica(self).run()
    case "consistent": try PowerDurabilities(self).writeConsistently()
    case "consistentAsync": try writeAsync(.consistent)
    case "consistentFeed": try feed(.consistent)
    case "relaxed": try PowerDurabilities(self).writeRelaxed()
    case "relaxedCopies": try PowerDurabilities(self).copyRelaxed()
    default: throw ToolError("no kind '\(kind)'")
    }
    WorkerLine.say("recorded")
  }

  // MARK: - The trace

  /// Begins the trace, with the files that are there.
  private func begin(_ files: [String] = [], named isNamed: Bool = true) throws {
    try check(stress_trace_begin(folder, tracePath))
    for file in files { try check(stress_trace_file(file, isNamed)) }
  }

  func begin() throws { try begin(access(path, F_OK) == 0 ? [path] : []) }

  private func check(_ result: Int32) throws {
    if result != 0 { throw ToolError("cannot trace", folder, errno: result) }
  }

  /// Notes the newest state of an open store.
  @discardableResult
  func note(_ promise: PowerTrace.Promise, _ path: String? = nil) throws -> FoundState {
    let (store, path) = try opened(path)
    let state = try store.environment.beginRead()
    defer { state.end() }
    let digest = try StoreDigest.of(state)
    PowerTrace.note(path, promise, state.transactionID, digest)
    return (state.transactionID, digest)
  }

  private func opened(_ path: String?) throws -> (Store, String) {
    let path = path ?? self.path
    guard let store = StoreRegistry.store(at: .file(path)) else {
      throw ToolError("\(path) is not open")
    }
    return (store, path)
  }

  /// Notes that the newest commit of an open store has returned.
  @discardableResult
  func acknowledge(_ path: String? = nil) throws -> FoundState {
    let promise: PowerTrace.Promise =
      switch try opened(path).0.durability {
      case .full: .durable
      case .consistent: .previousDurable
      case .relaxed: .none
      }
    return try note(promise, path)
  }

  /// Notes that the newest state of a file is durable that is not open, and stays so.
  func acknowledgeClosed(_ path: String) throws {
    stress_trace_pause()
    defer { stress_trace_continue() }
    let copy = folder + "/digest"
    let names = [copy, copy + "-lock", copy + "-signal"]
    for name in names { unlink(name) }
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    defer { for name in names { unlink(name) } }
    let found = try PowerStore.check(copy)
    PowerTrace.note(path, .durable, found.transactionID, found.digest)
  }

  // MARK: - Accounts

  var worker: Worker { Worker(["write", path, "1", String(seed)]) }

  func configuration(_ durability: Realm.Configuration.Durability) -> Realm.Configuration {
    var configuration = worker.configuration
    configuration.durability = durability
    return configuration
  }

  /// Waits until nothing in this process has the store open.
  func awaitClosed(_ path: String? = nil) throws {
    let path = path ?? self.path
    StoreLeave.wait(for: .file(path), atMost: .seconds(10))
    let deadline = ContinuousClock.now + .seconds(10)
    while StoreRegistry.store(at: .file(path)) != nil {
      guard ContinuousClock.now < deadline else { throw ToolError("\(path) stays open") }
      usleep(1000)
    }
  }

  private func writeAccounts(_ body: (StressWriting, Int) -> Void) throws {
    try StressStore.fill(path, isDurable: true)
    try awaitClosed()
    try begin()
    try writeOn(body)
  }

  private func writeOn(_ body: (StressWriting, Int) -> Void) throws {
    let realm = try Realm(configuration: worker.configuration)
    try acknowledge()
    let writing = StressWriting(worker, realm)
    for number in 1...steps {
      _ = try writing.write { body($0, number) }
      try acknowledge()
    }
  }

  /// The file grows, its pages become free, and are used again; a reader keeps them from that for
  /// some time.
  private func grow() throws {
    try StressStore.fill(path, isDurable: true)
    try awaitClosed()
    try begin()
    let realm = try Realm(configuration: worker.configuration)
    try acknowledge()
    let writing = StressWriting(worker, realm)
    var pin: ReadTransaction?
    for number in 1...steps {
      if number == steps / 3 {
        pin = try StoreRegistry.store(at: .file(path))?.environment.beginRead()
      }
      if number == 2 * steps / 3 { pin = nil }
      try writeOne(writing, realm, number)
      try acknowledge()
    }
    withExtendedLifetime(pin) {}
  }

  /// Makes a commit that adds pages, frees some, or does neither.
  func writeOne(_ writing: StressWriting, _ realm: Realm, _ number: Int) throws {
    _ = try writing.write { writing in
      switch number % 4 {
      case 0: deleteHalf(realm)
      case 1: for _ in 0..<1 + number % 24 / 4 { writing.grow() }
      // The sum of the balances, which it may check, is another one when accounts are deleted.
      default: writing.change(1)
      }
    }
  }

  private func deleteHalf(_ realm: Realm) {
    let all = Array(realm.objects(StressAccount.self))
    realm.delete(all.enumerated().filter { $0.offset % 2 == 0 && all.count > 80 }.map(\.element))
  }

  /// A store whose last page is behind 4 GiB, so that new ones are, too. The file has holes.
  private func writeBeyond4GiB() throws {
    try StressStore.fill(path, isDurable: true)
    try awaitClosed()
    let file = open(path, O_RDWR)
    defer { close(file) }
    var last = UInt64(1_200_000)
    for page in 0..<2 {
      guard pwrite(file, &last, 8, off_t(page * 4096 + 136)) == 8 else {
        throw ToolError("cannot write", path, errno: errno)
      }
    }
    try check(ftruncate(file, off_t((last + 1) * 4096)) == 0 ? 0 : errno)
    try begin()
    try writeOn { writing, number in
      if number % 4 == 1 { writing.grow() } else { writing.change(number) }
    }
  }

  /// Commits that share a transaction, and some that do not.
  private func writeAsync(_ durability: Realm.Configuration.Durability) throws {
    try StressStore.fill(path, isDurable: true)
    try awaitClosed()
    try begin()
    let scheduler = ManualScheduler()
    let realm = try Realm(configuration: configuration(durability), scheduler: scheduler)
    try note(.durable)
    let writing = StressWriting(worker, realm)
    for round in 1...steps {
      for index in 0..<4 {
        realm.beginAsyncWrite {
          _ = writing.change { $0.change(index + 1) }
          realm.commitAsyncWrite(allowGrouping: round % 3 != 0) { error in
            if let error { WorkerLine.bad("\(error)") }
            do { try self.acknowledge() } catch { WorkerLine.bad("\(error)") }
          }
        }
      }
      scheduler.pump()
      while realm.isPerformingAsynchronousWriteOperations {
        scheduler.wait(timeout: 10)
        scheduler.pump()
      }
      try acknowledge()
    }
  }

  // MARK: - Cursors

  /// Commits, acknowledgements of two cursors, and records that are pruned.
  private func feed(_ durability: Realm.Configuration.Durability) throws {
    let configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: path), objectTypes: FeedFile.types, durability: durability)
    try begin()
    let realm = try Realm(configuration: configuration)
    try acknowledge()
    var program = FeedProgram(seed: seed)
    let quick = try realm.cursor("quick", of: .wholeRealm, startingAt: .snapshot)
    let slow = try realm.cursor(
      "slow", of: .wholeRealm, startingAt: .snapshot, keeping: .oldValues)
    try acknowledge()
    for number in 1...steps {
      try program.commit(realm)
      let committed = try acknowledge()
      for cursor in number % 12 == 0 ? [quick, slow] : [quick] where number % 3 == 0 {
        while let batch = try cursor.next() {
          // What is delivered has been synced.
          PowerTrace.note(path, .durable, committed.transactionID, committed.digest)
          try batch.acknowledge()
          try acknowledge()
        }
      }
      if number % 20 == 7 {
        try realm.setRetention(Retention(versions: 5, keepsOldValues: number % 40 == 7))
        try acknowledge()
      }
      if number % 20 == 17 {
        try realm.setRetention(nil)
        try acknowledge()
      }
    }
    quick.close()
    slow.close()
  }

  // MARK: - All types

  /// Objects with properties of every type, or so many that a small map must be replaced by larger
  /// ones.
  private func writeThings(isLarge: Bool) throws {
    try begin()
    var options = Store.Options()
    options.classes = isLarge ? DamageStore.largeClasses : DamageStore.classes
    if isLarge {
      options.mapBudget.byteCount = 0
      options.mapBudget.smallMapByteCount = 1 << 20
    }
    let store = try StoreRegistry.open(path, options)
    try acknowledge()
    var filler = DamageFiller(random)
    for number in 0..<steps {
      try DamageStore.write(store) { session in
        if isLarge {
          if number % 3 == 2 {
            try filler.change(session, isLarge: true)
          } else {
            try filler.addRows(number * 300..<number * 300 + 300, session)
          }
        } else if number < steps / 2 {
          try filler.addThings(number * 4..<number * 4 + 4, session)
        } else {
          try filler.change(session, isLarge: false)
        }
      }
      try acknowledge()
    }
    let reader = try SnapshotReader(store.newestSnapshot())
    let described = reader.schema.schema.named(DamageStore.className)!
    let token = try store.acquireGate()
    _ = try store.reindex(reader.indexNames(of: described.id))
    token.release()
    try acknowledge()
  }

  // MARK: - Files

  /// Copies at a new path and in place of another one, and compactions.
  private func copy() throws {
    try StressStore.fill(path, isDurable: true)
    try awaitClosed()
    let copied = folder + "/copy.realm"
    try begin()
    try writeOnce()
    for round in 0..<steps {
      try copy(to: copied, round)
      try acknowledgeClosed(copied)
      try awaitClosed()
      try writeOnce()
      _ = try StoreRegistry.compact(path)
      try acknowledgeClosed(path)
      try writeOnce()
    }
  }

  func copy(to copied: String, _ round: Int) throws {
    let store = try PowerStore.open(path)
    _ = try StoreCopy(store.newestSnapshot(), round % 2 == 0 ? .independent : .exact)
      .write(to: copied, replacing: round > 0)
  }

  private func writeOnce() throws {
    do {
      let realm = try Realm(configuration: worker.configuration)
      try acknowledge()
      let writing = StressWriting(worker, realm)
      for _ in 0..<3 {
        _ = try writing.write { $0.grow() }
        try acknowledge()
      }
    }
    try awaitClosed()
  }

  /// Stores in new files, in empty ones, and where files get their names at first.
  private func create() throws {
    let names = ["new", "empty", "named"].map { folder + "/\($0).realm" }
    guard FileManager.default.createFile(atPath: names[1], contents: nil) else {
      throw ToolError("cannot make", names[1], errno: errno)
    }
    try begin([names[1]])
    for name in names {
      stress_refuse_nameless(name == names[2])
      try use(name)
    }
  }

  private func use(_ name: String) throws {
    var options = Store.Options()
    options.classes = DamageStore.classes
    let store = try StoreRegistry.open(name, options)
    try acknowledge(name)
    var filler = DamageFiller(random)
    for step in 0..<steps {
      try DamageStore.write(store) { try filler.addThings(step..<step + 1, $0) }
      try acknowledge(name)
    }
  }

  /// The process that made the store died before it had synced the folder.
  private func openAfterDeadCreator() throws {
    do {
      var options = Store.Options()
      options.classes = DamageStore.classes
      _ = try StoreRegistry.open(path, options)
    }
    try awaitClosed()
    for suffix in ["-lock", "-signal"] { unlink(path + suffix) }
    try begin([path], named: false)
    try use(path)
  }
}
