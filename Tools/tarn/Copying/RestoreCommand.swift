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
    let all = try folder.backups(for: path)
    let chosen = all.last { backup in latest.map { backup.time <= $0 } ?? true }
    guard let chosen else {
      throw ToolError(
        "\(folder.path) has no backup of that time; the oldest is \(all.first?.name ?? "none")")
    }
    let (whole, deltas) = try folder.chain(of: chosen, in: all)
    let report = try CopiedStore(folder.path(of: whole), through: deltas)
      .write(to: path, replacing: replaces)
    try output.write("\(printable(chosen.name)) → " + CopiedStore.sentence(report, path))
    return .success
  }
}
