import Foundation
import TarnStore
import TarnText
import ToolSupport

/// `tarn import`. The inputs are read two or three times:
///
/// 1. to find the columns and their types, unless they are given;
/// 2. to convert every value before anything is written, if a bad line refuses the import;
/// 3. to write, in one commit or one per batch.
///
/// A record that cannot become an object is reported with the number of its first line.
///
/// A pipe that is imported in batches is read once, as it arrives. Its first records determine the
/// columns.
struct ImportCommand {
  /// The treatment of the other records if one is bad.
  private enum OnError: String {
    /// Nothing is imported.
    case refuse
    /// They are imported, and the exit status is 1.
    case skip
    /// They are imported, and the exit status is 0.
    case ignore
  }

  /// How many records of a pipe, at least, determine the columns of a new class.
  private static let sampleSize = 1000

  /// An input and the class it is imported into.
  private struct Source {
    var path: String
    var layout: ImportLayout
    var className: String
    var key: String?
  }

  private let path: String
  private let sources: [Source]
  private let types: GivenTypes
  private let nullables: GivenNullables
  private let usesDefaults: Bool
  private let rounds: Bool
  private let updates: Bool
  private let onError: OnError
  private let batch: Int?
  private let patience: WriterPatience

  private var refuses: Bool { onError == .refuse }

  init(_ arguments: ParsedArguments) throws {
    path = arguments.required("FILE")
    let paths = arguments.positionals("INPUT")
    let classes = arguments.values("class")
    guard !classes.isEmpty, !classes.contains(where: \.isEmpty) else {
      throw UsageError("import needs --class NAME")
    }
    guard classes.count == paths.count else {
      throw UsageError(
        "import needs a --class for each INPUT: there are \(classes.count) and \(paths.count)")
    }
    guard paths.count(where: { $0 == "-" }) < 2 else {
      throw UsageError("the standard input can be one INPUT only, and '-' is given twice")
    }
    guard Set(classes).count == classes.count else {
      throw UsageError("a --class is given twice; give each class once, with its own INPUT")
    }
    let keys = try GivenKeys(arguments, classes: classes)
    sources = try zip(paths, classes).map { path, name in
      Source(
        path: path, layout: try Self.layout(of: path, arguments), className: name,
        key: keys.key(of: name))
    }
    types = try GivenTypes(arguments, classes: classes)
    nullables = GivenNullables(arguments, classes: classes)
    usesDefaults = arguments.has("defaults")
    rounds = arguments.has("round")
    updates = arguments.has("update")
    let word = try arguments.choice(
      "on-error", of: ["refuse", "skip", "ignore"], default: "refuse")
    onError = OnError(rawValue: word) ?? .refuse
    patience = try WriterPatience(arguments)
    batch =
      arguments.has("batch")
      ? try arguments.integer("batch", default: .max, in: 1...(.max)) : nil
    if onError == .refuse, batch != nil {
      throw UsageError(
        "--batch needs --on-error skip or ignore: a committed batch cannot be undone")
    }
  }

  private static func layout(of path: String, _ arguments: ParsedArguments) throws -> ImportLayout {
    ImportLayout(
      format: try format(of: path, arguments), separator: try separator(arguments),
      path: arguments.value("records").map { PathText.names(in: $0) } ?? [])
  }

  private static func separator(_ arguments: ParsedArguments) throws -> UInt8? {
    guard let text = arguments.value("delimiter") else { return nil }
    if text == "tab" || text == "\\t" { return 0x09 }
    let byte = text.rest(afterBytesOf: "\\x").flatMap { UInt8($0, radix: 16) } ?? text.utf8.first
    guard let byte, text.utf8.count == 1 || text.beginsWithBytes(of: "\\x"), byte < 0x80,
      ![0x0a, 0x0d, 0x22].contains(byte)
    else {
      throw UsageError("--delimiter takes one ASCII character, 'tab' or \\x1f, not '\(text)'")
    }
    return byte
  }

