import Foundation
import TestSupport
import Testing

/// What the compiler says of conditions that cannot work. Without overloads for that it says, of
/// `$0.age == "x"`, "binary operator '==' cannot be applied to operands of type 'Query<Int>' and
/// 'String'", and would take `$0.name.count` for the property of an object. Of a method of the
/// class it says by itself that key paths cannot refer to it, of `$0.mother?.name` that there is
/// nothing optional.
struct CompilerMessageTests {
  private static let conversion =
    "A property compares with a value or a property of its own type: convert the other."
  private static let order = "Only numbers, strings, dates and ids have an order"
  private static let member = "Members of values are not stored"

  private static let wrong: [(condition: String, message: String)] = [
    ("$0.age == \"x\"", conversion), ("$0.name != 3", conversion),
    ("$0.name == $0.age", conversion), ("$0.mother == \"x\"", conversion),
    ("$0.scores == 3.5", conversion), ("$0.age == nil", "The property is never nil"),
    ("$0.age > \"x\"", order), ("$0.isGood <= true", order),
    ("$0.age == 3 || true", "Both sides of || are conditions, such as $0.age > 3."),
    ("$0.age == 3 && $0.name", "Both sides of && are conditions, such as $0.age > 3."),
    ("!$0.age", "Behind ! stands a condition"),
    ("$0.name.count > 3", member), ("$0.note.count > 3", member),
    ("$0.born.timeIntervalSince1970 > 3", member), ("$0.mood.hashValue == 3", member),
    ("$0.scores.first == 3", member),
    ("$0.name.isEmpty", "Write $0.name == \"\", or == Data()."),
    ("$0.scores.isEmpty", "Write $0.dogs.count == 0."),
    ("$0.name.hasPrefix(\"x\")", "Write starts(with:)."),
    ("$0.note.hasSuffix(\"x\")", "Write ends(with:)."),
    ("$0.name.lowercased() == \"x\"", "Write equals(_:options:) with .caseInsensitive."),
    ("$0.isNice()", "cannot refer to instance method 'isNice()'"),
    ("$0.mother?.name == \"x\"", "cannot use optional chaining on non-optional value"),
  ]

  private static let right = [
    "$0.mood.rawValue == \"calm\"", "$0.mother.name == \"x\"", "$0.note == nil", "nil != $0.note",
    "$0.age == 3 && $0.name == \"x\" && !$0.isGood && ($0.age > 3 || $0.mood == .calm)",
    "$0.scores > 3", "$0.mood > .calm",
  ]

  private static let model = """
    import Foundation
    import Tarn
    enum Mood: String, PersistableEnum { case calm, wild }
    class Calf: Object {
      @Persisted var age = 0
      @Persisted var name = ""
      @Persisted var note: String?
      @Persisted var isGood = false
      @Persisted var mood: Mood
      @Persisted var born: Date
      @Persisted var scores: List<Int>
      @Persisted var mother: Calf?
      func isNice() -> Bool { true }
    }

    """

  /// The messages of the compiler for conditions, each with the line that it is about.
  private func errors(_ conditions: [String]) async throws -> [Int: [String]] {
    let folder = TemporaryFolder()
    let source = folder.file("Conditions.swift")
    let lines = conditions.enumerated().map {
      "func f\($0)(_ all: Results<Calf>) { _ = all.where { \($1) } }"
    }
    try (Self.model + lines.joined(separator: "\n")).write(
      toFile: source, atomically: true, encoding: .utf8)
    let built = URL(
      fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(
        atPath: "/proc/self/exe")
    ).deletingLastPathComponent().path
    let sources =
      URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .path + "/Sources"
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "swiftc", "-typecheck", "-swift-version", "6", "-I", built + "/Modules",
      "-I", sources + "/CTarn/include", "-Xcc",
      "-fmodule-map-file=\(sources)/CLMDB/module.modulemap", source,
    ]
    let output = Pipe()
    process.standardError = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    let first = Self.model.split(separator: "\n", omittingEmptySubsequences: false).count
    var found: [Int: [String]] = [:]
    for line in text.split(separator: "\n") where line.hasPrefix(source + ":") {
      let parts = line.dropFirst(source.utf8.count + 1).split(separator: ":", maxSplits: 2)
      guard let number = Int(parts[0]), parts[2].hasPrefix(" error: ") else { continue }
      found[number - first, default: []].append(String(parts[2].dropFirst(8)))
    }
    try #require(!text.contains("<unknown>"), "\(text)")
    return found
  }

  @Test func mistakesAreExplained() async throws {
    let errors = try await errors(Self.wrong.map(\.condition))
    for (number, (condition, message)) in Self.wrong.enumerated() {
      let said = errors[number] ?? []
      #expect(said.contains { $0.contains(message) }, "\(condition): \(said)")
    }
  }

  @Test func whatIsRightCompiles() async throws {
    #expect(try await errors(Self.right) == [:])
  }
}
