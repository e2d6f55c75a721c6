import Foundation
import TarnStore
import ToolSupport

/// `tarn import`. The inputs are read two or three times:
///
/// 1. for the columns and their types, as far as they are not given;
/// 2. where a bad line refuses all: to convert every value, so that nothing is written in vain;
/// 3. to write, in one commit or one for each batch.
///
/// A record that cannot become an object is reported by the number of its first line.
struct ImportCommand {
  /// What is read, and what it becomes.
  private struct Source {
    var path: String
    var format: ImportFormat
    var className: String
    var key: String?
  }

  private let path: String
  private let sources: [Source]
  private let types: GivenTypes
  private let updates: Bool
  private let refuses: Bool
  private let batch: Int?

  init(_ arguments: ParsedArguments) throws {
    path = arguments.required("FILE")
    let paths = arguments.positionals("INPUT")
    let classes = arguments.values("class")
    guard !classes.isEmpty, !classes.contains("") else {
      throw UsageError("import needs --class NAME")
    }
    guard classes.count == paths.count else {
      throw UsageError(
        "import needs a --class for each INPUT: there are \(classes.count) and \(paths.count)")
    }
    guard Set(classes).count == classes.count else {
      throw UsageError("a --class is given twice: each needs an INPUT of its own")
    }
    let keys = try GivenKeys(arguments, classes: classes)
    sources = try zip(paths, classes).map { path, name in
      Source(
        path: path, format: try Self.format(of: path, arguments), className: name,
        key: keys.key(of: name))
    }
    types = try GivenTypes(arguments, classes: classes)
    updates = arguments.has("update")
    refuses =
      try arguments.choice("on-error", of: ["skip", "refuse"], default: "refuse") == "refuse"
    batch =
      arguments.has("batch")
      ? try arguments.integer("batch", default: .max, in: 1...(.max)) : nil
    if refuses, batch != nil {
      throw UsageError("--batch needs --on-error skip: what is committed cannot be refused")
    }
  }

  private static func format(of path: String, _ arguments: ParsedArguments) throws -> ImportFormat {
    if arguments.has("format") {
      let word = try arguments.choice("format", of: ["csv", "jsonl", "debian"], default: "")
      return ImportFormat(rawValue: word) ?? .jsonl
    }
    guard let guess = ImportFormat(path: path) else {
      throw UsageError("'\(path)' does not tell its format: give --format")
    }
    return guess
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    let inputs = try sources.map { try ImportInput($0.path, $0.format) }
    let report = ImportReport(sources.map(\.path))
    let plans = try prepare(inputs, report)
    if refuses, report.count > 0 {
      TarnProgram.complain(
        "\(counted(report.count, "bad line")), so nothing was imported "
          + "(--on-error skip passes over them)")
      return .failure
    }
    var options = Store.Options()
    options.classes = plans.map(\.definition)
    let store = try StoreRegistry.open(path, options)
    let writer = ImportWriter(plans, updates: updates, refuses: refuses, report)
    let version = try writer.run(inputs, store, batch: batch)
    try output.write(summary(writer.counts, report.count, version))
    return .success
  }

  /// All that comes before writing. A function of its own, so that no snapshot is held later.
  private func prepare(_ inputs: [ImportInput], _ report: ImportReport) throws -> [ImportPlan] {
    let existing = try existingSnapshot()
    let stored = existing?.schema.schema ?? StoreSchema()
    var plans: [ImportPlan] = []
    for (number, source) in sources.enumerated() {
      let found = try columns(of: inputs[number], number, report)
      plans.append(try ImportPlan(source.className, stored: stored, found: found, key: source.key))
      if updates, plans[number].key == nil {
        throw UsageError("--update needs a primary key: give --key")
      }
    }
    plans = try ImportPlan.settled(plans, stored: stored)
    if refuses { try ImportCheck(plans, existing, updates: updates, report).run(inputs) }
    return plans
  }

  private func summary(
    _ counts: [ImportWriter.Counts], _ badLines: Int, _ version: Version
  ) -> String {
    var parts: [String] = []
    for (source, counts) in zip(sources, counts) {
      parts.append("\(source.className): \(counts.added) added")
      if updates { parts.append("\(counts.changed) changed, \(counts.same) already the same") }
    }
    if badLines > 0 { parts.append("\(counted(badLines, "bad line")) skipped") }
    return (parts + ["version \(version.rawValue)\n"]).joined(separator: ", ")
  }

  /// What the file shows before anything is written, nil if there is none yet.
  private func existingSnapshot() throws -> Snapshot? {
    guard let size = StoreAccess.fileSize(path), size > 0 else { return nil }
    return try StoreAccess.openExisting(path, forWriting: true).newestSnapshot()
  }

  private func columns(
    of input: ImportInput, _ number: Int, _ report: ImportReport
  ) throws -> [ColumnReading] {
    let source = sources[number]
    if source.format == .debian {
      // The lines are looked at when they are read for their values.
      return DebianPackage.columns.map { types.type(of: $0.name, in: source.className) ?? $0 }
    }
    var inference = TypeInference()
    try input.forEach("Reading") { item in
      switch item {
      case .bad(let reason, let line): report.add(ImportPlace(input: number, line: line), reason)
      case .record(let record, _): inference.add(record)
      }
    }
    return inference.columns.map { column in
      types.type(of: column.name, in: source.className)
        ?? ColumnReading(
          name: column.name, type: ValueText.type(column.type), isOptional: column.isOptional)
    }
  }
}

extension TypeInference {
  /// Takes a record of any format into account.
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
