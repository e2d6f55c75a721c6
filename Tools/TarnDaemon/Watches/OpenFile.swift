import Foundation
import Tarn
import TarnStore
import ToolSupport

/// A file that is open and followed, for all watches of it. Any thread.
final class OpenFile: Sendable {
  /// Why a store is not there yet; it may come later.
  struct Absence: Error, Equatable, CustomStringConvertible {
    let description: String

    static let noFile = Absence(description: "there is no such file")
    static let notMade = Absence(description: "the file is not made yet")
  }

  let path: String
  let store: Store
  let identity: FileIdentity
  /// False if this process may not write it: then it keeps no cursor in it.
  let isWritable: Bool

  /// How long another process may take to open the same file: others of this process wait.
  private static let patience = Duration.seconds(1)

  /// - Throws: `Absence` if there is no store at the path, or why it cannot be opened.
  init(_ path: String, readOnly: Bool = false) throws {
    self.path = path
    guard let facts = FileFacts.at(path) else { throw Self.absence(of: path) }
    guard facts.isRegularFile else { throw ToolError(Self.refusal(of: path)) }
    guard facts.byteCount > 0, !Environment.isYetToBeMade(path: path) else {
      throw Absence.notMade
    }
    isWritable = !readOnly && path.withPath { access($0, W_OK) } == 0
    var options = Store.Options()
    options.isReadOnly = !isWritable
    options.createsStore = false
    options.adoptsClasses = false
    options.deadline = Deadline(after: Self.patience)
    identity = facts.identity
    store = try Self.open(path, options)
  }

  private static func open(_ path: String, _ options: Store.Options) throws -> Store {
    do {
      return try StoreRegistry.open(path, options)
    } catch  where error.code == .notFound {
      // It was deleted meanwhile.
      throw Absence.noFile
    }
  }

  private static func absence(of path: String) -> any Error {
    let reason = PathRights.absence(of: path)
    return reason == Absence.noFile.description ? Absence.noFile : ToolError(reason)
  }

  private static func refusal(of path: String) -> String {
    let kinds: [mode_t: String] = [
      S_IFDIR: "a folder", S_IFIFO: "a pipe", S_IFSOCK: "a socket", S_IFCHR: "a device",
      S_IFBLK: "a disk",
    ]
    let kind = PathRights.kind(of: path).flatMap { kinds[$0] } ?? "something else"
    return "it is \(kind), not a store: move it, or give a pattern that it does not match"
  }

  /// Why it does not follow commits, and what helps; nil if it does.
  var copyCause: String? {
    guard let cause = store.environment.copyCause else { return nil }
    let companions = ["-lock", "-signal"].map { path + $0 }
    let isRefused = companions.contains { companion in
      companion.withPath { access($0, R_OK | W_OK) } != 0 && errno == EACCES
    }
    guard cause.code == .permissionDenied, isRefused else { return cause.detail }
    return "\(cause.detail): if it is in the group of the file, let the owner run 'chmod g+rw "
      + "\(companions.joined(separator: " "))'"
  }

  /// Whether another file is at the path by now, or none.
  var isLost: Bool { (try? store.environment.checkIdentity()) == nil }

