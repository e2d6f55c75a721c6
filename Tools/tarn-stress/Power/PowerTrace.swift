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

  /// A state that a store had.
  struct State {
    let transactionID: UInt64
    let digest: UInt64
    /// How many events had completed when it was noted.
    var notedFrom = 0
    /// The same when it was durable; `.max` if it never was.
    var durableFrom = Int.max
  }

  /// What is known of a state when it is noted.
  enum Promise: String {
    /// It survives a power failure.
    case durable
    /// The states of all earlier transactions survive one.
    case previousDurable
    /// Nothing.
    case none
    /// From now on commits are not synced: the file may be refused, until a state is durable again.
    case refusable
  }

  let bytes: [UInt8]
  private(set) var events: [Event] = []
  /// By path, in their order.
  private(set) var states: [String: [State]] = [:]
  /// By path, the numbers of events after which a file may be refused.
  private(set) var refusableFrom: [String: [Int]] = [:]
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
    let stores = Set(all.filter { $0.kind == stress_noted }.map { note(in: $0).path })
    let relevant = Set(paths.filter { !$0.value.isDisjoint(with: stores) }.keys)
    for event in all {
      switch event.kind {
      case stress_noted: take(note(in: event))
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

  /// A note is `PROMISE TRANSACTION DIGEST PATH`.
  static func note(_ path: String, _ promise: Promise, _ transactionID: UInt64, _ digest: UInt64) {
    stress_trace_note("\(promise) \(transactionID) \(digest) \(path)")
  }

  /// Notes that from now on commits of a file are not synced.
  static func noteRefusable(_ path: String) { note(path, .refusable, 0, 0) }

  private struct Note {
    let promise: Promise
    let state: State
    let path: String
  }

  private func note(in event: Event) -> Note {
    let words = names(of: event)[0].split(separator: " ", maxSplits: 3).map(String.init)
    return Note(
      promise: Promise(rawValue: words[0])!,
      state: State(transactionID: UInt64(words[1])!, digest: UInt64(words[2])!), path: words[3])
  }

  private mutating func take(_ note: Note) {
    let now = events.count
    if note.promise == .refusable {
      refusableFrom[note.path, default: []].append(now)
      return
    }
    var known = states[note.path] ?? []
    let place =
      known.lastIndex {
        $0.transactionID == note.state.transactionID && $0.digest == note.state.digest
      } ?? known.count
    if place == known.count {
      known.append(note.state)
      known[place].notedFrom = now
    }
    let durable: Int? =
      switch note.promise {
      case .durable: place
      case .previousDurable: place - 1
      case .none, .refusable: nil
      }
    if let durable, durable >= 0, known[durable].durableFrom > now {
      known[durable].durableFrom = now
    }
    states[note.path] = known
  }
}
