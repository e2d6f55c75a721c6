import Foundation
import TestSupport
import Testing

/// `tarn` with columns that are called as a spreadsheet calls them.
@Suite struct QuotedNameToolTests {
  private let folder = TemporaryFolder()

  init() throws {
    let lines = """
      No.,Total Amount,Unit-Price,Price ($),a.b,"Last, First"
      1,10,0.5,1,6,x
      2,20,0.5,0,5,y
      3,30,0.5,1,4,z

      """
    let done = try ToolProcess.run(
      folder, "import", "a.realm", "-", "-f", "csv", "-c", "Line", "-k", "`No.`", "-t",
      "`a.b`:int,`Last, First`:string", input: lines)
    try #require(done.status == 0, "\(done.errors)")
  }

  private func tarn(_ arguments: String...) throws -> ToolProcess.Result {
    try ToolProcess(folder, arguments).finish()
  }

  @Test func queriesNameThem() throws {
    let done = try tarn(
      "query", "a.realm", "Line", "`Total Amount` > 10 AND `Unit-Price` == 0.5", "--sort",
      "`a.b`:asc,`Last, First`", "--columns", "`No.`,`Last, First`,a.b", "--csv")
    #expect(done.errors == "")
    #expect(done.output == "No.,\"Last, First\",a.b\n3,z,4\n2,y,5\n")
    let groups = try tarn(
      "query", "a.realm", "Line", "--group", "`Price ($)`", "--aggregates", "count,max:`a.b`",
      "--csv")
    #expect(groups.errors == "")
    #expect(groups.output == "Price ($),count,max:`a.b`\n0,1,5\n1,2,6\n")
    let dotted = try tarn("query", "a.realm", "Line", "--group", "`a.b`", "--csv")
    #expect(dotted.output == "a.b,count\n4,1\n5,1\n6,1\n")
  }

  @Test func setNamesThem() throws {
    let done = try tarn(
      "set", "a.realm", "Line", "`a.b`=9", "Total Amount=7", "-w", "`Price ($)` == 0")
    #expect(done.errors == "")
    let shown = try tarn(
      "query", "a.realm", "Line", "`No.` == 2", "--columns", "Total Amount,a.b", "--csv")
    #expect(shown.output == "Total Amount,a.b\n7,9\n")
  }

  @Test(arguments: [
    (["Total Amount > 10"], 2, "`Total Amount`"), (["a.b > 1"], 1, "`a.b`"),
    (["--sort", "a.b"], 1, "`a.b`"), (["--aggregates", "sum:a.b"], 1, "`a.b`"),
    (["--group", "a.b"], 1, "`a.b`"),
  ])
  func anErrorSaysHowTheyAreWritten(
    _ arguments: [String], _ status: Int32, _ advice: String
  ) throws {
    let done = try ToolProcess(folder, ["query", "a.realm", "Line"] + arguments).finish()
    #expect(done.status == status, "\(done.errors)")
    #expect(done.errors.contains("in back quotes: \(advice)"), "\(done.errors)")
  }
}
