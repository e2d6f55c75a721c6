import TarnStore

/// The state of an object on the server whose row a replica does not see.
enum ServerFate: String {
  /// Deleted.
  case gone
  /// It exists, but not for this login.
  case hidden
  /// The server has neither the object nor its tombstone.
  case unknown

  /// - Parameter objects: their primary keys and incarnations.
  /// - Returns: the fate of each, by its incarnation.
  static func of(
    _ objects: [(key: Value, incarnation: Int64)], _ one: ExchangeClass,
    _ connection: ServerConnection, for operation: String
  ) throws(ServerError) -> [Int64: ServerFate] {
    let found = try connection.binary(
      """
      SELECT oid, fate FROM tarn.fate(
        $1::bigint::integer, $2::\(one.key.wire.name)[]::text[], $3)
      """,
      [
        WireParameter(.bigint, WireValue(.int(Int64(one.id)))?.bytes),
        WireParameter(array: one.key.wire, objects.map { WireValue($0.key)?.bytes }),
        WireParameter(array: .bigint, objects.map { WireValue(.int($0.incarnation))?.bytes }),
      ], for: operation)
    var fates: [Int64: ServerFate] = [:]
    for row in 0..<found.count {
      guard let incarnation = found.integer(row, 0),
        let text = found[row, 1].map({ String(decoding: $0, as: UTF8.self) })
      else { continue }
      fates[incarnation] = ServerFate(rawValue: text)
    }
    return fates
  }
}
