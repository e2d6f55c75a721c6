// A tool's declaration of its command line. The parser and the help text both use it, so they
// cannot disagree.

/// An option: `--name`, optionally `-n`, optionally with a value.
package struct OptionSpec: Sendable {
  package let name: String
  package let short: Character?
  /// The name of the value in the help; nil for an option without a value.
  package let valueName: String?
  package let help: String
  /// Whether it may be given more than once.
  package let repeats: Bool

  /// An option without a value.
  package static func flag(_ name: String, short: Character? = nil, _ help: String) -> Self {
    Self(name: name, short: short, valueName: nil, help: help, repeats: true)
  }

  /// An option with a value: `--name VALUE`, `--name=VALUE`, `-n VALUE`, `-nVALUE`.
  package static func value(
    _ name: String, short: Character? = nil, _ valueName: String, repeats: Bool = false,
    _ help: String
  ) -> Self {
    Self(name: name, short: short, valueName: valueName, help: help, repeats: repeats)
  }

  /// The option in the help: `-n, --name VALUE`.
  var usage: String {
    let front = short.map { "-\($0), " } ?? "    "
    return "\(front)--\(name)" + (valueName.map { " \($0)" } ?? "")
  }
}

/// An argument identified by its position.
package struct PositionalSpec: Sendable {
  /// Its name in the help, in capitals.
  package let name: String
  package let help: String
  package let isOptional: Bool
  /// Whether it takes all remaining arguments; only the last one may.
  package let repeats: Bool
  /// The argument in the usage line, if dots would promise too much; nil for the default.
  let written: String?

  package init(
    _ name: String, _ help: String, isOptional: Bool = false, repeats: Bool = false,
    written: String? = nil
  ) {
    self.written = written
    self.name = name
    self.help = help
    self.isOptional = isOptional
    self.repeats = repeats
  }

  /// Whether it is a path, whose bytes need not be UTF-8.
  var isPath: Bool { ["FILE", "OTHER", "INPUT", "DEST", "DIR"].contains(name) }

  var usage: String {
    let base = written ?? (repeats ? "\(name)..." : name)
    return isOptional ? "[\(base)]" : base
  }
}

/// A subcommand, or the only command of a program without subcommands.
package struct CommandSpec: Sendable {
  package let name: String
  /// One line for the list of commands.
  package let summary: String
  /// Paragraphs for the command's own help; may be empty.
  package let discussion: String
  package let positionals: [PositionalSpec]
  package let options: [OptionSpec]

  package init(
    _ name: String, _ summary: String, discussion: String = "",
    positionals: [PositionalSpec] = [], options: [OptionSpec] = []
  ) {
    self.name = name
    self.summary = summary
    self.discussion = discussion
    self.positionals = positionals
    self.options = options
  }
}

/// The parsed command line, checked against the declarations.
package struct ParsedArguments: Sendable, Equatable {
  /// The subcommand's name, or the program's if it has no subcommands.
  package let command: String
  var given: [String: [String]] = [:]
  var positionalValues: [String: [String]] = [:]

  package init(command: String) { self.command = command }

  /// Whether an option was given.
  package func has(_ option: String) -> Bool { given[option] != nil }

  /// The option's value, the last one if it was repeated.
  package func value(_ option: String) -> String? { given[option]?.last }

  /// All values of an option that may be repeated, in order.
  package func values(_ option: String) -> [String] { given[option] ?? [] }

  /// The argument of a position; nil only if the position is optional.
  package func positional(_ name: String) -> String? { positionalValues[name]?.first }

  /// The argument of a position that is not optional.
  /// - Precondition: the command declares the position as required.
  package func required(_ name: String) -> String {
    guard let value = positionalValues[name]?.first else {
      preconditionFailure("\(command) does not declare \(name) as required")
    }
    return value
  }

  /// All arguments of a position that repeats.
  package func positionals(_ name: String) -> [String] { positionalValues[name] ?? [] }

  /// The value of an option that takes a whole number within a range.
  package func integer(
    _ option: String, default fallback: Int, in range: ClosedRange<Int>
  ) throws(UsageError) -> Int {
    guard let text = value(option) else { return fallback }
    guard let number = Int(text), range.contains(number) else {
      let upper = range.upperBound == .max ? "up" : "to \(range.upperBound)"
      throw UsageError(
        "--\(option) takes a whole number from \(range.lowerBound) \(upper), not '\(text)'")
    }
    return number
  }

  /// The value of an option that takes one of a few words.
  package func choice(
    _ option: String, of words: [String], default fallback: String
  ) throws(UsageError) -> String {
    guard let text = value(option) else { return fallback }
    guard words.contains(text) else {
      let list = words.joined(separator: ", ")
      throw UsageError("--\(option) takes one of \(list), not '\(text)'")
    }
    return text
  }
}