  private static func format(of path: String, _ arguments: ParsedArguments) throws -> ImportFormat {
    if arguments.has("format") {
      let words = ["csv", "tsv", "jsonl", "json", "debian"]
      return ImportFormat(name: try arguments.choice("format", of: words, default: "")) ?? .jsonl
    }
    guard let guess = ImportFormat(path: path) else {
      throw UsageError("'\(path)' has an unknown extension; give --format")
    }
    return guess
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    let remains = ImportRemains(path)
    if remains.isNew { Interruption.beforeEnd { remains.removeIfUnused() } }
    let isStream = batch != nil && sources.count == 1 && ImportInput.isPipe(sources[0].path)
    do {
      // The inputs are read once, and each plan uses them.
      let inputs = isStream ? [] : try sources.map { try ImportInput($0.path, $0.layout) }
      while true {
        let report = ImportReport(sources.map(\.path))
        do {
          let code = try run(report, inputs, output)
          if remains.isNew, report.count > 0 { try StoreAccess.removeIfEmpty(path) }
          return code
        } catch is ImportClasses.Changed where !isStream {
          // The next pass plans the import again, with those classes.
        }
      }
    } catch is ImportClasses.Changed {
      throw ToolError(
        "another process changed the classes of \(path) meanwhile; nothing was imported")
    } catch {
      remains.remove()
      throw error
    }
  }

  /// A separate function, so that nothing holds the store when it returns.
  private func run(
    _ report: ImportReport, _ inputs: [ImportInput], _ output: OutputPipe
  ) throws -> ExitCode {
    let (plans, records, stored) =
      inputs.isEmpty ? try prepareStream() : try prepare(inputs, report)
    if refuses, report.count > 0 {
      TarnProgram.complain(
        "\(counted(report.count, "bad line")), so nothing was imported "
          + "(--on-error skip leaves them out)")
      return .failure
    }
    let isNew = (StoreAccess.fileSize(path) ?? 0) == 0
    let store =
      isNew
      ? try StoreRegistry.open(path, Store.Options())
      : try StoreAccess.openExisting(path, writing: patience.renewed())
    let classes = ImportClasses(
      classes: plans.flatMap { $0.embedded + [$0.definition] },
      planned: (stored, plans[0].schema), widens: plans.contains(where: \.widens), path: path)
    let writer = ImportWriter(plans, updates: updates, refuses: refuses, classes, report)
    let version = try writer.run(records, store, batch: batch, patience)
    if writer.isInterrupted { return try tellBatches(summary(writer.counts, report, version)) }
    if !writer.hasCommitted, report.count == 0 { try add(classes.classes) }
    try output.write(summary(writer.counts, report, version))
    let isWhole = report.count + report.incompleteCount == 0
    return !isWhole && onError == .skip ? .failure : .success
  }

  /// Reports an import that an interruption ended after some of its batches.
  private func tellBatches(_ summary: String) throws -> ExitCode {
    // The command's own output was cancelled.
    let output = OutputPipe()
    try output.write(summary)
    try output.flush()
    TarnProgram.complain("interrupted: the batches so far were imported")
    return .failure
  }

  /// Adds the classes of an import without objects.
  private func add(_ classes: [ClassDefinition]) throws {
    var options = Store.Options()
    options.classes = classes
    options.createsStore = false
    options.deadline = patience.renewed().deadline ?? options.deadline
    _ = try StoreRegistry.open(path, options)
  }

  // MARK: - Before writing

  /// Everything before the write. A separate function, so that no snapshot is held later.
  private func prepare(
    _ inputs: [ImportInput], _ report: ImportReport
  ) throws -> (plans: [ImportPlan], records: [RecordSource], stored: StoreSchema) {
    let existing = try existingSnapshot()
    let stored = existing?.schema.schema ?? StoreSchema()
    var found: [[InferredColumn]?] = []
    for (number, source) in sources.enumerated() {
      found.append(
        source.layout.format == .debian
          ? nil
          : try columns(
            of: inputs[number], number, isNew: stored.named(source.className) == nil, report))
    }
    // The columns of a bad line are unknown.
    let plans = try plans(found, stored, areAllKnown: report.count == 0)
    if refuses { try ImportCheck(plans, existing, updates: updates, report).run(inputs) }
    return (plans, inputs.map { input in { try input.forEach("Importing", $0) } }, stored)
  }

  /// The same for a pipe that is read once. The first records are buffered until they are written.
  private func prepareStream() throws -> (
    plans: [ImportPlan], records: [RecordSource], stored: StoreSchema
  ) {
    let source = sources[0]
    let (header, next) = try ImportInput(source.path, source.layout, isReadOnce: true).records()
    let stored = try existingSnapshot()?.schema.schema ?? StoreSchema()
    let isKnown = stored.named(source.className)?.isVacant == false
    let size = isKnown ? batch ?? 1 : max(batch ?? 1, Self.sampleSize)
    var first: [InputItem<ImportRecord>] = []
    var inference = TypeInference()
    inference.expect(header)
    while first.count < size, let item = try next() {
      first.append(item)
      if case .record(let record, _) = item { inference.add(record) }
    }
    let found = source.layout.format == .debian ? nil : inference.columns
    let plans = try plans([found], stored, areAllKnown: false)
    let records: RecordSource = { body in
      for item in first { try body(item) }
      while let item = try next() { try body(item) }
    }
    return (plans, [records], stored)
  }

