import Foundation
import TarnStore

/// The arguments of this process. Their bytes need not be UTF-8: a path may have any; see
/// `String.init(path:)`.
package enum ProgramArguments {
  /// Ends the program where it has none: Swift reads them from `/proc`.
  package static var all: [String] {
    if CommandLine.argc == 0 {
      StoreLog.writeToStandardError(
        "the arguments of the program cannot be read: mount /proc, which Tarn needs")
      exit(ExitCode.failure.rawValue)
    }
    return (0..<Int(CommandLine.argc)).compactMap { index in
      CommandLine.unsafeArgv[index].map { String(path: $0) }
    }
  }
}
