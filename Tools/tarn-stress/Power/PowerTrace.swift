import Foundation
import StressFaults

/// A process's calls that changed files of one folder, in their order: see `stress_trace.h`.
struct PowerTrace {
  struct Event {
    let kind: stress_kind
    let inode: UInt64
    let offset: Int
    /// In `bytes`.
    let range: Range<Int>
    /// Durable when the call returned.
    let isAtOnce: Bool
    /// On the disk since before the trace began.
    let isBefore: Bool
    let isOfFolder: Bool
  }

  /// A state of a store that was acknowledged as durable.
  struct Acknowledgement {
    /// How many events had completed.
    let event: Int
    let transactionID: UInt64
    let digest: UInt64
  }

  let bytes: [UInt8]
  private(set) var events: [Event] = []
  /// By path, in their order.
  private(set) var acknowledged: [String: [Acknowledgement]] = [:]
  /// The number of events before the trace began.
  private(set) var beginning = 0

  init(_ path: String) throws {
    bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    let all = readRecords()
    // Companions are created again after a power failure; other files do not matter.
    var paths: [UInt64: Set<String>] = [:]
    for event in all where Self.names(event) {
      for name in names(of: event) { paths[event.inode, default: []].insert(name) }
    }
    let stores = Set(notes(all).map(\.path))
    let relevant = Set(paths.filter { !$0.value.isDisjoint(with: stores) }.keys)
    for event in all {
      switch event.kind {
      case stress_noted: note(event)
      case stress_synced where event.isOfFolder: events.append(event)
      case stress_unnamed where stores.contains(names(of: event)[0]): events.append(event)
      default: if relevant.contains(event.inode) { events.append(event) }
      }
      if event.isBefore { beginning = events.count }
    }
  }

  private static func names(_ event: Event) -> Bool {
    event.kind == stress_named || event.kind == stress_renamed
  }

  private func readRecords() -> [Event] {
    var all: [Event] = []
    bytes.withUnsafeBytes { bytes in
      var at = 0
      let size = MemoryLayout<stress_record>.size
      while at + size <= bytes.count {
        let record = bytes.loadUnaligned(fromByteOffset: at, as: stress_record.self)
        at += size
        all.append(
          Event(
            kind: stress_kind(record.kind), inode: record.inode, offset: Int(record.offset),
            range: at..<at + Int(record.byte_count),
            isAtOnce: record.flags & stress_at_once.rawValue != 0,
            isBefore: record.flags & stress_before.rawValue != 0,
            isOfFolder: record.flags & stress_folder.rawValue != 0))
        at += Int(record.byte_count)
      }
    }
    return all
  }

  /// The paths in an event's bytes.
  func names(of event: Event) -> [String] {
    bytes[event.range].split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
  }

  // MARK: - Notes

  /// A note is `TRANSACTION DIGEST PATH`.
  static func note(_ path: String, _ transactionID: UInt64, _ digest: UInt64) {
    stress_trace_note("\(transactionID) \(digest) \(path)")
  }

  private func notes(
    _ all: [Event]
  ) -> [(path: String, transactionID: UInt64, digest: UInt64)] {
    all.filter { $0.kind == stress_noted }.map(parts)
  }

  private func parts(_ event: Event) -> (path: String, transactionID: UInt64, digest: UInt64) {
    let words = names(of: event)[0].split(separator: " ", maxSplits: 2).map(String.init)
    return (words[2], UInt64(words[0])!, UInt64(words[1])!)
  }

  private mutating func note(_ event: Event) {
    let (path, transactionID, digest) = parts(event)
    acknowledged[path, default: []].append(
      Acknowledgement(event: events.count, transactionID: transactionID, digest: digest))
  }
}