  /// - Throws: `Absence` if the file was moved or deleted since.
  private func realm() throws -> Realm {
    if isLost { throw Absence.noFile }
    var configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: path), readOnly: !isWritable, objectTypes: [])
    configuration.origin = "tarn-daemon"
    configuration.createsFile = false
    return try Realm(configuration: configuration)
  }

  /// What a watch selects.
  static func selection(_ watch: WatchSettings) -> CursorSelection {
    if watch.selectsNothing { return .nothing }
    let parts = watch.classes.map { one in
      CursorSelection.objects(ofClass: one.name, filter: one.filter, keyPaths: one.columns)
    }
    return parts.dropFirst().reduce(parts[0]) { $0.adding($1) }
  }

  /// Opens a watch's cursor in the file.
  ///
  /// - Parameters:
  ///   - position: what the consumer has got; nil if that is not known.
  ///   - last: the end of the last batch that it may have got; nil if that is not known.
  ///   - keeper: gets the cursor, and the snapshot in which it is, and returns what stands between.
  func cursor(
    _ name: String, _ watch: WatchSettings, startingAt start: CursorStart,
    keeping values: KeptValues, limit: LagLimit?, expecting position: ChangePosition?,
    delivered last: ChangePosition? = nil,
    keeper: (HeldCursor, Snapshot) throws(StorageError) -> any FeedKeeper
  ) throws -> ChangeCursor {
    // The name may be that of an earlier version.
    try takeOverCursor(name)
    return try realm().cursor(
      name, of: Self.selection(watch), startingAt: start, keeping: values, limit: limit,
      expecting: position, delivered: last, waiting: .zero, taking: false, keeper: keeper)
  }

  /// The same with a position that is kept elsewhere.
  func reader(
    _ name: String, _ watch: WatchSettings, delivered last: UInt64 = 0, keeper: any FeedKeeper
  ) throws -> ChangeCursor {
    try realm().reader(
      name, of: Self.selection(watch), keeping: watch.needsOldValues ? .oldValues : .keys,
      delivered: last, keeper: keeper)
  }

  /// Why batches of a watch do not tell for sure which objects begin or cease to match if the file
  /// cannot be written; nil if they do, because its retention keeps old values.
  func filterDoubt(_ watch: WatchSettings) -> String? {
    guard watch.hasFilter, (try? store.retention().keepsOldValues) != true else { return nil }
    return "\(path) cannot be written, so the daemon cannot ask for old values, and 'entered', "
      + "'left' and 'deleted' may list objects that matched, or did not match, before: "
      + "'tarn retention set --old-values' keeps old values for all"
  }

  /// The bytes of the change records after the position of each cursor.
  var lags: [String: UInt64] {
    guard let snapshot = try? store.newestSnapshot(),
      let table = try? store.feedTable(in: snapshot),
      let newest = try? ChangeLog.header(of: snapshot.version, in: snapshot.transaction)?.meta.note
    else { return [:] }
    let lags = table.cursors.values.map { record in
      (record.name, newest.logBytes - min(newest.logBytes, record.logBytes))
    }
    return Dictionary(lags) { first, _ in first }
  }

  func cursorRecord(_ name: String) throws -> CursorRecord? {
    try store.cursors().first { $0.record.name == name }?.record
  }

  /// The cursors that earlier versions, which put the host in front, may have made for a sink.
  func earlierCursors(of name: String) throws -> [KnownCursor] {
    try store.cursors().filter { cursor in
      let parts = cursor.record.name.splitASCII("/")
      return parts.count == 4 && parts.suffix(3).joined(separator: "/") == name
    }
  }

  static func doubt(_ cursors: [KnownCursor], _ name: String) -> String {
    let list = cursors.map { "'\($0.record.name)'" }.joined(separator: ", ")
    return
      "each of the cursors \(list) may be the one of '\(name)': give each daemon another 'name',"
      + " or delete those of daemons that are gone with 'tarn cursor delete'"
  }

  /// Gives the cursor that an earlier version made for a sink its present name.
  ///
  /// - Throws: `ToolError` if it is not known which one that is, or if another daemon has it.
  func takeOverCursor(_ name: String) throws {
    guard try cursorRecord(name) == nil else { return }
    let earlier = try earlierCursors(of: name)
    guard let only = earlier.first else { return }
    guard earlier.count == 1 else { throw ToolError(Self.doubt(earlier, name)) }
    guard !only.isHeld else {
      throw ToolError(
        "another daemon has the cursor '\(only.record.name)', which may be this one's")
    }
    try store.renameCursor(only.record.name, to: name)
  }

  /// Whether there is a cursor of that name that selects something else than the watch.
  func selectionDiffers(of name: String, _ watch: WatchSettings) throws -> Bool {
    guard let known = try cursorRecord(name) else { return false }
    return try realm().selectionDiffers(Self.selection(watch), from: known.selection)
  }

  /// - Throws: why the file cannot have what a watch selects.
  func checkSelection(of watch: WatchSettings) throws {
    _ = try realm().selectionDiffers(Self.selection(watch), from: nil)
  }

  /// The newest position.
  func newestPosition() throws -> ChangePosition {
    ChangePosition(FeedPlace(try store.newestSnapshot().head))
  }
}
