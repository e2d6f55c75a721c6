import Tarn
import TarnStore

/// The position that a cursor is opened with.
enum ExpectedPosition {
  /// A position in no file's history: a consumer with it has nothing of the file.
  static let nowhere = ChangePosition("00000000-0000-0000-0000-000000000000/0/0")

  /// The position up to which a consumer has the changes; nil if only its cursor knows it.
  static func of(
    _ positions: PositionFile?, _ known: CursorRecord?
  ) -> ChangePosition? {
    guard let position = positions?.content.acknowledged else { return nil }
    // A position that is behind the cursor was not saved in time: it tells nothing.
    if let known, ChangePosition(known.acknowledged).historyID == position.historyID,
      known.acknowledged.version.rawValue >= position.version
    {
      return nil
    }
    return position
  }
}

extension OpenFile {
  /// Whether a consumer that has something needs a full resync: its position is of a file that was
  /// here before, or of a version that this one does not have.
  func owesResync(_ cursor: String, after positions: PositionFile?) throws -> Bool {
    let known = try cursorRecord(cursor)
    if let reason = known?.reason { return reason != .snapshot }
    guard let position = ExpectedPosition.of(positions, known) else { return false }
    let snapshot = try store.newestSnapshot()
    return try KeptPosition(at: FeedPlace(position), in: snapshot).state(in: snapshot).reason != nil
  }

  /// A batch that the consumer may have taken is not in this file: the file was restored since, and
  /// the consumer needs a full resync, also after a kill.
  func forgetOtherPositions(_ positions: PositionFile?) throws {
    guard let positions, let intended = positions.content.intended else { return }
    let head = try newestPosition()
    guard intended.historyID == head.historyID, intended.version >= head.version, intended != head
    else { return }
    try positions.update { $0.acknowledged = ExpectedPosition.nowhere }
  }
}
