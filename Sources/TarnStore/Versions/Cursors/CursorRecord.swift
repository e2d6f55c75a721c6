internal import Glibc

/// A named position in the history of a file, from which a consumer continues to read.
package struct CursorRecord: Equatable, Sendable {
  package var name: String
  /// Nil for the whole file.
  package var selection: [FeedSelectionName]?
  /// The state before each commit that records keep for the selected classes.
  package var level: OldValueLevel
  /// The names of further classes that conditions and key paths of the selection read. If old
  /// values are kept, they are kept of these classes, too.
  package var related: [String] = []
  /// When it was created and last acknowledged, in microseconds since 1970.
  package var created: Int64
  package var acknowledgedAt: Int64
  package var acknowledged: FeedPlace
  package var schemaEpoch: UInt64
  /// The age of the history and the bytes of its records at the acknowledged version.
  package var age: UInt64
  package var logBytes: UInt64
  /// How far it may fall behind before it expires.
  package var limits: CursorLimits
  /// How much is kept behind the acknowledged version; nothing without a limit.
  package var kept: CursorLimits
  /// Raised each time a process takes the cursor.
  package var epoch: UInt32
  package var owner: CursorOwner?
  /// When it expired, in microseconds since 1970, because the consumer was too far behind.
  package var expiredAt: Int64?
  /// Another reason for a full resync.
  package var reason: FeedReason?

  package static let nameBytesMax = 255

  package init(
    name: String, at head: HeadRecord, _ note: CommitNote?, selection: [FeedSelectionName]?,
    level: OldValueLevel, limits: CursorLimits = .standard, kept: CursorLimits = CursorLimits(),
    epoch: UInt32 = 0, reason: FeedReason? = nil
  ) {
    self.name = name
    self.selection = selection
    self.level = level
    created = CommitNote.now
    acknowledgedAt = created
    acknowledged = FeedPlace(head)
    schemaEpoch = head.schemaEpoch
    age = note?.age ?? 0
    logBytes = note?.logBytes ?? 0
    self.limits = limits
    self.kept = kept
    self.epoch = epoch
    self.reason = reason
  }

  /// Moves a new cursor to the version that a record leads to.
  mutating func begin(at header: ChangeRecord.Header, of historyID: Bytes16) {
    acknowledged = FeedPlace(
      historyID: historyID, version: header.to, commitID: header.meta.commitID)
    schemaEpoch = header.meta.schemaEpoch
    age = header.meta.note?.age ?? 0
    logBytes = header.meta.note?.logBytes ?? 0
  }

  /// Whether the records after the acknowledged version are kept for it.
  package var keepsRecords: Bool { expiredAt == nil }

  package var state: FeedState {
    FeedState(acknowledged: acknowledged, reason: expiredAt == nil ? reason : .expired)
  }

  /// Whether the consumer is farther behind than its limits allow.
  func isBeyondLimits(_ now: CommitNote) -> Bool {
    if let most = limits.bytes, now.logBytes > logBytes, now.logBytes - logBytes > most {
      return true
    }
    if let most = limits.age, now.age > age, now.age - age > most { return true }
    return false
  }

  /// Whether a record is in the range that is kept behind the acknowledged version.
  func keepsBehind(_ note: CommitNote?) -> Bool {
    if kept.age == nil, kept.bytes == nil { return false }
    guard let note else { return false }
    if let span = kept.age, age > note.age, age - note.age > span { return false }
    if let span = kept.bytes, logBytes > note.logBytes, logBytes - note.logBytes >= span {
      return false
    }
    return true
  }

  /// Why a string cannot be the name of a cursor; nil if it can.
  package static func fault(inName name: String) -> String? {
    if name.isEmpty { return "a cursor needs a name" }
    if name.utf8.count > nameBytesMax {
      return "the name of a cursor has \(nameBytesMax) bytes at most, this one has "
        + "\(name.utf8.count)"
    }
    let isOdd = name.unicodeScalars.contains { $0.properties.generalCategory == .control }
    return isOdd ? "the name of a cursor has no control characters" : nil
  }
}

/// The process that took a cursor last. Only its lock shows whether it still holds the cursor.
package struct CursorOwner: Hashable, Sendable {
  package var processID: Int32
  /// In clock ticks since boot; 0 if unknown.
  package var startTime: UInt64
  package var name: String
  /// When it took the cursor, in microseconds since 1970.
  package var since: Int64

  package init(processID: Int32, startTime: UInt64, name: String, since: Int64) {
    self.processID = processID
    self.startTime = startTime
    self.name = name
    self.since = since
  }

  /// This process, now.
  static var own: CursorOwner {
    let status = ProcessStatus.own
    return CursorOwner(
      processID: getpid(), startTime: status?.startTime ?? 0, name: status?.name ?? "",
      since: CommitNote.now)
  }

  /// Whether the process is stopped, as by SIGSTOP or a debugger. False if it cannot be seen from
  /// here, and if another process has its number.
  package var isStopped: Bool {
    guard let status = ProcessStatus.of(processID) else { return false }
    return status.isStopped && (startTime == 0 || status.startTime == startTime)
  }

  /// "process 4711 (notes), since 2026-11-27T01:20:30Z"
  package var sentence: String {
    let process = SignalProcess(processID: processID, startTime: startTime)
    let who = process.name == nil && !name.isEmpty ? "\(process) (\(name))" : "\(process)"
    let (seconds, rest) = since.quotientAndRemainder(dividingBy: 1_000_000)
    let time = Timestamp(seconds: seconds, nanoseconds: Int32(rest * 1000))
    return "\(who), since \(time.iso8601)"
  }
}

/// How far a cursor may fall behind, or how much is kept behind it. Nil for no limit.
package struct CursorLimits: Hashable, Sendable {
  /// In microseconds of the history's age.
  package var age: UInt64?
  /// In bytes of change records.
  package var bytes: UInt64?

  package init(age: UInt64? = nil, bytes: UInt64? = nil) {
    self.age = age
    self.bytes = bytes
  }

  /// Without it, an abandoned consumer would fill the disk.
  package static let standard = CursorLimits(bytes: 1 << 30)
}

/// How much of the state before a commit its change record keeps, of one class. Each level includes
/// the ones before it.
package enum OldValueLevel: UInt8, Sendable, CaseIterable, Comparable {
  case none = 0
  /// The primary keys of deleted objects.
  case keys = 1
  /// All values of deleted objects.
  case deletedObjects = 2
  /// The old values of modified properties, too.
  case oldValues = 3

  package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// One class of a selection as it is stored in the file, to be compared with the selection with
/// which a cursor is opened.
package struct FeedSelectionName: Hashable, Sendable {
  package var className: String
  /// The condition as text, including its values; nil for all objects.
  package var condition: String?
  /// The paths in order; nil for all properties.
  package var keyPaths: [String]?

  package init(className: String, condition: String?, keyPaths: [String]?) {
    self.className = className
    self.condition = condition
    self.keyPaths = keyPaths
  }
}
