import TarnStore

/// Rows of the server that would break a unique rule of the file, because an object with unsent
/// changes has the same values here.
///
/// The server refuses these changes, unless its row has other values by then. Until it has received
/// them, the file leaves out the columns of the rule, or a new row as a whole.
struct Clashes {
  /// By incarnation.
  private var columns: [ClassID: [Int64: Set<ColumnID>]] = [:]

  static let fault = ValueFault(
    "another object has the same value here, in changes that the server does not have yet")

  var isEmpty: Bool { columns.isEmpty }

  /// The parts of a row that are left out.
  func parts(of incarnation: Int64, in id: ClassID) -> [LeftOut.Part] {
    (columns[id]?[incarnation] ?? []).sorted().map {
      LeftOut.Part(column: $0, fault: Self.fault)
    }
  }

  /// - Returns: whether the rule was new for the row.
  mutating func add(_ rule: [ColumnID], of incarnation: Int64, in id: ClassID) -> Bool {
    let former = columns[id]?[incarnation] ?? []
    columns[id, default: [:]][incarnation] = former.union(rule)
    return !former.isSuperset(of: rule)
  }
}

/// Unique rules that downloaded rows and unsent changes break together.
extension ReplicaEdit {
  /// The values of a row that its object cannot get unchanged.
  func faults(in row: RowReader.Row, _ one: ReplicaClass) -> [LeftOut.Part] {
    one.faults(in: row) + (clashes?.parts(of: row.incarnation, in: one.id) ?? [])
  }

  /// Whether a row is left out only until unsent changes have been sent.
  func clashes(_ incarnation: Int64, _ id: ClassID) -> Bool {
    clashes?.parts(of: incarnation, in: id).isEmpty == false
  }

  /// Records an object that shows a row of the server in this write.
  func noteShown(_ row: RowReader.Row, _ key: ObjectKey, _ one: ReplicaClass) {
    if clashes == nil || one.described.uniqueRules.isEmpty { return }
    rows[one.id, default: [:]][key] = row.incarnation
  }

  /// Adds the rows of this write that break a rule together with unsent changes.
  ///
  /// - Returns: whether there was one that was not known.
  func findClashes(_ clashes: inout Clashes) throws(StorageError) -> Bool {
    var isAny = false
    for (id, shown) in rows {
      for rule in session.schema[id].uniqueRules {
        let mine = try unsentHolders(of: rule, in: id)
        for (key, incarnation) in shown {
          guard let values = try values(of: rule, at: key, in: id),
            mine[values.bytes]?.contains(where: { $0 != key }) == true,
            try hasChanged(rule, at: key, in: id)
          else { continue }
          if clashes.add(rule, of: incarnation, in: id) { isAny = true }
        }
      }
    }
    return isAny
  }

  /// The objects whose values under a rule are unsent, by these values.
  private func unsentHolders(
    of rule: [ColumnID], in id: ClassID
  ) throws(StorageError) -> [[UInt8]: [ObjectKey]] {
    var holders: [[UInt8]: [ObjectKey]] = [:]
    for key in try unsent.keys(in: id) where try exists(key, in: id) {
      let pending = try unsent.pending(of: key, in: id, after: objects[id, key]?.void ?? 0)
      guard pending.isCreated || rule.contains(where: pending.columns.contains),
        let values = try values(of: rule, at: key, in: id)
      else { continue }
      holders[values.bytes, default: []].append(key)
    }
    return holders
  }

  private func values(
    of rule: [ColumnID], at key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> UniqueKey? {
    var values: [Value] = []
    for column in rule {
      guard let value = try session.value(of: column, at: key, in: id) else { return nil }
      values.append(value)
    }
    return UniqueKey(values, rule.map { session.schema[id][$0] })
  }

  /// Whether this write has set values of a rule.
  private func hasChanged(
    _ rule: [ColumnID], at key: ObjectKey, in id: ClassID
  ) throws(StorageError) -> Bool {
    for column in rule {
      let former = try session.reader.value(of: column, at: key, in: id)
      if try session.value(of: column, at: key, in: id) != former { return true }
    }
    return false
  }
}
