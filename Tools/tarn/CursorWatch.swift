import Foundation
import Tarn
import TarnStore
import TarnText
import ToolSupport

/// `tarn watch --cursor`: prints the changes of a class, or of all, since the cursor's position,
/// including those made while it was not running, and then each change.
struct CursorWatch {
  private enum Acknowledging: String { case auto, manual }

  private let path: String
  /// Nil for all classes.
  private let className: String?
  private let filter: String?
  private let columns: [String]?
  private let name: String
  private let acknowledging: Acknowledging
  private let keeps: KeepText?
  private let keepsOldValues: Bool
  private let takes: Bool
  private let showsInitial: Bool
  private let usesJSON: Bool
  private let terminal: Terminal
  private let batchesMax: Int
  private let patience: WriterPatience

  /// Options of a watch that a cursor has no use for.
  private static let others = [
    "sort", "limit", "offset", "table", "explain", "group", "aggregates", "rows",
  ]
  /// Options that need a cursor.
  static let ownOptions = ["ack", "keep", "old-values", "take"]

  /// Nil without `--cursor`.
  init?(_ arguments: ParsedArguments) throws {
    guard let name = arguments.value("cursor") else {
      if let option = Self.ownOptions.first(where: arguments.has) {
        throw UsageError("--\(option) needs --cursor")
      }
      return nil
    }
    if let other = Self.others.first(where: arguments.has) {
      throw UsageError("--cursor and --\(other) cannot be combined")
    }
    self.name = name
    className = arguments.positional("CLASS")
    path = arguments.required("FILE")
    filter = try StoreAccess.condition(arguments).filterText
    columns = try StoreAccess.columns(arguments)
    acknowledging =
      try arguments.choice("ack", of: ["auto", "manual"], default: "auto") == "auto"
      ? .auto : .manual
    keeps = try arguments.value("keep").map { try KeepText($0).ofCursor() }
    keepsOldValues = arguments.has("old-values")
    takes = arguments.has("take")
    showsInitial = !arguments.has("no-initial")
    usesJSON = arguments.has("json")
    terminal = try StoreAccess.terminal(arguments)
    batchesMax = try arguments.integer("exit-after", default: .max, in: 1...(.max))
    patience = try WriterPatience(arguments)
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    let stop = try StopSignal()
    let trap = stop.trap(output.cancel)
    defer { withExtendedLifetime(trap) {} }
    let store = try StoreAccess.openExisting(path, writing: patience)
    let schema = try store.newestSnapshot().schema
    let described = try className.map { try ClassView.named($0, in: schema, path).schema }
    let keyPaths = described.flatMap { described in
      columns.map { StoreAccess.keyPaths($0, on: described) }
    }
    let chosen = keyPaths.map { ChosenColumns($0) }
    if let described { try chosen?.check(on: described, schema.schema, followsLinks: true) }
    let cursor = try open(keyPaths)
    defer { cursor.close() }
    stop.beginFollowing()
    return try follow(cursor, store, StoreFollower(store, stop), described, chosen, output)
  }

  private func selection(_ keyPaths: [String]?) -> CursorSelection {
    guard let className else { return .wholeRealm }
    return .objects(ofClass: className, filter: filter, keyPaths: keyPaths)
  }

  /// The classes of a batch that are printed: the chosen one, or each that changed; in a
  /// snapshot all, including empty ones.
  private func classes(of batch: ChangeBatch, _ chosen: ClassSchema?) -> [ClassSchema] {
    if let chosen { return [batch.storeSchema.named(chosen.name) ?? chosen] }
    return batch.storeSchema.classes.filter { described in
      !described.isEmbedded && !described.isVacant
        && (batch.fullResync != nil || !batch.changes(ofClass: described.name).isEmpty)
    }.sorted { SequenceOrder.compare($0.name, $1.name) < 0 }
  }

