import CSQLite
import Foundation
import Tarn

class Memo: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var text = ""
}

/// A full-text index of memos, in an SQLite file of its own.
final class FullTextIndex {
  private var database: OpaquePointer?

  init(path: String) throws {
    try check(sqlite3_open(path, &database))
    try run("CREATE VIRTUAL TABLE IF NOT EXISTS memo USING fts5(text)")
    try run("CREATE TABLE IF NOT EXISTS progress (position TEXT)")
  }

  deinit { sqlite3_close(database) }

  /// Applies everything that was committed since the last call.
  func update(from realm: Realm) throws {
    let cursor = try realm.cursor(
      "full-text", of: .objects(of: Memo.self), startingAt: .snapshot,
      expecting: rows("SELECT position FROM progress").first.flatMap(ChangePosition.init))
    defer { cursor.close() }
    while let batch = try cursor.next() {
      // The effect and the position are one transaction of SQLite.
      try run("BEGIN")
      if batch.fullResync != nil {
        try run("DELETE FROM memo")
        for memo in batch.objects(Memo.self) { try store(memo) }
      } else {
        let memos = batch[Memo.self]
        for identity in memos.removals { try remove(identity.key() ?? 0) }
        for memo in memos.upserts { try store(memo) }
      }
      try run("DELETE FROM progress")
      try run("INSERT INTO progress VALUES (?)", batch.position.description)
      try run("COMMIT")
      try batch.acknowledge()
    }
  }

  /// The ids of the memos with these words.
  func search(_ words: String) throws -> [Int] {
    try rows("SELECT rowid FROM memo WHERE memo MATCH ? ORDER BY rowid", words).compactMap(Int.init)
  }

  private func store(_ memo: Memo) throws {
    try remove(memo.id)
    try run("INSERT INTO memo (rowid, text) VALUES (\(memo.id), ?)", memo.text)
  }

  private func remove(_ id: Int) throws { try run("DELETE FROM memo WHERE rowid = \(id)") }

  private func run(_ statement: String, _ value: String? = nil) throws {
    _ = try rows(statement, value)
  }

  /// The first column of each row.
  private func rows(_ text: String, _ value: String? = nil) throws -> [String] {
    var statement: OpaquePointer?
    try check(sqlite3_prepare_v2(database, text, -1, &statement, nil))
    defer { sqlite3_finalize(statement) }
    // SQLite copies the text.
    let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    if let value { try check(sqlite3_bind_text(statement, 1, value, -1, transient)) }
    var rows: [String] = []
    while true {
      let code = sqlite3_step(statement)
      guard code == SQLITE_ROW else {
        try check(code == SQLITE_DONE ? SQLITE_OK : code)
        return rows
      }
      rows.append(sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? "")
    }
  }

  private func check(_ code: Int32) throws {
    if code != SQLITE_OK { throw CocoaError(.fileWriteUnknown) }
  }
}