  /// - Parameters:
  /// - found: the columns of each input; nil if the format determines them.
  /// - areAllKnown: whether no other columns can follow.
  private func plans(
    _ found: [[InferredColumn]?], _ stored: StoreSchema, areAllKnown: Bool
  ) throws -> [ImportPlan] {
    var names: [String: [String]?] = [:]
    for (source, columns) in zip(sources, found) {
      let known = columns?.map(\.name) ?? DebianPackage.columns.map(\.name)
      names.updateValue(areAllKnown && !known.isEmpty ? known : nil, forKey: source.className)
    }
    try types.check(names, stored)
    var inferred = InferredClasses(
      taken: Set(stored.classes.map(\.name) + sources.map(\.className)))
    var plans: [ImportPlan] = []
    for (source, columns) in zip(sources, found) {
      let before = inferred.embedded.count
      let known = stored.named(source.className)
      var readings: [ColumnReading] = []
      for column in columns ?? [] where known?.named(column.name) == nil {
        readings.append(
          types.type(of: column.name, in: source.className)
            ?? inferred.reading(column, in: source.className))
      }
      if columns == nil {
        readings = DebianPackage.columns.map {
          types.type(of: $0.name, in: source.className) ?? $0
        }
      }
      if !areAllKnown {
        readings += types.others(than: readings.map(\.name), in: source.className)
      }
      var plan = try ImportPlan(
        source.className, stored: stored, found: readings, key: source.key,
        nullable: nullables.names(in: source.className))
      plan.usesDefaults = usesDefaults
      plan.rounds = rounds
      plan.unixTimes = types.unixTimes(in: source.className)
      plan.embedded = Array(inferred.embedded[before...])
      plan.refusesUnknown = !areAllKnown
      if updates, plan.key == nil { throw UsageError("--update needs a primary key: give --key") }
      plans.append(plan)
    }
    try nullables.check(plans)
    return try ImportPlan.settled(plans, stored: stored, path: path)
  }

  private func summary(
    _ counts: [ImportWriter.Counts], _ report: ImportReport, _ version: Version
  ) -> String {
    var parts: [String] = []
    for (source, counts) in zip(sources, counts) {
      parts.append("\(printable(source.className)): \(counts.added) added")
      if updates { parts.append("\(counts.changed) changed, \(counts.same) already the same") }
    }
    if report.count > 0 { parts.append("\(counted(report.count, "bad line")) skipped") }
    if report.incompleteCount > 0 {
      parts.append("links left out in \(counted(report.incompleteCount, "line"))")
    }
    return (parts + ["version \(version.rawValue)\n"]).joined(separator: ", ")
  }

  /// The file's newest snapshot; nil without a file.
  private func existingSnapshot() throws -> Snapshot? {
    guard let size = StoreAccess.fileSize(path), size > 0 else { return nil }
    return try StoreAccess.openExisting(path, writing: patience.renewed()).newestSnapshot()
  }

  private func columns(
    of input: ImportInput, _ number: Int, isNew: Bool, _ report: ImportReport
  ) throws -> [InferredColumn] {
    var inference = TypeInference()
    func expect(_ names: [String]) { inference.expect(names) }
    var (count, first): (Int, ImportRecord?) = (0, nil)
    try input.forEach("Reading", header: expect) { item in
      switch item {
      case .bad(let reason, let line): report.add(ImportLocation(input: number, line: line), reason)
      case .record(let record, _):
        inference.add(record)
        if count == 0 { first = record }
        count += 1
      }
    }
    if isNew, count == 1, let list = first?.onlyList, sources[number].layout.path.isEmpty {
      TarnProgram.complain(
        "\(input.name) is one object; --records \(PathText.text(of: [list.name])) imports the "
          + "\(list.count) objects in its '\(list.name)'")
    }
    return inference.columns
  }
}

extension TypeInference {
  /// Adds a record's columns and types.
  mutating func add(_ record: ImportRecord) {
    var members: [JSONMember] = []
    var names: [String] = []
    var texts: [String?] = []
    for field in record.fields {
      switch field.value {
      case .json(let value): members.append(JSONMember(field.name, value))
      case .text(let text):
        names.append(field.name)
        texts.append(text)
      }
    }
    if names.isEmpty { add(members) } else { add(names, texts) }
  }
}
