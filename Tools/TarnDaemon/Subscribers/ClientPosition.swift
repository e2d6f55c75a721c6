import Tarn
import ToolSupport

/// The position of a line for clients: `HISTORY/VERSION/COMMIT/SELECTION`. A client may come back
/// with it after the watch selects something else.
struct ClientPosition: Equatable, Sendable, CustomStringConvertible {
  let position: ChangePosition
  /// The sum of the watch's selection. Nil if the selection is unknown: the position is from the
  /// line of another sink, or from an earlier version.
  let selection: String?

  init(_ position: ChangePosition, selection: String?) {
    self.position = position
    self.selection = selection
  }

  /// Nil for a text that is not a position.
  init?(_ text: String) {
    let parts = text.splitASCII("/", omittingEmpty: false)
    guard let position = ChangePosition(parts.prefix(3).joined(separator: "/")), parts.count <= 4
    else { return nil }
    self.init(position, selection: parts.count == 4 ? String(parts[3]) : nil)
  }

  var description: String { selection.map { "\(position)/\($0)" } ?? "\(position)" }
}
