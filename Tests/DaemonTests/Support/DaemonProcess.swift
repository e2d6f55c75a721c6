import Foundation
import TestSupport
import Testing
import ToolSupport

/// A `tarn-daemon` that the test starts, with its configuration, and the service manager that it
/// reports to.
final class DaemonProcess {
  let folder: TemporaryFolder
  let configuration: String
  private(set) var process: ChildProcess
  private var notices: NoticeSocket
  private let environment: [String: String]
  private let isOther: Bool
  private let wrapper: [String]

  static let withoutState = "# without a state folder\n"
  private static let program = OwnProgram.sibling("tarn-daemon")

  /// Starts it; returns when its watches stand.
  ///
  /// - Parameters:
  ///   - text: the configuration, in which `$` is the folder. A state folder is added, unless it
  ///     begins with `withoutState`.
  ///   - isOther: whether it runs as a user without rights if the test runs as root.
  ///   - wrapper: a program that starts it.
  ///   - whileStarting: called when the process has been started.
  init(
    _ folder: TemporaryFolder, _ text: String, environment: [String: String] = [:],
    asOther isOther: Bool = false, within wrapper: [String] = [],
    whileStarting: (ChildProcess) throws -> Void = { _ in }
  ) throws {
    self.folder = folder
    self.environment = environment
    self.isOther = isOther && geteuid() == 0
    self.wrapper = wrapper
    configuration = folder.file("watch.yaml")
    try Self.write(text, to: configuration, folder)
    notices = try NoticeSocket(folder.file("notice"))
    chmod(folder.file("notice"), 0o666)
    process = try Self.start(
      configuration, folder, environment, asOther: self.isOther, within: wrapper)
    try whileStarting(process)
    try waitUntilReady()
  }

  private static func write(_ text: String, to path: String, _ folder: TemporaryFolder) throws {
    let whole = text.hasPrefix(withoutState) ? text : "state: $/state\n" + text
    try Data(whole.replacingOccurrences(of: "$", with: folder.path).utf8)
      .write(to: URL(fileURLWithPath: path))
  }

  private static func start(
    _ configuration: String, _ folder: TemporaryFolder, _ environment: [String: String],
    asOther isOther: Bool, within wrapper: [String]
  ) throws -> ChildProcess {
    var words = wrapper + [program, "run", "--config", configuration]
    if isOther { words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] + words }
    return try ChildProcess(
      words[0], Array(words.dropFirst()),
      environment: environment.merging(["NOTIFY_SOCKET": folder.file("notice")]) { $1 },
      errors: folder.file("errors"))
  }

  private func waitUntilReady() throws {
    guard try notices.wait(for: "READY=1", or: process) else {
      throw ToolError("the daemon ended: \(errors)")
    }
  }

  /// Waits for a notice that contains the text; false if the daemon ends first.
  func waitForNotice(_ text: String) throws -> Bool { try notices.wait(for: text, or: process) }

  /// What it has logged.
  var errors: String {
    FileManager.default.contents(atPath: folder.file("errors")).map {
      String(decoding: $0, as: UTF8.self)
    } ?? ""
  }

  /// Kills it and starts it again.
  func killAndRestart() throws {
    process.signal(SIGKILL)
    process.wait()
    try restart()
  }

  func restart() throws {
    process = try Self.start(
      configuration, folder, environment, asOther: isOther, within: wrapper)
    try waitUntilReady()
  }

  /// Replaces the configuration's file.
  func write(_ text: String) throws { try Self.write(text, to: configuration, folder) }

  /// Lets it read another configuration; returns when that is done.
  func reload(_ text: String) throws {
    try write(text)
    process.signal(SIGHUP)
    _ = try notices.wait(for: "RELOADING=1", or: process)
    try waitUntilReady()
  }

  /// Ends it with SIGTERM.
  @discardableResult
  func stop() -> ChildProcess.End {
    process.signal(SIGTERM)
    return process.wait()
  }

  /// Runs another action and returns what it prints, and how it ends.
  static func run(_ arguments: [String]) throws -> (text: String, end: ChildProcess.End) {
    let run = try ChildProcess(program, arguments)
    let (lines, end) = run.finish()
    return (lines.joined(separator: "\n"), end)
  }
}

/// The socket to which a service reports.
final class NoticeSocket {
  private let descriptor: Int32
  private var received: [String] = []

  init(_ path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | O_CLOEXEC, 0)
    unlink(path)
    guard UnixAddress.with(path, { bind(descriptor, $0, $1) }) == 0 else {
      throw ToolError("cannot bind", path, errno: errno)
    }
  }

  deinit { close(descriptor) }

  /// Waits for a notice that contains the text; false if the process ends first.
  func wait(for text: String, or process: ChildProcess) throws -> Bool {
    while true {
      if let index = received.firstIndex(where: { $0.contains(text) }) {
        received.removeSubrange(...index)
        return true
      }
      var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      if poll(&wait, 1, 100) > 0 {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(descriptor, &bytes, bytes.count)
        if count > 0 { received.append(String(decoding: bytes[..<count], as: UTF8.self)) }
      } else if process.poll() != nil {
        return false
      }
    }
  }
}
