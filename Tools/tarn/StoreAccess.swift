import Foundation
import TarnStore
import ToolSupport

/// What the commands share about opening, asking and writing.
enum StoreAccess {
  /// Opens a store that exists, once all of its pages were found to be sound.
  static func openExisting(_ path: String, forWriting: Bool = false) throws -> Store {
    guard let size = fileSize(path) else { throw ToolError("\(path): there is no such file") }
    guard size > 0 else { throw ToolError("\(path): the file is empty, it holds no store") }
    var options = Store.Options()
    options.isReadOnly = !forWriting
    options.verifiesPages = true
    return try StoreRegistry.open(path, options)
  }

  /// Bytes of the file at the path, nil if there is none.
  static func fileSize(_ path: String) -> Int? {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : nil
  }

  // MARK: - Queries

  /// What `--where` says; everything if it is not given.
  static func condition(_ arguments: ParsedArguments) throws -> TarnStore.Predicate {
    guard let text = arguments.value("where") else { return .constant(true) }
    do {
      return try PredicateParser.parse(text)
    } catch {
      throw UsageError("--where: \(error)")
    }
  }

  /// As above for a command that changes what it finds: all of a class must be said in so many
  /// words.
  static func deliberateCondition(_ arguments: ParsedArguments) throws -> TarnStore.Predicate {
    guard arguments.has("where") != arguments.has("all") else {
      throw UsageError("\(arguments.command) needs either --where or --all")
    }
    return try condition(arguments)
  }

  /// What `--sort` says.
  static func order(_ arguments: ParsedArguments) throws -> [OrderTerm] {
    try arguments.values("sort").flatMap { $0.split(separator: ",") }.map { term in
      let parts = term.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
      let direction = parts.count > 1 ? parts[1] : "asc"
      guard parts.count < 3, !parts[0].isEmpty, ["asc", "desc"].contains(direction) else {
        throw UsageError("--sort takes KEY, KEY:asc or KEY:desc, not '\(term)'")
      }
      return OrderTerm(parts[0], isAscending: direction == "asc")
    }
  }

  // MARK: - Writing

  /// Runs one write transaction and commits it, unless it changed nothing.
  ///
  /// - Returns: what `body` returned, and the version that shows it.
  static func write<R>(
    _ store: Store, _ body: (WriteSession) throws -> R
  ) throws -> (result: R, version: Version) {
    let token = try store.acquireGate()
    let session = WriteSession(try SnapshotReader(store.newestSnapshot())) {}
    let result = try body(session)
    if session.isEmpty { return (result, session.base.version) }
    let (snapshot, _) = try store.commit(session)
    store.announce(snapshot.version, token)
    return (result, snapshot.version)
  }
}

/// `1 object`, `12 objects`.
func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
