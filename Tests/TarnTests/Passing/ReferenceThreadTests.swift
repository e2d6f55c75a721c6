import Dispatch
import Foundation
import Synchronization
import TarnStore
import Testing

@testable import Tarn

/// References on many threads and queues at once.
struct ReferenceThreadTests {
  @Test func manyThreadsResolveOne() throws {
    let shelter = try Shelter()
    let a = try shelter.openIce(glaciers: 4)
    let configuration = shelter.iceConfiguration
    let object = ThreadSafeReference(to: a.glacier(1)!)
    let list = ThreadSafeReference(to: a.glacier(1)!.stones)
    let results = ThreadSafeReference(to: a.glaciers.where { $0.id < 3 }.sorted(by: \.id))
    var age = 0
    let problems = try readOnFourThreads(rounds: 100) {
      age += 1
      try a.write { a.glacier(1)!.age = age }
    } _: { round in
      guard let realm = try? Realm(configuration: configuration) else { return "not opened" }
      if round % 3 == 0 { realm.refresh() }
      guard let glacier = realm.resolve(object), let stones = realm.resolve(list),
        let all = realm.resolve(results)
      else { return "nothing in round \(round)" }
      let isRight =
        glacier.realm == realm && stones.count == 4 && all.map(\.id) == [1, 2] && all[0] == glacier
        && !object.isInvalidated
      return isRight ? nil : "\(glacier) \(stones.count) \(all.count)"
    }
    #expect(problems == [])
  }

  @Test func manyQueuesResolveOne() throws {
    let shelter = try Shelter()
    let a = try shelter.openIce(glaciers: 1)
    let configuration = shelter.iceConfiguration
    let reference = ThreadSafeReference(to: a.glacier(1)!)
    let sum = Atomic(0)
    let done = DispatchGroup()
    for number in 0..<16 {
      let queue = DispatchQueue(label: "ice \(number)")
      for _ in 0..<5 {
        queue.async(group: done) {
          let realm = try? Realm(configuration: configuration, queue: queue)
          sum.add(realm?.resolve(reference)?.id ?? 0, ordering: .relaxed)
        }
      }
    }
    done.wait()
    #expect(sum.load(ordering: .relaxed) == 80)
  }

  @Test func oneIsReleasedWhileItIsResolved() throws {
    let shelter = try Shelter()
    let a = try shelter.openIce(glaciers: 1)
    let configuration = shelter.iceConfiguration
    let shared = Shared(ThreadSafeReference(to: a.glacier(1)!))
    let problems = readOnFourThreads(rounds: 200) {
      shared.reference.withLock { $0 = nil }
      let next = ThreadSafeReference(to: a.glacier(1)!)
      shared.reference.withLock { $0 = next }
    } _: { _ in
      guard let reference = shared.reference.withLock({ $0 }) else { return nil }
      let found = (try? Realm(configuration: configuration))?.resolve(reference)
      return found?.id == 1 ? nil : "nothing"
    }
    #expect(problems == [])
  }

  private final class Shared: Sendable {
    let reference: Lock<ThreadSafeReference<Glacier>?>
    init(_ reference: ThreadSafeReference<Glacier>) { self.reference = Lock(reference) }
  }

  @Test func onlyTheLastHolderClosesTheFile() throws {
    let shelter = try Shelter()
    nonisolated(unsafe) var reference: ThreadSafeReference<Glacier>?  // because: one at a time
    let configuration = shelter.iceConfiguration
    func make() throws {
      let a = try shelter.openIce(glaciers: 1)
      reference = ThreadSafeReference(to: a.glacier(1)!)
    }
    try make()
    #expect(reference?.isInvalidated == false)
    #expect(throws: Realm.Error.alreadyOpen) { try Realm.deleteFiles(for: configuration) }
    onAThread { reference = nil }
    #expect(try Realm.deleteFiles(for: configuration))
  }
}
