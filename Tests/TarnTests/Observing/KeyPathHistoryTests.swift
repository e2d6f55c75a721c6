import Foundation
import TestSupport
import Testing

@testable import Tarn

/// Random writes of two instances, one of them in callbacks, and perhaps of another thread or
/// another process, under observers of every kind of source: objects, lists and sets of values,
/// sections, projections. They look along random key paths, also through embedded objects, or to
/// random depths, and are left out of commits now and then. What a call says is held against walks
/// forwards over copies of all versions that it covers, and so are copies that follow it.
struct KeyPathHistoryTests {
  @Test(arguments: Seeds.of(1...12))
  func callsSayWhatTheirVersionsSay(seed: Int) throws {
    let folder = TemporaryFolder()
    let run = try KnotObservers(folder.path, seed: UInt64(seed))
    for _ in 0..<60 { try run.step() }
    run.finish()
    #expect(run.problems.prefix(3) == [])
    #expect(run.calls > 100)
  }

  @Test(arguments: Seeds.of(21...24))
  func soTheySayWhileAnotherThreadWrites(seed: Int) throws {
    let folder = TemporaryFolder()
    let run = try KnotObservers(folder.path, seed: UInt64(seed))
    let history = run.history
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      defer { done.signal() }
      do {
        let writer = try KnotWriter(history, seed: UInt64(seed))
        for _ in 0..<60 { try writer.write() }
      } catch {
        Issue.record("\(error)")
      }
    }
    for _ in 0..<60 { try run.step() }
    done.wait()
    run.finish()
    #expect(run.problems.prefix(3) == [])
  }

  /// Here there are all kinds of writers.
  @Test(arguments: Seeds.of(31...34))
  func andWhileAnotherProcessWrites(seed: Int) async throws {
    let folder = TemporaryFolder()
    let (observersSaid, writerSaid) = (KeptErrors(in: folder.path), KeptErrors(in: folder.path))
    async let observers = #expect(processExitsWith: .success) {
      [path = folder.path as String, seed = seed as Int, said = observersSaid as KeptErrors] in
      said.keep()
      let run = try KnotObservers(path, seed: UInt64(seed))
      let history = run.history
      try history.set("begun")
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        defer { done.signal() }
        do {
          let writer = try KnotWriter(history, seed: UInt64(seed))
          for _ in 0..<30 { try writer.write() }
        } catch {
          Issue.record("\(error)")
        }
      }
      var steps = 0
      let end = ContinuousClock.now + .seconds(300)
      while steps < 60 || !history.isSet("done") {
        precondition(ContinuousClock.now < end, "the other process does not come to its end")
        try run.step()
        steps += 1
      }
      done.wait()
      run.finish()
      // What a child expects is told by its comment alone.
      #expect(run.problems.isEmpty, "\(run.problems.prefix(3))")
      #expect(run.calls > 100, "\(run.calls) calls")
    }
    async let writer = #expect(processExitsWith: .success) {
      [path = folder.path as String, seed = seed as Int, said = writerSaid as KeptErrors] in
      said.keep()
      let history = KnotHistory(path, isShared: true)
      precondition(waitUntil { history.isSet("begun") }, "the other process does not begin")
      let writer = try KnotWriter(history, seed: UInt64(seed + 100))
      for _ in 0..<60 { try writer.write() }
      try history.set("done")
    }
    observersSaid.tell(await observers)
    writerSaid.tell(await writer)
  }
}
