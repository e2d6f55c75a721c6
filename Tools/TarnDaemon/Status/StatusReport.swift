import Foundation
import TarnStore
import ToolSupport

/// What the daemon is doing, at one moment: for its status, its metrics and its health. It has no
/// value of a property and no secret.
struct StatusReport {
  struct Sink {
    let watch: String
    let sink: String
    let path: String
    let content: SinkStatus.Content
    /// How many versions the receiver lacks.
    let behind: UInt64
    let secondsBehind: Double
    /// The change records that the receiver lacks; nil if that is not known.
    let bytesBehind: UInt64?
  }

  struct File {
    let path: String
    /// Why it is not open; nil if it is.
    let waiting: String?
    var bytes = 0
    var version: UInt64 = 0
    /// The states that other processes read, the oldest first.
    var pins: [PinnedState] = []
    var writer: String?
    /// False if the file is read from a private copy.
    var isFollowed = true

    /// Bytes of pages that cannot be used again before the oldest of these states is released.
    var pinnedBytes: Int { pins.first?.keptBytes ?? 0 }
  }

  let instance: String
  let sinks: [Sink]
  let syncs: [SyncStatus]
  let files: [File]
  let secondsUp: Double

  /// True if every file is open, no sink is failing, and no server refuses or is out of reach.
  var isHealthy: Bool {
    files.allSatisfy { $0.waiting == nil && $0.isFollowed }
      && sinks.allSatisfy { !$0.content.isFailing } && syncs.allSatisfy { $0.problem == nil }
  }

  static func file(_ path: String, _ open: OpenFile?, _ reason: String?) -> File {
    var file = File(path: path, waiting: open == nil ? reason ?? "not opened yet" : nil)
    guard let open else { return file }
    let store = open.store
    if let facts = FileFacts.at(path) { file.bytes = Int(facts.byteCount) }
    file.version = store.newestKnownVersion.rawValue
    file.isFollowed = open.copyCause == nil
    file.writer = store.gate.holder.map { "\($0.process)" }
    file.pins = (try? store.pinnedStates(ofOthers: true)) ?? []
    return file
  }

  static func sink(_ status: SinkStatus, newest: UInt64, bytesBehind: UInt64?) -> Sink {
    let content = status.content
    let behind = newest > content.version ? newest - content.version : 0
    let since = behind == 0 ? nil : content.behindSince
    return Sink(
      watch: status.watch, sink: status.sink, path: status.path, content: content, behind: behind,
      secondsBehind: since.map { max(0, Date().timeIntervalSince1970 - $0) } ?? 0,
      bytesBehind: behind == 0 ? 0 : bytesBehind)
  }
}
