import Foundation
import TestSupport
import Testing
import ToolSupport

/// What the service manager hears.
@Suite(.timeLimit(.minutes(30)), .fewAtOnce)
struct ServiceNoticeTests {
  private let folder = TemporaryFolder()

  @Test func reportsThatItLives() throws {
    let path = folder.file("notice")
    _ = try NoteFile(folder)
    let daemon = try DaemonProcess(
      folder,
      "watches:\n  - {name: n, file: $/notes.tarn, class: Note, sinks: [{file: $/out.jsonl}]}\n",
      environment: ["WATCHDOG_USEC": "1000000"])
    #expect(FileManager.default.fileExists(atPath: path))
    #expect(try daemon.waitForNotice("WATCHDOG=1"))
    #expect(try daemon.waitForNotice("WATCHDOG=1"))
    daemon.process.signal(SIGTERM)
    #expect(try daemon.waitForNotice("STOPPING=1"))
    #expect(daemon.process.wait() == .exited(0))
  }

  @Test func refusesAWrongConfiguration() throws {
    let path = try folder.file("wrong.yaml", Array("watches: 5\n".utf8))
    let (_, end) = try DaemonProcess.run(["run", "--config", path])
    #expect(end == .exited(1))
    let (text, checked) = try DaemonProcess.run(["check", "--config", path])
    #expect(checked == .exited(1))
    #expect(text == "\(path):1: watches: needs a list, not '5'")
  }
}
