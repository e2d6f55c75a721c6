import Foundation
import Tarn
import TarnStore
import ToolSupport

/// `tarn undo`, which undoes one commit, and `tarn revert`, which undoes all since a version. Each
/// is a separate commit.
struct UndoCommand {
  private let path: String
  private let version: UInt64
  private let reverts: Bool
  private let overwrites: Bool
  private let patience: WriterPatience

  init(_ arguments: ParsedArguments) throws {
    path = arguments.required("FILE")
    let word = arguments.required("VERSION")
    guard let version = UInt64(word) else {
      throw UsageError("'\(word)' is not a version; 'tarn log' lists them")
    }
    self.version = version
    reverts = arguments.command == "revert"
    overwrites = arguments.has("overwrite")
    patience = try WriterPatience(arguments)
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    let store = try StoreAccess.openExisting(path, writing: patience)
    // The write itself cannot report that it waits.
    try patience.acquireGate(of: store).release()
    let newest = try store.newestSnapshot().version.rawValue
    guard version <= newest, version > 0 || reverts else {
      throw ToolError("\(path) has no version \(version) to take back: the newest is \(newest)")
    }
    try Interruption.beginCommit()
    try takeBack(store)
    let after = try store.newestSnapshot().version.rawValue
    let what = reverts ? "the commits after version \(version)" : "version \(version)"
    try output.write(
      after == newest
        ? "nothing of \(what) is left to take back, version \(after)\n"
        : "took back \(what), version \(after)\n")
    return .success
  }

  private func takeBack(_ store: Store) throws {
    let realm = try Realm(configuration: StoreAccess.configuration(path))
    do {
      if reverts {
        try realm.revert(to: version)
      } else {
        try realm.undo(version, overwriting: overwrites)
      }
    } catch let refusal as UndoRefusal {
      let some = refusal.conflicts.prefix(10).map { "\n  \($0.description)" }.joined()
      let more = refusal.conflicts.count - 10
      throw ToolError(
        "version \(version) was not taken back, because later commits changed the same:\(some)"
          + (more > 0 ? "\n  and \(more) more" : "")
          + "\n--overwrite takes it back, and loses these later changes")
    } catch let error as Realm.Error where error.code == .invalidInput {
      let isMigrated = try store.retainedVersions().contains {
        $0.schemaChanged && $0.version.rawValue > version
      }
      throw ToolError(
        "\(error.localizedDescription)\(isMigrated ? "" : " \(PastHint.text(path))")")
    }
  }
}
