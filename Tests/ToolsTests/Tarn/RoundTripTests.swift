import Foundation
import TarnStore
import TestSupport
import Testing

/// What is exported is imported, and exported again the same to the byte: values of every type.
@Suite struct RoundTripTests {
  private let folder = TemporaryFolder()

  private func open(_ name: String) throws -> Store {
    var options = Store.Options()
    options.isDurable = false
    options.classes = EveryType.classes
    return try StoreRegistry.open(folder.file(name), options)
  }

  private func fill(_ name: String, seed: UInt64) throws {
    try open(name).write { session in
      var every = try EveryType(seed: seed, session)
      for id in 0..<12 {
        try every.add("Thing", id: id)
        try every.add("Loose", id: id)
      }
    }
  }

  private func export(_ file: String, _ name: String, _ format: String = "jsonl") throws -> String {
    let done = try ToolProcess.run(folder, "export", file, name, "-f", format)
    #expect(done.status == 0, "\(done.errors)")
    return done.output
  }

  private func load(
    _ file: String, _ name: String, _ format: String, _ input: String, _ more: String...
  ) throws -> String {
    let arguments = ["import", file, "-", "-f", format, "-c", name] + more
    let done = try ToolProcess(folder, arguments, input: input).finish()
    #expect(done.status == 0, "\(done.errors)")
    return done.output
  }

  @Test(arguments: ["jsonl", "csv"], Seeds.of([1, 2, 3]))
  func everyTypeComesBack(_ format: String, _ seed: UInt64) throws {
    try fill("a.realm", seed: seed)
    _ = try open("b.realm")
    for name in ["Target", "Keyless", "Thing"] {
      let text = try export("a.realm", name, format)
      _ = try load("b.realm", name, format, text)
      #expect(try export("b.realm", name, format) == text)
    }
    // Reading back what is there already changes nothing.
    let lines = try export("b.realm", "Thing")
    let same = try load("b.realm", "Thing", "jsonl", lines, "--update")
    #expect(same.contains("0 added, 0 changed, 12 already the same"))
    let check = try ToolProcess.run(folder, "inspect", "b.realm", "--check")
    #expect(check.status == 0, "\(check.output)")
  }

  @Test(arguments: ["jsonl", "csv"])
  func newClassesGetTheTypesThatAreGiven(_ format: String) throws {
    try fill("a.realm", seed: 4)
    let text = try export("a.realm", "Loose", format)
    let types = "id:int," + EveryType.typeWords
    _ = try load("c.realm", "Loose", format, text, "-k", "id", "-t", types)
    #expect(try export("c.realm", "Loose", format) == text)
  }

  @Test func badValuesAreToldWithTheWayToThem() throws {
    let input = """
      {"id":1,"any_none_false":{"a":[1,{"$type":"uuid","value":"x"}]}}
      {"id":2,"int_list_false":[1,null]}
      {"id":3,"Inner_list":[{"name":"n","more":[{"name":"m","sums":["1","x"]}]}]}
      {"id":4,"bool_map_true":{"k":5}}
      {"id":5,"Inner_none":{"nam":"n"}}
      {"id":6,"any_set_false":[[1]]}
      {"id":7,"any_list_false":[{"$type":"tree","value":1}]}
      """
    _ = try open("a.realm")
    let done = try ToolProcess.run(
      folder, "import", "a.realm", "-", "-f", "jsonl", "-c", "Thing", input: input)
    #expect(done.status == 1)
    let wanted = [
      "line 1: column 'any_none_false['a'][1]': \"x\" is not of type uuid",
      "line 2: column 'int_list_false[1]' cannot be null",
      "line 3: column 'Inner_list[0].more[0].sums[1]': \"x\" is not of type decimal",
      "line 4: column 'bool_map_true['k']': 5 is not of type bool",
      "line 5: column 'Inner_none': class Inner has no 'nam'",
      "line 6: column 'any_set_false[0]': a set cannot hold arrays or objects",
      "line 7: column 'any_list_false[0]': there is no type 'tree'",
      "7 bad lines, so nothing was imported",
    ]
    for line in wanted { #expect(done.errors.contains(line), "\(done.errors)") }
  }

  @Test func inspectDeclaresEveryType() throws {
    try fill("a.realm", seed: 7)
    let text = try ToolProcess.run(folder, "inspect", "a.realm").output
    for declared in [
      "List<Keyless>", "MutableSet<Target>", "Map<String, Int?>", "AnyRealmValue",
      "List<Decimal128?>", "Map<String, Inner?>", "Inner  embedded, ", "outside of objects: pages",
    ] {
      #expect(text.contains(declared), "\(declared) is not in:\n\(text)")
    }
    let json = try ToolProcess.run(folder, "inspect", "a.realm", "--json").output
    let object = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
    let collections = object?["collections"] as? [String: Int]
    #expect(collections?["pageBytes"] ?? 0 > 0)
    #expect(collections?["nestedEntries"] ?? 0 > 0)
    let classes = object?["classes"] as? [[String: Any]]
    #expect(classes?.compactMap { $0["embedded"] as? Bool } == [false, false, true, false, false])
  }

  /// Each collection with other elements, then back with `--update`.
  @Test func updatesReplaceWhatDiffers() throws {
    try fill("a.realm", seed: 5)
    let before = try export("a.realm", "Thing")
    try open("a.realm").write { session in
      var every = try EveryType(seed: 6, session)
      let described = session.schema.schema.named("Thing")!
      for id in 0..<12 { try session.delete(ObjectKey(Int64(id)), in: described.id) }
      for id in 0..<12 { try every.add("Thing", id: id) }
    }
    #expect(try export("a.realm", "Thing") != before)
    let done = try load("a.realm", "Thing", "jsonl", before, "--update")
    #expect(done.contains("12 changed"))
    #expect(try export("a.realm", "Thing") == before)
    let check = try ToolProcess.run(folder, "inspect", "a.realm", "--check")
    #expect(check.status == 0, "\(check.output)")
  }
}
