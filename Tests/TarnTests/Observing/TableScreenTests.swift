import TestSupport
import Testing

@testable import Tarn

/// Four ways to keep a table up to date.
struct TableScreenTests {
  private let here: Instance
  private let there: Instance

  init() throws {
    let shelter = try Shelter()
    here = try shelter.open(cats: 5)
    there = try shelter.open()
  }

  private var names: [String] { here.cats.sorted(by: \.age).map(\.name) }

  @Test func aTableThatFollowsItsObserverIsLateByATurn() throws {
    let screen = TableScreen(here.realm)
    here.pump()
    #expect(screen.tableView.rows == ["cat 0", "cat 1", "cat 2", "cat 3", "cat 4"])
    try screen.delete(at: 1)
    #expect(screen.tableView.rows.count == 5)
    #expect(screen.results.count == 4)
    here.pump()
    #expect(screen.tableView.rows == names)
    #expect(screen.tableView.problems == [])
  }

  @Test func aTableThatIsChangedDirectlyIsNotToldAgain() throws {
    let screen = DirectTableScreen(here.realm)
    here.pump()
    try screen.delete(at: 1)
    #expect(screen.tableView.rows == ["cat 0", "cat 2", "cat 3", "cat 4"])
    here.pump()
    #expect(screen.tableView.batches == 1)
    #expect(screen.tableView.problems == [])
    // Others' changes fit what it shows by now.
    try there.write {
      there.realm.delete(there.cat(3)!)
      there.cat(4)!.name = "Mia"
    }
    here.pump()
    #expect(screen.tableView.rows == ["cat 0", "cat 2", "Mia"])
    #expect(screen.tableView.batches == 2)
  }

  @Test func aTableThatRefreshesIsUpToDateAtOnce() throws {
    let screen = RefreshingTableScreen(here.realm)
    here.pump()
    try screen.delete(at: 1)
    #expect(screen.tableView.rows == ["cat 0", "cat 2", "cat 3", "cat 4"])
    #expect(screen.tableView.batches == 1)
    #expect(screen.tableView.problems == [])
    here.pump()
    #expect(screen.tableView.batches == 1)
  }

  @Test func aTableThatWritesElsewhereIsToldOfIt() throws {
    let screen = BackgroundTableScreen(here.realm)
    here.pump()
    try screen.delete(at: 1)
    screen.waitForWrites()
    // Nothing moves here before a turn.
    #expect(screen.tableView.rows.count == 5)
    #expect(screen.results.count == 5)
    here.pump()
    #expect(screen.tableView.rows == ["cat 0", "cat 2", "cat 3", "cat 4"])
    #expect(names == screen.tableView.rows)
    #expect(screen.tableView.problems == [])
  }

  /// Somebody else was first.
  @Test func aRowThatIsGoneByThenIsLeftAlone() throws {
    let screen = BackgroundTableScreen(here.realm)
    here.pump()
    try there.write {
      try screen.delete(at: 1)
      there.realm.delete(there.cat(1)!)
    }
    screen.waitForWrites()
    here.pump()
    #expect(screen.tableView.rows == ["cat 0", "cat 2", "cat 3", "cat 4"])
    #expect(screen.tableView.problems == [])
  }

  enum Pattern: CaseIterable { case observing, direct, refreshing, background }

  /// However the user's deletions and others' writes mix.
  @Test(arguments: Pattern.allCases, Array(1...4) as [UInt64])
  func tablesStayRight(pattern: Pattern, seed: UInt64) throws {
    let screen =
      switch pattern {
      case .observing: TableScreen(here.realm)
      case .direct: DirectTableScreen(here.realm)
      case .refreshing: RefreshingTableScreen(here.realm)
      case .background: BackgroundTableScreen(here.realm)
      }
    here.pump()
    var numbers = SeededRandom(seed: seed)
    for step in 0..<60 {
      switch numbers.below(5) {
      case 0:
        // Nothing is touched in a table that is behind.
        here.pump()
        if screen.results.count > 0 { try screen.delete(at: numbers.below(screen.results.count)) }
      case 1: try there.add(100 + step, age: numbers.below(90))
      case 2: try there.write { there.cats.last?.age = numbers.below(90) }
      case 3: try there.write { there.cats.first?.name = "n\(step)" }
      default: here.pump()
      }
    }
    (screen as? BackgroundTableScreen)?.waitForWrites()
    here.pump()
    #expect(screen.tableView.rows == names)
    #expect(screen.tableView.problems == [])
  }
}
