import TarnStore

/// The arguments of this process. Their bytes need not be UTF-8: a path may have any; see
/// `String.init(path:)`.
package enum ProgramArguments {
  package static var all: [String] {
    (0..<Int(CommandLine.argc)).compactMap { index in
      CommandLine.unsafeArgv[index].map { String(path: $0) }
    }
  }
}
