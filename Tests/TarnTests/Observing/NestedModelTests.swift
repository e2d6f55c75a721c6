import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Random isles that link to each other in every way, random writes, and observers that look along
/// random key paths or links: what they are told behind each element is what a walk over copies of
/// both versions finds.
struct NestedModelTests {
  @Test(arguments: Seeds.of(1...16))
  func whatIsToldIsWhatAWalkOverBothVersionsFinds(seed: Int) throws {
    var run = try IsleRun(seed: UInt64(seed))
    for _ in 0..<30 { try run.step() }
    #expect(run.told > 100)
  }
}

private struct IsleRun {
  private let writer: Instance
  private let instance: Instance
  private var script: IsleScript
  private var watches: [IsleWatch] = []
  private(set) var told = 0

  init(seed: UInt64) throws {
    script = IsleScript(seed: seed)
    let shelter = try Shelter()
    writer = try shelter.openIsles()
    instance = try shelter.openIsles()
    try writer.write { script.begin(in: writer.realm) }
    instance.realm.refresh()
    script.model.forgetTouches()
    watches = IsleWatch.all(of: instance.isles, &script.numbers)
    instance.pump()
  }

  /// Commits, by somebody else or by the instance itself, and what is told of them.
  mutating func step() throws {
    let before = script.model
    try script.commit(to: instance.realm, or: writer.realm)
    instance.pump()
    writer.pump()
    let walk = IsleWalk(before: before, after: script.model)
    for watch in watches {
      for call in watch.calls { told += call.check(walk) }
      watch.calls = []
    }
    script.model.forgetTouches()
  }
}
