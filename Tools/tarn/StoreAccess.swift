import Foundation
import Tarn
import TarnStore
import TarnText
import ToolSupport

/// Opening, querying and writing, shared by the commands.
enum StoreAccess {
  /// Opens an existing store after checking all of its pages.
  ///
  /// - Parameters:
  ///   - patience: for a command that writes; nil to read only.
  ///   - verifies: false to check no pages but those that are read.
  static func openExisting(
    _ path: String, writing patience: WriterPatience? = nil, verifying verifies: Bool = true
  ) throws -> Store {
    guard let size = fileSize(path) else { throw ToolError(notFound: path) }
    let isFile = FileFacts.at(path)?.isRegularFile == true
    guard size > 0 || !isFile else { throw ToolError("\(path): the file is empty") }
    var options = Store.Options()
    options.createsStore = false
    options.isReadOnly = patience == nil
    if let deadline = patience?.deadline { options.deadline = deadline }
    options.verifiesPages = verifies
    let store = try StoreRegistry.open(path, options)
    if let cause = store.environment.copyCause, cause.code == .readersFull {
      TarnProgram.complain("\(path): showing a private copy. \(sentence(cause.detail))")
    }
    return store
  }

  /// A Realm of an existing store, without classes of its own.
  static func configuration(_ path: String, readOnly: Bool = false) -> Realm.Configuration {
    var configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: path), readOnly: readOnly, objectTypes: [])
    configuration.createsFile = false
    return configuration
  }

  private static func sentence(_ text: String) -> String {
    text.prefix(1).uppercased() + text.dropFirst()
  }

  /// The size of the file at the path; nil if it does not exist. A store whose creation was never
  /// finished has size 0.
  static func fileSize(_ path: String) -> Int? {
    guard let facts = FileFacts.at(path) else { return nil }
    return facts.isRegularFile && Environment.isYetToBeMade(path: path) ? 0 : Int(facts.byteCount)
  }

  /// Removes a store that holds classes but no objects.
  static func removeIfEmpty(_ path: String) throws {
    guard fileSize(path) != nil, try isEmpty(path) else { return }
    try StoreRegistry.removeUnused(.file(path))
  }

  private static func isEmpty(_ path: String) throws -> Bool {
    try openExisting(path).newestSnapshot().version == Version(0)
  }

  // MARK: - Queries

  /// The filter given by FILTER or `--where`; all objects if neither is given.
  static func condition(_ arguments: ParsedArguments) throws -> Condition {
    let texts = [
      ("FILTER", arguments.positional("FILTER")), ("--where", arguments.value("where")),
    ].compactMap { name, text in text.map { (name, $0) } }
    guard texts.count < 2 else { throw UsageError("FILTER and --where are the same: give one") }
    guard let (name, text) = texts.first else { return Condition() }
    return try Condition(text, givenAs: name, names: { propertyNames(arguments) })
  }

  /// The properties of the command's class, if the file can be read.
  private static func propertyNames(_ arguments: ParsedArguments) -> [String] {
    guard let path = arguments.positional("FILE"), let name = arguments.positional("CLASS"),
      let store = try? openExisting(path),
      let view = try? SnapshotReader(store.newestSnapshot()).schema
    else { return [] }
    return view.schema.named(name)?.shownColumns.map(\.name) ?? []
  }

  /// The filter for a command that changes objects. Without a filter it requires `--all`.
  static func deliberateCondition(_ arguments: ParsedArguments) throws -> Condition {
    guard arguments.has("where") != arguments.has("all") else {
      throw UsageError("\(arguments.command) needs either --where or --all")
    }
    return try condition(arguments)
  }

  /// The names in an option's list. A comma in back quotes does not separate.
  static func names(_ option: String, _ arguments: ParsedArguments) -> [Substring] {
    arguments.values(option).flatMap { PathText.parts(of: $0, separatedBy: ",") }
      .filter { !$0.isEmpty }
  }

  /// The sort keys of `--sort`.
  static func order(_ arguments: ParsedArguments) throws -> [OrderTerm] {
    try names("sort", arguments).map { term in
      try SortKey(String(term)).term
    }
  }

  /// The positions that `--offset` and `--limit` leave.
  static func window(_ arguments: ParsedArguments) throws -> Range<Int> {
    let offset = try arguments.integer("offset", default: 0, in: 0...(.max))
    let limit = try arguments.integer("limit", default: .max, in: 0...(.max))
    let (end, overflows) = offset.addingReportingOverflow(limit)
    return offset..<(overflows ? .max : end)
  }

  /// The columns in `--columns`, or paths within them, as they are written; nil if it is not given.
  static func columns(_ arguments: ParsedArguments) throws -> [String]? {
    guard arguments.has("columns") else { return nil }
    let columns = names("columns", arguments).map { String($0) }
    guard !columns.isEmpty else { throw UsageError("--columns needs at least one column") }
    guard Set(columns.map { PathText.name($0) }).count == columns.count else {
      throw UsageError("--columns has duplicates")
    }
    return columns
  }

  /// The key paths of columns. A column whose name has a dot needs no back quotes.
  static func keyPaths(_ columns: [String], on described: ClassSchema) -> [String] {
    columns.map { column in
      let name = PathText.name(column)
      let isName = described.named(name) != nil
      return PathText.text(of: isName ? [name] : PathText.names(in: column))
    }
  }

  /// The terminal, coloured as `--color` says.
  static func terminal(_ arguments: ParsedArguments) throws -> Terminal {
    .standardOutput.colored(
      try arguments.choice("color", of: ["auto", "always", "never"], default: "auto"))
  }

  // MARK: - Writing

  /// Runs one write transaction and commits it, unless it changed nothing, or an interruption ends
  /// it before.
  ///
  /// - Parameter begin: begins the write on the newest version.
  /// - Returns: the result of `body`, and the version that has its changes.
  static func write<R>(
    _ store: Store, _ patience: WriterPatience,
    beginning begin: (Snapshot) throws -> WriteSession = {
      WriteSession(try SnapshotReader($0)) {}
    },
    _ body: (WriteSession) throws -> R
  ) throws -> (result: R, version: Version) {
    let token = try patience.acquireGate(of: store)
    let session = try begin(store.newestSnapshot())
    let result = try body(session)
    try Interruption.beginCommit()
    if session.isEmpty { return (result, session.base.version) }
    return (result, try store.commit(session, token).0.version)
  }
}

