import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Nested changes of commits of another process. Both processes run the same random script: the one
/// on the file that the other observes, the other on a file of its own, as far as it has been told,
/// and so it knows what every version holds.
struct NestedProcessTests {
  private static let commits = 60

  @Test(arguments: [1, 2])
  func whatIsToldIsWhatAWalkOverBothVersionsFinds(seed: Int) async throws {
    let folder = TemporaryFolder()
    let (observerSaid, writerSaid) = (KeptErrors(in: folder.path), KeptErrors(in: folder.path))
    async let observer = #expect(processExitsWith: .success) {
      [path = folder.path as String, seed = seed as Int, said = observerSaid as KeptErrors] in
      said.keep()
      let follower = try IsleFollower(path, seed: UInt64(seed))
      try follower.follow(NestedProcessTests.commits)
      #expect(follower.told > 100)
    }
    async let writer = #expect(processExitsWith: .success) {
      [path = folder.path as String, seed = seed as Int, said = writerSaid as KeptErrors] in
      said.keep()
      try NestedProcessTests.write(path, seed: UInt64(seed))
    }
    observerSaid.tell(await observer)
    writerSaid.tell(await writer)
  }

  /// Many commits, and now and then one that is not followed by another before it was seen.
  private static func write(_ folder: String, seed: UInt64) throws {
    let instance = try IsleFollower.open(folder, "isles")
    var script = IsleScript(seed: seed)
    var pauses = SeededRandom(seed: seed)
    try instance.write { script.begin(in: instance.realm) }
    IsleFollower.set("begun", in: folder)
    IsleFollower.wait(for: "seen-0", in: folder)
    for commit in 1...commits {
      try instance.write { script.write(to: instance.realm) }
      guard pauses.chance(40) else { continue }
      IsleFollower.wait(for: "seen-\(commit)", in: folder)
    }
  }
}

/// Observes isles that another process changes.
private final class IsleFollower {
  private let folder: String
  private let instance: Instance
  private let twin: Instance
  private var script: IsleScript
  private var before = IsleModel()
  /// The version that the twin's file began with, and how many commits it is after it.
  private let first: UInt64
  private var commits = 0
  private var watches: [IsleWatch] = []
  private(set) var told = 0

  static func open(_ folder: String, _ name: String) throws -> Instance {
    try Instance(
      Realm.Configuration(
        fileURL: URL(fileURLWithPath: "\(folder)/\(name).realm"),
        objectTypes: [Isle.self, Port.self], durability: .relaxed))
  }

  static func set(_ sign: String, in folder: String) {
    precondition(FileManager.default.createFile(atPath: "\(folder)/\(sign)", contents: nil))
  }

  static func wait(for sign: String, in folder: String) {
    let isSet = waitUntil { FileManager.default.fileExists(atPath: "\(folder)/\(sign)") }
    precondition(isSet, "the other process does not come to '\(sign)'")
  }

  init(_ folder: String, seed: UInt64) throws {
    self.folder = folder
    Self.wait(for: "begun", in: folder)
    instance = try Self.open(folder, "isles")
    twin = try Self.open(folder, "twin")
    script = IsleScript(seed: seed)
    // Nothing is shown before it is asked for.
    let count = instance.isles.count
    precondition(count > 0)
    first = instance.realm.core.shownVersion!.rawValue
    try twin.write { script.begin(in: twin.realm) }
    script.model.forgetTouches()
    var looks = SeededRandom(seed: seed)
    watches = IsleWatch.all(of: instance.isles, &looks)
    for watch in watches {
      watch.onCall = { [unowned self] in
        catchUp()
        told += $0.check(IsleWalk(before: before, after: script.model))
      }
    }
    instance.pump()
    Self.set("seen-0", in: folder)
  }

  /// Does what the other process has done up to the version that is shown.
  private func catchUp() {
    let shown = Int(instance.realm.core.shownVersion!.rawValue - first)
    if shown == commits { return }
    script.model.forgetTouches()
    before = script.model
    for _ in commits..<shown { try! twin.write { script.write(to: twin.realm) } }
    commits = shown
  }

  /// Until so many commits have been seen.
  func follow(_ count: Int) throws {
    while commits < count {
      instance.scheduler.wait(timeout: 1)
      instance.pump()
      catchUp()
      Self.set("seen-\(commits)", in: folder)
    }
    instance.pump()
  }
}
