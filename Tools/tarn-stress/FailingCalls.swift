import Foundation
import StressFaults
import Tarn
import TarnStore
import ToolSupport

/// An error that a system call may have, and the kinds of calls that may have it.
struct CallFault {
  let name: String
  let number: Int32
  let kinds: UInt32

  private init(_ name: String, _ number: Int32, _ kinds: stress_calls...) {
    self.name = name
    self.number = number
    self.kinds = kinds.reduce(0) { $0 | $1.rawValue }
  }

  static let all = [
    CallFault(
      "EIO", EIO, stress_disk, stress_reading, stress_asking, stress_passing, stress_describing),
    CallFault("ENOSPC", ENOSPC, stress_disk, stress_passing, stress_describing, stress_watching),
    CallFault(
      "EINTR", EINTR, stress_disk, stress_reading, stress_locking, stress_describing),
    CallFault("EMFILE", EMFILE, stress_describing),
    CallFault("ENOMEM", ENOMEM, stress_mapping, stress_asking),
    CallFault("EAGAIN", EAGAIN, stress_starting),
    CallFault("ENOLCK", ENOLCK, stress_locking),
    CallFault("half", Int32(stress_half), stress_reading, stress_writing),
  ]
}

/// `tarn-stress worker fail-calls FOLDER FIRST STRIDE KIND:FAULT`: does one thing repeatedly on
/// a fresh file; each time another one of its system calls fails.
///
/// Each time it must succeed or throw, the file must be sound and have what was committed before,
/// and the next try must succeed. It says `at N` before the N-th call fails, and `bad N` with each
/// problem; at the end `sum` with the number of calls, and how often each outcome was seen.
final class FailingCalls {
  private let things: FailingThing
  private let first: Int
  private let stride: Int
  private let fault: CallFault
  private var outcomes: [String: Int] = [:]

  init(_ worker: Worker) throws {
    let parts = (worker.sabotage ?? "").splitASCII(":").map(String.init)
    guard parts.count == 2, let kind = FailingThing.Kind(rawValue: parts[0]),
      let fault = CallFault.all.first(where: { $0.name == parts[1] })
    else { throw ToolError("fail-calls needs KIND:FAULT") }
    things = try FailingThing(kind, folder: worker.path)
    first = worker.number
    stride = max(1, Int(worker.seed))
    self.fault = fault
  }

  func run() {
    // Each file is a copy, which each opener says.
    StoreLog.shared.setHook { _, _ in }
    var number = first
    while true {
      WorkerLine.say("at \(number)")
      do {
        guard try fails(at: number) else { break }
      } catch {
        WorkerLine.say("bad \(number) \(error)")
      }
      number += stride
    }
    let text = outcomes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    WorkerLine.say("sum \(number - 1) calls: \(text.joined(separator: ", "))")
  }

  /// False if there are not so many calls.
  private func fails(at number: Int) throws -> Bool {
    try things.prepare()
    stress_fail_call(fault.kinds, Int32(number), fault.number)
    let outcome = outcome { try things.run() }
    let isReached = stress_count() >= number
    stress_fail_call(0, 0, 0)
    guard isReached else {
      if let outcome { throw ToolError("without a failure: \(outcome)") }
      return false
    }
    outcomes[outcome.map { "\($0.code)" } ?? "fine", default: 0] += 1
    // Bytes that are missing are damage, and so is a page that the disk does not read; any other
    // call that fails says nothing about the file.
    if let outcome, fault.name != "half", Self.damage.contains(outcome.code),
      !outcome.message.contains("cannot be read")
    {
      throw ToolError("a failure is reported as \(outcome.code): \(outcome.message)")
    }
    try things.close()
    do {
      try things.check(hasSucceeded: outcome == nil, isCommitted: outcome?.isCommitted)
    } catch {
      throw ToolError("after \(outcome?.message ?? "success"): \(error)")
    }
    if let outcome, outcome.message.isEmpty { throw ToolError("an error without a message") }
    if let again = self.outcome({ try things.runAgain() }) {
      throw ToolError(
        "after \(outcome?.message ?? "success") the next try failed: \(again.message)")
    }
    return true
  }

