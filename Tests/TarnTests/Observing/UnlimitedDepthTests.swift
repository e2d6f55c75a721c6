import TarnStore
import Testing

@testable import Tarn

/// `depth: .max` has no limit, and costs what is there: links in circles end, chains need no deep
/// stack.
struct UnlimitedDepthTests {
  /// What the last call said: positions of modified elements, and the ways from some of them.
  private final class Record {
    var modified: [Int] = []
    var ways: [[NestedChange]] = []
    var token: NotificationToken?

    init(_ isles: Results<Isle>, depth: Int = .max, ways positions: [Int]) {
      token = isles.observeChanges(depth: depth) { [unowned self] change in
        guard case .update(_, let delta) = change else { return }
        modified = Array(delta.modificationsNew)
        ways = positions.map { delta.nested(at: $0) }
      }
    }

    deinit { token?.invalidate() }
  }

  @Test(arguments: [3, 1_000_000, .max])
  func circlesEnd(depth: Int) throws {
    let instance = try Shelter().openIsles(5)
    try instance.write {
      for id in 0..<3 { instance.isle(id).next = instance.isle((id + 1) % 3) }
      instance.isle(3).next = instance.isle(3)
      instance.isle(4).next = instance.isle(3)
    }
    let record = Record(instance.isles, depth: depth, ways: [0, 1, 2])
    instance.pump()
    try instance.write { instance.isle(0).name = "new" }
    instance.pump()
    #expect(record.modified == [0, 1, 2])
    #expect(
      record.ways.map { $0.map(\.text) } == [["name"], ["next.next.name"], ["next.name"]])
    try instance.write { instance.isle(3).name = "new" }
    instance.pump()
    #expect(record.modified == [3, 4])
  }

  @Test func aChainIsFollowedToItsEnd() throws {
    let count = 5_000
    let instance = try Shelter().openIsles(count)
    try instance.write {
      for id in 1..<count { instance.isle(id - 1).next = instance.isle(id) }
    }
    let record = Record(instance.isles, ways: [0])
    instance.pump()
    try instance.write { instance.isle(count - 1).name = "new" }
    instance.pump()
    #expect(record.modified.count == count)
    #expect(record.ways.map { $0.map(\.path.count) } == [[count - 1]])
  }

  /// Very many link to the object that changes, so that those who look are asked, not it.
  @Test func hubsAreFoundFromTheSideOfThoseWhoLook() throws {
    let instance = try Shelter().openIsles(3_000)
    try instance.write {
      let hub = instance.isle(2_999)
      for id in 20..<2_999 { instance.isle(id).next = hub }
      for id in 0..<10 { instance.isle(id).next = instance.isle(id + 20) }
      for id in 10..<20 { instance.isle(id).next = instance.isle(10 + (id - 9) % 10) }
      hub.next = instance.isle(0)
    }
    let few = instance.realm.objects(Isle.self).where { $0.id < 20 }.sorted(by: \.id)
    let (far, near) = (Record(few, ways: []), Record(few, depth: 1, ways: []))
    instance.pump()
    try instance.write { instance.isle(2_999).name = "new" }
    instance.pump()
    #expect(far.modified == Array(0..<10))
    #expect(near.modified == [])
  }

  /// There are more ways through such a knot than anybody could list.
  @Test func aKnotTellsOfTheShortestWays() throws {
    let instance = try Shelter().openIsles(400)
    try instance.write {
      for id in 0..<400 {
        for step in [1, 7, 50, 399, 393] {
          instance.isle(id).list.append(instance.isle((id + step) % 400))
        }
      }
    }
    let record = Record(instance.isles, ways: [0, 399, 200])
    instance.pump()
    try instance.write { instance.isle(0).name = "new" }
    instance.pump()
    #expect(record.modified.count == 400)
    #expect(record.ways.map { $0.first?.path.count } == [0, 1, 4])
    #expect(record.ways.allSatisfy { $0.count <= NestedWalk.waysMax })
  }
}
