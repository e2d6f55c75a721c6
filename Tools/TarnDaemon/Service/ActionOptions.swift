import ToolSupport

/// Refuses options and arguments that an action would ignore: they were given for a reason.
enum ActionOptions {
  /// The options of an action, besides those of all; nil for a word that is not an action.
  private static func options(of action: String) -> [String]? {
    switch action {
    case "run": ["verbose"]
    case "check": ["user", "unit"]
    case "status": ["json", "prometheus"]
    case "skip", "resend": ["file"]
    case "reload", "pause", "resume", "try": []
    default: nil
    }
  }

  static func check(_ arguments: ParsedArguments) throws(UsageError) {
    let given = DaemonCommand.spec.options.map(\.name).filter(arguments.has)
    let word = arguments.positional("ACTION")
    for name in ["schema", "manual"] where given.contains(name) {
      let others = given.filter { $0 != name }.map { "--\($0)" } + [word].compactMap(\.self)
      if let other = others.first {
        throw UsageError("--\(name) is given alone, not with \(other)")
      }
    }
    let action = word ?? "run"
    guard let known = options(of: action) else { return }
    for name in given where !["config", "schema", "manual"].contains(name) && !known.contains(name)
    {
      throw UsageError("--\(name) is not for '\(action)'")
    }
    if SinkAction(rawValue: action) == nil, let word = arguments.positional("WATCH") {
      throw UsageError("'\(action)' takes no argument '\(word)'")
    }
  }
}
