import Foundation
import TarnStore
import TarnText
import ToolSupport

/// The words that are valid at a place in a command line: options, and the names of classes,
/// properties and cursors of the file that the line names.
struct WordCompletion {
  private let command: CommandSpec
  private var positionals: [String] = []
  private var options: [String: [String]] = [:]
  /// The option whose value comes next.
  private var pending: OptionSpec?
  private var names = CompletedNames(path: nil)

  /// - Parameters:
  ///   - words: those of the command before the place.
  ///   - path: the file, if the words do not name it.
  init(_ command: CommandSpec, _ words: some Sequence<String>, path: String? = nil) {
    self.command =
      path == nil
      ? command
      : CommandSpec(
        command.name, command.summary,
        positionals: command.positionals.filter { $0.name != "FILE" }, options: command.options)
    var isPastOptions = false
    for word in words {
      if let option = pending {
        options[option.name, default: []].append(word)
        pending = nil
      } else if word == "--" {
        isPastOptions = true
      } else if !isPastOptions, let option = option(of: word) {
        let value = word.firstASCII("=").map { String(word[word.utf8.index(after: $0)...]) }
        options[option.name, default: []] += value.map { [$0] } ?? []
        if option.valueName != nil, value == nil { pending = option }
      } else {
        positionals.append(word)
      }
    }
    names = CompletedNames(path: path ?? value(of: "FILE"))
  }

  private func option(of word: String) -> OptionSpec? {
    if let rest = word.rest(afterBytesOf: "--") {
      let name = rest.firstASCII("=").map { rest[..<$0] } ?? rest[...]
      return command.options.first { $0.name == name }
    }
    guard let rest = word.rest(afterBytesOf: "-"), rest.count == 1 else { return nil }
    return command.options.first { $0.short == rest.first }
  }

  private func value(of positional: String) -> String? {
    guard let place = command.positionals.firstIndex(where: { $0.name == positional }),
      place < positionals.count
    else { return nil }
    return positionals[place]
  }

  private var className: String? { value(of: "CLASS") ?? options["class"]?.last }

  /// The words that begin with the typed text, in order. Empty where file names belong.
  func candidates(_ typed: String) -> [String] {
    let all: [String]
    if let pending {
      all = values(of: pending, typed)
    } else if typed.beginsWithBytes(of: "--"), let sign = typed.firstASCII("="),
      let option = option(of: typed)
    {
      let value = String(typed[typed.utf8.index(after: sign)...])
      all = values(of: option, value).map { typed[...sign] + $0 }
    } else if typed.beginsWithBytes(of: "-") {
      all = command.options.map { "--\($0.name)" } + ["--help"]
    } else {
      all = arguments(typed)
    }
    return Set(all.filter { $0.beginsWithBytes(of: typed) }).sorted()
  }

  // MARK: - Arguments

  private func arguments(_ typed: String) -> [String] {
    guard let last = command.positionals.last else { return [] }
    let isRest = last.repeats || last.name == "FILTER"
    guard positionals.count < command.positionals.count || isRest else { return [] }
    let spec = command.positionals[min(positionals.count, command.positionals.count - 1)]
    switch spec.name {
    case "CLASS": return names.classes
    case "CLASS[.COLUMN]":
      return names.classes
        + names.classes.flatMap { name in
          typed.beginsWithBytes(of: name + ".")
            ? names.columns(of: name).map { "\(name).\($0)" } : []
        }
    case "FILTER": return names.written(of: className)
    case "COLUMN=VALUE": return names.paths(of: className).map { $0 + "=" }
    case "NAME": return names.cursors
    case "VERSION": return names.versions
    case "WATCH": return CompletedSinks.pairs(options["config"]?.last).map(\.watch)
    case "SINK":
      return CompletedSinks.pairs(options["config"]?.last)
        .filter { $0.watch == value(of: "WATCH") }.map(\.sink)
    case "ACTION", "WHAT": return Self.words(spec.help)
    case "COMMAND": return CommandTable.commands.map(\.name)
    default: return []
    }
  }

  /// The words of a help text such as `list, show or delete`.
  private static func words(_ help: String) -> [String] {
    help.splitASCII(",").flatMap { part in
      part.splitASCII(" ").map(String.init).filter { !$0.isEmpty && $0 != "or" }
    }
  }

  // MARK: - Values of options

  private func values(of option: OptionSpec, _ typed: String) -> [String] {
    if let choices = option.valueName?.splitASCII("|"), choices.count > 1 {
      return choices.map(String.init)
    }
    let columns = names.written(of: className)
    switch option.name {
    case "where": return columns
    case "class": return names.classes
    case "cursor": return names.cursors
    case "color": return ["auto", "always", "never"]
    case "sort", "group", "columns", "drop", "nullable", "index", "no-index", "key":
      return Self.items(typed) { _ in columns }
    case "rename": return Self.items(typed) { _ in columns.map { $0 + "=" } }
    case "aggregates":
      return Self.items(typed) { _ in
        ["count"]
          + ["sum", "min", "max", "avg"].flatMap { name in columns.map { "\(name):\($0)" } }
      }
    case "type", "types", "add":
      return Self.items(typed) { item in
        guard let colon = item.lastASCII(":") else {
          return option.name == "add" ? [] : columns.map { $0 + ":" }
        }
        let types = ValueText.typeNames + (option.name == "type" ? [] : names.classes)
        return types.map { item[...colon] + $0 }
      }
    default: return []
    }
  }

  /// Candidates for the last item of a list.
  private static func items(
    _ typed: String, _ candidates: (Substring) -> [String]
  ) -> [String] {
    let item = PathText.parts(of: typed, separatedBy: ",").last ?? ""
    let front = String(typed.utf8.dropLast(item.utf8.count)) ?? ""
    return candidates(item).map { front + $0 }
  }
}
