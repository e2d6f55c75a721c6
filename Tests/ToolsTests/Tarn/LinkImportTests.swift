import Foundation
import TestSupport
import Testing

/// `tarn import` of objects that link to each other, whatever comes first.
@Suite struct LinkImportTests {
  private let folder = TemporaryFolder()

  private static let people = """
    {"id":"ann","dog":2,"friends":["cid","bob","cid"],"pets":[1,2],"byName":{"x":2,"y":null},\
    "any":null}
    {"id":"bob","dog":null,"friends":["bob"],"pets":[],"byName":{},\
    "any":{"$type":"link","class":"Dog","value":1}}
    {"id":"cid","dog":1,"friends":["ann"],"pets":[2],"byName":{"x":1},\
    "any":[1,{"k":{"$type":"link","class":"Person","value":"cid"}}]}

    """
  private static let dogs = """
    {"id":1,"name":"Rex","owner":"cid","parent":2}
    {"id":2,"name":"Bo","owner":"ann","parent":1}

    """
  private static let types =
    "dog:Dog,friends:list<Person>,pets:set<Dog>,byName:map<Dog>,any:any,owner:Person,"
    + "Dog.parent:Dog?"

  private func run(_ arguments: [String], input: String = "") throws -> ToolProcess.Result {
    try ToolProcess(folder, arguments, input: input).finish()
  }

  private func export(_ file: String, _ name: String, _ format: String = "jsonl") throws -> String {
    let done = try run(["export", file, name, "-f", format])
    #expect(done.status == 0, "\(done.errors)")
    return done.output
  }

  /// Imports both classes at once.
  private func load(
    _ file: String, _ people: String, _ dogs: String, _ format: String = "jsonl",
    _ more: [String] = []
  ) throws -> ToolProcess.Result {
    let paths = [
      try folder.file("people.\(format)", Array(people.utf8)),
      try folder.file("dogs.\(format)", Array(dogs.utf8)),
    ]
    return try run(
      ["import", file] + paths + ["-c", "Person", "-c", "Dog", "-k", "id", "-t", Self.types] + more)
  }

  private func expectSound(_ file: String) throws {
    let check = try run(["inspect", file, "--check"])
    #expect(check.status == 0, "\(check.output)")
  }

  // MARK: - What comes back

