import TarnStore
import ToolSupport

/// `tarn cursor`: lists, shows, changes, renames and deletes the cursors of a file.
struct CursorCommand {
  private enum Action: String, CaseIterable {
    case list, show, set, rename, delete
  }

  private let action: Action
  private let path: String
  private let name: String
  private let newName: String
  private let keeps: KeepText?
  private let isForced: Bool
  private let usesJSON: Bool
  private let patience: WriterPatience

  init(_ arguments: ParsedArguments) throws {
    let word = arguments.required("ACTION")
    guard let action = Action(rawValue: word) else {
      throw UsageError("'\(word)' is not an action: give list, show, set, rename or delete")
    }
    self.action = action
    path = arguments.required("FILE")
    name = arguments.positional("NAME") ?? ""
    newName = arguments.positional("NEW") ?? ""
    keeps = try arguments.value("keep").map { try KeepText($0).ofCursor() }
    isForced = arguments.has("force")
    usesJSON = arguments.has("json")
    patience = try WriterPatience(arguments)
    let hasName = arguments.positional("NAME") != nil
    if action == .list, hasName { throw UsageError("'cursor list' takes no NAME") }
    if action != .list, !hasName { throw UsageError("'cursor \(word)' needs a NAME") }
    if action == .rename, newName.isEmpty { throw UsageError("'cursor rename' needs a NEW name") }
    if action != .rename, arguments.positional("NEW") != nil {
      throw UsageError("'cursor \(word)' takes one NAME")
    }
    if action == .set, keeps == nil { throw UsageError("'cursor set' needs --keep") }
    if action != .set, keeps != nil { throw UsageError("'cursor \(word)' takes no --keep") }
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    switch action {
    case .list: try list(output)
    case .show: try show(output)
    case .set: try set()
    case .rename: try existing().renameCursor(name, to: newName)
    case .delete: try existing().deleteCursor(name, evenIfHeld: isForced)
    }
    return .success
  }

  /// The store, if it has the cursor.
  private func existing() throws -> Store {
    let store = try StoreAccess.openExisting(path, writing: patience)
    guard try store.cursors().contains(where: { $0.record.name == name }) else { throw missing }
    try Interruption.beginCommit()
    return store
  }

  private var missing: ToolError { ToolError("\(path) has no cursor '\(printable(name))'") }

  private func list(_ output: OutputPipe) throws {
    let report = try CursorReport(StoreAccess.openExisting(path))
    if usesJSON {
      for cursor in report.cursors { try output.write(report.json(cursor)) }
    } else {
      try output.write(report.table().text())
    }
  }

  private func show(_ output: OutputPipe) throws {
    let report = try CursorReport(StoreAccess.openExisting(path))
    guard let cursor = report.cursors.first(where: { $0.record.name == name }) else {
      throw missing
    }
    if usesJSON { return try output.write(report.json(cursor)) }
    for (name, text) in report.facts(cursor) {
      try output.write("\(padded(name, toWidth: 14))\(printable(text))\n")
    }
  }

  private func set() throws {
    let store = try StoreAccess.openExisting(path, writing: patience)
    let known = try store.cursors().first { $0.record.name == name }
    try Interruption.beginCommit()
    try store.setLimits(
      of: name, to: keeps?.limits ?? .standard, keeping: known?.record.kept ?? CursorLimits())
  }
}
