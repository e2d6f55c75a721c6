import TarnStore

/// The keys that a push deletes and creates again, if the server changes the rows that refer to a
/// deleted one (for example by `ON DELETE CASCADE`), or refuses the deletion because of them
/// (`RESTRICT`). It does so at the end of the deleting statement, and would affect the rows that
/// refer to the new one. So these are written by a later statement.
struct KeysMadeAgain {
  private var keys: [Int: Set<[UInt8]>] = [:]

  init(_ classes: [(class: ExchangeClass, operations: [(Value, Push.Operation)])]) {
    let targets = Set(
      classes.flatMap { $0.class.rules.foreignKeys.filter { $0.action != .noAction }.map(\.target) }
    )
    for (one, operations) in classes where targets.contains(one.id) {
      var (deleted, made): (Set<[UInt8]>, Set<[UInt8]>) = ([], [])
      for (key, operation) in operations {
        guard let bytes = WireValue(key)?.bytes else { continue }
        switch operation {
        case .delete: deleted.insert(bytes)
        case .insert: made.insert(bytes)
        case .update: break
        }
      }
      keys[one.id] = deleted.intersection(made)
    }
  }

  func contains(_ key: Value, of id: Int) -> Bool {
    guard let own = keys[id], let bytes = WireValue(key)?.bytes else { return false }
    return own.contains(bytes)
  }

  /// Whether a row refers to one of them.
  func isNeeded(
    by values: [String: ObjectRow<WireValue?>.Property], of one: ExchangeClass
  ) -> Bool {
    one.rules.foreignKeys.contains { key in
      guard key.action != .noAction, let own = keys[key.target], let column = key.column,
        case .single(let value)? = values[column]?.content, let bytes = value?.bytes
      else { return false }
      return own.contains(bytes)
    }
  }
}
