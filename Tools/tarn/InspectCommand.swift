import TarnStore
import TarnText
import ToolSupport

/// `tarn inspect`: prints the contents of a file, its size, and the processes that use it.
/// `--check` also verifies everything.
struct InspectCommand {
  private let path: String
  private let usesJSON: Bool
  private let checks: Bool

  init(_ arguments: ParsedArguments) throws {
    path = arguments.required("FILE")
    usesJSON = arguments.has("json")
    checks = arguments.has("check")
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    let store: Store
    do {
      store = try StoreAccess.openExisting(path)
    } catch let error as StorageError where checks && error.code == .corrupted {
      // A walk over the pages may say more about the damage.
      for problem in try StoreCheck(pagesOf: path).problems { TarnProgram.complain(problem) }
      throw error
    }
    let snapshot = try store.newestSnapshot()
    let census = try StoreCensus(snapshot, store)
    let pages = try store.environment.verifyPages()
    let check = checks ? try StoreCheck(snapshot, pages: pages) : nil
    let report = InspectReport(
      path: path, store: store, snapshot: snapshot, census: census, pages: pages, check: check,
      reader: try SnapshotReader(snapshot), feed: try CursorReport(store))
    if usesJSON { try report.writeJSON(output) } else { try report.writeText(output) }
    return check.map(\.problems.isEmpty) == false ? .failure : .success
  }
}

/// The findings, printed as text or as JSON.
struct InspectReport {
  let path: String
  let store: Store
  let snapshot: Snapshot
  let census: StoreCensus
  let pages: PageReport
  let check: StoreCheck?
  let reader: SnapshotReader
  /// The cursors and the retention that keep change records.
  let feed: CursorReport

  var statistics: EnvironmentStatistics { store.environment.statistics }
  var processes: [SignalProcess] {
    store.signal.processes().filter { $0.processID != ownProcessID }
  }

  // MARK: - Text

  func writeText(_ output: OutputPipe) throws {
    let terminal = Terminal.standardOutput
    let width = terminal.isTerminal ? terminal.width : nil
    try output.write(terminal.styled(printable(path), .bold) + "\n")
    for (name, text) in facts {
      try output.write("  \(terminal.styled(padded(name, toWidth: 13), .dim))\(text)\n")
    }
    for schema in snapshot.schema.schema.classes {
      try write(schema, terminal, width, output)
    }
    if !census.readers.isEmpty {
      try output.write("\n" + terminal.styled("Readers", .bold) + "\n")
      try output.write(readerTable.text(width: width, terminal: terminal))
    }
    if !feed.cursors.isEmpty {
      try output.write("\n" + terminal.styled("Cursors", .bold) + "\n")
      try output.write(feed.table().text(width: width, terminal: terminal))
    }
    guard let check else { return }
    let found =
      "\(pages.pageCount) pages, \(counted(check.clusters, "cluster")), "
      + "\(counted(check.rows, "object")), \(check.indexEntries) index entries, "
      + "\(counted(check.sequences, "collection")), \(counted(check.elements, "element"))"
    if check.problems.isEmpty {
      try output.write("\n\(terminal.styled("Sound", .green)): \(found)\n")
      return
    }
    try output.write(
      "\n\(terminal.styled("Damaged", .red)): \(counted(check.problems.count, "problem"))\n")
    for problem in check.problems { try output.write("  - \(printable(problem))\n") }
    if check.areOnlyIndexesWrong {
      try output.write(
        "Only indexes are wrong; this rebuilds them: \(ReindexCommand.line(for: path))\n")
    }
  }

