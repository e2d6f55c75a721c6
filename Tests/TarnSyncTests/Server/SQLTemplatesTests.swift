import TarnStore
import Testing

@testable import TarnSync

/// The files of SQL, in sections with placeholders.
struct SQLTemplatesTests {
  private static let file = """
    --: first
    SELECT {{a}} FROM {{b}}
     -- {{a}}
    --: empty
    --: last
    a
      b

    """

  private let sql = SQLTemplates(Array(file.utf8))

  @Test func `sections are filled`() {
    #expect(sql.text("first", ["a": "1", "b": "t"]) == "SELECT 1 FROM t\n -- 1")
    #expect(sql.text("empty") == "")
    #expect(sql.text("last") == "a\n  b")
  }

  /// Names of tables and columns may contain anything.
  @Test func `values are not searched for placeholders`() {
    let text = sql.text("first", ["a": "{{b}}", "b": "}} {{a}}"])
    #expect(text == "SELECT {{b}} FROM }} {{a}}\n -- {{b}}")
  }

  @Test func `a placeholder without a value traps`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = SQLTemplates(Array("--: one\n{{a}} {{b}}\n".utf8)).text("one", ["a": "1"])
    }
    let message = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(message.contains("the SQL 'one' needs a value for {{b}}"))
  }

  /// Every placeholder of all files, for a class with columns of both kinds and for one without.
  @Test func `all SQL of the server is filled`() throws {
    let column = { (name: String, type: ColumnType) in
      ServerColumn(
        ColumnSchema(id: ColumnID(0), name: name, type: type), embedded: false, targetKey: nil)
    }
    let key = column("_id", .int)
    let all = [key, column("title", .string), column("extra", .any)]
    let texts = [[key], all].flatMap { columns in
      let entry = ServerCatalog.Entry(
        id: 1, name: "A", table: "\"A\"", key: "_id", columns: columns)
      return [ClassTriggers(entry).text, ClassFunctions.text([entry])]
    }
    let server = [
      ServerSchema.tables, ServerSchema.additions, ServerSchema.classes, ServerSchema.functions,
      ServerIdentity.firstNote, ServerIdentity.placeIsNoted,
    ]
    for text in texts + server {
      #expect(!text.isEmpty)
      #expect(!text.contains("{{"))
    }
  }
}
