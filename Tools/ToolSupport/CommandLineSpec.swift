// What a tool declares about its command line. The parser reads a command line by it, and the
// help text is made from it, so that the two cannot disagree.

/// An option: `--name`, perhaps `-n`, perhaps with a value.
package struct OptionSpec: Sendable {
  package let name: String
  package let short: Character?
  /// What the help calls the value; nil for an option that takes none.
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

  /// How the help names it: `-n, --name VALUE`.
  var usage: String {
    let front = short.map { "-\($0), " } ?? "    "
    return "\(front)--\(name)" + (valueName.map { " \($0)" } ?? "")
  }
}

/// An argument that is known by its position.
package struct PositionalSpec: Sendable {
  /// What the help calls it, in capitals.
  package let name: String
  package let help: String
  package let isOptional: Bool
  /// Whether it takes all the arguments that are left; only the last one may.
  package let repeats: Bool

  package init(_ name: String, _ help: String, isOptional: Bool = false, repeats: Bool = false) {
    self.name = name
    self.help = help
    self.isOptional = isOptional
    self.repeats = repeats
  }

  var usage: String {
    let base = repeats ? "\(name)..." : name
    return isOptional ? "[\(base)]" : base
  }
}

/// A subcommand, or the whole of a program that has none.
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

/// What a command line says, checked against the declarations.
package struct ParsedArguments: Sendable, Equatable {
  /// The subcommand's name; the program's for a program without subcommands.
  package let command: String
  var given: [String: [String]] = [:]
  var positionalValues: [String: [String]] = [:]

  package init(command: String) { self.command = command }

  /// Whether an option was given at all.
  package func has(_ option: String) -> Bool { given[option] != nil }

  /// The option's value, the last one where it was repeated.
  package func value(_ option: String) -> String? { given[option]?.last }

  /// All the values of an option that may be repeated, in their order.
  package func values(_ option: String) -> [String] { given[option] ?? [] }

  /// The argument of a position; nil only where the position is optional.
  package func positional(_ name: String) -> String? { positionalValues[name]?.first }

  /// The argument of a position that is not optional.
  /// - Precondition: the command declares the position so.
  package func required(_ name: String) -> String {
    guard let value = positionalValues[name]?.first else {
      preconditionFailure("\(command) does not declare \(name) as required")
    }
    return value
  }

  /// All the arguments of a position that repeats.
  package func positionals(_ name: String) -> [String] { positionalValues[name] ?? [] }

  /// A whole number within a range.
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

  /// One of a few words.
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
