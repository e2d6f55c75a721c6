import TestSupport
import Testing

@testable import TarnSync

/// A replica's list of texts: the server's as it knows it, and its own.
private struct ListReplica {
  let number: UInt32
  private(set) var base: [ListElement<String>] = []
  private(set) var mine: [ListElement<String>] = []
  private var made: UInt32 = 0
  private var clock: Int64 = 0

  init(_ number: UInt32, _ list: [ListElement<String>] = []) {
    self.number = number
    (base, mine) = (list, list)
  }

  @discardableResult
  mutating func insert(_ text: String, at index: Int) -> ElementID {
    made += 1
    let id = ElementID(author: number, version: 1, salt: 0, number: made)
    mine.insert(ListElement(id, text, Stamp(0, by: number)), at: index)
    return id
  }

  mutating func remove(at index: Int) -> ElementID { mine.remove(at: index).id }

  mutating func move(from: Int, to: Int) { mine.insert(mine.remove(at: from), at: to) }

  mutating func set(_ text: String, at index: Int, time: Int64) {
    mine[index].content = Stamped(text, Stamp(time, by: number))
  }

  /// Brings own and foreign changes together.
  mutating func pull(_ server: [ListElement<String>]) {
    mine = ListMerge.merged(base: base, theirs: server, mine: mine, author: number)
    base = server
  }

  mutating func push(_ server: inout [ListElement<String>]) {
    pull(server)
    server = mine
    base = mine
  }

  var text: String { mine.map(\.content.value).joined() }
}

@Suite struct ListMergeTests {
  /// What two replicas have of a list that begins as `abcd`, after both have sent their changes.
  private func merged(
    _ first: (inout ListReplica) -> Void, _ second: (inout ListReplica) -> Void
  ) -> String {
    var maker = ListReplica(9)
    for (index, letter) in "abcd".enumerated() { maker.insert("\(letter)", at: index) }
    var server: [ListElement<String>] = []
    maker.push(&server)
    var (a, b) = (ListReplica(1, server), ListReplica(2, server))
    first(&a)
    second(&b)
    a.push(&server)
    b.push(&server)
    a.pull(server)
    #expect(a.text == b.text)
    return a.text
  }

  @Test func `insertions at different places`() {
    #expect(merged({ $0.insert("x", at: 0) }, { $0.insert("y", at: 4) }) == "xabcdy")
  }

  @Test func `insertions at one place both stay`() {
    #expect(merged({ $0.insert("x", at: 2) }, { $0.insert("y", at: 2) }) == "abyxcd")
  }

  /// Between two letters of one's own, the left one is what one types on from.
  @Test func `what is typed after an own letter follows it`() {
    var server: [ListElement<String>] = []
    var (a, b) = (ListReplica(1), ListReplica(2))
    a.insert("1", at: 0)
    a.insert("2", at: 1)
    a.push(&server)
    b.pull(server)
    b.insert("x", at: 1)
    b.push(&server)
    a.insert("3", at: 1)
    a.push(&server)
    #expect(a.text == "13x2")
  }

  @Test func `an insertion beside all that is replaced`() {
    let result = merged(
      { list in
        for _ in 0..<4 { _ = list.remove(at: 0) }
        list.insert("x", at: 0)
      }, { $0.insert("y", at: 2) })
    #expect(result == "yx")
  }

  @Test func `what one removes is gone, whatever the other does`() {
    #expect(merged({ _ = $0.remove(at: 1) }, { $0.set("B", at: 1, time: 5) }) == "acd")
    #expect(merged({ _ = $0.remove(at: 1) }, { $0.move(from: 1, to: 3) }) == "acd")
    #expect(merged({ $0.move(from: 1, to: 3) }, { _ = $0.remove(at: 1) }) == "acd")
  }

  @Test func `an element that both move is where the later push put it`() {
    #expect(merged({ $0.move(from: 0, to: 2) }, { $0.move(from: 0, to: 3) }) == "bcda")
    #expect(merged({ $0.move(from: 0, to: 3) }, { $0.move(from: 0, to: 2) }) == "bcad")
  }

  @Test func `moves of different elements both stay`() {
    #expect(merged({ $0.move(from: 0, to: 3) }, { $0.move(from: 1, to: 3) }) == "cdba")
  }

  @Test func `of two values the one with the later stamp stays`() {
    #expect(merged({ $0.set("x", at: 0, time: 7) }, { $0.set("y", at: 0, time: 5) }) == "xbcd")
    #expect(merged({ $0.set("x", at: 0, time: 5) }, { $0.set("y", at: 0, time: 7) }) == "ybcd")
    #expect(merged({ $0.set("x", at: 0, time: 5) }, { $0.set("y", at: 0, time: 5) }) == "ybcd")
  }

