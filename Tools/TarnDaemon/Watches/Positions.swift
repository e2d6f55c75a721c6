import Foundation
import Tarn
import TarnStore
import ToolSupport

/// The positions of a daemon's consumers in its state folder:
/// `positions/DAEMON/WATCH/SINK/`, with a file for each watched path. Any thread.
///
/// Names of watches and sinks have no slash, so no two consumers share a position. Earlier versions
/// wrote `positions/WATCH.SINK.SUM`: such a file is taken over unless it fits two consumers.
final class Positions: Sendable {
  private let folder: String
  private let daemon: String
  /// How many sinks each name of an earlier version fits.
  private let formerNames = Lock<[String: Int]>([:])

  init(in stateFolder: String, daemon: String, _ settings: DaemonSettings) {
    folder = "\(stateFolder)/positions"
    self.daemon = Self.escaped(daemon)
    use(settings)
  }

  /// Makes the folder, for the daemon's user only.
  func make() throws { try make(folder) }

  func use(_ settings: DaemonSettings) {
    var names: [String: Int] = [:]
    for watch in settings.watches {
      for name in [watch.name, watch.formerName].compactMap({ $0 }) {
        for sink in watch.sinks { names["\(name).\(sink.name)", default: 0] += 1 }
      }
    }
    formerNames.withLock { [names] in $0 = names }
  }

  private func make(_ path: String) throws {
    try PathRights.makeFolders(path)
  }

  // MARK: - Positions

  /// The position of a sink in a file.
  ///
  /// - Parameters:
  ///   - cursors: those of the file.
  ///   - cursor: the name of the sink's.
  /// - Returns: the position, which is nowhere if the cursor's is another path's, and where the
  ///   file comes from.
  func open(
    _ watch: String, _ sink: String, _ file: String, _ cursors: [CursorRecord], cursor: String
  ) throws -> (file: PositionFile, origin: FileOrigin) {
    guard let place = WatchedPlace(at: file) else { throw ToolError("there is no file \(file)") }
    try make(sinkFolder(watch, sink))
    let path = path(watch, sink, file)
    var origin = FileOrigin.alone
    let isTakenOver =
      PositionFile.acknowledged(in: path) == nil && takeOver(watch, sink, file, cursors, cursor)
    if !isTakenOver, let known = cursors.first(where: { $0.name == cursor }) {
      let history = ChangePosition(known.acknowledged).historyID
      origin = try leaveFormerPaths(watch, sink, place, history)
    }
    return (try PositionFile(path, of: place), origin)
  }

  /// Finds out whether the cursor of a file has the position of another path. Consumers keep
  /// content by paths: they need a full resync then, and so do those of the paths that the file has
  /// left, if it or another one comes there.
  private func leaveFormerPaths(
    _ watch: String, _ sink: String, _ place: WatchedPlace, _ history: UUID
  ) throws -> FileOrigin {
    let path = path(watch, sink, place.path)
    // A daemon that was killed before its first delivery has left a file without a position.
    let isOwn = PositionFile.acknowledged(in: path)?.historyID == history
    let known = PositionFile.noted(in: path)?.place.file.inode
    if isOwn, known == nil || known == place.file.inode { return .alone }
    let related = notes(watch, sink, of: place, history).filter { note in
      // With its own position it may be a backup of the file that was here.
      note.place.path != place.path && note.history == history
        && (!isOwn || note.place.file.inode == place.file.inode)
    }
    if related.isEmpty { return .alone }
    let origin = FileOrigin(of: place, history: history, related, now: WatchedPlace.init)
    // First, so that the position of the other path is not lost before this is known.
    try PositionFile(path, of: place).update { $0.acknowledged = ExpectedPosition.nowhere }
    for note in related
    where WatchedPlace(at: note.place.path)?.file.inode != note.place.file.inode {
      try PositionFile(self.path(watch, sink, note.place.path))
        .update { $0 = PositionFile.Content(acknowledged: ExpectedPosition.nowhere) }
    }
    return origin
  }

  func remove(_ watch: String, _ sink: String, _ file: String) {
    unlink(path(watch, sink, file))
    if fitsOne(watch, sink) { unlink(formerPath(watch, sink, file)) }
  }

  // MARK: - Beginnings

  /// Whether a sink has begun, with the files that were there.
  func hasBegun(_ watch: String, _ sink: String) -> Bool { exists(mark(watch, sink)) }

