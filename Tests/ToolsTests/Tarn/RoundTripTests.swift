import Foundation
import TarnStore
import TestSupport
import Testing

/// What is exported is imported, and exported again the same to the byte: values of every type.
@Suite struct RoundTripTests {
  private let folder = TemporaryFolder()

  private func open(_ name: String) throws -> Store {
    var options = Store.Options()
    options.isDurable = false
    options.classes = EveryType.classes
    return try StoreRegistry.open(folder.file(name), options)
  }

  private func fill(_ name: String, seed: UInt64) throws {
    try open(name).write { session in
      var every = try EveryType(seed: seed, session)
      for id in 0..<12 {
        try every.add("Thing", id: id)
        try every.add("Loose", id: id)
      }
    }
  }

  private func export(_ file: String, _ name: String, _ format: String = "jsonl") throws -> String {
    let done = try ToolProcess.run(folder, "export", file, name, "-f", format)
    #expect(done.status == 0, "\(done.errors)")
    return done.output
  }

  private func load(
    _ file: String, _ name: String, _ format: String, _ input: String, _ more: String...
  ) throws -> String {
    let arguments = ["import", file, "-", "-f", format, "-c", name] + more
    let done = try ToolProcess(folder, arguments, input: input).finish()
    #expect(done.status == 0, "\(done.errors)")
    return done.output
  }

  @Test(arguments: ["jsonl", "csv"], [1, 2, 3])
  func everyTypeComesBack(_ format: String, _ seed: UInt64) throws {
    try fill("a.realm", seed: seed)
    _ = try open("b.realm")
    for name in ["Target", "Keyless", "Thing"] {
      let text = try export("a.realm", name, format)
      _ = try load("b.realm", name, format, text)
      #expect(try export("b.realm", name, format) == text)
    }
    // Reading back what is there already changes nothing.
    let lines = try export("b.realm", "Thing")
    let same = try load("b.realm", "Thing", "jsonl", lines, "--update")
    #expect(same.contains("0 added, 0 changed, 12 already the same"))
    let check = try ToolProcess.run(folder, "inspect", "b.realm", "--check")
    #expect(check.status == 0, "\(check.output)")
  }

  @Test(arguments: ["jsonl", "csv"])
  func newClassesGetTheTypesThatAreGiven(_ format: String) throws {
    try fill("a.realm", seed: 4)
    let text = try export("a.realm", "Loose", format)
    _ = try load("c.realm", "Loose", format, text, "-k", "id", "-t", "id:int," + EveryType.typeWords)
    #expect(try export("c.realm", "Loose", format) == text)
  }

  /// Each collection with other elements, then back with `--update`.
  @Test func updatesReplaceWhatDiffers() throws {
    try fill("a.realm", seed: 5)
    let before = try export("a.realm", "Thing")
    try open("a.realm").write { session in
      var every = try EveryType(seed: 6, session)
      let described = session.schema.schema.named("Thing")!
      for id in 0..<12 { try session.delete(ObjectKey(Int64(id)), in: described.id) }
      for id in 0..<12 {
        do { try every.add("Thing", id: id) } catch { print("XXX adding", id, every.place ?? "-", error); throw error }
      }
    }
    #expect(try export("a.realm", "Thing") != before)
    let done = try load("a.realm", "Thing", "jsonl", before, "--update")
    #expect(done.contains("12 changed"))
    #expect(try export("a.realm", "Thing") == before)
    let check = try ToolProcess.run(folder, "inspect", "a.realm", "--check")
    #expect(check.status == 0, "\(check.output)")
  }
}
