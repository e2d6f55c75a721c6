/// The changes that a push makes to rows of one table: a separate statement, or a part of a single
/// statement.
struct PushPart {
  enum Kind: Int, CaseIterable { case deletion, update, insertion }

  let kind: Kind
  /// The number of rows that it writes if there is no obstacle.
  let count: Int
  /// Whether it must wait until the rest has taken effect: it needs a key that the push deletes and
  /// creates again, and the server's rules for a deleted key would affect its rows.
  let isLater: Bool
  /// Whether it is an error if it writes fewer rows.
  let isChecked: Bool
  /// A further condition, in SQL.
  var condition: String?
  /// Whether it deletes rows whose keys the push creates again.
  var isAgain = false
  let parameters: [WireParameter]
  /// The size of the values.
  let byteCount: Int
  /// The text of the statement before its sources, and after them.
  let text: (head: String, tail: String)
  /// The name of the source, and of its parameters, each of which is an array.
  let source: (name: String, columns: [String])
  /// The result of a deletion or an insertion.
  static let returning = " RETURNING 1::bigint AS o"

  /// - Parameters:
  ///   - first: the number of its first parameter.
  ///   - relation: a relation with one row that must be complete before it.
  func statement(from first: Int, after relation: String?) -> String {
    let arrays = parameters.indices.map { "$\(first + $0)" }.joined(separator: ", ")
    let columns = source.columns.joined(separator: ", ")
    return "\(text.head) unnest(\(arrays)) \(source.name) (\(columns))"
      + "\(relation.map { ", \($0)" } ?? "")\(text.tail)"
  }

  /// The rows that a part has written.
  struct Result {
    var written = 0
    /// The incarnations of the rows of an update that our triggers have processed.
    var incarnations: Set<Int64> = []
  }
}

/// Several parts that take effect together. The server checks foreign keys, and applies their
/// rules, when all of them are done; so the order of tables does not matter.
///
/// Deletions free keys and unique values for updates and insertions, and updates free some for
/// insertions. Each kind waits for the one before by counting its rows. All parts see the rows in
/// their former state, so no two parts may change the same row.
struct PushStatement {
  let parts: [PushPart]

  /// A statement that fails with a division by zero if a part writes fewer rows than expected, so
  /// that the commit can follow without waiting for the result.
  var checked: ServerConnection.Statement {
    let counted = parts.indices.filter { parts[$0].isChecked }
    return made { parameters in
      let counts = counted.map { place in
        let count = WireValue(.int(Int64(parts[place].count)))?.bytes
        parameters.append(WireParameter(.bigint, count))
        return "(SELECT count(o) FROM p\(place)) = $\(parameters.count)"
      }
      let tests = counts + parts.compactMap(\.condition)
      return tests.isEmpty ? "SELECT 1" : "SELECT 1 / (\(tests.joined(separator: " AND ")))::int"
    }
  }

  /// A statement whose rows are read by `results(of:)`.
  var unchecked: ServerConnection.Statement {
    if parts.count == 1 {
      return ServerConnection.Statement(
        parts[0].statement(from: 1, after: nil), parts[0].parameters)
    }
    let answers = parts.enumerated().map { place, part in
      switch part.kind {
      case .update: "SELECT \(place)::bigint, p\(place).o FROM p\(place)"
      case .deletion, .insertion: "SELECT \(place)::bigint, count(*) FROM p\(place)"
      }
    }
    return made { _ in answers.joined(separator: " UNION ALL ") }
  }

  private func made(
    _ end: (inout [WireParameter]) -> String
  ) -> ServerConnection.Statement {
    var (relations, parameters): ([String], [WireParameter]) = ([], [])
    var former: String?
    for kind in PushPart.Kind.allCases {
      let own = parts.indices.filter { parts[$0].kind == kind }
      for place in own {
        let part = parts[place]
        let text = part.statement(from: parameters.count + 1, after: former)
        let returning = kind == .update ? "" : PushPart.returning
        relations.append("p\(place) AS (\(text)\(returning))")
        parameters += part.parameters
      }
      if own.isEmpty || parts.allSatisfy({ $0.kind.rawValue <= kind.rawValue }) { continue }
      let counts = own.map { "(SELECT count(*) FROM p\($0))" }
      former = "n\(kind.rawValue)"
      relations.append(
        "n\(kind.rawValue) AS MATERIALIZED (SELECT \(counts.joined(separator: " + ")))")
    }
    let last = end(&parameters)
    // A plan of many parts is rarely needed again.
    return ServerConnection.Statement(
      "WITH \(relations.joined(separator: ", ")) \(last)", parameters,
      isRepeated: parts.count <= 3)
  }

  /// - Returns: the result of each part.
  func results(of rows: WireRows) -> [PushPart.Result] {
    var results = parts.map { _ in PushPart.Result() }
    if parts.count == 1 {
      let found =
        parts[0].kind == .update ? (0..<rows.count).compactMap { rows.integer($0, 0) } : []
      results[0] = PushPart.Result(written: rows.written, incarnations: Set(found))
      return results
    }
    for row in 0..<rows.count {
      guard let place = rows.integer(row, 0).map({ Int($0) }), results.indices.contains(place),
        let number = rows.integer(row, 1)
      else { continue }
      if parts[place].kind == .update {
        results[place].written += 1
        results[place].incarnations.insert(number)
      } else {
        results[place].written = Int(number)
      }
    }
    return results
  }
}
