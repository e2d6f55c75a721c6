import TarnStore

/// A few bytes about all rows of a class that a login may see, with which a replica notices changes
/// that no transaction reported: a policy that depends on the clock, an unannounced restore.
///
/// Incarnations are random, so their exclusive or distinguishes sets of objects; a new version of a
/// row has a larger number, so it changes the sum.
struct ClassDigest: Equatable {
  private(set) var count = 0
  private var incarnations: Int64 = 0
  private var versions: UInt128 = 0

  init() {}

  /// Adds an object.
  mutating func add(incarnation: Int64, version: Int64) {
    count += 1
    incarnations ^= incarnation
    versions &+= UInt128(UInt64(bitPattern: version))
  }

  /// Reads the digest from the server.
  init(_ one: ExchangeClass, _ connection: ServerConnection) throws(ServerError) {
    let operation = "compare \(one.table)"
    var parameters: [WireParameter] = []
    let filter = one.filter.map { " WHERE \($0.text(adding: &parameters))" } ?? ""
    let rows = try connection.binary(
      """
      SELECT count(*)::text, coalesce(bit_xor(_tarn_oid), 0)::text,
        coalesce(sum(_tarn_xid::text::bigint), 0)::text
      FROM \(one.rows)\(filter)
      """, parameters, for: operation)
    guard let row = rows.texts.first, let count = row[0].flatMap({ Int($0) }),
      let incarnations = row[1].flatMap({ Int64($0) }),
      let versions = row[2].flatMap({ UInt128($0) })
    else { throw ServerError(operation, "the server gave no digest") }
    (self.count, self.incarnations, self.versions) = (count, incarnations, versions)
  }
}
