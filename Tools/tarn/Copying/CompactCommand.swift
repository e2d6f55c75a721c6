import TarnStore
import ToolSupport

/// `tarn compact`: replaces a file by one without free pages.
struct CompactCommand {
  private let path: String
  private let patience: WriterPatience

  init(_ arguments: ParsedArguments) throws {
    path = arguments.required("FILE")
    patience = try WriterPatience(arguments)
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    // For a file that is not a store, the errors are those of other commands.
    let count = try StoreCopy(StoreAccess.openExisting(path).newestSnapshot()).entryCount
    var bar = ProgressBar("Compacting", total: Int64(count))
    let sizes = try StoreRegistry.compact(
      path, deadline: patience.deadline ?? Deadline(after: .seconds(10)),
      progress: { bar.update(Int64($0.entries)) })
    guard let sizes else { return .failure }
    let text = "\(sizeText(sizes.byteCount)), before \(sizeText(sizes.byteCountBefore))"
    try output.write("\(printable(path)): \(text)\n")
    return .success
  }
}
