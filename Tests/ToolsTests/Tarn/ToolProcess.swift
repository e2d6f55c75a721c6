import Foundation
import TestSupport

/// A run of one of the built tools: the binary next to the test bundle, with its output in pipes.
final class ToolProcess {
  struct Result: Equatable {
    var status: Int32
    var output: String
    var errors: String
  }

  struct Silence: Error {}

  /// Only against a hang: a tool on a busy machine may be silent for a minute.
  private static let patienceMilliseconds: Int32 = 300_000

  private let process = Process()
  private let output = Pipe.ofOneProcess()
  private let errorFile: String
  private var pending: [UInt8] = []
  private let folder: TemporaryFolder

  /// Where the build has put `tarn`.
  static var tarn: URL {
    let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return URL(fileURLWithPath: own ?? "").deletingLastPathComponent()
      .appendingPathComponent("tarn")
  }

  /// Starts `tarn` with these arguments in the folder; what it says on standard error is kept in
  /// a file beside, which never fills.
  ///
  /// - Parameters:
  ///   - program: another program than `tarn`. Its temporary files go to the folder.
  ///   - errors: where else its standard error goes.
  ///   - screen: where its standard output goes, instead of what `line` and `finish` read.
  ///   - isTyped: whether its standard input comes from the screen, too.
  init(
    _ folder: TemporaryFolder, _ arguments: [String], program: String? = nil, input: String = "",
    environment: [String: String] = [:], errors: FileHandle? = nil,
    output screen: Screen? = nil, typed isTyped: Bool = false
  ) throws {
    self.folder = folder
    process.executableURL = program.map { URL(fileURLWithPath: $0) } ?? Self.tarn
    process.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": folder.path]) {
      $1
    }.merging(environment) { $1 }
    process.arguments = arguments
    process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
    let inputFile = try folder.file("input-\(UUID())", Array(input.utf8))
    errorFile = try folder.file("errors-\(UUID())", [])
    process.standardInput =
      isTyped ? screen?.program : FileHandle(forReadingAtPath: inputFile)
    process.standardError = errors ?? FileHandle(forWritingAtPath: errorFile)
    if let screen {
      process.standardOutput = screen.program
    } else {
      process.standardOutput = output
    }
    try process.run()
    try FileManager.default.removeItem(atPath: inputFile)
  }

  deinit {
    if process.isRunning {
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
    try? FileManager.default.removeItem(atPath: errorFile)
  }

  /// Runs a command to its end.
  static func run(
    _ folder: TemporaryFolder, _ arguments: String..., input: String = ""
  ) throws -> Result {
    try ToolProcess(folder, arguments, input: input).finish()
  }

  var processID: Int32 { process.processIdentifier }

  /// The only process that a process has started; nil if there is none, or several.
  static func child(of process: Int32) -> Int32? {
    let path = "/proc/\(process)/task/\(process)/children"
    let children = (try? String(contentsOfFile: path, encoding: .utf8))?.split(separator: " ") ?? []
    return children.count == 1 ? Int32(children[0]) : nil
  }

  func signal(_ number: Int32) { kill(process.processIdentifier, number) }

  func closeOutput() { try? output.fileHandleForReading.close() }

  /// The next line of output; nil at the end.
  func line() throws -> String? {
    while true {
      if let end = pending.firstIndex(of: 0x0a) {
        defer { pending.removeFirst(end + 1) }
        return String(decoding: pending[..<end], as: UTF8.self)
      }
      if try !fill() { return nil }
    }
  }

  /// Returns when there is something to read, and reads none of it.
  func awaitOutput() throws {
    guard hasOutput(within: Self.patienceMilliseconds) else { throw Silence() }
  }

  /// Whether there is something to read, or its end, within that time.
  func hasOutput(within milliseconds: Int32) -> Bool {
    let descriptor = output.fileHandleForReading.fileDescriptor
    var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&wait, 1, milliseconds) > 0
  }

  /// What comes from a pipe until the program has closed it, as it does when it ends. One that is
  /// silent for too long is ended.
  func rest(of pipe: FileHandle) -> String {
    var bytes = Data()
    while true {
      var wait = pollfd(fd: pipe.fileDescriptor, events: Int16(POLLIN), revents: 0)
      if poll(&wait, 1, Self.patienceMilliseconds) <= 0 { signal(SIGTERM) }
      let more = pipe.availableData
      if more.isEmpty { return String(decoding: bytes, as: UTF8.self) }
      bytes += more
    }
  }

  /// All the rest, and how it ended.
  func finish() throws -> Result {
    while try fill() {}
    return Result(
      status: status(), output: String(decoding: pending, as: UTF8.self), errors: errors())
  }

  func status() -> Int32 {
    process.waitUntilExit()
    return process.terminationReason == .exit ? process.terminationStatus : -1
  }

  func errors() -> String { (try? String(contentsOfFile: errorFile, encoding: .utf8)) ?? "" }

  private func fill() throws -> Bool {
    try awaitOutput()
    let descriptor = output.fileHandleForReading.fileDescriptor
    var piece = [UInt8](repeating: 0, count: 65536)
    let count = read(descriptor, &piece, piece.count)
    pending += piece[..<max(0, count)]
    return count > 0
  }
}
