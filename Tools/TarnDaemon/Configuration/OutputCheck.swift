import Foundation
import TarnStore
import ToolSupport

/// Looks for outputs and sockets that are stores of the same configuration, files that belong to
/// those, or files that the daemon reads: a line would destroy them.
struct OutputCheck {
  private static let companions = ["-lock", ".lock", "-signal", ".signal"]

  /// The paths that something is written or made at.
  private var outputs: Set<String> = []
  /// Those of them that are sockets.
  private var sockets: Set<String> = []
  /// The stores that are named without a pattern, and the watches that name them.
  private var stores: [(path: String, watch: String)] = []

  /// Those of the outputs that lines are written to.
  private var lineFiles: Set<String> = []
  /// Other files that the daemon reads.
  private var inputs: [String] = []

  /// - Parameter files: those of the configuration.
  init(_ settings: DaemonSettings, files: [String]) {
    inputs = files
    add(settings.http?.token)
    if case .socket(let path, _)? = settings.http?.address { outputs.insert(path) }
    for watch in settings.watches {
      if !FileTable.isPattern(watch.file) { stores.append((watch.file, "'\(watch.name)' watches")) }
      for sink in watch.sinks {
        if let letters = sink.deadLetters { lineFiles.insert(letters.path) }
        switch sink.kind {
        case .file(let file): lineFiles.insert(file.path)
        case .socket(let socket): outputs.insert(socket.path)
        case .exec(let exec):
          inputs += exec.command.prefix(1).filter { $0.beginsWithBytes(of: "/") }
        case .webhook(let webhook):
          for source in webhook.secretHeaders.map(\.source) { add(source) }
          add(webhook.secret)
          add(webhook.urlSource)
          inputs += webhook.certificates.map { [$0] } ?? []
        case .events: break
        }
      }
    }
    for sync in settings.syncs where !FileTable.isPattern(sync.file) {
      stores.append((sync.file, "an entry of 'sync' names"))
    }
    inputs += settings.syncs.compactMap(\.passfile)
    sockets = outputs
    outputs.formUnion(lineFiles)
  }

  private mutating func add(_ source: SecretSource?) {
    if case .file(let path)? = source { inputs.append(path) }
  }

  /// Whether a file that is made there would belong to the configuration.
  private func isPartOfFolder(_ path: String, _ configuration: String) -> Bool {
    let folder = FileFacts.at(PathRights.folder(of: path))?.identity
    return ConfigurationFiles.isNameOfPart(path)
      && folder == FileFacts.at(configuration)?.identity
  }

  /// Whether lines are to be written to a socket.
  private func isSocket(_ output: String) -> Bool {
    // The standard output is open already, whatever it is.
    guard lineFiles.contains(output), output != "/dev/stdout", output != "/dev/stderr" else {
      return false
    }
    if PathRights.isLink(output) { return PathRights.kind(of: output) == S_IFSOCK }
    return sockets.contains(output) || PathRights.kind(of: output) == S_IFSOCK
  }

  func problems(_ configuration: String) -> [ConfigurationProblem] {
    outputs.sorted().compactMap { output in
      if isSocket(output) {
        return ConfigurationProblem(
          configuration, 0, "", "\(output) is a socket, not a file for lines; give another path")
      }
      let known = FileFacts.at(output)?.identity
      let store = stores.first { store in
        ([""] + Self.companions).map { store.path + $0 }.contains { path in
          path == output || known.map { FileFacts.at(path)?.identity == $0 } ?? false
        }
      }
      func isAt(_ path: String) -> Bool {
        path == output || known.map { FileFacts.at(path)?.identity == $0 } ?? false
      }
      let isFile = lineFiles.contains(output) && FileFacts.at(output)?.isRegularFile != false
      if isFile, inputs.contains(where: isAt) || isPartOfFolder(output, configuration) {
        return ConfigurationProblem(
          configuration, 0, "", "\(output) is a file that the daemon reads; give another path")
      }
      guard let store else { return nil }
      return ConfigurationProblem(
        configuration, 0, "",
        "\(output) is a store that \(store.watch), or belongs to it; give another path")
    }
  }
}
