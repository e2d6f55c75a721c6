import Foundation
import TarnStore

/// How a file without a position came by the cursor in it.
enum FileOrigin: Equatable {
  /// Nothing is known of another file with this history.
  case alone
  /// It was at that path, whose consumer has nothing of this one.
  case moved(from: String)
  /// The file at that path has the position of this history. A copy has the other one's cursor,
  /// too, but its consumer has nothing of it.
  case copied(from: String)

  /// A position that is noted, and the history that it is in.
  struct Note: Equatable {
    let place: WatchedPlace
    let history: UUID
  }

  /// - Parameters:
  ///   - notes: what is noted for the same sink.
  ///   - now: what is at a path now.
  init(
    of place: WatchedPlace, history: UUID, _ notes: [Note], now: (String) -> WatchedPlace?
  ) {
    let related = notes.filter { $0.history == history && $0.place.path != place.path }
      .map(\.place)
    // The numbers of devices are not stable: another boot may have given others.
    let present = related.filter { now($0.path)?.file.inode == $0.file.inode }
    if present.contains(where: { now($0.path)?.file == place.file }) {
      // Two names of one file.
      self = .alone
    } else if let same = related.first(where: { $0.file == place.file }) {
      self = .moved(from: same.path)
    } else if let original = present.first {
      self = .copied(from: original.path)
    } else if let gone = related.first {
      self = related.count == 1 ? .moved(from: gone.path) : .copied(from: gone.path)
    } else {
      self = .alone
    }
  }
}
