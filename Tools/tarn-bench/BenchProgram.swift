import BenchFloors
import Foundation
import ToolSupport

/// The command line of `tarn-bench`: the workloads, and the output.
enum BenchProgram {
  private static let parser = CommandLineParser(
    program: "tarn-bench", version: ToolVersion.text,
    summary: "Compares Tarn with raw LMDB and SQLite.",
    commands: [
      CommandSpec(
        "tarn-bench", "Compares Tarn with raw LMDB and SQLite.",
        discussion: """
          Each workload runs through the public Swift API, next to a plain C program on raw LMDB \
          that does only the same job (the baseline), and next to SQLite. Compare the ratios: \
          absolute figures vary with the load of the machine.
          """,
        options: [
          .value("objects", "N", "number of objects in the workloads (default: 1000000)"),
          .value("only", "LIST", "workloads to run, such as W1,W3 (default: all)"),
          .flag("json", "print one JSON object instead of the table"),
          .value("append", "FILE", "append the figures to FILE as a line of JSON"),
          .flag("tiny", "2,000 objects and few rounds: a check that it works, not a measurement"),
          .value("folder", "DIR", "where to create the stores (default: the temporary folder)"),
          .value(
            "pages", "ROOT",
            "do not measure; write the newest figures of ROOT's history into its documentation"),
        ])
    ])

  static func run() -> ExitCode {
    let arguments = parser.parseOrExit()
    do {
      if let root = arguments.value("pages") {
        try BenchDocumentation(root: root).update()
        return .success
      }
      let options = try BenchOptions(arguments)
      let bench = try Bench(options)
      defer { bench.removeFolder() }
      for workload in BenchWorkload.all where options.wants(workload) {
        note("\(workload.ids[0]) \(workload.title)")
        try workload.run(bench)
      }
      try report(bench, options)
      return .success
    } catch let error as UsageError {
      write(parser.refusal(error), to: .standardError)
      return .usage
    } catch {
      write("tarn-bench: \(error)\n", to: .standardError)
      return .failure
    }
  }

  private static func report(_ bench: Bench, _ options: BenchOptions) throws {
    var table = bench.table
    table.figures.removeAll { !options.wants($0.id) }
    let json = table.json(date: ISO8601DateFormatter().string(from: Date()))
    if options.isJSON {
      write(json, to: .standardOutput)
    } else {
      write(table.text(terminal: .standardOutput), to: .standardOutput)
    }
    guard let path = options.appendPath else { return }
    let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
    guard file >= 0 else { throw ToolError("cannot open", path, errno: errno) }
    let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
    try handle.write(contentsOf: Data(json.utf8))
  }

  /// Shows the current workload on a terminal.
  private static func note(_ text: String) {
    guard Terminal.standardError.isTerminal else { return }
    write("\(text) …\n", to: .standardError)
  }

  private static func write(_ text: String, to file: FileHandle) {
    try? file.write(contentsOf: Data(text.utf8))
  }
}

/// The parsed command line.
struct BenchOptions {
  let objects: Int
  let isTiny: Bool
  let isJSON: Bool
  let appendPath: String?
  let folder: String
  private let only: Set<String>?

  init(_ arguments: ParsedArguments) throws(UsageError) {
    isTiny = arguments.has("tiny")
    let objects = try arguments.integer("objects", default: 1_000_000, in: 1000...100_000_000)
    self.objects = isTiny ? 2000 : objects
    isJSON = arguments.has("json")
    appendPath = arguments.value("append")
    folder = arguments.value("folder") ?? NSTemporaryDirectory()
    only = arguments.value("only").map { list in
      Set(list.splitASCII(",").map { String($0).uppercased() })
    }
    guard let only else { return }
    let known = Set(BenchWorkload.all.flatMap(\.ids).map { $0.uppercased() })
    if let stranger = only.subtracting(known).sorted().first {
      throw UsageError("--only: there is no workload '\(stranger)'")
    }
  }

  func wants(_ id: String) -> Bool { only?.contains(id.uppercased()) ?? true }
  func wants(_ workload: BenchWorkload) -> Bool { workload.ids.contains { wants($0) } }
}

/// A job that produces one or more figures.
struct BenchWorkload {
  let ids: [String]
  let title: String
  let run: (Bench) throws -> Void

  init(_ ids: String..., title: String, _ run: @escaping (Bench) throws -> Void) {
    self.ids = ids
    self.title = title
    self.run = run
  }

