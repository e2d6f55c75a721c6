import Foundation
import TestSupport
import Testing

/// Text of a file, a command line and other processes on a terminal: no control character of it
/// gets there.
@Suite struct EscapedOutputTests {
  private static let evil = "a\u{1b}[31mb\u{7f}c\u{9b}2Jd\u{202e}e\re"
  /// The same without a carriage return, which a terminal adds to line feeds itself.
  private static let evilName = "E\u{1b}[31m\u{9b}\u{7f}"

  private let folder = TemporaryFolder()

  private func fill() throws {
    // Sorted, so that the text is in the last column.
    let line = try JSONSerialization.data(
      withJSONObject: ["id": 1, "t": Self.evil], options: .sortedKeys)
    let done = try ToolProcess.run(
      folder, "import", "a.realm", "-", "-f", "jsonl", "-c", "Dog", "-k", "id",
      input: String(decoding: line, as: UTF8.self))
    try #require(done.status == 0, "\(done.errors)")
  }

  private func shown(_ arguments: [String], input: String = "", upTo end: String) throws -> String {
    let screen = try Screen()
    let process = try ToolProcess(
      folder, arguments, input: input, environment: ["NO_COLOR": "1", "TERM": "xterm"],
      output: screen)
    let text = screen.text(upTo: end)
    process.signal(SIGTERM)
    _ = process.status()
    return text
  }

  private func expectHarmless(_ text: String) {
    for scalar in text.unicodeScalars where scalar != "\r" && scalar != "\n" {
      let isHarmless = scalar.properties.generalCategory != .control && scalar != "\u{202e}"
      #expect(isHarmless, "\(text.debugDescription)")
    }
    #expect(!text.replacing("\r\n", with: "").contains("\r"), "\(text.debugDescription)")
  }

  @Test(
    arguments: [
      (["query", "a.realm", "Dog", "--json"], "}"),
      (["query", "a.realm", "Dog", "--csv"], "e\"\r\n"),
      (["export", "a.realm", "Dog"], "}"), (["export", "a.realm", "Dog", "-f", "csv"], "e\"\r\n"),
      (["query", "a.realm", "Dog"], "re\r\n"), (["watch", "a.realm", "Dog", "--json"], "]}"),
      (["watch", "a.realm", "Dog"], "re\r\n"),
      (["query", "a.realm", "Dog", "-g", "t", "--csv"], ",1"),
    ])
  func valuesAreEscaped(_ arguments: [String], _ end: String) throws {
    try fill()
    let text = try shown(arguments, upTo: end)
    #expect(text.contains("u001b[31m") || text.contains("u{1b}[31m"), "\(text)")
    expectHarmless(text)
  }

  @Test func jsonStaysWhatItIs() throws {
    try fill()
    let text = try shown(["export", "a.realm", "Dog"], upTo: "}")
    let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    #expect(object?["t"] as? String == Self.evil)
    // Other programs get the characters themselves.
    let piped = try ToolProcess.run(folder, "export", "a.realm", "Dog")
    #expect(piped.output.contains("\u{7f}c\u{9b}2Jd\u{202e}e"))
  }

  @Test func namesOfClassesAreEscaped() throws {
    let name = Self.evilName
    let text = try shown(
      ["import", "a.realm", "-", "-f", "jsonl", "-c", name, "-k", "id"], input: "{\"id\":1}",
      upTo: "version 1")
    #expect(text.hasPrefix("E\\u{1b}[31m\\u{9b}\\u{7f}: 1 added"), "\(text)")
    for words in [["set", "id=1"], ["delete"]] {
      let arguments = [words[0], "a.realm", name, "--where", "id == 2"]
      let done = try ToolProcess(folder, arguments + words.dropFirst()).finish()
      expectHarmless(done.output + done.errors)
      #expect((done.output + done.errors).contains("E\\u{1b}") || words[0] == "set")
    }
    let wrong = try ToolProcess.run(folder, "count", "a.realm", name, "\u{1b}[2J == 1")
    #expect(wrong.status == 2)
    expectHarmless(wrong.errors)
  }

  @Test func namesOfProcessesAreEscaped() throws {
    try fill()
    let link = folder.file("p\u{1b}[31m")
    try FileManager.default.createSymbolicLink(
      atPath: link, withDestinationPath: ToolProcess.tarn.path)
    let watch = try ToolProcess(
      folder, ["watch", "a.realm", "Dog", "--rows", "0"], program: link)
    #expect(try watch.line() != nil)
    let done = try ToolProcess.run(folder, "inspect", "a.realm")
    #expect(done.output.contains("p\\u{1b}[31m (\(watch.processID))"), "\(done.output)")
    #expect(!done.output.contains("\u{1b}"))
    let text = try shown(["inspect", "a.realm"], upTo: "writer")
    expectHarmless(text)
  }
}