  private static let damage = ["invalidDatabase", "incompatibleLockFile", "mayBeDamaged"]

  private struct Outcome {
    let code: String
    let message: String
    /// Nil if it is not known.
    let isCommitted: Bool?
  }

  private func outcome(_ body: () throws -> Void) -> Outcome? {
    do {
      try body()
      return nil
    } catch let error as Realm.Error {
      return Outcome(
        code: "\(error.code)", message: error.message, isCommitted: error.isCommitted)
    } catch let error as StorageError {
      let isCommitted: Bool? =
        switch error.code {
        case .outcomeUnknown: nil
        case .committed: true
        default: false
        }
      return Outcome(code: "\(error.code)", message: "\(error)", isCommitted: isCommitted)
    } catch {
      return Outcome(code: "other", message: "\(error)", isCommitted: false)
    }
  }
}

/// The step of each kind.
final class FailingThing {
  enum Kind: String, CaseIterable {
    case create, open, commit, grow, prune, migrate, copy, replace, compact, follow, close
  }

  private let kind: Kind
  private let folder: String
  private var path: String { folder + "/x.realm" }
  private var copied: String { folder + "/copy.realm" }
  /// The file before, and its version.
  private var bytes: Data?
  private var version: UInt64 = 0
  private var realm: Realm?
  private var store: Store?
  private var batch: ChangeBatch?
  private var cursor: ChangeCursor?
  private var isLost = false

  init(_ kind: Kind, folder: String) throws {
    self.kind = kind
    self.folder = folder
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try removeAll()
    switch kind {
    case .create: return
    case .migrate: try PowerMigrations.fill(path)
    case .grow:
      let store = try openSmall()
      var filler = DamageFiller(StressRandom(1))
      try DamageStore.write(store) { try filler.addRows(0..<100, $0) }
    case .prune: try fillFeed()
    default: try StressStore.fill(path, isDurable: true)
    }
    try close()
    version = try PowerStore.version(path)
    bytes = try Data(contentsOf: URL(fileURLWithPath: path))
  }

