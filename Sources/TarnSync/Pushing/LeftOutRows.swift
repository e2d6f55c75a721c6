import TarnStore

/// The values of the server's rows that a file has left out. A push does not write such values and
/// keys, because no program of this file has seen the values that would be replaced.
final class LeftOutRows {
  private let snapshot: Snapshot
  private var known: [ClassID: [Int64: LeftOut]] = [:]

  init(_ snapshot: Snapshot) { self.snapshot = snapshot }

  /// - Parameters:
  ///   - object: the entry of the object; nil for one that the server does not have.
  ///   - pending: the changes of the object.
  /// - Returns: why the changes are not sent; nil if they are.
  func refusal(
    of primaryKey: Value, _ object: ReplicaObject?, _ pending: UnsentChanges.Pending,
    _ one: ReplicaClass
  ) throws(StorageError) -> ServerError? {
    let rows = try rows(one.id)
    if rows.isEmpty { return nil }
    if let object, !pending.isCreated || object.isJoined {
      guard let row = rows[object.incarnation] else { return nil }
      let part = row.parts.first { pending.isCreated || pending.columns.contains($0.column) }
      return part.map { Self.refusal(row, $0, one) }
    }
    // An object that is replaced by another one is removed, with its values.
    if object != nil { return nil }
    let row = rows.values.first { $0.isWhole && $0.isOf(primaryKey) }
    return row.flatMap { row in row.parts.first.map { Self.refusal(row, $0, one) } }
  }

  private func rows(_ id: ClassID) throws(StorageError) -> [Int64: LeftOut] {
    if let found = known[id] { return found }
    let made = try LeftOut.all(in: id, snapshot).filter { !$0.value.isUntilSent }
    known[id] = made
    return made
  }

  private static func refusal(
    _ row: LeftOut, _ part: LeftOut.Part, _ one: ReplicaClass
  ) -> ServerError {
    let value = LeftOutValue(row, part, one.described)
    let isRounded = part.fault.kind == .rounded
    return ServerError(
      state: "22000", "send commits to the server",
      row.isWhole
        ? "the server has an object with the key \(value.primaryKey) that this store cannot hold"
        : "\(value.className).\(one.described[part.column].name) of \(value.primaryKey) cannot be"
          + " written here: "
          + (isRounded
            ? "the server has more digits than this store"
            : "the server has a value that this store cannot hold"),
      detail: "\(value.property): \(value.reason)",
      hint: "Correct it on the server; then it can be written here again.")
  }
}
