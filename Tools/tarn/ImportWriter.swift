import TarnStore
import ToolSupport

/// Writes imported objects. A property that links to an object of a later line waits until all
/// objects are written.
final class ImportWriter {
  /// The numbers of records added, changed and unchanged, for one input.
  struct Counts {
    var added = 0
    var changed = 0
    var same = 0
  }

  private let plans: [ImportPlan]
  private let updates: Bool
  /// Whether a bad record aborts the import.
  private let refuses: Bool
  /// The classes and properties that the first commit adds to the file; nil afterwards.
  private var classes: ImportClasses?
  private let report: ImportReport
  private(set) var counts: [Counts]
  /// Whether an interruption ended the import after some of its batches.
  private(set) var isInterrupted = false
  private var waiting: [Waiting] = []
  /// Whether unique rules are checked line by line.
  private var checksRules = false
  private var rules: ImportRules?

  /// An object with links to objects that are not written yet.
  private struct Waiting {
    var location: ImportLocation
    var key: ObjectKey
    var fields: [ImportField]
    /// The object existed and all its other values were equal.
    var isSame: Bool
  }

  init(
    _ plans: [ImportPlan], updates: Bool, refuses: Bool, _ classes: ImportClasses,
    _ report: ImportReport
  ) {
    self.classes = classes
    self.plans = plans
    self.updates = updates
    self.refuses = refuses
    self.report = report
    counts = plans.map { _ in Counts() }
  }

  /// Whether something was committed.
  var hasCommitted: Bool { classes == nil }

  /// - Parameter batch: the most objects in one commit, nil for a single commit.
  func run(
    _ inputs: [RecordSource], _ store: Store, batch: Int?, _ patience: WriterPatience
  ) throws -> Version {
    guard let batch else {
      return try checkingRules {
        try write(store, patience) { session in
          try forEach(inputs) { record, location in try put(record, location, session) }
          try link(session)
        }
      }
    }
    var version: Version?
    do {
      return try runBatches(inputs, store, batch, patience) { version = $0 }
    } catch let error as ToolError where error == Interruption.error {
      // The batches before are the result.
      guard let version else { throw error }
      isInterrupted = true
      return version
    }
  }

  /// - Parameter done: called after each commit.
  private func runBatches(
    _ inputs: [RecordSource], _ store: Store, _ batch: Int, _ patience: WriterPatience,
    _ done: (Version) -> Void
  ) throws -> Version {
    var records: [(ImportRecord, ImportLocation)] = []
    func commit() throws {
      let version = try checkingRules {
        try write(store, patience) { session in
          for (record, location) in records {
            try Interruption.check()
            try put(record, location, session)
          }
        }
      }
      done(version)
      Interruption.endCommit()
      records.removeAll(keepingCapacity: true)
    }
    try forEach(inputs) { record, location in
      records.append((record, location))
      if records.count == batch { try commit() }
    }
    try commit()
    return try checkingRules { try write(store, patience) { session in try link(session) } }
  }

  /// Runs a write. If objects break a unique rule, it runs again and finds the bad lines.
  ///
  /// In an import that refuses bad lines, updates may exchange values, so that the line is unknown.
  private func checkingRules(_ write: () throws -> Version) throws -> Version {
    do {
      return try noting(write)
    } catch let error as StorageError where error.code == .notUnique && !(refuses && updates) {
      // Nothing was committed.
      Interruption.endCommit(isResult: false)
      checksRules = true
      defer { (checksRules, rules) = (false, nil) }
      return try noting(write)
    }
  }

  /// Runs a write, and keeps its counts and messages only if it succeeds.
  private func noting(_ write: () throws -> Version) throws -> Version {
    let (counted, waited) = (counts, waiting)
    report.beginWrite()
    do {
      let version = try write()
      report.endWrite()
      return version
    } catch {
      (counts, waiting) = (counted, waited)
      report.abandonWrite()
      throw error
    }
  }

  private func write(
    _ store: Store, _ patience: WriterPatience, _ fill: (WriteSession) throws -> Void
  ) throws -> Version {
    let patience = patience.renewed()
    func body(_ session: WriteSession) throws {
      rules = checksRules ? ImportRules(session) : nil
      try fill(session)
    }
    guard let classes else { return try StoreAccess.write(store, patience, body).version }
    func begin(_ snapshot: Snapshot) throws -> WriteSession { try classes.begin(store, snapshot) }
    let (isEmpty, version) = try StoreAccess.write(store, patience, beginning: begin) { session in
      try body(session)
      return session.isEmpty
    }
    if !isEmpty { self.classes = nil }
    return version
  }