  private func removeAll() throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: folder)
    where !name.hasSuffix(".durable") {
      unlink(folder + "/" + name)
    }
  }

  private func openSmall() throws -> Store {
    var options = Store.Options()
    options.classes = DamageStore.largeClasses
    options.mapBudget.byteCount = 0
    options.mapBudget.smallMapByteCount = 1 << 20
    return try StoreRegistry.open(path, options)
  }

  private var feedConfiguration: Realm.Configuration {
    Realm.Configuration(fileURL: URL(fileURLWithPath: path), objectTypes: FeedFile.types)
  }

  private func fillFeed() throws {
    let realm = try Realm(configuration: feedConfiguration)
    let cursor = try realm.cursor("slow", of: .wholeRealm, startingAt: .newest)
    var program = FeedProgram(seed: 1)
    for _ in 0..<20 { try program.commit(realm) }
    cursor.close()
  }

  // MARK: - Steps

  /// Creates the file again, and opens it if the step needs it open.
  func prepare() throws {
    try close()
    try removeAll()
    guard let bytes else { return }
    try bytes.write(to: URL(fileURLWithPath: path))
    switch kind {
    case .commit, .close: realm = try Realm(configuration: StressStore.configuration(path))
    case .grow: store = try openSmall()
    case .prune:
      let realm = try Realm(configuration: feedConfiguration)
      cursor = try realm.cursor("slow", of: .wholeRealm, startingAt: .newest)
      batch = try cursor?.next()
      self.realm = realm
    case .copy, .follow: store = try PowerStore.open(path)
    case .replace:
      store = try PowerStore.open(path)
      _ = try StoreCopy(store!.newestSnapshot()).write(to: copied)
    default: break
    }
  }

  func run() throws {
    switch kind {
    case .create:
      var options = Store.Options()
      options.classes = DamageStore.classes
      store = try StoreRegistry.open(path, options)
    case .open:
      let opened = try Realm(configuration: StressStore.configuration(path))
      realm = opened
      if let problem = StressStore.problem(opened) { throw ToolError(problem) }
    case .commit:
      guard let realm else { throw ToolError("there is no Realm") }
      try realm.write {
        realm.object(ofType: StressAccount.self, forPrimaryKey: 1)?.note = "changed"
      }
    case .grow:
      guard let store else { throw ToolError("there is no store") }
      var filler = DamageFiller(StressRandom(2))
      try DamageStore.write(store) { try filler.addRows(1000..<1400, $0) }
    case .prune:
      guard let realm else { throw ToolError("there is no Realm") }
      try batch?.acknowledge()
      var program = FeedProgram(seed: 2)
      try program.commit(realm)
    case .migrate: realm = try PowerMigrations.type(path)
    case .copy, .replace:
      guard let store else { throw ToolError("there is no store") }
      _ = try StoreCopy(store.newestSnapshot()).write(to: copied, replacing: kind == .replace)
    case .compact: _ = try StoreRegistry.compact(path)
    case .follow: isLost = store?.isLost() ?? false
    case .close: try close()
    }
  }

  /// The same again, from the state that was left.
  func runAgain() throws {
    switch kind {
    case .commit, .close: realm = try Realm(configuration: StressStore.configuration(path))
    case .grow: store = try openSmall()
    case .prune: realm = try Realm(configuration: feedConfiguration)
    case .copy:
      unlink(copied)
      store = try PowerStore.open(path)
    case .replace, .follow: store = try PowerStore.open(path)
    default: break
    }
    if kind == .grow {
      guard let store else { return }
      try DamageStore.write(store) { _ in }
    } else {
      try run()
    }
    try close()
  }

  /// Waits until nothing in this process has the file open.
  func close() throws {
    cursor?.close()
    (cursor, batch, realm, store) = (nil, nil, nil, nil)
    StoreLeave.wait(for: .file(path), atMost: .seconds(10))
    let deadline = ContinuousClock.now + .seconds(10)
    while StoreRegistry.store(at: .file(path)) != nil {
      guard ContinuousClock.now < deadline else { throw ToolError("the file stays open") }
      usleep(500)
    }
  }

  // MARK: - What is left

  /// - Parameter isCommitted: what the error says; nil if it says that this is not known.
  func check(hasSucceeded: Bool, isCommitted: Bool?) throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    if let strange = names.first(where: { $0.hasPrefix(".") && kind != .replace }) {
      throw ToolError("\(strange) is left")
    }
    if kind == .create, !names.contains("x.realm") {
      if hasSucceeded { throw ToolError("there is no file") }
      return
    }
    _ = try PowerStore.check(path)
    let found = try PowerStore.version(path)
    let isNewer = found > version
    let makesVersion = [.commit, .grow, .prune, .migrate].contains(kind)
    if hasSucceeded, makesVersion, !isNewer { throw ToolError("the commit is missing") }
    // Opening may fail after the migration.
    if !hasSucceeded, isCommitted == false, isNewer, kind != .migrate {
      throw ToolError("the file has the commit, but the error says that it has not")
    }
    if isCommitted == true, !isNewer { throw ToolError("the commit is missing") }
    if found < version { throw ToolError("version \(found) instead of \(version)") }
    if isLost { throw ToolError("the file was taken for one that was deleted or replaced") }
    if names.contains("copy.realm") { _ = try PowerStore.check(copied) }
    if hasSucceeded, [.copy, .replace].contains(kind), !names.contains("copy.realm") {
      throw ToolError("there is no copy")
    }
  }
}
