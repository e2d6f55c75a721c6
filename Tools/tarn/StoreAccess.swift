import Foundation
import TarnStore
import ToolSupport

/// What the commands share about opening, asking and writing.
enum StoreAccess {
  /// Opens a store that exists, once all of its pages were found to be sound.
  ///
  /// - Parameter patience: of a command that writes; nil to read only.
  static func openExisting(_ path: String, writing patience: WriterPatience? = nil) throws -> Store
  {
    guard let size = fileSize(path) else { throw ToolError("\(path): there is no such file") }
    guard size > 0 else { throw ToolError("\(path): the file is empty, it holds no store") }
    var options = Store.Options()
    options.isReadOnly = patience == nil
    if let deadline = patience?.deadline { options.deadline = deadline }
    options.verifiesPages = true
    let store = try StoreRegistry.open(path, options)
    if let cause = store.environment.copyCause, cause.code == .readersFull {
      TarnProgram.complain("\(path): showing a private copy. \(sentence(cause.detail))")
    }
    return store
  }

  private static func sentence(_ text: String) -> String {
    text.prefix(1).uppercased() + text.dropFirst()
  }

  /// Bytes of the file at the path, nil if there is none. What was left of a store that was never
  /// finished counts for nothing.
  static func fileSize(_ path: String) -> Int? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    let isFile = status.st_mode & S_IFMT == S_IFREG
    return isFile && Environment.isYetToBeMade(path: path) ? 0 : Int(status.st_size)
  }

  /// Removes a file in which nothing was ever written but classes.
  static func removeIfEmpty(_ path: String) throws {
    guard fileSize(path) != nil, try isEmpty(path) else { return }
    try StoreRegistry.removeUnused(.file(path))
  }

  private static func isEmpty(_ path: String) throws -> Bool {
    try openExisting(path).newestSnapshot().version == Version(0)
  }

  // MARK: - Queries

  /// What FILTER or `--where` says; everything if neither is given.
  static func condition(_ arguments: ParsedArguments) throws -> Condition {
    let texts = [
      ("FILTER", arguments.positional("FILTER")), ("--where", arguments.value("where")),
    ].compactMap { name, text in text.map { (name, $0) } }
    guard texts.count < 2 else { throw UsageError("FILTER and --where are the same: give one") }
    guard let (name, text) = texts.first else { return Condition() }
    return try Condition(text, givenAs: name, names: { propertyNames(arguments) })
  }

  /// Those of the class that the command is about, as far as there are any.
  private static func propertyNames(_ arguments: ParsedArguments) -> [String] {
    guard let path = arguments.positional("FILE"), let name = arguments.positional("CLASS"),
      let store = try? openExisting(path),
      let view = try? SnapshotReader(store.newestSnapshot()).schema
    else { return [] }
    return view.schema.named(name)?.columns.filter { !$0.isRemoved }.map(\.name) ?? []
  }

  /// As above for a command that changes what it finds: all of a class must be said in so many
  /// words.
  static func deliberateCondition(_ arguments: ParsedArguments) throws -> Condition {
    guard arguments.has("where") != arguments.has("all") else {
      throw UsageError("\(arguments.command) needs either --where or --all")
    }
    return try condition(arguments)
  }

  /// What an option lists between commas, but for those within back quotes.
  static func names(_ option: String, _ arguments: ParsedArguments) -> [Substring] {
    arguments.values(option).flatMap { PathText.parts(of: $0, separatedBy: ",") }
      .filter { !$0.isEmpty }
  }

  /// What `--sort` says.
  static func order(_ arguments: ParsedArguments) throws -> [OrderTerm] {
    try names("sort", arguments).map { term in
      try SortKey(String(term)).term
    }
  }

  /// Which of the objects found `--offset` and `--limit` leave, by their positions.
  static func window(_ arguments: ParsedArguments) throws -> Range<Int> {
    let offset = try arguments.integer("offset", default: 0, in: 0...(.max))
    let limit = try arguments.integer("limit", default: .max, in: 0...(.max))
    let (end, overflows) = offset.addingReportingOverflow(limit)
    return offset..<(overflows ? .max : end)
  }

  /// What `--columns` says; nil if it is not given.
  static func columns(_ arguments: ParsedArguments) throws -> [String]? {
    guard arguments.has("columns") else { return nil }
    let names = names("columns", arguments).map { PathText.name($0) }
    guard !names.isEmpty else { throw UsageError("--columns names no column") }
    guard Set(names).count == names.count else { throw UsageError("--columns has duplicates") }
    return names
  }

  /// The terminal as `--color` wants it.
  static func terminal(_ arguments: ParsedArguments) throws -> Terminal {
    .standardOutput.colored(
      try arguments.choice("color", of: ["auto", "always", "never"], default: "auto"))
  }

  // MARK: - Writing

  /// Runs one write transaction and commits it, unless it changed nothing.
  ///
  /// - Parameter begin: makes the write that `body` works on, of the newest version.
  /// - Returns: what `body` returned, and the version that shows it.
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
    if session.isEmpty { return (result, session.base.version) }
    let (snapshot, _) = try store.commit(session)
    store.announce(snapshot.version, token)
    return (result, snapshot.version)
  }
}

/// How long a command waits for another writer, and that it says so to a person.
struct WriterPatience {
  /// Whoever waits no longer than that need not know.
  private static let silence = Duration.seconds(1)

  /// Nil for as long as it takes.
  private let timeout: Duration?
  /// When the time is up that began with this value; opening the file takes from it as well.
  let deadline: Deadline?

  private init(timeout: Duration?) {
    self.timeout = timeout
    deadline = timeout.map { Deadline(after: $0) }
  }

  /// What `--timeout` says, counted from now.
  init(_ arguments: ParsedArguments) throws {
    self.init(
      timeout: arguments.has("timeout")
        ? .seconds(try arguments.integer("timeout", default: 0, in: 0...1_000_000)) : nil)
  }

  /// As much again, for the next of several commits.
  func renewed() -> WriterPatience { WriterPatience(timeout: timeout) }

  func acquireGate(of store: Store) throws -> GateToken {
    try store.acquireGate(
      timeout: deadline?.remaining,
      telling: GateToken.Notice(after: Self.silence) {
        guard Terminal.standardError.isTerminal else { return }
        let holder = store.gate.holder.map { holder in
          "\(processText(holder.process)), which has been writing for "
            + "\(Int(holder.heldFor.seconds)) s"
        }
        TarnProgram.complain("waiting for \(holder ?? "other writers") …")
      })
  }
}

/// `1 object`, `12 objects`.
func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