/// How long a command waits for another writer. A long wait is reported on the terminal.
struct WriterPatience {
  /// A wait up to this long is not reported.
  private static let silence = Duration.seconds(1)

  /// Nil for no limit.
  private let timeout: Duration?
  /// The end of the timeout, which starts when this value is made and includes opening the file.
  let deadline: Deadline?

  private init(timeout: Duration?) {
    self.timeout = timeout
    deadline = timeout.map { Deadline(after: $0) }
  }

  /// The timeout of `--timeout`, counted from now.
  init(_ arguments: ParsedArguments) throws {
    self.init(
      timeout: arguments.has("timeout")
        ? .seconds(try arguments.integer("timeout", default: 0, in: 0...1_000_000)) : nil)
  }

  /// The full timeout again, for the next of several commits.
  func renewed() -> WriterPatience { WriterPatience(timeout: timeout) }

  func acquireGate(of store: Store) throws -> GateToken {
    if Interruption.isWatched { return try acquireGateInterruptibly(of: store) }
    return try store.acquireGate(
      timeout: deadline?.remaining,
      telling: GateToken.Notice(after: Self.silence) { Self.tellHolder(of: store) })
  }

  /// The same at a prompt, where an interruption ends the wait.
  private func acquireGateInterruptibly(of store: Store) throws -> GateToken {
    let waiter = GateLine.WaiterID.random(in: 1...(.max))
    defer { store.line.leave(waiter) }
    let bell = DispatchSemaphore(value: 0)
    var notice: Deadline? = Deadline(after: Self.silence)
    while true {
      if let token = try store.claimGate(waiter, orCall: { bell.signal() }) { return token }
      let slice = DispatchTimeInterval.milliseconds(Int(Interruption.lookEveryMilliseconds))
      while bell.wait(timeout: .now() + slice) == .timedOut {
        try Interruption.check()
        if let deadline, deadline.remaining <= .zero { throw store.gate.busy() }
        if let time = notice, time.remaining <= .zero {
          notice = nil
          Self.tellHolder(of: store)
        }
      }
    }
  }

  private static func tellHolder(of store: Store) {
    guard Terminal.standardError.isTerminal else { return }
    let holder = store.gate.holder.map { holder in
      "\(processText(holder.process)), which has been writing for "
        + "\(Int(holder.heldFor.seconds)) s"
    }
    TarnProgram.complain("waiting for \(holder ?? "other writers") …")
  }
}

/// `1 object`, `12 objects`.
///
/// - Parameter plural: the ending of several.
func counted(_ count: Int, _ noun: String, plural: String = "s") -> String {
  "\(count) \(noun)\(count == 1 ? "" : plural)"
}
