import Foundation
import TarnStore
import ToolSupport

/// `tarn restore`: a store made of a backup.
struct RestoreCommand {
  private let folder: String
  private let path: String
  /// The latest time of the backup, as in its name.
  private let latest: String?
  private let replaces: Bool

  init(_ arguments: ParsedArguments) throws {
    folder = arguments.required("DIR")
    path = arguments.required("FILE")
    replaces = arguments.has("replace")
    latest = try arguments.value("at").map { text in
      guard let time = Timestamp(iso8601: text) else {
        throw UsageError("--at needs a time such as 2027-03-01 12:00, not '\(text)'")
      }
      return BackupFolder.text(of: Date(timeIntervalSince1970: Double(time.seconds)))
    }
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    let folder = try BackupFolder(folder)
    let named = try folder.backups(for: path)
    let all = try series(named, in: folder)
    let chosen = try choose(all, named, folder)
    if let other = all.entries.last(where: { !$0.head.isKin(of: chosen.head) }) {
      TarnProgram.complain(
        "\(folder.path) also has backups of another store with this name, such as "
          + "\(other.backup.name)")
    }
    guard let chain = all.chain(of: chosen), let whole = chain.last else {
      throw ToolError(
        "\(folder.path(of: chosen.backup)) is the difference from a later backup, but the folder "
          + "has no whole backup after it that it leads to")
    }
    let deltas = chain.dropLast().map { folder.path(of: $0.backup) }
    let report = try CopiedStore(folder.path(of: whole.backup), .backup, through: deltas)
      .write(to: path, replacing: replaces)
    try output.write("\(printable(chosen.backup.name)) → " + CopiedStore.sentence(report, path))
    return .success
  }

  /// Those of the store that is replaced, if there are any, otherwise all.
  private func series(
    _ named: [BackupFolder.Backup], in folder: BackupFolder
  ) throws -> BackupSeries {
    if replaces, let store = try? StoreDelta.head(ofStoreAt: path) {
      let own = try BackupSeries(named, in: folder, of: store)
      if !own.entries.isEmpty { return own }
    }
    return try BackupSeries(named, in: folder, of: nil)
  }

  /// The backup with that very time, or the newest one before it.
  private func choose(
    _ all: BackupSeries, _ named: [BackupFolder.Backup], _ folder: BackupFolder
  ) throws -> BackupSeries.Entry {
    func isInTime(_ backup: BackupFolder.Backup) -> Bool {
      latest.map { backup.time <= $0 } ?? true
    }
    let chosen =
      all.entries.last { $0.backup.time == latest } ?? all.entries.last { isInTime($0.backup) }
    // An older one instead would be a surprise.
    let lost = all.unreadable.last { lost in
      isInTime(lost.backup) && lost.backup.time > chosen?.backup.time ?? ""
    }
    if let lost { throw lost.error }
    guard let chosen else {
      throw ToolError(
        "\(folder.path) has no backup of that time; the oldest is \(named.first?.name ?? "none")")
    }
    return chosen
  }
}
