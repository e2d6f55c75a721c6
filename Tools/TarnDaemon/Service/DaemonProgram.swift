import CDaemon
import Foundation
import Tarn
import TarnStore
import ToolSupport

/// `tarn daemon`: parses the command line, and runs, checks or asks.
package enum DaemonProgram {
  private static let parser = CommandLineParser(
    program: "tarn", version: "\(ToolVersion.text) (LMDB \(Environment.engineVersion))",
    summary: "Watches Tarn stores and delivers changes to programs.",
    commands: [DaemonCommand.spec])

  package static func run() -> Int32 {
    // First: it would end the process, and may come at any time.
    let hangup = signal(SIGHUP, SIG_IGN)
    StandardDescriptors.fill()
    SignalTrap.setUp()
    let arguments = parser.parseOrExit([DaemonCommand.name] + ProgramArguments.all.dropFirst())
    do {
      try ActionOptions.check(arguments)
      if arguments.positional("ACTION") ?? "run" != "run" {
        signal(SIGHUP, hangup)
        SignalTrap.block(SIGHUP, false)
      }
      let report = try act(arguments)
      try show(report.text)
      return report.code.rawValue
    } catch let error as UsageError {
      complain(parser.refusal(error, of: DaemonCommand.name))
      return ExitCode.usage.rawValue
    } catch {
      complain("tarn: \(printableLines("\(error)"))\n")
      return ExitCode.failure.rawValue
    }
  }

  /// The reader of the output may have gone.
  private static func show(_ text: String) throws {
    let output = OutputPipe()
    do throws(OutputPipe.Failure) {
      try output.write(text)
      try output.flush()
    } catch {
      if let reason = error.message { throw ToolError(reason) }
    }
  }

  private static func act(_ arguments: ParsedArguments) throws -> ActionReport {
    if let text = printed(arguments) { return ActionReport(text) }
    switch arguments.positional("ACTION") ?? "run" {
    case "run": return ActionReport("", try serve(arguments))
    case "check", "reload": return try useConfiguration(arguments)
    case "status": return try StatusCommand(arguments, configuration(arguments)).run()
    case let word:
      guard let action = SinkAction(rawValue: word) else {
        throw UsageError(
          "'\(word)' is not an action: give run, check, reload, status, pause, resume, skip, "
            + "resend or try")
      }
      return try ControlCommand(action, arguments, configuration(arguments)).run()
    }
  }

  /// What describes any configuration.
  private static func printed(_ arguments: ParsedArguments) -> String? {
    if arguments.has("schema") { return ConfigurationSchema.text }
    return arguments.has("manual") ? ConfigurationManual.text : nil
  }

  /// Checks a configuration or lets the daemon read it, if it has no problems.
  private static func useConfiguration(_ arguments: ParsedArguments) throws -> ActionReport {
    let configuration = configuration(arguments)
    let user = arguments.value("user")
    let prints = arguments.has("unit")
    if arguments.positional("ACTION") == "check", !prints {
      return try CheckCommand(configuration: configuration, user: user).run()
    }
    if user != nil { throw UsageError("--user is for check, without --unit") }
    let (settings, found) = configuration.read()
    let problems = found + configuration.sharedFiles(of: settings)
    guard problems.isEmpty else {
      return ActionReport(lines: problems.map { printable("\($0)") }, .failure)
    }
    if arguments.positional("ACTION") == "reload" {
      return try ReloadCommand(configuration: configuration).run()
    }
    return ActionReport(UnitDropIn.text(settings))
  }

  private static func complain(_ text: String) {
    // If this fails, there is nowhere to report it.
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }

  private static func configuration(_ arguments: ParsedArguments) -> ConfigurationFiles {
    let standard =
      FileManager.default.fileExists(atPath: DaemonCommand.folder)
      ? DaemonCommand.folder : DaemonCommand.file
    return ConfigurationFiles(arguments.value("config") ?? standard)
  }

  /// Enough for Dispatch, the configuration and one store.
  private static let fewestDescriptors = 24

  /// Runs until a signal.
  private static func serve(_ arguments: ParsedArguments) throws -> ExitCode {
    let log = DaemonLog(upTo: arguments.has("verbose") ? .debug : .info)
    Logger.shared = Logger(level: .warn) { log.write($0 == .warn ? .warning : .error, $1) }
    tarn_raise_descriptors()
    try DispatchStart.run(withRoomFor: fewestDescriptors, operation: "run")
    let ended = DispatchSemaphore(value: 0)
    let starting = Lock(StartingDaemon())
    let reloads = DispatchQueue(label: "tarn-reload")
    let hangups = SignalTrap([SIGHUP], repeats: true) { _ in
      let daemon = starting.withLock { starting in
        starting.isReloading = true
        return starting.stands ? starting.daemon : nil
      }
      if let daemon { reloads.async { daemon.reload() } }
    }
    let trap = SignalTrap { _ in
      let daemon = starting.withLock { starting in
        starting.isEnding = true
        return starting.daemon
      }
      daemon?.stopSoon()
      ended.signal()
    }
    let daemon = try Daemon(configuration(arguments), log)
    let isEnding = starting.withLock { starting in
      starting.daemon = daemon
      return starting.isEnding
    }
    if isEnding { daemon.stopSoon() }
    let late = try daemon.start().map { ", except \($0)" } ?? ""
    let isReloading = starting.withLock { starting in
      starting.stands = true
      return starting.isReloading
    }
    if isReloading { reloads.async { daemon.reload() } }
    if !daemon.hasStopped { log.write(.notice, "the watches stand\(late)") }
    withExtendedLifetime(trap) { ended.wait() }
    starting.withLock { $0.stands = false }
    withExtendedLifetime(hangups) { daemon.stop() }
    return .success
  }
}

/// The state of a daemon that signals may find before its watches stand.
private struct StartingDaemon {
  var daemon: Daemon?
  var isEnding = false
  /// Whether a signal asked for another look at the configuration.
  var isReloading = false
  /// Whether the watches stand, so that the configuration can be read again.
  var stands = false
}
