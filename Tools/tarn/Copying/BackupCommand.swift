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
    let (stem, ending) = BackupFolder.parts(of: path)
    _ = try BackupFolder(folder)
    let name = "\(stem)-\(BackupFolder.text(of: Date()))\(ending)"
    let destination = folder + "/" + name
    let report = try CopiedStore(path).write(to: destination, replacing: false)
    try output.write(CopiedStore.sentence(report, destination))
    if isIncremental { try shrink(stem, ending, output) }
    if let keep { try removeOldest(keep, stem, ending, output) }
    return .success
  }

  /// The whole backup before the newest one becomes a difference. The newest one is whole, so each
  /// backup can be restored at any moment, and the oldest can be deleted.
  private func shrink(_ stem: String, _ ending: String, _ output: OutputPipe) throws {
    let folder = try BackupFolder(folder)
    let all = folder.backups(of: stem, ending)
    for double in folder.doubles where all.dropLast().contains(double) {
      try remove(double, folder)
    }
    guard all.count > 1, let newest = all.last, case let before = all[all.count - 2],
      !before.isDelta, !folder.doubles.contains(before)
    else { return }
    let path = folder.path(of: before) + BackupFolder.Backup.deltaEnding
    let byteCount = try StoreDelta.write(
      from: folder.path(of: newest), to: folder.path(of: before), at: path)
    try remove(before, folder)
    try output.write("\(printable(path)): \(sizeText(byteCount)) instead of a whole backup\n")
  }

  private func remove(_ backup: BackupFolder.Backup, _ folder: BackupFolder) throws {
    let path = folder.path(of: backup)
    if let code = FileFacts.remove(path), code != ENOENT {
      throw ToolError("cannot delete", path, errno: code)
    }
    for suffix in ["-lock", "-signal"] { _ = FileFacts.remove(path + suffix) }
  }

  private func removeOldest(
    _ keep: Int, _ stem: String, _ ending: String, _ output: OutputPipe
  ) throws {
    let folder = try BackupFolder(folder)
    for backup in folder.backups(of: stem, ending).dropLast(keep) {
      try remove(backup, folder)
      _ = FileFacts.remove(folder.path(of: backup) + BackupFolder.Backup.deltaEnding)
      try output.write("deleted \(printable(folder.path(of: backup)))\n")
    }
  }
}
