import Foundation
import TestSupport
import Testing

/// Whole programs, for what runs a program's main thread cannot be tried inside of another one.
struct SchedulerProgramTests {
  private let folder = TemporaryFolder()

  private func build(_ source: String, _ flags: [String] = []) throws -> String {
    let program = folder.file("program")
    let built = try BuiltLibrary().buildProgram(
      folder.file(flags.isEmpty ? "main.swift" : "Program.swift", Array(source.utf8)), to: program,
      flags)
    try #require(built.status == 0, "\(built.errors)")
    return program
  }

  private func run(_ program: String, _ word: String) throws -> BuiltLibrary.Run {
    try BuiltLibrary().run(program, [word, folder.file("\(word).realm")])
  }

  @Test func aProgramIsToldInItsRunLoopAndUnderDispatchMain() throws {
    let program = try build(SchedulerPrograms.synchronous)
    for word in ["run-loop", "dispatch-main"] {
      let run = try run(program, word)
      #expect(run.output == "initial 0\nupdate [\"hello\"] [] [0] []\n", "\(word): \(run.errors)")
      #expect(run.status == 0, "\(word): \(run.errors)")
    }
    for (word, said) in Self.refusals {
      let run = try run(program, word)
      #expect(run.status != 0)
      #expect(run.output.isEmpty)
      for part in said { #expect(run.errors.contains(part), "\(word): \(run.errors)") }
    }
  }

  /// What is said where nothing gives a thread turns, and the way out.
  private static let refusals: [(word: String, said: [String])] = [
    ("plain-observe", observing),
    ("plain-write", ["Can't write asynchronously on a thread without a run loop"] + wayOut),
    ("plain-begin", ["Can't write asynchronously on a thread without a run loop"] + wayOut),
    ("plain-commit", ["Can't commit asynchronously on a thread without a run loop"] + wayOut),
  ]
  private static let observing = [
    "Can only add notification blocks from within run loops, on serial queues, or with a "
      + "ManualScheduler: a thread without a run loop has no later turn in which to call them. "
      + "Observe a Realm that was opened on the main thread, on a serial queue, in an actor or "
      + "inside a run loop. If this thread needs changes, call refresh()."
  ]
  private static let wayOut = [
    "which has no later turn in which to call the block or the completion. Use write, or a "
      + "Realm that was opened on the main thread, on a serial queue, in an actor, inside a run "
      + "loop or with a ManualScheduler."
  ]

  @Test func aProgramIsToldInItsAsynchronousMain() throws {
    let program = try build(SchedulerPrograms.asynchronous, ["-parse-as-library"])
    let callback = try run(program, "callback")
    #expect(callback.output == "initial 0\nupdate [\"hello\"] [] [0] []\n", "\(callback.errors)")
    #expect(callback.status == 0)
    let loop = try run(program, "loop")
    #expect(loop.output == "initial 0\nupdate [\"hello\"] [0]\n", "\(loop.errors)")
    #expect(loop.status == 0)
  }
}
