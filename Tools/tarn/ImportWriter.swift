import TarnStore
import ToolSupport

/// Writes what an import brings. A property that links to what is not there yet waits until all
/// objects are.
final class ImportWriter {
  /// What became of the records of one input.
  struct Counts {
    var added = 0
    var changed = 0
    var same = 0
  }

  private let plans: [ImportPlan]
  private let updates: Bool
  /// Whether a bad record ends everything.
  private let refuses: Bool
  /// To be done with the first commit; nil afterwards.
  private var widening: ImportWidening?
  private let report: ImportReport
  private(set) var counts: [Counts]
  private var waiting: [Waiting] = []

  /// An object with properties that wait for what they link to.
  private struct Waiting {
    var location: ImportLocation
    var key: ObjectKey
    var fields: [ImportField]
    /// It was there, and had all other values already.
    var isSame: Bool
  }

  init(
    _ plans: [ImportPlan], updates: Bool, refuses: Bool, _ widening: ImportWidening?,
    _ report: ImportReport
  ) {
    self.widening = widening
    self.plans = plans
    self.updates = updates
    self.refuses = refuses
    self.report = report
    counts = plans.map { _ in Counts() }
  }

  /// - Parameter batch: how many objects a commit holds at most, nil for one commit of all.
  func run(
    _ inputs: [RecordSource], _ store: Store, batch: Int?, _ patience: WriterPatience
  ) throws -> Version {
    guard let batch else {
      return try write(store, patience) { session in
        try forEach(inputs) { record, location in try put(record, location, session) }
        try link(session)
      }
    }
    var records: [(ImportRecord, ImportLocation)] = []
    func commit() throws {
      _ = try write(store, patience) { session in
        for (record, location) in records { try put(record, location, session) }
      }
      records.removeAll(keepingCapacity: true)
    }
    try forEach(inputs) { record, location in
      records.append((record, location))
      if records.count == batch { try commit() }
    }
    try commit()
    return try write(store, patience) { session in try link(session) }
  }

  private func write(
    _ store: Store, _ patience: WriterPatience, _ body: (WriteSession) throws -> Void
  ) throws -> Version {
    let patience = patience.renewed()
    guard let widening else { return try StoreAccess.write(store, patience, body).version }
    self.widening = nil
    return try StoreAccess.write(store, patience, beginning: widening.begin, body).version
  }

  private func forEach(
    _ inputs: [RecordSource], _ body: (ImportRecord, ImportLocation) throws -> Void
  ) throws {
    for (number, input) in inputs.enumerated() {
      try input { item in
        switch item {
        case .bad(let reason, let line):
          report.add(ImportLocation(input: number, line: line), reason)
        case .record(let record, let line):
          try body(record, ImportLocation(input: number, line: line))
        }
      }
    }
  }

  /// Runs what may find that a record is bad.
  private func telling(_ location: ImportLocation, _ body: () throws -> Void) throws {
    do throws(any Error) {
      try body()
    } catch let error as ToolError {
      // Another process may have written since all was tried out.
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
        record, LinkFinder(session, coming: Set(plans.map(\.classID))))
      let key: ObjectKey
      var isSame = false
      if let value = plan.keyValue(found.contents),
        let existing = try session.find(primaryKey: value, in: plan.classID)
      {
        guard updates else { throw plan.taken(value) }
        key = existing
        isSame = try !update(key, found.contents, plan, session)
        if isSame { counts[location.input].same += 1 } else { counts[location.input].changed += 1 }
      } else {
        try plan.checkComplete(found.contents)
        key = try create(found.contents, plan, session)
        counts[location.input].added += 1
      }
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

  /// Gives an object what it does not have yet. False if it has it all.
  private func update(
    _ key: ObjectKey, _ contents: [String: Content], _ plan: ImportPlan, _ session: WriteSession
  ) throws -> Bool {
    let described = session.schema[plan.classID]
    var isChanged = false
    for column in described.columns where column.id != described.primaryKey && !column.isRemoved {
      guard let content = contents[column.name],
        try !content.isSame(as: session.content(of: column, at: key, in: plan.classID))
      else { continue }
      try session.put(content, column, at: key, in: plan.classID)
      isChanged = true
    }
    return isChanged
  }

  // MARK: - Links

  /// Sets the properties that waited. One that links to what has not come stays as it is.
  private func link(_ session: WriteSession) throws {
    for object in waiting {
      let plan = plans[object.location.input]
      // Between two commits others may delete it.
      guard try session.location(of: object.key, in: plan.classID) != nil else { continue }
      var isChanged = false
      for field in object.fields {
        try telling(object.location) {
          let found = try plan.contents([field], LinkFinder(session))
          if try update(object.key, found, plan, session) { isChanged = true }
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
