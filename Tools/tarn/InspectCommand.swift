import TarnStore
import ToolSupport

/// `tarn inspect`.
struct InspectCommand {
  init(_ arguments: ParsedArguments) throws {}
  func run(_ output: OutputPipe) throws -> ExitCode { .success }
}
