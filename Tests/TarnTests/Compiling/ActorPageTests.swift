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

  /// What the compiler says, but for constants of the page's that nobody reads, and, in Swift 5
  /// mode, its variable that every task may reach.
  private func complaints(_ source: String, mode: String, _ flags: [String] = []) throws -> String {
    let file = try write(source)
    let said = try BuiltLibrary().check(file, mode: mode, flags)
    // Lines that quote the source are set in.
    let complaints = said.split(separator: "\n").filter { line in
      guard !line.hasPrefix(" ") else { return false }
      if line.contains("error:") { return true }
      guard line.contains("warning:") else { return false }
      return !line.contains("was never used") && (mode == "6" || !line.contains("'shared'"))
    }
    return complaints.joined(separator: "\n")
  }

  /// Each sample as the page has it.
  private func client(_ sample: ActorPageSamples.Sample) -> String {
    ActorPageSamples.model + ActorPageSamples.realmActor + sample.client
  }

  @Test(arguments: ActorPageSamples.samples)
  func eachIsAClientOfItsOwnInEveryMode(_ sample: ActorPageSamples.Sample) throws {
    let source = client(sample)
    #expect(try complaints(source, mode: "5") == "")
    #expect(try complaints(source, mode: "5", Self.strict) == "")
    #expect(try complaints(ActorPageSamples.inSwift6(source), mode: "6") == "")
  }

  /// The changes for Swift 6 mode are needed, and so all of them are known.
  @Test func oneOfThemNeedsAChangeInSwift6Mode() throws {
    let changed = ActorPageSamples.samples.filter { sample in
      ActorPageSamples.inSwift6(sample.client) != sample.client
    }
    #expect(changed.map(\.name) == ["Global"])
    #expect(try complaints(client(changed[0]), mode: "6").contains("'shared' is not"))
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
