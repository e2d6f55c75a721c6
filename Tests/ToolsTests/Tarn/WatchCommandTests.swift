import Foundation
import TestSupport
import Testing

/// `tarn watch` and what a shell expects of any command, with several processes on one file.
@Suite struct WatchCommandTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = TemporaryFolder()
    let lines = """
      {"id":1,"name":"Rex","age":7}
      {"id":2,"name":"Bo","age":3}
      {"id":3,"name":"Ada","age":9}

      """
    let done = try ToolProcess.run(
      folder, "import", "a.realm", "-", "-f", "jsonl", "-c", "Dog", "-k", "id", input: lines)
    try #require(done.status == 0)
  }

  private func tarn(_ arguments: String..., input: String = "") throws {
    let done = try ToolProcess(folder, arguments, input: input).finish()
    try #require(done.status == 0, "\(done.errors)")
  }

  @Test func aResultFollowsOtherProcesses() throws {
    let watch = try ToolProcess(
      folder,
      [
        "watch", "a.realm", "Dog", "--where", "age > 5", "--sort", "name", "--json",
        "--exit-after", "5",
      ])
    #expect(
      try watch.line() == """
        {"version":1,"class":"Dog","initial":[{"id":3,"name":"Ada","age":9},\
        {"id":1,"name":"Rex","age":7}]}
        """)
    try tarn(
      "import", "a.realm", "-", "-f", "jsonl", "-c", "Dog",
      input: "{\"id\":4,\"name\":\"Kim\",\"age\":6}")
    #expect(
      try watch.line() == """
        {"version":2,"class":"Dog","deletions":[],"insertions":[{"index":1,"key":4,\
        "new":{"id":4,"name":"Kim","age":6}}],"modifications":[]}
        """)
    try tarn("set", "a.realm", "Dog", "--where", "id == 4", "age=8")
    #expect(
      try watch.line() == """
        {"version":3,"class":"Dog","deletions":[],"insertions":[],"modifications":[\
        {"index":1,"key":4,"old":{"age":6},"new":{"age":8}}]}
        """)
    // Nothing of this is in the result.
    try tarn("set", "a.realm", "Dog", "--where", "id == 2", "age=4")
    try tarn("set", "a.realm", "Dog", "--where", "name == 'Ada'", "name=Zoe")
    #expect(
      try watch.line() == """
        {"version":5,"class":"Dog","deletions":[{"index":0,"key":3,"old":{"id":3,"name":"Ada",\
        "age":9}}],"insertions":[{"index":2,"key":3,"new":{"id":3,"name":"Zoe","age":9}}],\
        "modifications":[]}
        """)
    try tarn("delete", "a.realm", "Dog", "--where", "name BEGINSWITH 'K'")
    #expect(
      try watch.line() == """
        {"version":6,"class":"Dog","deletions":[{"index":0,"key":4,"old":{"id":4,"name":"Kim",\
        "age":8}}],"insertions":[],"modifications":[]}
        """)
    try tarn("delete", "a.realm", "Dog", "--all")
    let last = try watch.line()
    #expect(last?.hasPrefix("{\"version\":7,\"class\":\"Dog\",\"deletions\":[{") == true)
    #expect(try watch.finish() == .init(status: 0, output: "", errors: ""))
  }

  /// What leaves the window makes room, what comes before it pushes something out.
  @Test func aWindowFollowsOtherProcesses() throws {
    let watch = try ToolProcess(
      folder,
      [
        "watch", "a.realm", "Dog", "--sort", "age:desc", "--offset", "1", "--limit", "1", "--json",
        "--columns", "id,age", "--exit-after", "3",
      ])
    #expect(
      try watch.line() == "{\"version\":1,\"class\":\"Dog\",\"initial\":[{\"id\":1,\"age\":7}]}")
    try tarn("set", "a.realm", "Dog", "--where", "id == 1", "age=8")
    #expect(
      try watch.line() == """
        {"version":2,"class":"Dog","deletions":[],"insertions":[],"modifications":[\
        {"index":0,"key":1,"old":{"age":7},"new":{"age":8}}]}
        """)
    // The last one and its name are not shown.
    try tarn("set", "a.realm", "Dog", "--where", "id == 2", "name=Tim")
    try tarn("set", "a.realm", "Dog", "--where", "id == 1", "age=10")
    #expect(
      try watch.line() == """
        {"version":4,"class":"Dog","deletions":[{"index":0,"key":1,"old":{"id":1,"age":8}}],\
        "insertions":[{"index":0,"key":3,"new":{"id":3,"age":9}}],"modifications":[]}
        """)
    try tarn("delete", "a.realm", "Dog", "--where", "id == 1")
    let last = try watch.line()
    #expect(last?.contains("\"deletions\":[{\"index\":0,\"key\":3") == true)
    #expect(last?.contains("\"insertions\":[{\"index\":0,\"key\":2") == true)
    #expect(try watch.finish() == .init(status: 0, output: "", errors: ""))
  }

  @Test func allClassesAreFollowedAsText() throws {
    let watch = try ToolProcess(folder, ["watch", "a.realm", "--exit-after", "2"])
    #expect(try watch.line() == "version 1  Dog  3 objects")
    for _ in 0..<4 { _ = try watch.line() }
    try tarn("set", "a.realm", "Dog", "--where", "age > 5", "name=X")
    #expect(try watch.line() == "version 2  Dog  ~2  now 3 objects")
    #expect(try watch.line() == "  ~ 1  name Rex → X")
    #expect(try watch.line() == "  ~ 3  name Ada → X")
    try tarn(
      "import", "a.realm", "-", "-f", "csv", "-c", "Cat", input: "name,lives\nTom,9\n")
    #expect(try watch.line() == "version 3  Cat  +1  now 1 object")
    #expect(try watch.line() == "  + 0  name Tom  lives 9")
    #expect(try watch.finish().status == 0)
  }

  @Test func aStoppedWatchGetsOneMergedDifference() throws {
    let watch = try ToolProcess(
      folder, ["watch", "a.realm", "Dog", "--where", "age > 5", "--json", "--exit-after", "1"])
    #expect(try watch.line() != nil)
    watch.signal(SIGSTOP)
    try tarn("set", "a.realm", "Dog", "--where", "id == 1", "age=20")
    try tarn("set", "a.realm", "Dog", "--where", "id == 2", "age=30")
    try tarn("delete", "a.realm", "Dog", "--where", "id == 3")
    try tarn("set", "a.realm", "Dog", "--where", "id == 1", "age=21")
    watch.signal(SIGCONT)
    #expect(
      try watch.line() == """
        {"version":5,"class":"Dog","deletions":[{"index":1,"key":3,"old":{"id":3,"name":"Ada",\
        "age":9}}],"insertions":[{"index":1,"key":2,"new":{"id":2,"name":"Bo","age":30}}],\
        "modifications":[{"index":0,"key":1,"old":{"age":7},"new":{"age":21}}]}
        """)
    #expect(try watch.finish().status == 0)
  }

  @Test func aWatchGoesOnWithoutItsSignalFile() throws {
    let watch = try ToolProcess(folder, ["watch", "a.realm", "Dog", "--rows", "0"])
    #expect(try watch.line() == "version 1  Dog  3 objects")
    try FileManager.default.removeItem(atPath: folder.path + "/a.realm-signal")
    try tarn("set", "a.realm", "Dog", "--where", "id == 1", "age=8")
    #expect(try watch.line() == "version 2  Dog  ~1  now 3 objects")
    #expect(try watch.line() == "  ~ [0] 1  age 7 → 8")
    watch.signal(SIGTERM)
    let done = try watch.finish()
    #expect(done.status == 0)
    #expect(done.errors.contains("the signal file was deleted or replaced"))
  }

  @Test func aWatchShowsColumnsThatComeLater() throws {
    let watch = try ToolProcess(
      folder, ["watch", "a.realm", "Dog", "--json", "--where", "age > 8", "--exit-after", "1"])
    #expect(try watch.line() != nil)
    try tarn(
      "import", "a.realm", "-", "-f", "jsonl", "-c", "Dog", "--update",
      input: "{\"id\":3,\"isGood\":true}")
    #expect(
      try watch.line() == """
        {"version":2,"class":"Dog","deletions":[],"insertions":[],"modifications":[\
        {"index":0,"key":3,"old":{},"new":{"isGood":true}}]}
        """)
  }

  @Test func objectsWithoutAPrimaryKeyAreNamedByTheirKeys() throws {
    try tarn("import", "a.realm", "-", "-f", "csv", "-c", "Cat", input: "name\nTom\nKit\n")
    let watch = try ToolProcess(folder, ["watch", "a.realm", "--json", "--exit-after", "1"])
    #expect(try watch.line()?.hasPrefix("{\"version\":2,\"class\":\"Dog\",\"initial\":[") == true)
    #expect(
      try watch.line() == """
        {"version":2,"class":"Cat","initial":[{"name":"Tom"},{"name":"Kit"}],"keys":[0,1]}
        """)
    try tarn("delete", "a.realm", "Cat", "--where", "name == 'Kit'")
    #expect(
      try watch.line() == """
        {"version":3,"class":"Cat","deletions":[{"key":1,"old":{"name":"Kit"}}],\
        "insertions":[],"modifications":[]}
        """)
  }

  @Test(arguments: [
    ("demo.sh", "7 exact changes"), ("demo-daemon.sh", "2 changes handed to a script."),
  ])
  func theDemosRunAndLeaveNothingBehind(_ script: String, _ end: String) throws {
    let root = URL(fileURLWithPath: #filePath).pathComponents.dropLast(4).joined(separator: "/")
    let demo = try ToolProcess(
      folder, [root + "/Tools/demo/\(script)", ToolProcess.tarn.path], program: "/bin/bash")
    let done = try demo.finish()
    #expect(done.status == 0, "\(done.errors)")
    #expect(done.output.contains(end))
    #expect(folder.names.filter { $0.hasPrefix("tarn-demo") }.isEmpty)
  }

  @Test(arguments: [SIGTERM, SIGINT])
  func aSignalEndsAWatch(_ number: Int32) throws {
    let watch = try ToolProcess(folder, ["watch", "a.realm", "Dog", "--json"])
    #expect(try watch.line()?.hasPrefix("{\"version\":1,") == true)
    watch.signal(number)
    #expect(try watch.finish() == .init(status: 0, output: "", errors: ""))
  }

  @Test func aSignalEndsAWatchThatNobodyReads() throws {
    // More than a pipe holds, so that the watch is stuck in writing its first state.
    let lines = (10..<5000).map { "{\"id\":\($0),\"name\":\"a dog with a long name\"}\n" }.joined()
    try tarn(
      "import", "a.realm", "-", "-f", "jsonl", "-c", "Dog", "--update", "--defaults", input: lines)
    let watch = try ToolProcess(folder, ["watch", "a.realm", "Dog", "--json"])
    try watch.awaitOutput()
    watch.signal(SIGTERM)
    #expect(watch.status() == 0)
  }

  @Test func aReaderThatLeavesEndsAWatch() throws {
    let watch = try ToolProcess(folder, ["watch", "a.realm", "Dog", "--json"])
    #expect(try watch.line() != nil)
    watch.closeOutput()
    #expect(watch.status() == 0)
    #expect(watch.errors().isEmpty)
  }

  @Test func aReaderThatLeavesEndsAnExport() throws {
    let lines = (10..<5000).map { "{\"id\":\($0),\"name\":\"a dog with a long name\"}\n" }.joined()
    try tarn(
      "import", "a.realm", "-", "-f", "jsonl", "-c", "Dog", "--update", "--defaults", input: lines)
    let export = try ToolProcess(folder, ["export", "a.realm", "Dog"])
    #expect(try export.line() == "{\"id\":1,\"name\":\"Rex\",\"age\":7}")
    export.closeOutput()
    #expect(export.status() == 0)
    #expect(export.errors().isEmpty)
  }

  @Test(arguments: [
    ["frobnicate"], ["watch"], ["watch", "a.realm", "--where", "age > 5"],
    ["export", "a.realm", "Dog", "--where", "age >"], ["export", "a.realm", "Dog", "-f", "xml"],
    ["import", "a.realm", "-", "-c", "Dog"], ["import", "a.realm", "x.csv"],
    ["delete", "a.realm", "Dog"], ["set", "a.realm", "Dog", "--all", "age"],
    ["watch", "a.realm", "Dog", "--sort", "age:up"],
  ])
  func aCommandThatMakesNoSenseEndsWithTwo(_ arguments: [String]) throws {
    let done = try ToolProcess(folder, arguments).finish()
    #expect(done.status == 2)
    #expect(done.output.isEmpty)
    #expect(done.errors.hasPrefix("tarn: "))
  }

  @Test(arguments: [
    (["watch", "none.realm"], "none.realm: there is no such file"),
    (["inspect", "none.realm"], "none.realm: there is no such file"),
    (["watch", "a.realm", "Cat"], "no class 'Cat' in a.realm; it has: Dog"),
    (["export", "a.realm", "Dog", "--where", "weight > 5"], "has no property 'weight'"),
    (["set", "a.realm", "Dog", "--all", "id=5"], "'id' is the primary key"),
    (["set", "a.realm", "Dog", "--all", "age=old"], "column 'age': 'old' is not of type int"),
  ])
  func whatTheFileDoesNotAllowEndsWithOne(_ arguments: [String], _ message: String) throws {
    let done = try ToolProcess(folder, arguments).finish()
    #expect(done.status == 1)
    #expect(done.errors.contains(message))
    #expect(!folder.names.contains("none.realm"))
  }
}
