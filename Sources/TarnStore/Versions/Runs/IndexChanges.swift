/// The changes of a collection, as positions. All arrays are ascending and without duplicates.
///
/// Removing `deletions` from the old collection and then inserting, in ascending order, the new
/// rows at `insertions` gives the new collection. A moved row counts as both, and never as
/// modified.
package struct IndexChanges: Equatable, Sendable {
  /// Positions in the old collection.
  package var deletions: [Int] = []
  /// Positions in the new collection.
  package var insertions: [Int] = []
  /// Old positions of modified rows that stayed.
  package var modifications: [Int] = []
  /// The new positions of the same rows.
  package var modificationsNew: [Int] = []
  /// The old and new positions of moved rows, in the order of the old positions; each `from` is
  /// also in `deletions`, each `to` in `insertions`. A script fills this in only on request.
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
