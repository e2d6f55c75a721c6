import Foundation
import TarnStore
import ToolSupport

/// `tarn backup`: a copy with the time in its name, and the end of the oldest ones.
struct BackupCommand {
  private let path: String
  private let folder: String
  private let keep: Int?

  init(_ arguments: ParsedArguments) throws {
    path = arguments.required("FILE")
    folder = arguments.required("DIR")
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
    if let keep { try removeOldest(keep, stem, ending, output) }
    return .success
  }

  private func removeOldest(
    _ keep: Int, _ stem: String, _ ending: String, _ output: OutputPipe
  ) throws {
    let folder = try BackupFolder(folder)
    for backup in folder.backups(of: stem, ending).dropLast(keep) {
      let path = folder.path(of: backup)
      if let code = FileFacts.remove(path), code != ENOENT {
        throw ToolError("cannot delete", path, errno: code)
      }
      for suffix in ["-lock", "-signal"] { _ = FileFacts.remove(path + suffix) }
      try output.write("deleted \(printable(path))\n")
    }
  }
}
