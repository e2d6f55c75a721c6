import Foundation
import Tarn
import ToolSupport

/// W2r, W2s and W2t: writes in an actor.
private actor WritingActor {
  private var realm: Realm!
  private var person: Person!

  init(_ configuration: Realm.Configuration) async throws {
    realm = try await Realm(configuration: configuration, actor: self)
    person = try realm.write { realm.create(Person.self, value: ["_id": 1, "age": 30]) }
  }

  /// The duration of one commit that is durable when the call returns, in seconds.
  func write(_ writes: Int) throws -> Double {
    try benchTime { for _ in 0..<writes { try realm.write { person.age += 1 } } } / Double(writes)
  }

  /// The same for a commit that suspends the task.
  func asyncWrite(_ writes: Int) async throws -> Double {
    let start = benchNow()
    for _ in 0..<writes { try await realm.asyncWrite { person.age += 1 } }
    return (benchNow() - start) / Double(writes)
  }

  /// The duration of one of many commits that are queued at once and may share a sync, until all
  /// are durable, in seconds.
  func grouped(_ writes: Int) async throws -> Double {
    let start = benchNow()
    let failures = await withCheckedContinuation { continuation in
      var (left, failures) = (writes, 0)
      for _ in 0..<writes {
        realm.beginAsyncWrite {
          self.person.age += 1
          self.realm.commitAsyncWrite(allowGrouping: true) { error in
            left -= 1
            if error != nil { failures += 1 }
            if left == 0 { continuation.resume(returning: failures) }
          }
        }
      }
    }
    guard failures == 0 else { throw ToolError("\(failures) of \(writes) commits failed") }
    return (benchNow() - start) / Double(writes)
  }

  func end() {
    person = nil
    realm = nil
  }
}

/// W2r and W2s: asynchronous writes of one Int on an actor, one after the other, durable and not;
/// the floor is a synchronous write there. W2t: many durable ones that may share a sync; the floor
/// is a synchronous durable write.
func measureAsyncWrites(_ bench: Bench) throws {
  for (id, title, isDurable) in [("W2r", "durable", true), ("W2s", "no fsync", false)] {
    let configuration = bench.configuration("async-\(id)", isDurable ? .full : .relaxed)
    let actor = try waiting { try await WritingActor(configuration) }
    let writes = bench.rounds(isDurable ? 200 : 5000, tiny: 10)
    let many = bench.rounds(1000, tiny: 20)
    let medians = try bench.alternate([
      { try waiting { try await actor.asyncWrite(writes) } },
      { try waiting { try await actor.write(writes) } },
      { isDurable ? try waiting { try await actor.grouped(many) } : 0 },
    ])
    try waiting { await actor.end() }
    bench.add(
      BenchFigure(
        id, "asyncWrite of one Int on an actor, \(title); baseline: write", .seconds,
        ours: medians[0], floor: medians[1], target: .ratio(3)))
    guard isDurable else { continue }
    bench.add(
      BenchFigure(
        "W2t", "one of \(amount(many)) grouped durable commits; baseline: write", .seconds,
        ours: medians[2],
        floor: medians[1], target: .ratio(0.2)))
  }
}
