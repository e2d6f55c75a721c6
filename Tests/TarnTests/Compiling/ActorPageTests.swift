import Foundation
import TestSupport
import Testing

/// The page's samples as clients of the library, in every mode in which its readers compile.
struct ActorPageTests {
  private let folder = TemporaryFolder()

  private func write(_ source: String) throws -> String {
    let file = folder.file("Page.swift")
    try source.write(toFile: file, atomically: true, encoding: .utf8)
    return file
  }

  /// Flags with which the page says to compile.
  private static let strict = ["-strict-concurrency=complete", "-enable-actor-data-race-checks"]

  @Test(arguments: [[], strict])
  func theyCompileInSwift5Mode(_ flags: [String]) throws {
    let source = try write(ActorPageSamples.all)
    let said = try BuiltLibrary().check(source, mode: "5", flags)
    #expect(!said.contains("error:"), "\(said)")
    // The page's own: a variable that every task may reach.
    let warnings = said.split(separator: "\n").filter {
      $0.hasPrefix(source) && $0.contains("warning:")
    }
    #expect(warnings.allSatisfy { $0.contains("'shared'") }, "\(said)")
  }

  @Test func theyCompileInSwift6ModeWithoutAWarning() throws {
    let said = try BuiltLibrary().check(try write(ActorPageSamples.allInSwift6), mode: "6")
    #expect(said.isEmpty, "\(said)")
  }

  @Test func theyRun() throws {
    let library = try BuiltLibrary()
    let program = folder.file("page")
    let built = try library.buildProgram(
      try write(ActorPageSamples.all + ActorPageSamples.main), to: program,
      ["-parse-as-library"] + Self.strict)
    #expect(built.status == 0, "\(built.errors)")
    let run = try library.run(program, [folder.file("todo.realm")])
    #expect(run.status == 0, "\(run.errors)")
    let said = run.output
    for line in [
      "uses a Realm with 0 objects", "The number of Realm objects is: 1",
      "The actor currently has 2 tasks", "The actor currently has 3 tasks", "Gandalf", "Bilbo",
      "Pippin", "A change occurred on actor", "The initial value of the changed object was", "done",
    ] {
      #expect(said.contains(line), "\(said)")
    }
    #expect(FileManager.default.fileExists(atPath: folder.file("Galadriel.realm")))
  }
}