  private var facts: [(String, String)] {
    let head = snapshot.head
    var facts = [
      ("version", "\(snapshot.version.rawValue)"),
      ("history", head.historyID.uuidText),
      ("format", "\(HeadRecord.currentFormat), schema epoch \(head.schemaEpoch)"),
    ]
    if let notice = store.environment.copyNotice {
      facts.append(
        (
          "copied",
          "by another program, or moved from another file system; before, it was file "
            + "\(notice.inode); noticed \(notice.timeText)"
        ))
    }
    let size = statistics.fileByteCount
    facts.append(
      (
        "size",
        "\(sizeText(size)): \(counted(pages.pageCount, "page")) of \(pages.pageSize) bytes, "
          + "\(pages.branchPages) branch, \(pages.leafPages) leaf, "
          + "\(pages.overflowPages) overflow, \(pages.freePages) free"
      ))
    if let records = census.records {
      facts.append(
        (
          "changes",
          "records of versions \(records.lowerBound.rawValue) to \(records.upperBound.rawValue), "
            + sizeText(census.changes.bytes)
        ))
    } else {
      facts.append(("changes", "no change records"))
    }
    if !feed.retention.isEmpty {
      facts.append(("retention", RetentionCommand.text(feed.retention)))
    }
    facts.append(
      (
        "collections",
        collections
      ))
    if store.isPrivateCopy {
      facts.append(("open in", "unknown: this is a private copy"))
    } else {
      let names = processes.map(processText)
      facts.append(("open in", names.isEmpty ? "no other process" : names.joined(separator: ", ")))
      facts.append(("writer", writer))
    }
    facts.append(("engine", "LMDB \(Environment.engineVersion)"))
    return facts
  }

  private var collections: String {
    let found = census.collections
    if found.entries == 0 { return "nothing outside of objects" }
    let parts = [
      (found.pages, "pages"), (found.rowCounts, "row counts"),
      (found.longElements, "long elements"), (found.nested, "nested"),
      (found.linkCounts, "counts of links"),
    ]
    return "\(sizeText(found.bytes)) outside of objects: "
      + parts.filter { $0.0.entries > 0 }.map { "\($0.1) \(sizeText($0.0.bytes))" }
      .joined(separator: ", ")
  }

  private var writer: String {
    guard let holder = store.gate.holder else { return "none" }
    let seconds = Double(Int(holder.heldFor.seconds * 1000)) / 1000
    return "\(processText(holder.process)), for \(seconds) s"
  }

  private var readerTable: TextTable {
    var table = TextTable([
      .init("process"), .init("pid", .right), .init("versions behind", .right),
      .init("commits behind", .right), .init("keeps", .right), .init("at least since"),
    ])
    for reader in census.readers {
      table.add([
        reader.process.isElsewhere
          ? "in another container" : printable(reader.process.name ?? ""),
        "\(reader.process.processID)", "\(reader.versionsBehind)", "\(reader.commitsBehind)",
        sizeText(reader.keptBytes), reader.sinceText ?? "",
      ])
    }
    return table
  }

  private func write(
    _ schema: ClassSchema, _ terminal: Terminal, _ width: Int?, _ output: OutputPipe
  ) throws {
    let tally = census.classes[Int(schema.id.rawValue)]
    let count = try reader.record(of: schema.id).rowCount
    try output.write(
      "\n\(terminal.styled(printable(schema.name), .bold))  "
        + (schema.isEmbedded ? "embedded, " : "") + "\(counted(count, "object")), "
        + "\(sizeText(tally.bytes)): \(counted(tally.clusters.entries, "cluster")) "
        + "\(sizeText(tally.clusters.bytes)), indexes \(sizeText(tally.indexes.bytes)), "
        + "long values \(sizeText(tally.longValues.bytes))\n")
    var table = TextTable([.init("  column"), .init("type"), .init("")])
    for column in schema.shownColumns {
      table.add([
        "  " + column.name, SchemaText.type(of: column, snapshot.schema.schema),
        traits(of: column, schema).joined(separator: ", "),
      ])
    }
    try output.write(table.text(width: width, terminal: terminal))
    for rule in schema.uniqueRules {
      let names = rule.map { printable(schema[$0].name) }.joined(separator: ", ")
      try output.write("  unique: \(names)\n")
    }
  }

  private func traits(of column: ColumnSchema, _ schema: ClassSchema) -> [String] {
    var traits: [String] = []
    if column.id == schema.primaryKey { traits.append("primary key") }
    if column.isIndexed { traits.append("indexed") }
    if let target = column.target, snapshot.schema.isEmbedded(target) { traits.append("embedded") }
    if column.deleteRule == .cascade { traits.append("deletes its targets") }
    return traits
  }
}

extension PinnedState {
  /// `since` as ISO 8601 has it, in whole seconds.
  var sinceText: String? {
    since.map { ISODate.text(Timestamp(seconds: $0 / 1_000_000, nanoseconds: 0)) }
  }
}

extension CopyNotice {
  /// `time` as ISO 8601 has it, in whole seconds.
  var timeText: String {
    ISODate.text(Timestamp(seconds: time / 1_000_000, nanoseconds: 0))
  }
}
