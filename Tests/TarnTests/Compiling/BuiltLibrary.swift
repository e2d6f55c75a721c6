import Foundation
import TestSupport

/// The library that these tests are linked with, for programs that a test compiles by itself.
struct BuiltLibrary {
  struct Run {
    var status: Int32
    var output: String
    var errors: String
  }

  private let built: String
  private let sources: String

  init() throws {
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    built = URL(fileURLWithPath: own).deletingLastPathComponent().path
    sources =
      URL(fileURLWithPath: #filePath).pathComponents.dropLast(4).joined(separator: "/")
      .replacingOccurrences(of: "//", with: "/") + "/Sources"
  }

  /// What a source needs to import the library.
  private var modules: [String] {
    [
      "-I", built + "/Modules", "-I", sources + "/CTarn/include",
      "-Xcc", "-fmodule-map-file=\(sources)/CLMDB/module.modulemap",
    ]
  }

  /// Those that these tests were linked with; what lies beside them may be older.
  private var objects: [String] {
    get throws {
      let list = built + "/TarnPackageTests.product/Objects.LinkFileList"
      return try String(contentsOfFile: list, encoding: .utf8).split(separator: "\n")
        .map { $0.trimmingCharacters(in: ["'", "\""]) }
        .filter { path in
          ["Tarn", "TarnStore", "CTarn"].contains { path.hasPrefix("\(built)/\($0).build/") }
        }
    }
  }

  /// If these tests are, then so are the objects.
  private var sanitizers: [String] {
    var flags: [String] = []
    if dlsym(nil, "__tsan_init") != nil { flags.append("-sanitize=thread") }
    if dlsym(nil, "__asan_init") != nil { flags.append("-sanitize=address") }
    return flags
  }

  /// What the compiler says of a source in a language mode.
  func check(_ source: String, mode: String = "6", _ flags: [String] = []) throws -> String {
    try run("swiftc", ["-typecheck", "-swift-version", mode] + flags + modules + [source]).errors
  }

  /// Builds a program that offers the library to what it loads.
  func buildProgram(
    _ source: String, to program: String, _ flags: [String] = []
  ) throws -> Run {
    try run(
      "swiftc",
      ["-swift-version", "5", "-Xlinker", "-E", "-o", program, source] + modules + sanitizers
        + objects + flags + ["-llmdb", "-lbidgcc100", "-licui18n", "-licuuc"])
  }

  /// Builds something that such a program loads.
  func buildPlugin(_ source: String, to library: String) throws -> Run {
    try run(
      "swiftc",
      ["-swift-version", "5", "-emit-library", "-parse-as-library", "-o", library, source]
        + modules + sanitizers)
  }

  /// Runs a program to its end.
  func run(_ program: String, _ arguments: [String]) throws -> Run {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [program] + arguments
    let (output, errors) = (Pipe.ofOneProcess(), Pipe.ofOneProcess())
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    // One after the other: of what these programs print, a pipe holds all.
    let said = errors.fileHandleForReading.readDataToEndOfFile()
    let printed = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return Run(
      status: process.terminationReason == .exit ? process.terminationStatus : -1,
      output: String(decoding: printed, as: UTF8.self),
      errors: String(decoding: said, as: UTF8.self))
  }
}
