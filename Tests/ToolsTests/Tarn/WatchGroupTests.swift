import Foundation
import TestSupport
import Testing

/// `tarn watch --group`, while other processes write.
@Suite struct WatchGroupTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = TemporaryFolder()
    let lines = """
      {"id":1,"breed":"pug","age":7}
      {"id":2,"breed":"collie","age":3}
      {"id":3,"breed":"pug","age":9}

      """
    let done = try ToolProcess.run(
      folder, "import", "a.realm", "-", "-f", "jsonl", "-c", "Dog", "-k", "id", input: lines)
    try #require(done.status == 0)
  }

  private func tarn(_ arguments: String..., input: String = "") throws {
    let done = try ToolProcess(folder, arguments, input: input).finish()
    try #require(done.status == 0, "\(done.errors)")
  }

  private func watch(_ arguments: String...) throws -> ToolProcess {
    try ToolProcess(folder, ["watch", "a.realm", "Dog"] + arguments)
  }

  @Test func groupsFollowOtherProcesses() throws {
    let watch = try watch("--group", "breed", "--aggregates", "count,max:age", "--exit-after", "4")
    #expect(try watch.line() == "version 1  Dog  2 groups")
    #expect(try watch.line() == "   breed   count  max:age")
    #expect(try watch.line() == "0  collie      1        3")
    #expect(try watch.line() == "1  pug         2        9")
    try tarn("set", "a.realm", "Dog", "--where", "id == 3", "age=12")
    #expect(try watch.line() == "version 2  Dog  ~1  now 2 groups")
    #expect(try watch.line() == "  ~ [1] pug  max:age 9 → 12")
    // No figure is another one.
    try tarn("set", "a.realm", "Dog", "--where", "id == 1", "age=8")
    try tarn("set", "a.realm", "Dog", "--where", "id == 2", "breed=boxer")
    #expect(try watch.line() == "version 4  Dog  +1 -1  now 2 groups")
    #expect(try watch.line() == "  - [0] collie  count 1  max:age 3")
    #expect(try watch.line() == "  + [0] boxer  count 1  max:age 3")
    try tarn("delete", "a.realm", "Dog", "--where", "id == 3")
    #expect(try watch.line() == "version 5  Dog  ~1  now 2 groups")
    #expect(try watch.line() == "  ~ [1] pug  count 2 → 1  max:age 12 → 8")
    try tarn("delete", "a.realm", "Dog", "--all")
    #expect(try watch.line() == "version 6  Dog  -2  now 0 groups")
    #expect(try watch.finish().status == 0)
  }

  @Test func aWindowOfGroupsAsJSON() throws {
    let watch = try watch(
      "-g", "breed", "-a", "count", "--where", "age > 2", "--limit", "1", "--json", "--exit-after",
      "2")
    #expect(
      try watch.line() == """
        {"version":1,"class":"Dog","initial":[{"breed":"collie","count":1}]}
        """)
    // The second group is not shown.
    try tarn("set", "a.realm", "Dog", "--where", "id == 3", "age=0")
    try tarn("set", "a.realm", "Dog", "--where", "id == 1", "breed=boxer")
    #expect(
      try watch.line() == """
        {"version":3,"class":"Dog","deletions":[{"index":0,"key":"collie",\
        "old":{"breed":"collie","count":1}}],"insertions":[{"index":0,"key":"boxer",\
        "new":{"breed":"boxer","count":1}}],"modifications":[]}
        """)
    try tarn("set", "a.realm", "Dog", "--where", "id == 2", "breed=boxer")
    #expect(
      try watch.line() == """
        {"version":4,"class":"Dog","deletions":[],"insertions":[],"modifications":[\
        {"index":0,"key":"boxer","old":{"count":1},"new":{"count":2}}]}
        """)
    #expect(try watch.finish() == .init(status: 0, output: "", errors: ""))
  }

  @Test func allObjectsAreOneGroupWithoutAName() throws {
    let watch = try watch("--aggregates", "sum:age", "--json", "--exit-after", "1")
    #expect(
      try watch.line() == "{\"version\":1,\"class\":\"Dog\",\"initial\":[{\"sum:age\":19}]}")
    try tarn("set", "a.realm", "Dog", "--where", "id == 3", "age=10")
    #expect(
      try watch.line() == """
        {"version":2,"class":"Dog","deletions":[],"insertions":[],"modifications":[\
        {"index":0,"old":{"sum:age":19},"new":{"sum:age":20}}]}
        """)
    #expect(try watch.finish().status == 0)
  }

  @Test func aStoppedWatchGetsOneMergedDifference() throws {
    let watch = try watch("-g", "breed", "-a", "count", "--json", "--exit-after", "1")
    #expect(try watch.line() != nil)
    watch.signal(SIGSTOP)
    try tarn("set", "a.realm", "Dog", "--where", "id == 3", "breed=collie")
    try tarn("set", "a.realm", "Dog", "--where", "id == 1", "breed=boxer")
    // With the schema's change nothing can be told version by version.
    try tarn(
      "import", "a.realm", "-", "-f", "jsonl", "-c", "Dog",
      input: "{\"id\":4,\"breed\":\"boxer\",\"age\":6,\"note\":\"new\"}")
    watch.signal(SIGCONT)
    #expect(
      try watch.line() == """
        {"version":4,"class":"Dog","deletions":[{"index":1,"key":"pug",\
        "old":{"breed":"pug","count":2}}],"insertions":[{"index":0,"key":"boxer",\
        "new":{"breed":"boxer","count":2}}],"modifications":[{"index":0,"key":"collie",\
        "old":{"count":1},"new":{"count":2}}]}
        """)
    #expect(try watch.finish().status == 0)
  }

  @Test func whatCannotBeAskedIsRefused() throws {
    let sorted = try watch("-g", "breed", "--sort", "age").finish()
    #expect(sorted.status == 2)
    #expect(sorted.errors.contains("--sort does not go with --group and --aggregates"))
    let classless = try ToolProcess(folder, ["watch", "a.realm", "-g", "breed"]).finish()
    #expect(classless.status == 2)
    #expect(classless.errors.contains("--group needs a CLASS"))
    let unknown = try watch("-g", "bread").finish()
    #expect(unknown.status == 1, "\(unknown)")
    #expect(unknown.errors.contains("bread"), "\(unknown)")
  }

  @Test(arguments: ["query", "count", "watch"])
  func theWayToTheObjectsIsExplained(_ command: String) throws {
    func explanation(_ condition: String) throws -> String {
      let done = try ToolProcess(
        folder, [command, "a.realm", "Dog", "--where", condition, "--explain"]
      ).finish()
      #expect(done.status == 0)
      #expect(done.errors.isEmpty)
      return done.output
    }
    #expect(try explanation("id == 2").hasPrefix("find: the primary key"))
    let scan = try explanation("age > 5")
    #expect(scan.hasPrefix("find: scan of all 3 objects"))
    #expect(
      scan.hasSuffix(
        """
        keep: each commit changes the rows that it touches
        route: changes find it by age >= 6

        """))
  }
}
