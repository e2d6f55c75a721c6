import Foundation
import TarnStore
import TarnSync
import ToolSupport

/// `tarn server`: an administrator's work on a database.
struct ServerCommand {
  private let action: String
  private let address: ServerAddress
  private let rest: [String]
  private let unseen: String?
  private let renames: [String]
  private let freed: [String]

  init(_ arguments: ParsedArguments) throws {
    action = arguments.required("ACTION")
    // An index or a new column of a large table takes its time.
    address = try ServerAddress(arguments.required("URL")).patient
    rest = arguments.positionals("ARGUMENT")
    unseen = arguments.value("unseen")
    renames = arguments.values("rename")
    freed = arguments.values("free")
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    for line in try lines() { try output.write(line + "\n") }
    return .success
  }

  /// Refuses options that the action does not have.
  private func checkOptions() throws {
    if unseen != nil, action != "forget" {
      throw UsageError("--unseen is for 'tarn server forget'")
    }
    if !renames.isEmpty || !freed.isEmpty, action != "migrate" || rest.isEmpty {
      throw UsageError("--rename and --free are for 'tarn server migrate URL FILE'")
    }
  }

  private func lines() throws -> [String] {
    try checkOptions()
    switch action {
    case "init":
      try require(0...0, "")
      switch try ServerSetup.run(ServerConnection(address)) {
      case .made: return ["prepared \(address)"]
      case .wasThere: return ["\(address) was prepared before"]
      case .wasEarlier:
        return [
          "\(address) was prepared before, by an earlier version of Tarn;"
            + " 'tarn server migrate \(address)' updates its functions and triggers"
        ]
      }
    case "status":
      try require(0...0, "")
      return StatusLines.text(try ServerStatus(ServerConnection(address)))
    case "migrate": return try migrate()
    case "adopt":
      try require(2...2, " TABLE CLASS")
      return try ServerAdoption(ServerConnection(address)).run(table: rest[0], as: rest[1])
    case "depends":
      try require(2...2, " CLASS TABLE")
      let isNew = try ServerRepair(ServerConnection(address)).depend(rest[0], on: rest[1])
      return ["\(rest[0]) \(isNew ? "depends" : "depended before") on \(rest[1])"]
    case "touch":
      try require(1...2, " CLASS [CONDITION]")
      let count = try ServerRepair(ServerConnection(address))
        .touch(rest[0], where: rest.count > 1 ? rest[1] : nil)
      return ["touched \(count) \(count == 1 ? "row" : "rows") of \(rest[0])"]
    case "restored":
      try require(0...0, "")
      let missing = try ServerRepair(ServerConnection(address)).restore()
      return ["replicas compare all objects"] + missing.map { "the table of \($0) is missing" }
    case "forget": return try forget()
    default: throw UsageError("'\(action)' is not an action")
    }
  }

  private func require(_ count: ClosedRange<Int>, _ usage: String) throws {
    guard count.contains(rest.count) else {
      throw UsageError("give: tarn server \(action) URL\(usage)")
    }
  }

  private func migrate() throws -> [String] {
    guard let file = rest.first else {
      let done = try ServerMigration(ServerConnection(address)).run()
      return done.isEmpty ? ["the server's functions and triggers are up to date"] : done
    }
    let store = try StoreFile.existing(file)
    let migration = ServerMigration(try ServerConnection(address))
    try migration.requirePrepared()
    let names = Array(rest.dropFirst())
    let snapshot = try store.newestSnapshot()
    let canAsk = isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1
    let asks: ((String) -> Bool)? = canAsk ? { Self.affirms($0) } : nil
    let found = try PropertyRenames(renames, freeing: freed, in: snapshot, asking: asks)
    try NilKeys.refuse(in: snapshot, classes: names.isEmpty ? nil : names)
    let done = try migration.run(
      snapshot.schema.schema, classes: names.isEmpty ? nil : names, renaming: found)
    return done.isEmpty ? ["the server has everything"] : done
  }

  private static func affirms(_ question: String) -> Bool {
    SyncProgram.complain("\(printableLines(question)) [y/N] ")
    return ["y", "yes"].contains(readLine()?.lowercased())
  }

  private func forget() throws -> [String] {
    if let unseen {
      try require(0...0, " --unseen DAYS")
      guard let days = Int(unseen), days > 0 else {
        throw UsageError("--unseen takes a number of days, not '\(unseen)'")
      }
      let count = try ServerRepair(ServerConnection(address)).forgetReplicas(unseenFor: days)
      return ["forgot \(count) \(count == 1 ? "replica" : "replicas")"]
    }
    try require(1...1, " CLASS")
    try ServerRepair(ServerConnection(address)).forget(class: rest[0])
    return ["\(rest[0]) is not exchanged any more; its table stays"]
  }
}