  /// In the order in which they run: those that only read come before those that change the store,
  /// and ageing it comes last.
  static var all: [BenchWorkload] {
    [
      BenchWorkload("W8", "W8b", "W8c", "W8w", "W8t", title: "wake another process", measureWake),
      BenchWorkload("W8p", title: "commits that concern no observer", measurePassing),
      BenchWorkload("W8a", "W4a", title: "actors", measureActors),
      BenchWorkload("W17", "W17i", title: "many processes", measureCrowd),
      BenchWorkload(
        "W18", "W18b", "W18c", "W18x", "W18xb", "W18xc", "W18u",
        title: "many processes with many queries", measureTicketWatchers),
      BenchWorkload("W2r", "W2s", "W2t", title: "asynchronous writes", measureAsyncWrites),
      BenchWorkload("W1", "W1f", title: "insert", measureInsert),
      BenchWorkload("W19", "W19m", title: "import a Realm file", measureRealmImport),
      BenchWorkload("W10", title: "open", measureOpening),
      BenchWorkload("W13", title: "open again", measureReopening),
      BenchWorkload("W14", "W14m", "W14o", title: "catching up", measureCatchingUp),
      BenchWorkload(
        "W14c", "W14k", "W14q", "W14a", "W14p", title: "commits with cursors", measureCursors),
      BenchWorkload("W14s", title: "a first batch", measureFirstBatch),
      BenchWorkload("W15", "W15b", "W15l", title: "the daemon's socket", measureDaemonSocket),
      BenchWorkload("W15h", title: "the daemon's webhook", measureDaemonWebhook),
      BenchWorkload("W15i", "W15m", "W15c", title: "an idle daemon", measureIdleDaemon),
      BenchWorkload("W16", "W16b", title: "a commit through a server", measureSyncLatency),
      BenchWorkload(
        "W16u", "W16d", "W16j", "W16n", title: "many commits through a server", measureSyncRates),
      BenchWorkload(
        "W16f", "W16p", title: "a fresh file of a server's objects", measureFreshReplica),
      BenchWorkload(
        "W16i", "W16k", "W16r", "W16rd", "W16v", "W16vd", title: "a server's costs",
        measureServerCosts),
      BenchWorkload("W16w", "W16z", title: "a thousand files", measureManyReplicas),
      BenchWorkload("W16s", "W16t", "W16x", "W16y", title: "lists with sync", measureSyncedLists),
      BenchWorkload("W16c", "W16q", "W16m", title: "writes with sync", measureSyncedWrites),
      BenchWorkload("W3", title: "find by primary key", measureLookup),
      BenchWorkload("W4", "W4o", "W4s", title: "read properties", measureReads),
      BenchWorkload("W5", "W5n", "W5c", "W5a", title: "count matches", measureCounting),
      BenchWorkload("W5g", "W5gm", title: "groups", measureGrouping),
      BenchWorkload("W6", "W6n", title: "sort", measureSorting),
      BenchWorkload(
        "W5q", "W5i", "W5y", title: "find by an index", measureIndexedLookups),
      BenchWorkload("W5r", title: "a range of an index", measureIndexedRange),
      BenchWorkload("W6i", "W6w", title: "first of an index", measureFirstByIndex),
      BenchWorkload("W6p", "W6pk", "W6pf", title: "a page of an order", measurePages),
      BenchWorkload("W7", "W7n", "W7r", title: "observed result, one change", measureOneChange),
      BenchWorkload("W7w", title: "observed window, one change", measureWindow),
      BenchWorkload(
        "W7k", "W7kc", "W7l", title: "observed result, many changes", measureManyChanges),
      BenchWorkload("W7b", title: "begin after a foreign commit", measureForeignCommit),
      BenchWorkload("W7m", title: "100 observed results", measureManyResults),
      BenchWorkload(
        "W7q", "W7qx", "W7qn", "W7qc", "W7qr", "W7qb", title: "10,000 observed queries",
        measureManyQueries),
      BenchWorkload(
        "W7xc", "W7xcr", "W7xl", "W7xlr", "W7xf", "W7xfr", "W7xs", "W7xsr", "W7xd", "W7xdr", "W7xv",
        "W7xvr", "W7xg", "W7xgr", "W7xe", "W7xer", title: "every kind of source, one change",
        measureSources),
      BenchWorkload("W7g", "W7gm", title: "observed groups, one change", measureObservedGroups),
      BenchWorkload("W7p", title: "a key path over four links", measureLongKeyPath),
      BenchWorkload("W7t", title: "a thousand key paths", measureManyKeyPaths),
      BenchWorkload("W9", "W9b", title: "10,000 object observers", measureObjectObservers),
      BenchWorkload(
        "W11", "W11r", "W11c", "W11a", "W11d", "W11n", "W11i", "W11x", "W11s", "W11m",
        title: "collections",
        measureCollections),
      BenchWorkload("W2m", title: "many updates in one write", measureBulkUpdate),
      BenchWorkload("W2a", "W2c", "W2b", title: "small commits", measureCommits),
      BenchWorkload("W2o", title: "small commits, old values kept", measureOldValues),
      BenchWorkload("W2g", title: "small commits, aged", measureAgedCommits),
    ]
  }
}
