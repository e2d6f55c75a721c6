import Foundation
import TarnStore
import ToolSupport

/// `tarn import`. The input is read two or three times:
///
/// 1. for the columns and their types, as far as they are not given;
/// 2. where a bad line refuses all: to convert every value, so that nothing is written in vain;
/// 3. to write, in one commit or one for each batch.
///
/// A record that cannot become an object is reported by the number of its first line.
final class ImportCommand {
  /// Bad lines that are told one by one; the rest are counted.
  private static let reportsMax = 20

  private let path: String
  private let inputPath: String
  private let className: String
  private let format: ImportFormat
  private let key: String?
  private let types: GivenTypes
  private let updates: Bool
  private let refuses: Bool
  private let batch: Int
  private var badLines: Set<Int> = []

  /// What became of the records.
  private struct Counts {
    var added = 0
    var changed = 0
    var same = 0
  }

  init(_ arguments: ParsedArguments) throws {
    path = arguments.required("FILE")
    inputPath = arguments.required("INPUT")
    guard let name = arguments.value("class"), !name.isEmpty else {
      throw UsageError("import needs --class NAME")
    }
    className = name
    if arguments.has("format") {
      let word = try arguments.choice("format", of: ["csv", "jsonl", "debian"], default: "")
      format = ImportFormat(rawValue: word) ?? .jsonl
    } else if let guess = ImportFormat(path: inputPath) {
      format = guess
    } else {
      throw UsageError("'\(inputPath)' does not tell its format: give --format")
    }
    key = arguments.value("key")
    types = try GivenTypes(arguments)
    updates = arguments.has("update")
    refuses =
      try arguments.choice("on-error", of: ["skip", "refuse"], default: "refuse") == "refuse"
    batch = try arguments.integer("batch", default: .max, in: 1...(.max))
    if refuses, arguments.has("batch") {
      throw UsageError("--batch needs --on-error skip: what is committed cannot be refused")
    }
  }

  func run(_ output: OutputPipe) throws -> ExitCode {
    let input = try ImportInput(inputPath, format)
    let plan = try prepare(input)
    if refuses, !badLines.isEmpty {
      TarnProgram.complain(
        "\(counted(badLines.count, "bad line")), so nothing was imported "
          + "(--on-error skip passes over them)")
      return .failure
    }
    var options = Store.Options()
    options.classes = [plan.definition]
    let store = try StoreRegistry.open(path, options)
    let (counts, version) = try write(input, plan, store)
    try output.write(summary(counts, version))
    return .success
  }

  /// All that comes before writing. A function of its own, so that no snapshot is held later.
  private func prepare(_ input: ImportInput) throws -> ImportPlan {
    let existing = try existingSnapshot()
    let plan = try ImportPlan(
      className, stored: existing?.schema.schema ?? StoreSchema(),
      found: try columns(of: input), key: key)
    if updates, plan.key == nil { throw UsageError("--update needs a primary key: give --key") }
    if refuses { try tryOut(input, plan, existing) }
    return plan
  }

  private func summary(_ counts: Counts, _ version: Version) -> String {
    var text = "\(className): \(counts.added) added"
    if updates { text += ", \(counts.changed) changed, \(counts.same) already the same" }
    if !badLines.isEmpty { text += ", \(counted(badLines.count, "bad line")) skipped" }
    return text + ", version \(version.rawValue)\n"
  }

  /// What the file shows before anything is written, nil if there is none yet.
  private func existingSnapshot() throws -> Snapshot? {
    guard let size = StoreAccess.fileSize(path), size > 0 else { return nil }
    return try StoreAccess.openExisting(path, forWriting: true).newestSnapshot()
  }

  private func report(_ line: Int, _ reason: String) {
    guard badLines.insert(line).inserted else { return }
    if badLines.count <= Self.reportsMax {
      TarnProgram.complain("line \(line): \(reason)")
    } else if badLines.count == Self.reportsMax + 1 {
      TarnProgram.complain("more bad lines follow, which are only counted")
    }
  }

  // MARK: - The passes