  @Test func `a push whose answer was lost is not made twice`() {
    var server: [ListElement<String>] = []
    var a = ListReplica(1)
    a.insert("x", at: 0)
    let before = a
    a.push(&server)
    a = before
    a.push(&server)
    #expect(server.map(\.content.value) == ["x"])
  }

  /// Several people type at one place, forwards and backwards, with pushes and pulls in between.
  @Test func `what is typed at one place stays together`() {
    for seed in 1...UInt64(Seeds.rounds(10_000, few: 200)) { type(seed) }
  }

  private func type(_ seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var server: [ListElement<String>] = []
    var maker = ListReplica(9)
    for index in 0..<2 { maker.insert("-", at: index) }
    maker.push(&server)
    var replicas = (1...(2 + UInt32(random.below(3)))).map { ListReplica($0, server) }
    var cursors: [ElementID?] = replicas.map { _ in nil }
    let backwards = replicas.map { _ in random.below(2) == 0 }
    for _ in 0..<60 {
      let one = random.below(replicas.count)
      switch random.below(4) {
      case 0: replicas[one].push(&server)
      case 1: replicas[one].pull(server)
      default:
        let list = replicas[one].mine
        let place = cursors[one].flatMap { id in list.firstIndex { $0.id == id } }
        let index = place.map { backwards[one] ? $0 : $0 + 1 } ?? 1
        cursors[one] = replicas[one].insert("\(one)", at: index)
      }
    }
    for index in replicas.indices { replicas[index].push(&server) }
    let writers = server.map(\.id.author)
    let runs = writers.indices.filter { $0 == 0 || writers[$0] != writers[$0 - 1] }
    #expect(runs.count == Set(writers).count + 1, "\(writers)")
  }

  /// Random changes of any kind: all lists become equal, and what nobody removed is there.
  @Test func `replicas that have sent and received everything are equal`() {
    for seed in 1...UInt64(Seeds.rounds(10_000, few: 200)) { change(seed) }
  }

  private func change(_ seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var server: [ListElement<String>] = []
    var replicas = (1...UInt32(2 + random.below(3))).map { ListReplica($0) }
    var (inserted, removed): (Set<ElementID>, Set<ElementID>) = ([], [])
    for step in 0..<80 {
      let one = random.below(replicas.count)
      let count = replicas[one].mine.count
      switch random.below(count == 0 ? 3 : 8) {
      case 0: replicas[one].push(&server)
      case 1: replicas[one].pull(server)
      case 2...4:
        inserted.insert(replicas[one].insert("\(step)", at: random.below(count + 1)))
      case 5: removed.insert(replicas[one].remove(at: random.below(count)))
      case 6: replicas[one].move(from: random.below(count), to: random.below(count))
      default: replicas[one].set("s\(step)", at: random.below(count), time: Int64(step))
      }
    }
    for index in replicas.indices { replicas[index].push(&server) }
    for index in replicas.indices { replicas[index].pull(server) }
    for replica in replicas { #expect(replica.mine == server) }
    #expect(Set(server.map(\.id)) == inserted.subtracting(removed))
    #expect(Set(server.map(\.id)).count == server.count)
  }

  @Test func `a side that changed nothing takes the other`() {
    for seed in 1...UInt64(Seeds.rounds(1_000, few: 200)) { changeOneSide(seed) }
  }

  private func changeOneSide(_ seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var replica = ListReplica(1)
    for index in 0..<10 { replica.insert("\(index)", at: index) }
    let base = replica.mine
    for step in 0..<10 {
      replica.move(from: random.below(10), to: random.below(10))
      replica.set("s\(step)", at: random.below(10), time: Int64(step + 1))
    }
    #expect(
      ListMerge.merged(base: base, theirs: base, mine: replica.mine, author: 1) == replica.mine)
    #expect(
      ListMerge.merged(base: base, theirs: replica.mine, mine: base, author: 2) == replica.mine)
  }

  /// A server is not trusted with the process.
  @Test func `a name that a server sends twice does no harm`() {
    let id = ElementID(author: 3, version: 1, salt: 0, number: 1)
    let twice = [ListElement(id, "x", Stamp(1, by: 3)), ListElement(id, "y", Stamp(2, by: 3))]
    var mine = ListReplica(1, twice)
    mine.insert("z", at: 1)
    mine.pull(twice)
    #expect(mine.text.contains("z"))
  }
}
