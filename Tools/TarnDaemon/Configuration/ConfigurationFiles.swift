import Foundation
import ToolSupport

/// Finds and reads the files of a configuration: one file, or all `*.yaml` and `*.yml` in a folder,
/// whose watches belong together.
package struct ConfigurationFiles: Sendable {
  /// By these a daemon that runs is found, whatever is wrong behind them.
  private static let keysOfDaemon = ["name", "state", "http"]

  package let path: String

  package init(_ path: String) { self.path = path }

  /// The name that the path gives the daemon: `watch` for `/etc/tarn/watch.yaml`.
  var instance: String {
    let name = URL(fileURLWithPath: path).lastPathComponent
    for suffix in [".yaml", ".yml", ".json", ".d"] where name.endsWithBytes(of: suffix) {
      return String(Substring(name.utf8.dropLast(suffix.utf8.count)))
    }
    return name
  }

  /// The settings, and what is wrong: then they must not be used.
  func read() -> (settings: DaemonSettings, problems: [ConfigurationProblem]) {
    var merged = DaemonSettings(instance: instance)
    var problems: [ConfigurationProblem] = []
    let files: [String]
    do {
      files = try self.files()
    } catch {
      return (merged, [ConfigurationProblem(path, 0, "", "\(error)")])
    }
    var places: [String: String] = [:]
    for file in files {
      let found = MappingReader.Problems(file: file)
      var sound: [YAMLNode.Entry] = []
      do throws(ConfigurationProblem) {
        let node = try YAMLReader.read(try text(of: file), file: file, before: &sound)
        let settings = SettingsReader(problems: found).daemon(node, instance: merged.instance)
        merge(settings, from: file, into: &merged, &places, found)
        problems += found.list
      } catch {
        problems.append(error)
        let keys = sound.filter { Self.keysOfDaemon.contains($0.name) }
        let settings = SettingsReader(problems: found)
          .daemon(YAMLNode(content: .mapping(keys), line: 1), instance: merged.instance)
        merge(settings, from: file, into: &merged, &places, found)
      }
    }
    if files.isEmpty {
      problems.append(ConfigurationProblem(path, 0, "", "the folder has no .yaml or .yml file"))
    }
    problems += Self.doubles(in: merged, path)
    problems += OutputCheck(merged, files: files).problems(path)
    return (merged, problems)
  }

  /// The settings.
  ///
  /// - Throws: `ToolError` with all problems, a line each.
  func settings() throws -> DaemonSettings {
    let (settings, problems) = read()
    guard problems.isEmpty else {
      throw ToolError(problems.map(\.description).joined(separator: "\n"))
    }
    return settings
  }

  private func files() throws -> [String] {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw ToolError(PathRights.absence(of: path))
    }
    guard isFolder.boolValue else { return [path] }
    if let fault = PathRights.faultOfListing(path) { throw ToolError(fault) }
    return try FileManager.default.contentsOfDirectory(atPath: path)
      .filter { Self.isNameOfPart($0) && !$0.beginsWithBytes(of: ".") }
      .sorted().map { "\(path)/\($0)" }
  }

  static func isNameOfPart(_ name: String) -> Bool {
    [".yaml", ".yml"].contains { name.endsWithBytes(of: $0) }
  }

  private func text(of file: String) throws(ConfigurationProblem) -> String {
    guard let data = FileManager.default.contents(atPath: file) else {
      throw ConfigurationProblem(file, 0, "", PathRights.faultOfReading(file) ?? "cannot be read")
    }
    guard let text = String(validating: data, as: UTF8.self) else {
      throw ConfigurationProblem(file, 0, "", "is not UTF-8")
    }
    return text
  }

  private func merge(
    _ settings: DaemonSettings, from file: String, into merged: inout DaemonSettings,
    _ places: inout [String: String], _ problems: MappingReader.Problems
  ) {
    func once(_ key: String, _ isGiven: Bool, _ set: () -> Void) {
      guard isGiven else { return }
      if let former = places[key] {
        problems.add(0, key, "is in \(former), too")
      } else {
        places[key] = file
        set()
      }
    }
    once("name", settings.instance != instance) { merged.instance = settings.instance }
    once("state", settings.stateFolder != nil) { merged.stateFolder = settings.stateFolder }
    once("http", settings.http != nil) { merged.http = settings.http }
    once("commands", settings.commandsMax != DaemonSettings(instance: "").commandsMax) {
      merged.commandsMax = settings.commandsMax
    }
    merged.watches += settings.watches
    merged.syncs += settings.syncs
  }

  /// Names and addresses that two watches have.
  private static func doubles(in settings: DaemonSettings, _ path: String) -> [ConfigurationProblem]
  {
    var problems: [ConfigurationProblem] = []
    var seen: Set<String> = []
    func check(_ kind: String, _ name: String) {
      if seen.insert("\(kind) \(name)").inserted { return }
      problems.append(ConfigurationProblem(path, 0, "", "there are two \(kind) '\(name)'"))
    }
    if case .socket(let path, _)? = settings.http?.address {
      check("uses of the socket", PathRights.canonical(path))
    }
    for watch in settings.watches {
      check("watches with the name", watch.name)
      for sink in watch.sinks {
        check("sinks of '\(watch.name)' with the name", sink.name)
        if case .socket(let socket) = sink.kind {
          check("uses of the socket", PathRights.canonical(socket.path))
        }
        if case .file(let file) = sink.kind { check("sinks with the file", file.path) }
        if case .events = sink.kind, settings.http == nil {
          problems.append(
            ConfigurationProblem(
              path, 0, "", "the events of '\(watch.name)' need the key 'http' to be reached"))
        }
      }
    }
    return problems
  }

  /// Files that two entries of `sync` match now, and patterns that are the same. A daemon that
  /// begins gives such a file to the first entry: the other files must not wait for a person.
  func sharedFiles(of settings: DaemonSettings) -> [ConfigurationProblem] {
    var seen: [String: Int] = [:]
    var problems: [ConfigurationProblem] = []
    // An entry without a file has that problem alone.
    for (index, sync) in settings.syncs.enumerated() where !sync.file.isEmpty {
      for file in Set(FileTable.paths(of: sync.file) + [sync.file]).sorted() {
        guard let other = seen.updateValue(index, forKey: file) else { continue }
        problems.append(
          ConfigurationProblem(
            path, 0, "sync",
            "the entries \(other + 1) and \(index + 1) both match \(file); a store belongs to one"
              + " server and has one session"))
      }
    }
    return problems
  }
}
