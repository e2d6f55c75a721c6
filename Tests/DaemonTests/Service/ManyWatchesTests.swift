import Foundation
import TestSupport
import Testing
import ToolSupport

/// A thousand watches in one daemon.
@Suite(.timeLimit(.minutes(30)), .fewAtOnce)
struct ManyWatchesTests {
  private let folder = TemporaryFolder()

  @Test func runsAThousandWatches() async throws {
    let files = try (0..<10).map { try NoteFile(folder, "n\($0).tarn") }
    for file in files { try file.put(1, "one") }
    var text = "watches:\n"
    for number in 0..<1000 {
      text += "  - {name: w\(number), file: $/n\(number % 10).tarn, class: Note, "
      text += "where: 'count == \(number / 10)', sinks: [{file: $/out\(number).jsonl}]}\n"
    }
    let daemon = try DaemonProcess(folder, text)
    for (number, file) in files.enumerated() { try file.put(2, "two", count: number) }
    for number in 0..<10 {
      // The watch whose condition the new note meets.
      let output = folder.file("out\(number * 10 + number).jsonl")
      try await yieldUntil { try NoteModel(file: output).notes[2] == "two \(number)" }
    }
    #expect(daemon.stop() == .exited(0))
  }
}
