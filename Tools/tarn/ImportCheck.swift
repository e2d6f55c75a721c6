import TarnStore
import TarnText
import ToolSupport

/// A dry run of an import: converts every value and looks up the target of every link, so that a
/// bad line is found before anything is written.
final class ImportCheck {
  private let plans: [ImportPlan]
  private let reader: SnapshotReader?
  private let updates: Bool
  private let report: ImportReport
  private let imported: Set<ClassID>
  /// The primary keys of the imported objects, by class.
  private var keys: [ClassID: Set<Value>] = [:]
  /// How many objects of each class without a primary key are imported.
  private var counts: [ClassID: Int] = [:]
  private var location = ImportLocation(input: 0, line: 0)
  /// The links whose target was missing when they were read.
  private var sought: [Sought] = []

  private struct Sought {
    var value: Value
    var classID: ClassID
    var location: ImportLocation
    var path: String
  }

  /// - Parameter existing: the file's newest snapshot; nil without a file.
  init(
    _ plans: [ImportPlan], _ existing: Snapshot?, updates: Bool, _ report: ImportReport
  ) throws {
    self.plans = plans
    self.updates = updates
    self.report = report
    reader = try existing.map { snapshot throws(StorageError) in try SnapshotReader(snapshot) }
    imported = Set(plans.map(\.classID))
  }

  func run(_ inputs: [ImportInput]) throws {
    for (number, input) in inputs.enumerated() {
      try input.forEach("Checking") { item in
        switch item {
        case .bad(let reason, let line):
          report.add(ImportLocation(input: number, line: line), reason)
        case .record(let record, let line):
          location = ImportLocation(input: number, line: line)
          do throws(any Error) {
            try check(record, plans[number])
          } catch let error as ToolError {
            report.add(location, error.message)
          }
        }
      }
    }
    for link in sought where try !comes(link.value, link.classID) {
      report.add(
        link.location, "column '\(link.path)': there is no \(name(link.value, link.classID))")
    }
  }

  private func check(_ record: ImportRecord, _ plan: ImportPlan) throws {
    let contents = try plan.contents(record, self).contents
    guard let value = plan.keyValue(contents) else {
      try plan.checkComplete(contents)
      counts[plan.classID, default: 0] += 1
      return
    }
    let isNew =
      try keys[plan.classID]?.contains(value) != true
      && stored(value, plan.classID) == nil
    if isNew { try plan.checkComplete(contents) }
    keys[plan.classID, default: []].insert(value)
    if !isNew, !updates { throw plan.taken(value) }
  }

  /// The object in the file.
  private func stored(_ value: Value, _ id: ClassID) throws -> ObjectKey? {
    guard let reader, reader.schema.schema[id] != nil else { return nil }
    if reader.schema[id].primaryKey != nil { return try reader.find(primaryKey: value, in: id) }
    guard case .int(let number) = value else { return nil }
    return try reader.row(ObjectKey(number), in: id) == nil ? nil : ObjectKey(number)
  }

  /// Whether the import adds the object.
  private func comes(_ value: Value, _ id: ClassID) throws -> Bool {
    if keys[id]?.contains(value) == true { return true }
    guard plans.contains(where: { $0.classID == id && $0.key == nil }), case .int(let key) = value
    else { return false }
    let isInFile = reader?.schema.schema[id] != nil
    let next = isInFile ? try reader?.record(of: id).nextKey.rawValue ?? 0 : 0
    return key >= next && key < next + Int64(counts[id] ?? 0)
  }

  private func name(_ value: Value, _ id: ClassID) -> String {
    let className = plans.first { $0.classID == id }?.className ?? ""
    return "\(className) '\(ValueText.shown(value))'"
  }
}

extension ImportCheck: LinkFinding {
  /// Some key, if the object exists or may be imported later.
  func find(_ value: Value, in id: ClassID, at path: String) throws -> ObjectKey? {
    if let key = try stored(value, id) { return key }
    guard imported.contains(id) else { return nil }
    if keys[id]?.contains(value) != true {
      sought.append(Sought(value: value, classID: id, location: location, path: path))
    }
    return ObjectKey(0)
  }
}
