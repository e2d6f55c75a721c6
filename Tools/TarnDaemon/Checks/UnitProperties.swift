import Foundation
import ToolSupport

/// What the unit of systemd gives a daemon that a check outside of it does not have: a user,
/// groups, and folders that it may write.
struct UnitProperties: Equatable {
  private static let names = [
    "LoadState", "User", "SupplementaryGroups", "ReadWritePaths", "ProtectSystem", "ProtectHome",
    "PrivateTmp",
  ]

  let unit: String
  private let values: [String: String]

  /// - Parameter text: what `systemctl show` prints.
  init(_ unit: String, _ text: String) {
    self.unit = unit
    var values: [String: String] = [:]
    for line in text.splitASCII("\n") {
      guard let parts = line.partsAroundASCII("=") else { continue }
      values[String(parts.before)] = String(parts.behind)
    }
    self.values = values
  }

  /// The unit of the package that runs a configuration; nil if none does.
  static func unit(of configuration: String) -> String? {
    if configuration == DaemonCommand.folder { return "tarn.service" }
    guard PathRights.folder(of: configuration) == PathRights.folder(of: DaemonCommand.file),
      configuration.endsWithBytes(of: ".yaml")
    else { return nil }
    return "tarn@\(ConfigurationFiles(configuration).instance).service"
  }

  /// Asks systemd; nil if the unit is not installed.
  static func known(of configuration: String) -> UnitProperties? {
    guard let unit = unit(of: configuration),
      let run = try? ChildProcess(
        "systemctl", ["show", "--property=\(names.joined(separator: ","))", unit],
        errors: "/dev/null")
    else { return nil }
    let (lines, end) = run.finish(within: .seconds(10))
    let found = UnitProperties(unit, lines.joined(separator: "\n"))
    return end == .exited(0) && found.values["LoadState"] == "loaded" ? found : nil
  }

  /// The user that the unit runs as; nil for root.
  var user: String? { values["User"].flatMap { $0.isEmpty || $0 == "root" ? nil : $0 } }

  var groups: [String] { words("SupplementaryGroups") }

  private func words(_ name: String) -> [String] {
    (values[name] ?? "").splitASCII(" ", omittingEmpty: true).map(String.init)
  }

  /// What a configuration needs and the unit does not give.
  func findings(_ settings: DaemonSettings) -> [Finding] {
    let wayOut = "; 'tarn daemon check --unit' prints the lines that it lacks"
    var found: [Finding] = []
    if values["ProtectSystem"] == "strict" {
      let open = words("ReadWritePaths").map { path in
        String(path.drop { $0 == "-" || $0 == "+" })
      }
      for folder in UnitDropIn.folders(settings) where !Self.has(folder, open) {
        found.append(.problem(unit, "it may not write \(folder)\(wayOut)"))
      }
    }
    let paths = UnitDropIn.paths(settings)
    if let protection = values["ProtectHome"], protection != "no" {
      for path in paths where Self.has(path, ["/home", "/root", "/run/user"]) {
        found.append(.problem(unit, "it may not use \(path)\(wayOut)"))
      }
    }
    if values["PrivateTmp"] == "yes" {
      for path in paths where Self.has(path, ["/tmp", "/var/tmp"]) {
        found.append(
          .problem(
            unit,
            "it has a /tmp of its own, in which nobody else finds \(path): choose another place"))
      }
    }
    found.append(
      .note(unit, "not checked: the unit's environment and credentials, and servers"))
    return found
  }

  /// Whether a path is one of the folders, or in one.
  private static func has(_ path: String, _ folders: [String]) -> Bool {
    folders.contains { path == $0 || path.beginsWithBytes(of: $0 + "/") || $0 == "/" }
  }
}
