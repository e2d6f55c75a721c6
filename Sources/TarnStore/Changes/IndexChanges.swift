/// What changed in a collection, as positions. All arrays are ascending and without repeats.
///
/// Taking `deletions` out of the old collection and then putting in, ascending, the new one's
/// rows at `insertions` gives the new collection. A row that moved counts as both, and never as
/// modified.
package struct IndexChanges: Equatable, Sendable {
  /// Positions in the old collection.
  package var deletions: [Int] = []
  /// Positions in the new collection.
  package var insertions: [Int] = []
  /// Positions in the old collection of rows that stayed and changed.
  package var modifications: [Int] = []
  /// The same rows' positions in the new collection.
  package var modificationsNew: [Int] = []
  /// Where rows that moved were and are, in the order of the old positions; each `from` is also
  /// in `deletions`, each `to` in `insertions`. A script fills this in only where it is told to.
  package var moves: [Move] = []

  package struct Move: Equatable, Sendable {
    package var from: Int
    package var to: Int
    package init(from: Int, to: Int) {
      self.from = from
      self.to = to
    }
  }

  package init() {}

  package var isEmpty: Bool {
    deletions.isEmpty && insertions.isEmpty && modifications.isEmpty
  }
}