  func begin(_ watch: String, _ sink: String) throws {
    if hasBegun(watch, sink) { return }
    try make(sinkFolder(watch, sink))
    let made = Foundation.open(mark(watch, sink), Self.flags, 0o600)
    guard made >= 0 else { throw ToolError("cannot make", mark(watch, sink), errno: errno) }
    close(made)
  }

  // MARK: - Pauses

  func isPaused(_ watch: String, _ sink: String) -> Bool { exists(pause(watch, sink)) }

  func setPaused(_ watch: String, _ sink: String, _ isPaused: Bool) throws {
    let path = pause(watch, sink)
    if !isPaused {
      guard unlink(path) == 0 || errno == ENOENT else {
        throw ToolError("cannot remove", path, errno: errno)
      }
      return
    }
    try make(sinkFolder(watch, sink))
    let made = Foundation.open(path, Self.flags, 0o600)
    guard made >= 0 else { throw ToolError("cannot make", path, errno: errno) }
    close(made)
  }

  private func pause(_ watch: String, _ sink: String) -> String {
    "\(sinkFolder(watch, sink))/paused"
  }

  /// Forgets a sink.
  func end(_ watch: String, _ sink: String) {
    unlink(mark(watch, sink))
    unlink(pause(watch, sink))
    // Folders that are not empty stay.
    rmdir(sinkFolder(watch, sink))
    rmdir("\(folder)/\(daemon)/\(watch)")
  }

  /// Of files that have no content. A link is not followed, and a pipe not waited for.
  private static let flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK

  private func mark(_ watch: String, _ sink: String) -> String {
    "\(sinkFolder(watch, sink))/begun"
  }

  func move(_ watch: String, _ sink: String, _ file: String, to newWatch: String) throws {
    try make(sinkFolder(newWatch, sink))
    let new = path(newWatch, sink, file)
    if rename(path(watch, sink, file), new) != 0, fitsOne(watch, sink) {
      rename(formerPath(watch, sink, file), new)
    }
    if hasBegun(watch, sink) { try begin(newWatch, sink) }
    if isPaused(watch, sink) { try setPaused(newWatch, sink, true) }
    end(watch, sink)
  }

  private func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// Takes over what an earlier version wrote. Another daemon with such a watch and sink may have
  /// written it, too, if it has the same state folder.
  private func takeOver(
    _ watch: String, _ sink: String, _ file: String, _ cursors: [CursorRecord], _ cursor: String
  ) -> Bool {
    let isShared = cursors.contains {
      $0.name != cursor && $0.name.endsWithBytes(of: "/\(watch)/\(sink)")
    }
    guard !isShared, fitsOne(watch, sink) else { return false }
    return rename(formerPath(watch, sink, file), path(watch, sink, file)) == 0
  }

  private func fitsOne(_ watch: String, _ sink: String) -> Bool {
    formerNames.withLock { $0["\(watch).\(sink)"] ?? 0 } <= 1
  }

  /// A note of the file itself is in its history, also if a full resync is owed there.
  private func notes(
    _ watch: String, _ sink: String, of file: WatchedPlace, _ history: UUID
  ) -> [FileOrigin.Note] {
    let folder = sinkFolder(watch, sink)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.compactMap { name in
      guard let (place, content) = PositionFile.noted(in: "\(folder)/\(name)"),
        let position = content.acknowledged ?? content.intended
      else { return nil }
      let isItself = position == ExpectedPosition.nowhere && place.file.inode == file.file.inode
      return FileOrigin.Note(place: place, history: isItself ? history : position.historyID)
    }
  }

  // MARK: - Paths

  func sinkFolder(_ watch: String, _ sink: String) -> String {
    "\(folder)/\(daemon)/\(watch)/\(sink)"
  }

  func path(_ watch: String, _ sink: String, _ file: String) -> String {
    "\(sinkFolder(watch, sink))/\(ShortSum.of(file))"
  }

  func formerPath(_ watch: String, _ sink: String, _ file: String) -> String {
    let sum = file.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01b3
    }
    return "\(folder)/\(watch).\(sink).\(String(sum, radix: 16))"
  }

  /// A text as a file's name: no other text has the same.
  static func escaped(_ text: String) -> String {
    var name = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
        name.unicodeScalars.append(Unicode.Scalar(byte))
      case UInt8(ascii: ".") where !name.isEmpty: name += "."
      default: name += "%" + String(byte, radix: 16)
      }
    }
    return name.isEmpty ? "%" : name
  }
}