  private func open(_ keyPaths: [String]?) throws -> ChangeCursor {
    try Realm(configuration: StoreAccess.configuration(path)).cursor(
      name,
      of: selection(keyPaths),
      startingAt: showsInitial ? .snapshot : .newest,
      // With a condition, they are kept anyway: kinds of changes need them.
      keeping: keepsOldValues ? .oldValues : nil,
      limit: keeps.map { LagLimit($0) }, taking: takes)
  }

  private func follow(
    _ cursor: ChangeCursor, _ store: Store, _ follower: StoreFollower, _ described: ClassSchema?,
    _ chosen: ChosenColumns?, _ output: OutputPipe
  ) throws -> ExitCode {
    let schema = { try store.newestSnapshot().schema.schema }
    let printer: any FeedPrinter =
      usesJSON
      ? JSONFeedPrinter(output, chosen) : TextFeedPrinter(output, terminal, chosen, schema)
    var input = AcknowledgedPositions()
    var printed = 0
    while printed < batchesMax {
      let known = try store.newestSnapshot().version
      if let batch = try cursor.next() {
        if !batch.isEmpty {
          try printer.print(batch, classes(of: batch, described))
          try output.flush()
          printed += 1
          if acknowledging == .manual {
            let event = try wait(for: batch.position, &input, store, follower)
            if event != .keys { return end(event) }
          }
        }
        try batch.acknowledge()
        continue
      }
      // No acknowledgement can follow the end of the input.
      let keys = acknowledging == .manual ? STDIN_FILENO : -1
      switch follower.wait(beyond: known, toWrite: false, keys: keys) {
      case .keys:
        try input.read()
        if input.isAtEnd { return .success }
      case .news, .writable, .silence: continue
      case .stopped: return end(.stopped)
      case .readerGone: return end(.readerGone)
      case .lost: return end(.lost)
      }
    }
    return .success
  }

  /// Waits until the position of a batch is read from standard input.
  ///
  /// - Returns: `.keys` if it was; otherwise why the watch ends.
  private func wait(
    for position: ChangePosition, _ input: inout AcknowledgedPositions, _ store: Store,
    _ follower: StoreFollower
  ) throws -> StoreFollower.Event {
    while true {
      while let read = try input.next() {
        if read == position { return .keys }
        TarnProgram.complain(
          "the acknowledged position \(read) is not that of the last batch, \(position)")
      }
      if input.isAtEnd { return .stopped }
      let event = follower.wait(
        beyond: store.newestKnownVersion, toWrite: false, keys: STDIN_FILENO)
      switch event {
      case .keys: try input.read()
      case .news, .writable, .silence: continue
      case .stopped, .readerGone, .lost: return event
      }
    }
  }

  private func end(_ event: StoreFollower.Event) -> ExitCode {
    guard event == .lost else { return .success }
    TarnProgram.complain(
      "\(path) or its lock file was deleted, moved or replaced: it can no longer be watched")
    return .failure
  }
}

/// Positions from standard input, one per line: as text, or as the member "position" of a JSON
/// object, so that a line of the output can be passed back.
struct AcknowledgedPositions {
  private var bytes: [UInt8] = []
  private(set) var isAtEnd = false

  /// Reads the available bytes; waits if there are none.
  mutating func read() throws {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    let count = Foundation.read(STDIN_FILENO, &buffer, buffer.count)
    if count < 0, errno == EINTR || errno == EAGAIN { return }
    if count < 0 { throw ToolError("cannot read", "standard input", errno: errno) }
    isAtEnd = count == 0
    bytes += buffer.prefix(count)
  }

  /// The position on the next whole line.
  mutating func next() throws -> ChangePosition? {
    while let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
      let line = String(String(decoding: bytes[..<end], as: UTF8.self).trimmingASCII())
      bytes.removeSubrange(...end)
      if line.isEmpty { continue }
      if let position = ChangePosition(line) ?? Self.position(inJSON: line) { return position }
      throw ToolError("standard input: '\(line.prefix(200))' is not a position")
    }
    return nil
  }

  private static func position(inJSON line: String) -> ChangePosition? {
    guard let value = try? JSONScanner.value(in: line),
      case .string(let text)? = value["position"]
    else { return nil }
    return ChangePosition(text)
  }
}
