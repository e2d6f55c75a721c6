import TarnStore
import ToolSupport

/// `tarn cursor`: lists the cursors of a file, or deletes one.
struct CursorCommand {
  private enum Action: String, CaseIterable {
    case list, delete
  }

  private let action: Action
  private let path: String
  private let name: String?
  private let isForced: Bool
  private let patience: WriterPatience

  init(_ arguments: ParsedArguments) throws {
    let word = arguments.required("ACTION")
    guard let action = Action(rawValue: word) else {
      throw UsageError("'\(word)' is not an action: give list or delete")
    }
    self.action = action
    path = arguments.required("FILE")
    name = arguments.positional("NAME")
    isForced = arguments.has("force")
    patience = try WriterPatience(arguments)
    if action == .delete, name == nil { throw UsageError("'cursor delete' needs a NAME") }
    if action == .list, name != nil { throw UsageError("'cursor list' takes no NAME") }
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    switch action {
    case .list: try list(output)
    case .delete: try delete()
    }
    return .success
  }

  private func list(_ output: OutputPipe) throws {
    let store = try StoreAccess.openExisting(path)
    let newest = try store.newestSnapshot().version.rawValue
    let logBytes = try store.retainedVersions().last?.note?.logBytes ?? 0
    var table = TextTable([
      .init("NAME"), .init("VERSION", .right), .init("BEHIND", .right), .init("BYTES", .right),
      .init("ACKNOWLEDGED"), .init("SELECTS"), .init("STATE"),
    ])
    for known in try store.cursors() {
      let record = known.record
      let version = record.acknowledged.version.rawValue
      let (seconds, rest) = record.acknowledgedAt.quotientAndRemainder(dividingBy: 1_000_000)
      table.add([
        record.name, "\(version)", "\(newest > version ? newest - version : 0)",
        "\(logBytes > record.logBytes ? logBytes - record.logBytes : 0)",
        ISODate.text(Timestamp(seconds: seconds, nanoseconds: Int32(max(0, rest) * 1000))),
        record.selection.map { $0.map(\.className).joined(separator: ",") } ?? "everything",
        state(known),
      ])
    }
    try output.write(table.text())
  }

  private func state(_ known: KnownCursor) -> String {
    if known.record.expiredAt != nil { return "expired" }
    guard known.isHeld else { return known.record.reason == nil ? "free" : "begins anew" }
    return known.record.holder.map { "held by \($0.sentence)" } ?? "held"
  }

  private func delete() throws {
    let store = try StoreAccess.openExisting(path, writing: patience)
    try store.deleteCursor(name ?? "", evenIfHeld: isForced)
  }
}
