import Foundation
import ToolSupport

/// What `tarn daemon check --unit` prints: the lines that a unit needs beside those of the package,
/// so that its sandbox lets a configuration work.
enum UnitDropIn {
  static func text(_ settings: DaemonSettings) -> String {
    let written = folders(settings)
    let groups = groups(of: settings)
    var lines = ["# systemctl edit the unit, and put this there.", "[Service]"]
    // Without the minus the unit would not start while a folder is missing.
    lines += written.map { "ReadWritePaths=-\(escaped($0))" }
    lines += credentials(of: settings).map { "LoadCredential=\(escaped($0))" }
    if !groups.isEmpty { lines.append("SupplementaryGroups=\(groups.joined(separator: " "))") }
    if written.contains(where: {
      $0.beginsWithBytes(of: "/home/") || $0.beginsWithBytes(of: "/root")
    }) {
      lines.append("ProtectHome=no")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// What is written: stores, with cursors and locks, files and sockets.
  static func paths(_ settings: DaemonSettings) -> [String] {
    var paths = Set(settings.watches.map(\.file) + settings.syncs.map(\.file))
    for sink in settings.watches.flatMap(\.sinks) {
      if let letters = sink.deadLetters { paths.insert(letters.path) }
      switch sink.kind {
      case .file(let file) where !file.path.beginsWithBytes(of: "/dev/"): paths.insert(file.path)
      case .socket(let socket) where !socket.path.beginsWithBytes(of: "@"):
        paths.insert(socket.path)
      default: break
      }
    }
    if case .socket(let path, _)? = settings.http?.address { paths.insert(path) }
    return paths.sorted()
  }

  /// The folders in which something is written.
  static func folders(_ settings: DaemonSettings) -> [String] {
    var folders = Set(paths(settings).map(fixedFolder))
    if let state = settings.stateFolder { folders.insert(state) }
    // The unit's own folders are open to it.
    return folders.filter { path in
      !["/var/lib/tarn", "/run/tarn"].contains { path == $0 || path.beginsWithBytes(of: $0 + "/") }
    }.sorted()
  }

  /// The last folder of a path before any pattern.
  static func fixedFolder(of path: String) -> String {
    var parts = path.splitASCII("/").dropLast()
    if let pattern = parts.firstIndex(where: { $0.utf8.contains { "*?[".utf8.contains($0) } }) {
      parts = parts[..<pattern]
    }
    return "/" + parts.joined(separator: "/")
  }

  /// The credentials that the configuration names, which systemd looks for in its stores.
  private static func credentials(of settings: DaemonSettings) -> [String] {
    var sources = [settings.http?.token]
    for sink in settings.watches.flatMap(\.sinks) {
      if case .webhook(let webhook) = sink.kind {
        sources += [webhook.urlSource, webhook.secret] + webhook.secretHeaders.map(\.source)
      }
    }
    let names = sources.compactMap { source in
      if case .credential(let name)? = source { name } else { String?.none }
    }
    return Set(names).sorted()
  }

  /// The groups that own the stores.
  private static func groups(of settings: DaemonSettings) -> [String] {
    var names = Set<String>()
    let files = settings.watches.map(\.file) + settings.syncs.map(\.file)
    for path in files.flatMap({ FileTable.paths(of: $0) }) {
      let attributes = try? FileManager.default.attributesOfItem(atPath: path)
      if let name = attributes?[.groupOwnerAccountName] as? String, name != "root" {
        names.insert(name)
      }
    }
    return names.sorted()
  }

  static func escaped(_ path: String) -> String {
    // Units read percent signs as specifiers, spaces as separators, and escapes as those of C.
    let text = path.replacingASCII { scalar in
      switch scalar {
      case "%": "%%"
      case "\"", "\\": "\\\(scalar)"
      case "\n": "\\n"
      case "\r": "\\r"
      default: nil
      }
    }
    return text.utf8.contains { " \t\\'".utf8.contains($0) } ? "\"\(text)\"" : text
  }
}
