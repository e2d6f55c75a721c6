import Foundation
import TestSupport

/// The complete programs of an article, which begin with "```Swift", built and started as a reader
/// does, in a home directory of their own.
final class BookPrograms {
  private static let articles =
    URL(fileURLWithPath: #filePath).pathComponents.dropLast(4).joined(separator: "/")
    + "/Sources/Tarn/Documentation.docc"

  struct Failure: Error {
    var text: String
  }

  let home = TemporaryFolder()
  private let text: String

  init(_ article: String) throws {
    text = try String(contentsOfFile: "\(Self.articles)/\(article).md", encoding: .utf8)
  }

  /// The blocks in a language, in their order.
  func blocks(_ language: String) -> [String] {
    text.components(separatedBy: "\n```\(language)\n").dropFirst().map {
      $0.components(separatedBy: "\n```")[0] + "\n"
    }
  }

  var programs: [String] { blocks("Swift").filter { $0.contains("import Tarn\n") } }

  /// A program as it is after the changes of a block that begins with "```diff".
  func changed(_ difference: String) -> String {
    difference.split(separator: "\n", omittingEmptySubsequences: false)
      .filter { $0.first != "-" }.map { String($0.dropFirst()) }.joined(separator: "\n")
  }

  /// Builds a program. Names of its own keep its modules and objects apart.
  func build(_ source: String, as name: String) throws -> String {
    let folder = home.file("\(name)-source")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    try Data(source.utf8).write(to: URL(fileURLWithPath: folder + "/main.swift"))
    let program = home.file(name)
    let built = try BuiltLibrary().buildProgram(
      folder + "/main.swift", to: program, ["-swift-version", "6", "-warnings-as-errors"])
    guard built.status == 0 else { throw Failure(text: built.errors) }
    return program
  }

  func start(_ program: String, _ arguments: String...) throws -> StartedProgram {
    try StartedProgram(program, arguments, home: home.path)
  }

  /// What a program prints until its end.
  func run(_ program: String, _ arguments: String...) throws -> String {
    let started = try StartedProgram(program, arguments, home: home.path)
    started.closeInput()
    return try started.finish()
  }
}

/// A program with pipes in place of a terminal.
final class StartedProgram {
  private let process = Process()
  private let input = Pipe.ofOneProcess()
  private let output = Pipe.ofOneProcess()
  private var bytes: [UInt8] = []

  init(_ program: String, _ arguments: [String], home: String) throws {
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    // Foundation takes the home directory from the list of users, unless this variable is set.
    process.environment = ProcessInfo.processInfo.environment.merging(
      ["CFFIXED_USER_HOME": home]) { $1 }
    process.currentDirectoryURL = URL(fileURLWithPath: home)
    process.standardInput = input
    process.standardOutput = output
    process.standardError = output
    try process.run()
    try output.fileHandleForWriting.close()
  }

  deinit { kill() }

  /// What the program has printed; false at the end of its output.
  private func read() -> Bool {
    let piece = output.fileHandleForReading.availableData
    bytes += piece
    return !piece.isEmpty
  }

  var printed: String { String(decoding: bytes, as: UTF8.self) }

  /// Waits until the output has a text.
  func text(upTo wanted: String) throws -> String {
    while !printed.contains(wanted) {
      guard read() else { throw BookPrograms.Failure(text: "\(wanted) is not in: \(printed)") }
    }
    return printed
  }

  func type(_ line: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
  }

  func closeInput() { try? input.fileHandleForWriting.close() }

  /// All that the program prints. Its failure is an error with the output.
  func finish() throws -> String {
    while read() {}
    process.waitUntilExit()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      throw BookPrograms.Failure(text: printed)
    }
    return printed
  }

  func kill() {
    guard process.isRunning else { return }
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
