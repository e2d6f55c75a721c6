import Foundation
import ToolSupport

/// `tarn daemon check`: what is wrong in a configuration, and what it would do to cursors.
struct CheckCommand {
  let configuration: ConfigurationFiles
  /// The user to check as; nil for the one that the unit has, or else this process's own.
  let user: String?

  /// Lists the problems, as far as they can be known without running it.
  func run() throws -> ActionReport {
    let unit = UnitProperties.known(of: configuration.path)
    if let name = user ?? (geteuid() == 0 ? unit?.user : nil) {
      try DroppedRights.become(name, unit?.groups ?? [])
    }
    let (settings, found) = configuration.read()
    let faults = found + configuration.sharedFiles(of: settings)
    guard faults.isEmpty else {
      return ActionReport(lines: faults.map { printable("\($0)") }, .failure)
    }
    let all = try findings(settings, isOfUnit: unit != nil) + (unit?.findings(settings) ?? [])
    let (problems, warnings) = (count(.problem, in: all), count(.warning, in: all))
    var counts = [counted(settings.watches.count, "watch", "watches")]
    counts.append(problems == 0 ? "no problem" : counted(problems, "problem", "problems"))
    if warnings > 0 { counts.append(counted(warnings, "warning", "warnings")) }
    let sum = "\(printable(configuration.path)): \(counts.joined(separator: ", "))"
    return ActionReport(lines: all.map(\.line) + [sum], problems == 0 ? .success : .failure)
  }

  /// What opening everything finds.
  ///
  /// - Parameter isOfUnit: whether a unit of systemd, which has a state folder, runs the
  ///   configuration.
  func findings(_ settings: DaemonSettings, isOfUnit: Bool) throws -> [Finding] {
    var check = ConfigurationCheck(
      settings: settings, context: try DaemonContext(settings, DaemonLog(), makesFolder: false),
      side: .outside(RunningDaemon(configuration, settings)))
    check.makesCompanions = geteuid() != 0 || user == "root"
    check.mayHaveState = isOfUnit
    return check.findings()
  }
}

private func count(_ kind: Finding.Kind, in all: [Finding]) -> Int {
  all.count { $0.kind == kind }
}

private func counted(_ count: Int, _ one: String, _ many: String) -> String {
  "\(count) \(count == 1 ? one : many)"
}
