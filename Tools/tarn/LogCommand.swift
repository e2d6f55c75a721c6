import Foundation
import Tarn
import TarnStore
import ToolSupport

/// `tarn log`: the commits whose change records the file has, newest first; with `--follow` oldest
/// first, and then each new one.
struct LogCommand {
  private let path: String
  private let className: String?
  private let ageMax: UInt64?
  private let count: Int
  private let follows: Bool
  private let showsPatch: Bool
  private let usesJSON: Bool
  private let terminal: Terminal

  init(_ arguments: ParsedArguments) throws {
    path = arguments.required("FILE")
    className = arguments.positional("CLASS")
    ageMax = try arguments.value("since").map { text in
      guard let age = KeepText.duration(text) else {
        throw UsageError("'\(text)' is not a duration such as 90s, 5m, 2h or 7d")
      }
      return age
    }
    count = try arguments.integer("limit", default: .max, in: 0...(.max))
    follows = arguments.has("follow")
    showsPatch = arguments.has("patch")
    usesJSON = arguments.has("json")
    terminal = try StoreAccess.terminal(arguments)
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    let stop = try StopSignal()
    let trap = stop.trap(output.cancel)
    defer { withExtendedLifetime(trap) {} }
    let store = try StoreAccess.openExisting(path)
    // Before the first check, so that no commit is missed in between.
    let follower = follows ? StoreFollower(store, stop) : nil
    var patches = try showsPatch ? LogPatches(path) : nil
    // Keeps the records after it until the next look.
    var shown = try store.newestSnapshot()
    let known = try records(store, after: .zero)
    let entries = try texts(known.suffix(count), shown.schema.schema, &patches)
    stop.beginFollowing()
    for entry in follows ? entries : entries.reversed() { try write(entry, to: output) }
    guard let follower else { return .success }
    while true {
      try output.flush()
      switch follower.wait(beyond: shown.version, toWrite: false) {
      case .stopped, .readerGone: return .success
      case .lost:
        TarnProgram.complain(
          "\(path) or its lock file was deleted, moved or replaced: it can no longer be followed")
        return .failure
      case .writable, .silence, .keys: continue
      case .news:
        let newest = try store.newestSnapshot()
        let fresh = try records(store, after: shown.version)
        shown = newest
        for entry in try texts(fresh[...], newest.schema.schema, &patches) {
          try write(entry, to: output)
        }
      }
    }
  }

  /// Text may be styled.
  private func write(_ entry: [UInt8], to output: OutputPipe) throws {
    if usesJSON { return try output.write(entry) }
    try output.write(String(decoding: entry, as: UTF8.self))
  }

  /// The records of the requested class and time, oldest first.
  private func records(_ store: Store, after last: Version) throws -> [RetainedRecord] {
    let schema = try store.newestSnapshot().schema
    let wanted = try className.map { try ClassView.named($0, in: schema, path).id }
    let all = try store.retainedVersions()
    let now = all.last?.note?.age ?? 0
    return all.filter { record in
      if record.version <= last { return false }
      if let wanted, !record.classes.contains(where: { $0.id == wanted }) { return false }
      guard let ageMax, last == .zero else { return true }
      guard let note = record.note else { return false }
      return now < note.age || now - note.age <= ageMax
    }
  }

  private func texts(
    _ records: ArraySlice<RetainedRecord>, _ schema: StoreSchema, _ patches: inout LogPatches?
  ) throws -> [[UInt8]] {
    try records.map { record in
      let changes = try patches?.changes(of: record)
      let entry = LogEntry(record, schema, changes, only: className)
      return usesJSON ? try entry.json() : Array(try entry.text(terminal).utf8)
    }
  }
}

/// Reads the changes of one version after another.
struct LogPatches {
  private let realm: Realm
  private var tail = PastTail()

  init(_ path: String) throws {
    realm = try Realm(configuration: StoreAccess.configuration(path, readOnly: true))
  }

  /// Nil for a migration, and if the file no longer has the record.
  mutating func changes(of record: RetainedRecord) throws -> VersionChanges? {
    let version = record.version.rawValue
    if record.schemaChanged || version == 0 { return nil }
    do {
      return try realm.changes(from: version - 1, to: version, of: .wholeRealm, &tail)
    } catch let error as Realm.Error where error.code == .invalidInput {
      return nil
    }
  }
}