  @Test(arguments: ["jsonl", "csv"])
  func classesThatLinkToEachOtherComeBack(format: String) throws {
    let done = try load("a.realm", Self.people, Self.dogs)
    #expect(done.output == "Person: 3 added, Dog: 2 added, version 1\n", "\(done.errors)")
    #expect(try export("a.realm", "Person") == Self.people)
    #expect(try export("a.realm", "Dog") == Self.dogs)
    try expectSound("a.realm")
    let people = try export("a.realm", "Person", format)
    let dogs = try export("a.realm", "Dog", format)
    let again = try load("b.realm", people, dogs, format)
    #expect(again.status == 0, "\(again.errors)")
    #expect(try export("b.realm", "Person", format) == people)
    #expect(try export("b.realm", "Dog", format) == dogs)
    try expectSound("b.realm")
    // Read once more it changes nothing.
    let same = try load("b.realm", people, dogs, format, ["--update"])
    #expect(
      same.output == "Person: 0 added, 0 changed, 3 already the same, "
        + "Dog: 0 added, 0 changed, 2 already the same, version 1\n", "\(same)")
  }

  @Test(arguments: [[], ["--on-error", "skip"], ["--on-error", "skip", "--batch", "7"]])
  func aRingOfManyObjects(_ more: [String]) throws {
    let count = 2_000
    let lines = (0..<count).map { "{\"id\":\($0),\"next\":\(($0 + 1) % count)}\n" }.joined()
    let done = try run(
      ["import", "a.realm", "-", "-f", "jsonl", "-c", "Node", "-k", "id", "-t", "next:Node"] + more,
      input: lines)
    #expect(done.output.hasPrefix("Node: \(count) added, version "), "\(done.errors)")
    #expect(try export("a.realm", "Node") == lines)
    try expectSound("a.realm")
  }

  @Test func objectsWithoutAPrimaryKeyAreKnownByTheirPositions() throws {
    let lines = "{\"next\":2}\n{\"next\":0}\n{\"next\":null}\n"
    let arguments = ["import", "a.realm", "-", "-f", "jsonl", "-c", "Node"]
    let done = try run(arguments + ["-t", "next:Node"], input: lines)
    #expect(done.status == 0, "\(done.errors)")
    #expect(try export("a.realm", "Node") == lines)
    // They count on.
    #expect(try run(arguments, input: "{\"next\":4}\n{\"next\":1}\n").status == 0)
    #expect(try export("a.realm", "Node") == lines + "{\"next\":4}\n{\"next\":1}\n")
    let wrong = try run(arguments, input: "{\"next\":7}\n")
    #expect(wrong.errors.contains("line 1: column 'next': there is no Node '7'"))
  }

  @Test func updatesLinkToWhatComes() throws {
    _ = try load("a.realm", Self.people, Self.dogs)
    let done = try load(
      "a.realm", "{\"id\":\"ann\",\"dog\":3}\n{\"id\":\"bob\",\"dog\":null}\n",
      "{\"id\":3,\"name\":\"Max\",\"owner\":\"ann\",\"parent\":null}\n", "jsonl", ["--update"])
    #expect(
      done.output == "Person: 0 added, 1 changed, 1 already the same, Dog: 1 added, 0 changed, "
        + "0 already the same, version 2\n", "\(done)")
    #expect(try export("a.realm", "Person").hasPrefix("{\"id\":\"ann\",\"dog\":3,"))
  }

  // MARK: - What does not fit

  @Test func aLinkThatLeadsNowhereLeavesTheFileAsItWas() throws {
    let dogs = "{\"id\":3,\"name\":\"Max\",\"owner\":\"dan\"}\n{\"id\":4,\"parent\":5}\n"
    let first = try load("a.realm", Self.people, Self.dogs + dogs)
    #expect(first.status == 1)
    #expect(first.output.isEmpty)
    let file = folder.path + "/dogs.jsonl"
    #expect(first.errors.contains("\(file) line 3: column 'owner': there is no Person 'dan'\n"))
    #expect(first.errors.contains("\(file) line 4: column 'parent': there is no Dog '5'\n"))
    #expect(first.errors.contains("2 bad lines, so nothing was imported"))
    #expect(!folder.names.contains("a.realm"))
    _ = try load("a.realm", Self.people, Self.dogs)
    let url = URL(fileURLWithPath: folder.path + "/a.realm")
    let before = try Data(contentsOf: url)
    let second = try load(
      "a.realm", "{\"id\":\"eve\",\"friends\":[\"ann\",\"dan\"],\"new\":1}\n", "")
    #expect(second.errors.contains("column 'friends[1]': there is no Person 'dan'"))
    #expect(try Data(contentsOf: url) == before)
  }

  @Test func aBadLineIsNoTarget() throws {
    let done = try load(
      "a.realm", Self.people, "{\"id\":1,\"owner\":null}\n{\"id\":2,\"parent\":\"x\"}\n")
    #expect(done.errors.contains("line 2: column 'parent': \"x\" is not of type int"))
    #expect(done.errors.contains("line 1: column 'dog': there is no Dog '2'"))
  }

  @Test func aLinkThatLeadsNowhereStaysEmptyIfAsked() throws {
    let done = try run(
      [
        "import", "a.realm", "-", "-f", "jsonl", "-c", "Node", "-k", "id", "-t",
        "next:Node,all:list<Node>", "--on-error", "skip",
      ],
      input: "{\"id\":1,\"next\":5,\"all\":[2]}\n{\"id\":2,\"next\":1,\"all\":[1,9]}\n")
    #expect(done.output == "Node: 2 added, links left out in 2 lines, version 1\n")
    #expect(done.errors.contains("line 1: column 'next': there is no Node 5"))
    #expect(
      try export("a.realm", "Node")
        == "{\"id\":1,\"next\":null,\"all\":[2]}\n{\"id\":2,\"next\":1,\"all\":[1]}\n")
  }

  @Test func whatIsGivenWrongIsTold() throws {
    func errors(_ arguments: String...) throws -> String {
      let path = try folder.file("x.jsonl", Array("{\"id\":1,\"to\":1}\n".utf8))
      let done = try run(["import", "a.realm", path] + arguments)
      #expect(done.status != 0)
      #expect(!folder.names.contains("a.realm"))
      return done.errors
    }
    #expect(try errors("-c", "A", "-t", "to:Nobody").contains("'Nobody' is not a type"))
    #expect(try errors("-c", "A", "-t", "to:list<>").contains("no type 'list<>'"))
    #expect(try errors("-c", "A", "-c", "B").contains("for each INPUT: there are 2 and 1"))
    #expect(try errors("-c", "A", "-k", "id", "-k", "to").contains("--key is given twice"))
    let twice = try errors(folder.path + "/x.jsonl", "-c", "A", "-c", "A")
    #expect(twice.contains("a --class is given twice"))
    #expect(try errors("-c", "A", "-k", "A.none").contains("the key 'none' is not a column"))
  }
}
