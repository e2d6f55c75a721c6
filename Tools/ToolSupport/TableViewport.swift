/// The rows of a changing table that are on the screen, and their recent changes.
///
/// It behaves like a table view that applies positional changes: visible rows stay in place while
/// rows above are inserted and deleted, marks follow their rows, and a deleted row remains visible
/// for a moment.
package struct TableViewport<Ghost> {
  package enum Mark: Sendable, Equatable { case inserted, modified, moved }

  /// One line on the screen.
  package enum Line {
    case row(Int, Mark?)
    case deleted(Ghost)
  }

  /// The changes of a table's rows: old positions of deletions, new positions of insertions, both
  /// positions of modified rows, and for each move, which is also a deletion and an insertion, the
  /// pair.
  package struct Difference {
    package var deletions: [Int] = []
    package var insertions: [Int] = []
    package var modifications: [(from: Int, to: Int)] = []
    package var moves: [(from: Int, to: Int)] = []
    package init() {}
  }

  private struct Marked {
    var mark: Mark
    var until: ContinuousClock.Instant
  }

  /// A deleted row, shown before the row at a position.
  private struct Deleted {
    var position: Int
    var ghost: Ghost
    var until: ContinuousClock.Instant
  }

  package private(set) var count: Int
  package private(set) var top = 0
  package private(set) var height: Int
  private var marks: [Int: Marked] = [:]
  private var deleted: [Deleted] = []
  private let markFor: Duration

  /// - Parameter markFor: how long a change is marked.
  package init(count: Int, height: Int, markFor: Duration = .milliseconds(1500)) {
    self.count = count
    self.height = max(1, height)
    self.markFor = markFor
  }

  // MARK: - Scrolling

  private var topMax: Int { max(0, count - height) }

  package mutating func scroll(to row: Int) { top = min(max(0, row), topMax) }
  package mutating func scroll(by rows: Int) { scroll(to: top + rows) }
  package mutating func scrollToEnd() { top = topMax }

  package mutating func resize(height: Int) {
    self.height = max(1, height)
    scroll(to: top)
  }

  // MARK: - Differences

  /// - Parameter ghost: a picture of a deleted row, by its old position; called only for rows on
  ///   the screen.
  package mutating func apply(
    _ difference: Difference, now: ContinuousClock.Instant, ghost: (Int) throws -> Ghost?
  ) rethrows {
    let map = PositionMap(difference)
    let until = now + markFor
    var followed: [Int: Marked] = [:]
    for (position, mark) in marks {
      if let new = map.after(position) { followed[new] = mark }
    }
    for index in deleted.indices { deleted[index].position = map.gap(deleted[index].position) }
    let moved = Set(difference.moves.map(\.from))
    for position in difference.deletions where !moved.contains(position) {
      guard position >= top, position < top + height, let ghost = try ghost(position) else {
        continue
      }
      deleted.append(Deleted(position: map.gap(position), ghost: ghost, until: until))
    }
    for position in difference.insertions {
      followed[position] = Marked(mark: .inserted, until: until)
    }
    for move in difference.moves { followed[move.to] = Marked(mark: .moved, until: until) }
    for pair in difference.modifications {
      followed[pair.to] = Marked(mark: .modified, until: until)
    }
    marks = followed
    // At the top, new rows appear; elsewhere the visible rows stay.
    if top > 0 { top = map.gap(top) }
    count += difference.insertions.count - difference.deletions.count
    scroll(to: top)
  }

  /// Removes marks and ghosts that were shown long enough.
  ///
  /// - Returns: whether there were any.
  package mutating func expire(now: ContinuousClock.Instant) -> Bool {
    let before = marks.count + deleted.count
    marks = marks.filter { $0.value.until > now }
    deleted.removeAll { $0.until <= now }
    return marks.count + deleted.count < before
  }

  /// The lines on the screen, from top to bottom.
  package var lines: [Line] {
    var lines: [Line] = []
    let ghosts = deleted.sorted { $0.position < $1.position }
    var next = ghosts.firstIndex { $0.position >= top } ?? ghosts.endIndex
    var row = top
    while lines.count < height {
      if next < ghosts.endIndex, ghosts[next].position == row {
        lines.append(.deleted(ghosts[next].ghost))
        next += 1
      } else if row < count {
        lines.append(.row(row, marks[row]?.mark))
        row += 1
      } else {
        break
      }
    }
    return lines
  }

  /// The rows' positions after a change.
  private struct PositionMap {
    private let deletions: [Int]
    private let insertions: [Int]
    private let moves: [Int: Int]

    init(_ difference: Difference) {
      deletions = difference.deletions.sorted()
      insertions = difference.insertions.sorted()
      moves = Dictionary(difference.moves.map { ($0.from, $0.to) }) { first, _ in first }
    }

    /// The new position of a row; nil for a deleted one.
    func after(_ position: Int) -> Int? {
      if let moved = moves[position] { return moved }
      return deletions.contains(position) ? nil : gap(position)
    }

    /// The new position of the first row that stayed at or after an old position.
    func gap(_ position: Int) -> Int {
      var new = position - deletions.count { $0 < position }
      for insertion in insertions where insertion <= new { new += 1 }
      return new
    }
  }
}
