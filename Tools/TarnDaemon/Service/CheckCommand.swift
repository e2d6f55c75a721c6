import Foundation
import ToolSupport

/// `tarn daemon check`: what is wrong in a configuration, and what it would do to cursors.
struct CheckCommand {
  let configuration: ConfigurationFiles
  /// The user to check as; nil for the one that the unit has, or else this process's own.
  let user: String?

  /// Prints what is wrong, as far as it can be known without running it.
  func run() throws -> ExitCode {
    let unit = UnitProperties.known(of: configuration.path)
    if let name = user ?? (geteuid() == 0 ? unit?.user : nil) {
      try DroppedRights.become(name, unit?.groups ?? [])
    }
    let (settings, found) = configuration.read()
    let problems = found + configuration.sharedFiles(of: settings)
    guard problems.isEmpty else {
      for problem in problems { print(problem) }
      return .failure
    }
    let all = try findings(settings) + (unit?.findings(settings) ?? [])
    for finding in all { print(finding) }
    let count = all.count { $0.kind == .problem }
    let watches = counted(settings.watches.count, "watch", "watches")
    print(
      "\(configuration.path): \(watches), "
        + (count == 0 ? "no problem" : counted(count, "problem", "problems")))
    return count == 0 ? .success : .failure
  }

  /// What opening everything finds.
  func findings(_ settings: DaemonSettings) throws -> [Finding] {
    var check = ConfigurationCheck(
      settings: settings, context: try DaemonContext(settings, DaemonLog(), makesFolder: false),
      side: .outside(RunningDaemon(configuration, settings)))
    check.makesCompanions = geteuid() != 0 || user == "root"
    return check.findings()
  }
}

private func counted(_ count: Int, _ one: String, _ many: String) -> String {
  "\(count) \(count == 1 ? one : many)"
}
