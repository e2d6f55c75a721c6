import Foundation
import TarnStore
import ToolSupport

/// `tarn backup`: a copy with the time in its name, and the end of the oldest ones. With
/// `--incremental`, the one before becomes the difference from the new one.
struct BackupCommand {
  private let path: String
  private let folder: String
  private let keep: Int?
  private let isIncremental: Bool

  init(_ arguments: ParsedArguments) throws {
    path = arguments.required("FILE")
    folder = arguments.required("DIR")
    isIncremental = arguments.has("incremental")
    keep =
      arguments.has("keep")
      ? try arguments.integer("keep", default: 1, in: 1...1_000_000) : nil
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    _ = try BackupFolder(folder)
    let (made, store) = try make(output)
    tellOfProblems(try series(store, made))
    if isIncremental { try shrink(store, made, output) }
    if let keep { try removeOldest(keep, store, made, output) }
    return .success
  }

  /// Makes the backup, under a name that is free.
  ///
  /// - Returns: it, and the head record of the store, which nothing holds any more.
  private func make(
    _ output: OutputPipe
  ) throws -> (made: BackupFolder.Backup, store: HeadRecord) {
    let copied = try CopiedStore(path, .backup)
    let (stem, ending) = BackupFolder.parts(of: path)
    var time = Date()
    while true {
      let name = "\(stem)-\(BackupFolder.text(of: time))\(ending)"
      guard let made = BackupFolder.Backup(name) else {
        throw ToolError("\(name) would not be the name of a backup")
      }
      do {
        if !isTaken(name) {
          let destination = folder + "/" + name
          let report = try copied.write(to: destination, replacing: false)
          try output.write(CopiedStore.sentence(report, destination))
          return (made, copied.head)
        }
      } catch let error as StorageError where error.code == .fileExists {
        // Another process was faster.
      }
      time += 1
    }
  }

  private func isTaken(_ name: String) -> Bool {
    ["", BackupFolder.Backup.deltaEnding].contains {
      PathTarget.isTaken(folder + "/" + name + $0)
    }
  }

  private func series(_ store: HeadRecord, _ made: BackupFolder.Backup) throws -> BackupSeries {
    let (stem, ending) = BackupFolder.parts(of: path)
    let folder = try BackupFolder(folder)
    return try BackupSeries(folder.backups(of: stem, ending), in: folder, of: store, newest: made)
  }

  private func tellOfProblems(_ series: BackupSeries) {
    if let other = series.others.last {
      TarnProgram.complain(
        "\(folder) has backups of another store with this name, which stay as they are: "
          + "\(counted(series.others.count, "file")), such as \(other.backup.name)")
    }
    for (backup, error) in series.unreadable {
      TarnProgram.complain("\(backup.name) cannot be read and stays as it is: \(error)")
    }
    if let broken = series.broken.last {
      TarnProgram.complain(
        "\(counted(series.broken.count, "difference")) in \(folder) cannot be restored, such as "
          + "\(broken.backup.name): the whole backup that they lead to is missing")
    }
  }

  /// The whole backup before the new one becomes a difference. The new one is whole, so each backup
  /// can be restored at any moment, and the oldest can be deleted.
  private func shrink(
    _ store: HeadRecord, _ made: BackupFolder.Backup, _ output: OutputPipe
  ) throws {
    let folder = try BackupFolder(folder)
    let all = try series(store, made)
    for double in folder.doubles where double != made {
      let delta = folder.path(of: double) + BackupFolder.Backup.deltaEnding
      guard let heads = try? StoreDelta.heads(at: delta),
        all.entries.contains(where: { $0.backup == double && $0.head == heads.older }),
        all.entries.contains(where: { $0.backup != double && $0.head == heads.newer })
      else { continue }
      try remove(double, folder)
    }
    guard let before = all.entries.dropLast().last, before.base == nil,
      !folder.doubles.contains(before.backup)
    else { return }
    let path = folder.path(of: before.backup) + BackupFolder.Backup.deltaEnding
    let byteCount = try StoreDelta.write(
      from: folder.path(of: made), to: folder.path(of: before.backup), at: path)
    try remove(before.backup, folder)
    try output.write("\(printable(path)): \(sizeText(byteCount)) instead of a whole backup\n")
  }

  private func remove(_ backup: BackupFolder.Backup, _ folder: BackupFolder) throws {
    let path = folder.path(of: backup)
    if let code = FileFacts.remove(path), code != ENOENT {
      throw ToolError("cannot delete", path, errno: code)
    }
    for suffix in ["-lock", "-signal"] { _ = FileFacts.remove(path + suffix) }
  }

  /// The new one stays, and those from which a difference that stays is made.
  private func removeOldest(
    _ keep: Int, _ store: HeadRecord, _ made: BackupFolder.Backup, _ output: OutputPipe
  ) throws {
    let folder = try BackupFolder(folder)
    let all = try series(store, made)
    let needed = all.entries.suffix(keep).flatMap { all.chain(of: $0) ?? [] }
    for entry in all.entries.dropLast(keep) {
      let backup = entry.backup
      if needed.contains(where: { $0.backup == backup }) { continue }
      try remove(backup, folder)
      _ = FileFacts.remove(folder.path(of: backup) + BackupFolder.Backup.deltaEnding)
      try output.write("deleted \(printable(folder.path(of: backup)))\n")
    }
  }
}
