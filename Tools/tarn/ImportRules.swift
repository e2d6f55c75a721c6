import TarnStore
import TarnText
import ToolSupport

/// The unique rules of the imported classes, checked object by object within one write.
///
/// A commit checks them once all objects are written, so that objects can exchange their values,
/// and cannot name lines. So this is for a write whose commit was refused.
struct ImportRules {
  private struct Rule: Hashable {
    var classID: ClassID
    var number: Int
  }

  private struct Entry: Hashable {
    var rule: Rule
    /// The bytes of a `UniqueKey`.
    var bytes: [UInt8]
  }

  private struct Place: Hashable {
    var rule: Rule
    var key: ObjectKey
  }

  private let session: WriteSession
  /// The objects that this write has created or changed, by their present values.
  private var owners: [Entry: ObjectKey] = [:]
  /// The present values of such an object; nil if one of them is null.
  private var values: [Place: [UInt8]?] = [:]

  init(_ session: WriteSession) { self.session = session }

  /// - Parameters:
  ///   - contents: the properties that an object is about to get. A link that waits for its object
  ///     is not among them.
  ///   - key: the object; nil for a new one.
  /// - Throws: a `ToolError` if another object has the same combination.
  func check(_ contents: [String: Content], of key: ObjectKey?, _ plan: ImportPlan) throws {
    let described = session.schema[plan.classID]
    for (number, rule) in described.uniqueRules.enumerated() {
      let columns = rule.map { described[$0] }
      let combination = try columns.map { column in
        if case .value(let value)? = contents[column.name] { return value }
        guard let key else { return ColumnReading(column).isRequired ? column.type.zero : .null }
        return try session.value(of: column.id, at: key, in: plan.classID) ?? .null
      }
      guard let unique = UniqueKey(combination, columns),
        try isTaken(unique, Rule(classID: plan.classID, number: number), by: key)
      else { continue }
      let names = columns.map { "'\($0.name)'" }.joined(separator: ", ")
      let texts = combination.map { ValueText.shown($0) }.joined(separator: ", ")
      throw ToolError("another \(plan.className) has the same \(names): \(texts)")
    }
  }

  private func isTaken(_ combination: UniqueKey, _ rule: Rule, by key: ObjectKey?) throws -> Bool {
    if let owner = owners[Entry(rule: rule, bytes: combination.bytes)] { return owner != key }
    let reader = session.reader
    let found = try reader.withCursor { cursor throws(StorageError) in
      try PackedIndex(rule.classID, uniqueRule: rule.number).lookup(combination.order, &cursor)
    }
    // Columns may have had other ids before a migration.
    let columns = reader.schema[rule.classID].uniqueRules[rule.number]
    for other in found where other != key && !values.keys.contains(Place(rule: rule, key: other)) {
      if try reader.uniqueKey(of: other, in: rule.classID, columns) == combination { return true }
    }
    return false
  }

  /// Notes an object's present values.
  mutating func note(_ key: ObjectKey, in id: ClassID) throws {
    let described = session.schema[id]
    for (number, rule) in described.uniqueRules.enumerated() {
      let columns = rule.map { described[$0] }
      let combination = try columns.map { column in
        try session.value(of: column.id, at: key, in: id) ?? .null
      }
      let rule = Rule(classID: id, number: number)
      let bytes = UniqueKey(combination, columns)?.bytes
      let former = values.updateValue(bytes, forKey: Place(rule: rule, key: key)) ?? nil
      if let former, owners[Entry(rule: rule, bytes: former)] == key {
        owners[Entry(rule: rule, bytes: former)] = nil
      }
      if let bytes { owners[Entry(rule: rule, bytes: bytes)] = key }
    }
  }
}
