import TarnStore
import ToolSupport

/// Looks for outputs and sockets that are stores of the same configuration, or files that belong to
/// those.
struct OutputCheck {
  private static let companions = ["-lock", ".lock", "-signal", ".signal"]

  /// The paths that something is written or made at.
  private var outputs: Set<String> = []
  /// The stores that are named without a pattern, and the watches that name them.
  private var stores: [(path: String, watch: String)] = []

  init(_ settings: DaemonSettings) {
    if case .socket(let path, _)? = settings.http?.address { outputs.insert(path) }
    for watch in settings.watches {
      if !FileTable.isPattern(watch.file) { stores.append((watch.file, "'\(watch.name)' watches")) }
      for sink in watch.sinks {
        if let letters = sink.deadLetters { outputs.insert(letters.path) }
        switch sink.kind {
        case .file(let file): outputs.insert(file.path)
        case .socket(let socket): outputs.insert(socket.path)
        case .exec, .webhook, .events: break
        }
      }
    }
    for sync in settings.syncs where !FileTable.isPattern(sync.file) {
      stores.append((sync.file, "an entry of 'sync' names"))
    }
  }

  func problems(_ configuration: String) -> [ConfigurationProblem] {
    outputs.sorted().compactMap { output in
      let known = FileFacts.at(output)?.identity
      let store = stores.first { store in
        ([""] + Self.companions).map { store.path + $0 }.contains { path in
          path == output || known.map { FileFacts.at(path)?.identity == $0 } ?? false
        }
      }
      guard let store else { return nil }
      return ConfigurationProblem(
        configuration, 0, "",
        "\(output) is a store that \(store.watch), or belongs to it; give another path")
    }
  }
}
