import Foundation
import Testing

@testable import Tarn

class ChainLink: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var next: ChainLink?
  @Persisted var others: List<ChainLink>
  @Persisted var value: AnyRealmValue
  @Persisted var note = ""
}

class OwnedLink: Object {
  @Persisted(onDelete: .cascade) var next: OwnedLink?
}

class ChainRing: EmbeddedObject {
  @Persisted var n = 0
  @Persisted var inner: ChainRing?
}

class ChainHolder: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var ring: ChainRing?
}

/// Chains of links are as long as they like: nothing goes along them by recursion.
struct LongChainTests {
  /// Runs on a thread whose stack would not do for ten thousand levels of anything.
  private func onSmallStack(_ body: @escaping () throws -> Void) throws {
    nonisolated(unsafe) var failure: (any Error)?  // because: read when the thread has ended
    nonisolated(unsafe) let body = body  // because: the other thread is the only one to use it
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
      do { try body() } catch { failure = error }
      done.signal()
    }
    thread.stackSize = 512 * 1_024
    thread.start()
    done.wait()
    if let failure { throw failure }
  }

  private func instance(_ shelter: Shelter) throws -> Instance {
    var configuration = shelter.configuration
    configuration.objectTypes = [
      ChainLink.self, OwnedLink.self, ChainRing.self, ChainHolder.self,
    ]
    return try Instance(configuration, shelter)
  }

  /// How a link leads to the next.
  private enum Way: CaseIterable { case property, list, value }

  private func chain(_ count: Int, by way: Way, note: String = "") -> ChainLink {
    var head: ChainLink?
    for id in (0..<count).reversed() {
      let link = ChainLink()
      link.id = id
      link.note = note
      if let head {
        switch way {
        case .property: link.next = head
        case .list: link.others.append(head)
        case .value: link.value = .object(head)
        }
      }
      head = link
    }
    return head!
  }

  private func next(_ link: ChainLink, by way: Way) -> ChainLink? {
    switch way {
    case .property: link.next
    case .list: link.others.first
    case .value: link.value.object(ChainLink.self)
    }
  }

  private func length(_ head: ChainLink, by way: Way) -> Int {
    var (count, link) = (1, head)
    while let next = next(link, by: way) {
      count += 1
      link = next
    }
    return count
  }

  /// Added, updated, copied and deleted.
  private func live(_ count: Int, by way: Way) throws {
    let shelter = try Shelter()
    let instance = try instance(shelter)
    let head = chain(count, by: way)
    try instance.write { instance.realm.add(head) }
    #expect(instance.realm.objects(ChainLink.self).count == count)
    try instance.write {
      instance.realm.add(chain(count, by: way, note: "again"), update: .modified)
    }
    #expect(instance.realm.objects(ChainLink.self).filter("note == 'again'").count == count)
    let copy = head.detached()
    #expect(copy.realm == nil)
    #expect(length(copy, by: way) == count)
    #expect(length(head, by: way) == count)
    #expect(head.description.count < 100_000)
    try instance.write { instance.realm.deleteAll() }
  }

  @Test func aChainOnASmallStack() throws {
    for way in Way.allCases { try onSmallStack { try live(20_000, by: way) } }
  }

  /// Takes minutes: `TARN_LONG_CHAIN=1 swift test --filter LongChainTests`.
  @Test(.enabled(if: ProcessInfo.processInfo.environment["TARN_LONG_CHAIN"] != nil))
  func aChainOfAMillion() throws {
    try onSmallStack { try live(1_000_000, by: .property) }
  }

  @Test func aCreatedChain() throws {
    try onSmallStack {
      let instance = try instance(try Shelter())
      let head = chain(20_000, by: .property)
      try instance.write { instance.realm.create(ChainLink.self, value: head, update: .modified) }
      #expect(instance.realm.objects(ChainLink.self).count == 20_000)
      // What stays unmanaged is taken apart as the test does it with its own.
      var link: ChainLink? = head
      while let last = link, last.realm == nil {
        link = last.next
        last.next = nil
      }
    }
  }

  @Test func aChainThatIsDeletedByCascade() throws {
    try onSmallStack {
      let instance = try instance(try Shelter())
      var head = OwnedLink()
      for _ in 1..<20_000 {
        let link = OwnedLink()
        link.next = head
        head = link
      }
      try instance.write { instance.realm.add(head) }
      #expect(instance.realm.objects(OwnedLink.self).count == 20_000)
      try instance.write { instance.realm.delete(head) }
      #expect(instance.realm.objects(OwnedLink.self).isEmpty)
    }
  }

  @Test func aChainOfEmbeddedObjects() throws {
    try onSmallStack {
      let instance = try instance(try Shelter())
      func rings(_ count: Int, _ n: Int) -> ChainRing {
        var head = ChainRing()
        head.n = n
        for _ in 1..<count {
          let ring = ChainRing()
          ring.n = n
          ring.inner = head
          head = ring
        }
        return head
      }
      let holder = ChainHolder()
      holder.ring = rings(20_000, 1)
      try instance.write { instance.realm.add(holder) }
      let again = ChainHolder()
      again.ring = rings(20_000, 2)
      try instance.write { instance.realm.add(again, update: .modified) }
      let core = instance.realm.core
      let id = core.binding(of: ChainRing.self).classID
      #expect(try core.rows().count(of: id) == 20_000)
      #expect(holder.ring?.inner?.inner?.n == 2)
      try instance.write { holder.ring = nil }
      #expect(try core.rows().count(of: id) == 0)
    }
  }

  @Test func objectsComeInTheOrderInWhichTheyAreFound() throws {
    let instance = try instance(try Shelter())
    func link(_ id: Int, _ others: [ChainLink] = []) -> ChainLink {
      let link = ChainLink()
      link.note = "\(id)"
      link.id = 1_000 - id
      link.others.append(objectsIn: others)
      return link
    }
    try instance.write {
      instance.realm.add(link(0, [link(1, [link(3), link(4)]), link(2, [link(5)])]))
    }
    #expect(instance.realm.objects(ChainLink.self).count == 6)
    let again = link(0)
    again.others.append(objectsIn: [link(1), link(6, [link(1), again])])
    try instance.write { instance.realm.add(again, update: .all) }
    #expect(again.others.map(\.note) == ["1", "6"])
    #expect(again.others.last?.others.map(\.note) == ["1", "0"])
  }
}
