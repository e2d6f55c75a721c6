import Foundation
import TestSupport

@testable import Tarn

/// What every version held, and what led to it: known to all writers and observers of a process,
/// and read from files where another process has written.
final class KnotHistory: @unchecked Sendable {
  // because: all is read and changed under its lock, which a writer holds for all of its write.
  struct Version: Codable {
    /// With what the version's write touched.
    var model: KnotModel
    /// The knots of each kind of source, by its name.
    var rows: [String: [Int]] = [:]
    /// The hub's values of each kind of source.
    var values: [String: [String]] = [:]
    /// What is embedded in the hub's list, by what the file calls it.
    var clasps: [Int64] = []
    var names: [Int: String] = [:]
    /// The hub's maps, with their values as texts.
    var maps: [String: [String: String]] = [:]
    var sections: [String: [KnotSection]] = [:]
    /// The knots by what the file calls them.
    var ids: [Int64: Int] = [:]
  }

  let configuration: Realm.Configuration
  let lock = NSRecursiveLock()
  /// Where other processes leave what they have written, and find that somebody observes.
  private let folder: String
  /// Whether this process leaves it there.
  private let isShared: Bool
  private var versions: [UInt64: Version] = [:]
  private var ids: [Int64: Int] = [:]

  init(_ folder: String, isShared: Bool = false) {
    self.folder = folder
    self.isShared = isShared
    configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: folder + "/knots.realm"), objectTypes: [Knot.self, Clasp.self],
      durability: .relaxed)
  }

  private func path(_ number: UInt64) -> String { "\(folder)/version-\(number)" }

  /// The state that a writer shows, after its commit.
  func record(_ realm: Realm, _ model: KnotModel) throws {
    var version = Version(model: model)
    for source in KnotSource.all { version.rows[source.name] = source.collection(realm).map(\.id) }
    for source in KnotValues.all { version.values[source.name] = source.texts(realm) }
    version.maps = KnotMaps.texts(KnotSource.hub(realm))
    for source in KnotSections.all {
      version.sections[source.name] = source.sections(realm).map {
        KnotSection(key: $0.key, elements: $0.map(\.id))
      }
    }
    version.clasps = KnotSource.hub(realm).clasps.map(\._key)
    for knot in realm.objects(Knot.self) {
      version.ids[knot._key] = knot.id
      version.names[knot.id] = knot.name
    }
    let number = realm.core.shownVersion!.rawValue
    if isShared {
      let data = try JSONEncoder().encode(version)
      try data.write(to: URL(fileURLWithPath: path(number)), options: .atomic)
    } else {
      keep(version, number)
    }
  }

  private func keep(_ version: Version, _ number: UInt64) {
    versions[number] = version
    ids.merge(version.ids) { _, new in new }
  }

  /// One that this process has not recorded comes from another one, which is about to leave it.
  subscript(number: UInt64) -> Version {
    if let known = versions[number] { return known }
    let path = path(number)
    precondition(waitUntil { FileManager.default.fileExists(atPath: path) }, "no version \(number)")
    let data = try! Data(contentsOf: URL(fileURLWithPath: path))
    keep(try! JSONDecoder().decode(Version.self, from: data), number)
    return versions[number]!
  }

  /// Also of a knot that has been deleted.
  func id(of knot: Knot) -> Int? { ids[knot._key] }

  // MARK: - Signs between processes

  func set(_ sign: String) throws {
    try Data().write(to: URL(fileURLWithPath: folder + "/" + sign))
  }

  func isSet(_ sign: String) -> Bool {
    FileManager.default.fileExists(atPath: folder + "/" + sign)
  }
}

/// One who writes; to be used on one thread.
final class KnotWriter {
  let instance: Instance
  private let history: KnotHistory
  private var numbers: SeededRandom
  private var nextID: Int

  init(_ history: KnotHistory, seed: UInt64) throws {
    self.history = history
    numbers = SeededRandom(seed: seed)
    // Nobody else gives such ids.
    nextID = Int(seed) * 1000
    instance = try Instance(history.configuration)
  }

  /// The file's first knots, with links among them.
  func begin() throws {
    try instance.write {
      for id in 0..<8 { instance.realm.create(Knot.self, value: ["id": id]) }
      KnotSource.hub(instance.realm).heap = KnotMaps.heap
    }
    try write(60)
  }

  /// A write, which may be cancelled.
  ///
  /// - Parameter tokens: the observations to leave out, asked for when the write is open.
  /// - Returns: the version of the commit, nil if there was none.
  @discardableResult
  func write(
    _ count: Int? = nil, withoutNotifying tokens: () -> [NotificationToken] = { [] }
  ) throws -> UInt64? {
    history.lock.lock()
    defer { history.lock.unlock() }
    instance.realm.beginWrite()
    // A callback of the begin may have ended it, or written and ended instead.
    guard instance.realm.isInWriteTransaction else { return nil }
    var script = KnotScript(model: KnotModel(instance.realm), nextID: nextID, numbers: numbers)
    for _ in 0..<(count ?? 1 + script.numbers.below(3)) { script.write(to: instance.realm) }
    let isCancelled = count == nil && script.numbers.chance(10)
    (nextID, numbers) = (script.nextID, script.numbers)
    if isCancelled {
      instance.realm.cancelWrite()
      return nil
    }
    try instance.realm.commitWrite(withoutNotifying: tokens())
    try history.record(instance.realm, script.model)
    return instance.realm.core.shownVersion!.rawValue
  }
}