  private func forEach(
    _ inputs: [RecordSource], _ body: (ImportRecord, ImportLocation) throws -> Void
  ) throws {
    for (number, input) in inputs.enumerated() {
      try input { item in
        try Interruption.check()
        switch item {
        case .bad(let reason, let line):
          report.add(ImportLocation(input: number, line: line), reason)
        case .record(let record, let line):
          try body(record, ImportLocation(input: number, line: line))
        }
      }
    }
  }

  /// Runs `body`, and reports its error as a bad record.
  private func telling(_ location: ImportLocation, _ body: () throws -> Void) throws {
    do throws(any Error) {
      try body()
    } catch let error as ToolError {
      // Another process may have written since the dry run.
      if refuses {
        throw ToolError("\(report.title(location)): \(error.message); nothing was imported")
      }
      report.add(location, error.message)
    }
  }

  // MARK: - Objects

  private func put(
    _ record: ImportRecord, _ location: ImportLocation, _ session: WriteSession
  ) throws {
    try telling(location) {
      let plan = plans[location.input]
      let found = try plan.contents(
        record, LinkFinder(session, coming: Set(plans.map(\.classID))), leavingOut: !refuses)
      let key: ObjectKey
      var isSame = false
      if let value = plan.keyValue(found.contents),
        let existing = try session.find(primaryKey: value, in: plan.classID)
      {
        guard updates else { throw plan.taken(value) }
        key = existing
        try rules?.check(found.contents, of: key, plan)
        isSame = try !update(key, found.contents, plan, session)
        if isSame { counts[location.input].same += 1 } else { counts[location.input].changed += 1 }
      } else {
        try plan.checkComplete(found.contents)
        try rules?.check(found.contents, of: nil, plan)
        key = try create(found.contents, plan, session)
        counts[location.input].added += 1
      }
      try rules?.note(key, in: plan.classID)
      report.add(location, leftOut: found.leftOut)
      if found.waiting.isEmpty { return }
      waiting.append(Waiting(location: location, key: key, fields: found.waiting, isSame: isSame))
    }
  }

  private func create(
    _ named: [String: Content], _ plan: ImportPlan, _ session: WriteSession
  ) throws -> ObjectKey {
    let described = session.schema[plan.classID]
    var contents: [ColumnID: Content] = [:]
    for (name, content) in named {
      if let column = described.named(name) { contents[column.id] = content }
    }
    return try session.create(contents, in: plan.classID)
  }

  /// Sets the values that differ. False if none does.
  private func update(
    _ key: ObjectKey, _ contents: [String: Content], _ plan: ImportPlan, _ session: WriteSession
  ) throws -> Bool {
    let described = session.schema[plan.classID]
    var isChanged = false
    for column in described.columns where column.id != described.primaryKey && !column.isRemoved {
      guard let content = contents[column.name],
        try !content.isSame(as: Rows(session).content(of: column, at: key, in: plan.classID))
      else { continue }
      try session.put(content, column, at: key, in: plan.classID)
      isChanged = true
    }
    return isChanged
  }

  // MARK: - Links

  /// Sets the waiting links. A property whose only target is still missing is left unchanged.
  private func link(_ session: WriteSession) throws {
    for object in waiting {
      try Interruption.check()
      let plan = plans[object.location.input]
      // Another process may delete the object between two commits.
      guard try session.location(of: object.key, in: plan.classID) != nil else { continue }
      var isChanged = false
      for field in object.fields {
        try telling(object.location) {
          var found = try plan.content(of: field, LinkFinder(session), leavingOut: !refuses)
          do {
            try rules?.check(found.contents, of: object.key, plan)
          } catch let error as ToolError where !refuses {
            found.contents = [:]
            found.leftOut.append(error)
          }
          if try update(object.key, found.contents, plan, session) { isChanged = true }
          try rules?.note(object.key, in: plan.classID)
          report.add(object.location, leftOut: found.leftOut)
        }
      }
      if isChanged, object.isSame {
        counts[object.location.input].same -= 1
        counts[object.location.input].changed += 1
      }
    }
    waiting = []
  }
}