  private func columns(of input: ImportInput) throws -> [ColumnReading] {
    if format == .debian {
      // The lines are looked at when they are read for their values.
      return DebianPackage.columns.map { types.type(of: $0.name) ?? $0 }
    }
    var inference = TypeInference()
    try input.forEach("Reading") { item in
      switch item {
      case .bad(let reason, let line): report(line, reason)
      case .record(let record, _): inference.add(record)
      }
    }
    return inference.columns.map { column in
      types.type(of: column.name)
        ?? ColumnReading(
          name: column.name, type: ValueText.type(column.type), isOptional: column.isOptional)
    }
  }

  private func tryOut(_ input: ImportInput, _ plan: ImportPlan, _ existing: Snapshot?) throws {
    let reader = try existing.map { snapshot throws(StorageError) in try SnapshotReader(snapshot) }
    let id = existing?.schema.schema.named(className)?.id
    var seen: Set<Value> = []
    try input.forEach("Checking") { item in
      switch item {
      case .bad(let reason, let line): report(line, reason)
      case .record(let record, let line):
        do throws(any Error) {
          let contents = try plan.contents(record, nil)
          guard !updates, let value = plan.keyValue(contents) else { return }
          guard seen.insert(value).inserted else { throw taken(value) }
          if let reader, let id, try reader.find(primaryKey: value, in: id) != nil {
            throw taken(value)
          }
        } catch let error as ToolError {
          report(line, error.message)
        }
      }
    }
  }

  private func taken(_ value: Value) -> ToolError {
    ToolError(
      "there is a \(className) '\(ValueText.shown(value))' already (--update changes it)")
  }

  private func write(
    _ input: ImportInput, _ plan: ImportPlan, _ store: Store
  ) throws -> (Counts, Version) {
    var counts = Counts()
    var records: [(ImportRecord, Int)] = []
    var version = try store.newestSnapshot().version
    func commit() throws {
      version = try StoreAccess.write(store) { session in
        for (record, line) in records { try put(record, line, plan, session, &counts) }
      }.version
      records.removeAll(keepingCapacity: true)
    }
    if batch == .max {
      version = try StoreAccess.write(store) { session in
        try input.forEach("Importing") { item in
          if case .record(let record, let line) = item {
            try put(record, line, plan, session, &counts)
          } else if case .bad(let reason, let line) = item {
            report(line, reason)
          }
        }
      }.version
      return (counts, version)
    }
    try input.forEach("Importing") { item in
      switch item {
      case .bad(let reason, let line): report(line, reason)
      case .record(let record, let line):
        records.append((record, line))
        if records.count == batch { try commit() }
      }
    }
    if !records.isEmpty { try commit() }
    return (counts, version)
  }

  /// Adds or changes one object, or reports why not.
  private func put(
    _ record: ImportRecord, _ line: Int, _ plan: ImportPlan, _ session: WriteSession,
    _ counts: inout Counts
  ) throws {
    guard let described = session.schema.schema.named(className) else { return }
    do throws(any Error) {
      let named = try plan.contents(record, LinkFinder(session))
      if let value = plan.keyValue(named),
        let found = try session.find(primaryKey: value, in: described.id)
      {
        guard updates else { throw taken(value) }
        let isChanged = try update(found, named, described, session)
        if isChanged { counts.changed += 1 } else { counts.same += 1 }
      } else {
        var contents: [ColumnID: Content] = [:]
        for (name, content) in named {
          if let column = described.named(name) { contents[column.id] = content }
        }
        try session.create(contents, in: described.id)
        counts.added += 1
      }
    } catch let error as ToolError {
      // Another process may have written since all was tried out.
      if refuses { throw ToolError("line \(line): \(error.message); nothing was imported") }
      report(line, error.message)
    }
  }

  private func update(
    _ key: ObjectKey, _ contents: [String: Content], _ described: ClassSchema,
    _ session: WriteSession
  ) throws -> Bool {
    var isChanged = false
    for column in described.columns where column.id != described.primaryKey && !column.isRemoved {
      guard let content = contents[column.name],
        try !content.isSame(as: session.content(of: column, at: key, in: described.id))
      else { continue }
      try session.put(content, column, at: key, in: described.id)
      isChanged = true
    }
    return isChanged
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
