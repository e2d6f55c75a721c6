import Foundation
import TarnStore
import TestSupport
import Testing

/// Commands that write while another process, which is this one, is writing.
@Suite struct WaitingWriterTests {
  private let store = TemporaryStore()

  private static let classes = [
    ClassDefinition(
      name: "Dog",
      properties: [ClassDefinition.Property(name: "id", type: .int, isPrimaryKey: true)])
  ]

  @Test func aPersonIsToldWhomACommandWaitsFor() throws {
    let opened = try store.open(Self.classes)
    let token = try opened.acquireGate()
    let screen = try Screen()
    let process = try ToolProcess(
      store.folder, ["delete", "test.realm", "Dog", "--all"], errors: screen.program)
    let text = screen.text(upTo: "…")
    #expect(text.contains("tarn: waiting for "))
    #expect(text.contains("(\(getpid())), which has been writing for "))
    token.release()
    let done = try process.finish()
    #expect(done.status == 0)
    #expect(done.output.hasPrefix("deleted 0 objects"))
  }

  @Test(arguments: [
    ["delete", "test.realm", "Dog", "--all"], ["set", "test.realm", "Dog", "--all", "age=1"],
    ["import", "test.realm", "-", "-f", "jsonl", "-c", "Cat"],
  ])
  func aCommandWaitsAsLongAsItIsTold(_ arguments: [String]) throws {
    let opened = try store.open(Self.classes)
    let token = try opened.acquireGate()
    let process = try ToolProcess(
      store.folder, arguments + ["--timeout", "1"], input: "{\"name\":\"Tom\"}\n")
    let done = try process.finish()
    #expect(done.status == 1)
    #expect(done.errors.contains("process \(getpid()) ("), "\(done.errors)")
    // Nobody looks at a file: it is not told what a person would be.
    #expect(!done.errors.contains("waiting for"))
    token.release()
    #expect(try opened.newestSnapshot().schema.schema.named("Cat") == nil)
  }
}
