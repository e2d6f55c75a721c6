/// The position up to which a replica has seen a server: the snapshot of its last download. Rows
/// are new if their transaction is at or after the end, or was still open.
package struct ServerPosition: Hashable, Sendable {
  /// The first transaction that had not begun.
  package let end: UInt64
  /// Earlier transactions that had not ended.
  package let open: [UInt64]

  /// Before everything.
  package static let none = ServerPosition(end: 0, open: [])

  init(end: UInt64, open: [UInt64]) {
    self.end = end
    self.open = open
  }

  /// - Parameter text: in the form of `pg_snapshot`: the oldest open one, the end, the open ones.
  package init?(_ text: String) {
    let parts = text.splitASCII(":", omittingEmpty: false)
    guard parts.count == 3, let end = UInt64(parts[1]) else { return nil }
    var open: [UInt64] = []
    for part in parts[2].splitASCII(",") {
      guard let one = UInt64(part) else { return nil }
      open.append(one)
    }
    self.init(end: end, open: open)
  }

  /// The first transaction that has not been seen completely.
  var oldest: UInt64 { min(end, open.min() ?? end) }

  /// The SQL condition for rows in a later download from here.
  var isNew: String {
    "(_tarn_xid >= '\(end)' AND _tarn_xid < pg_snapshot_xmax(pg_current_snapshot())"
      + " OR _tarn_xid = ANY ('\(openText)'))"
  }

  /// In the form of an `xid8[]`.
  var openText: String { "{\(open.map(String.init).joined(separator: ","))}" }
}
