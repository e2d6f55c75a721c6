import TestSupport
import Testing

@testable import ToolSupport

/// What is on the screen of a table whose rows come and go.
@Suite struct TableViewportTests {
  private typealias Viewport = TableViewport<String>
  private let start = ContinuousClock.now

  /// A table of names under a viewport, both moved by the same difference.
  private struct Table {
    var rows: [String]
    var viewport: Viewport

    init(_ count: Int, height: Int) {
      rows = (0..<count).map { "r\($0)" }
      viewport = Viewport(count: count, height: height, markFor: .seconds(1))
    }

    /// Deletes and inserts, as a difference has the positions.
    mutating func apply(
      deleting deletions: [Int] = [], inserting insertions: [Int: String] = [:],
      modifying modifications: [(from: Int, to: Int)] = [],
      moving moves: [(from: Int, to: Int)] = [], at now: ContinuousClock.Instant
    ) {
      let old = rows
      for position in (deletions + moves.map(\.from)).sorted(by: >) { rows.remove(at: position) }
      var arrivals = insertions
      for move in moves { arrivals[move.to] = old[move.from] }
      for (position, name) in arrivals.sorted(by: { $0.key < $1.key }) {
        rows.insert(name, at: position)
      }
      var difference = Viewport.Difference()
      difference.deletions = deletions + moves.map(\.from)
      difference.insertions = Array(arrivals.keys)
      difference.modifications = modifications
      difference.moves = moves
      viewport.apply(difference, now: now) { old[$0] }
    }

    /// The screen: names with the sign of what happened to them.
    var screen: [String] {
      viewport.lines.map { line in
        switch line {
        case .deleted(let name): return "-\(name)"
        case .row(let position, let mark):
          let signs: [Viewport.Mark: String] = [.inserted: "+", .modified: "~", .moved: "^"]
          return (mark.flatMap { signs[$0] } ?? "") + rows[position]
        }
      }
    }
  }

  @Test func `rows that come and go above leave what is looked at where it is`() {
    var table = Table(20, height: 3)
    table.viewport.scroll(to: 10)
    table.apply(deleting: [0, 1], inserting: [0: "a"], at: start)
    #expect(table.screen == ["r10", "r11", "r12"])
    #expect(table.viewport.top == 9)
  }

  @Test func `who looks at the beginning sees what comes there`() {
    var table = Table(5, height: 3)
    table.apply(inserting: [0: "a"], at: start)
    #expect(table.screen == ["+a", "r0", "r1"])
  }

  @Test func `a row that was deleted is shown for a moment where it was`() {
    var table = Table(5, height: 4)
    table.apply(deleting: [1], at: start)
    #expect(table.screen == ["r0", "-r1", "r2", "r3"])
    let early = table.viewport.expire(now: start + .milliseconds(999))
    let late = table.viewport.expire(now: start + .seconds(1))
    #expect(!early)
    #expect(late)
    #expect(table.screen == ["r0", "r2", "r3", "r4"])
  }

  @Test func `marks follow their rows`() {
    var table = Table(5, height: 5)
    table.apply(modifying: [(2, 3)], moving: [(from: 4, to: 0)], at: start)
    #expect(table.screen == ["^r4", "r0", "r1", "~r2", "r3"])
    table.apply(inserting: [1: "a"], at: start)
    #expect(table.screen == ["^r4", "+a", "r0", "r1", "~r2"])
  }

  @Test func `the screen is never left empty while there are rows`() {
    var table = Table(10, height: 4)
    table.viewport.scrollToEnd()
    #expect(table.screen == ["r6", "r7", "r8", "r9"])
    table.apply(deleting: Array(5...9), at: start)
    _ = table.viewport.expire(now: start + .seconds(2))
    #expect(table.screen == ["r1", "r2", "r3", "r4"])
    table.viewport.resize(height: 10)
    #expect(table.screen == ["r0", "r1", "r2", "r3", "r4"])
  }

  /// What is looked at stays at the top unless the table ends there; marks and ghosts are those of
  /// the last difference.
  @Test(arguments: 1...200 as ClosedRange<UInt64>)
  func `random differences keep the rows looked at and their marks`(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var table = Table(Int.random(in: 1...30, using: &random), height: 6)
    table.viewport.scroll(to: Int.random(in: 0...30, using: &random))
    for round in 0..<20 {
      let rows = table.rows
      let top = table.viewport.top
      let deletions = rows.indices.filter { _ in Int.random(in: 0..<6, using: &random) == 0 }
      let arrivals = Int.random(in: 0...3, using: &random)
      let positions = (0..<rows.count - deletions.count + arrivals).shuffled(using: &random)
      let insertions = Dictionary(
        uniqueKeysWithValues: positions.prefix(arrivals).map { ($0, "n\(round).\($0)") })
      let stays = rows.indices.first { $0 >= top && !deletions.contains($0) }.map { rows[$0] }
      let now = start + .seconds(2 * round)
      _ = table.viewport.expire(now: now)
      table.apply(deleting: deletions, inserting: insertions, at: now)
      #expect(table.viewport.count == table.rows.count)
      if top > 0, table.viewport.top > 0, table.viewport.top < table.rows.count - 6 {
        #expect(table.rows[table.viewport.top] == stays)
      }
      for line in table.screen {
        let name = String(line.drop { "+-".contains($0) })
        #expect(line.hasPrefix("+") == insertions.values.contains(name))
        #expect(line.hasPrefix("-") == !table.rows.contains(name))
      }
    }
  }

  @Test func `keys are read as terminals send them`() {
    func keys(_ text: String) -> [TerminalKeys.Key] { TerminalKeys.keys(Array(text.utf8)) }
    #expect(
      keys("\u{1b}[A\u{1b}OB\u{1b}[5~\u{1b}[6~gGq") == [
        .up, .down, .pageUp, .pageDown, .home, .end, .quit,
      ])
    #expect(keys("x\u{1b}[1;5Cj\u{1b}") == [.down])
  }
}
