import Foundation
import TarnStore
import TestSupport
import Testing

/// `tarn watch` on lists, sets, maps, values of any type and embedded objects.
@Suite struct WatchCollectionTests {
  private let folder = TemporaryFolder()

  init() throws {
    var options = Store.Options()
    options.isDurable = false
    typealias Property = ClassDefinition.Property
    options.classes = [
      ClassDefinition(
        name: "Town", properties: [Property(name: "city", type: .string)], isEmbedded: true),
      ClassDefinition(
        name: "Dog",
        properties: [
          Property(name: "id", type: .int, isPrimaryKey: true),
          Property(name: "numbers", type: .int, collection: .list),
          Property(name: "tags", type: .string, collection: .set),
          Property(name: "marks", type: .double, collection: .map, isOptional: true),
          Property(name: "value", type: .any),
          Property(name: "home", type: .link, isOptional: true, target: "Town"),
          Property(name: "towns", type: .link, collection: .list, target: "Town"),
        ]),
    ]
    _ = try StoreRegistry.open(folder.file("a.realm"), options)
    let input = """
      {"id":1,"numbers":[1,2,3,4],"tags":["b","c"],"marks":{"x":1.5,"y":null},\
      "value":{"k":[1]},"home":{"city":"Rome"},"towns":[{"city":"Bonn"},{"city":"Oslo"}]}
      """
    let done = try ToolProcess.run(
      folder, "import", "a.realm", "-", "-f", "jsonl", "-c", "Dog", input: input)
    try #require(done.status == 0, "\(done.errors)")
  }

  private func set(_ assignments: String...) throws {
    let done = try ToolProcess(folder, ["set", "a.realm", "Dog", "--all"] + assignments).finish()
    try #require(done.status == 0, "\(done.errors)")
  }

  /// Changes what lies within the values, as a program would.
  private func change(_ body: (WriteSession, ClassSchema) throws -> Void) throws {
    var options = Store.Options()
    options.isDurable = false
    options.adoptsClasses = false
    let store = try StoreRegistry.open(folder.file("a.realm"), options)
    let token = try store.acquireGate()
    let session = WriteSession(try SnapshotReader(store.newestSnapshot())) {}
    try body(session, session.schema.schema.named("Dog")!)
    try store.commit(session, token)
  }

  /// The `collections` of the only modification in the next line, and the line.
  private func next(_ watch: ToolProcess) throws -> (collections: String, line: String) {
    let line = try watch.line() ?? ""
    guard let start = line.range(of: "\"collections\":") else { return ("", line) }
    return (String(line[start.upperBound...].dropLast(3)), line)
  }

  @Test func differencesOfCollectionsAreTold() throws {
    let watch = try ToolProcess(folder, ["watch", "a.realm", "Dog", "--json", "--exit-after", "4"])
    #expect(try watch.line()?.contains("\"home\":{\"city\":\"Rome\"}") == true)
    try set("numbers=[1,9,4]", "tags=[\"a\",\"c\"]", "marks={\"x\":2,\"z\":0}")
    #expect(
      try next(watch).collections == """
        [{"column":"numbers","deletions":[{"index":1,"value":2},{"index":2,"value":3}],\
        "insertions":[{"index":1,"value":9}],"modifications":[]},\
        {"column":"tags","deletions":[{"index":0,"value":"b"}],\
        "insertions":[{"index":0,"value":"a"}],"modifications":[]},\
        {"column":"marks","deletions":[{"key":"y","value":null}],\
        "insertions":[{"key":"z","value":0.0}],\
        "modifications":[{"key":"x","old":1.5,"new":2.0}]}]
        """)
    try change { session, dog in
      let place = SequencePlace(
        classID: dog.id, key: ObjectKey(1), column: dog.named("numbers")!.id)
      try session.move(from: 2, to: 0, in: place)
      let value = SequencePlace(classID: dog.id, key: ObjectKey(1), column: dog.named("value")!.id)
      guard
        case .map(let outer)? = try session.value(
          of: value.column, at: value.key, in: value.classID),
        case .list(let inner)? = try session.sequence(at: value.nested(outer))?.value(at: 0)
      else { throw StorageError(.invalidInput, operation: "test", path: "", detail: "") }
      try session.insert(.double(7), at: 1, in: value.nested(inner))
    }
    #expect(
      try next(watch).collections == """
        [{"column":"numbers","deletions":[{"index":2,"value":4}],\
        "insertions":[{"index":0,"value":4}],"modifications":[]},\
        {"column":"value","path":["k"],"deletions":[],\
        "insertions":[{"index":1,"value":7.0}],"modifications":[]}]
        """)
    try set("value={\"$type\":\"decimal\",\"value\":\"1.50\"}")
    #expect(
      try next(watch).line.contains(
        "\"old\":{\"value\":{\"k\":[1,7.0]}},"
          + "\"new\":{\"value\":{\"$type\":\"decimal\",\"value\":\"1.50\"}}"))
    try changeCities()
    #expect(
      try watch.line()?.hasSuffix(
        """
        "old":{"home":{"city":"Rome"}},"new":{"home":{"city":"Pisa"}},\
        "collections":[{"column":"towns","deletions":[],"insertions":[],\
        "modifications":[{"index":1,"old":{"city":"Oslo"},"new":{"city":"Kiel"}}]}]}]}
        """) == true)
    #expect(try watch.finish().status == 0)
  }

  /// Of embedded objects, without a touch of the one that has them.
  private func changeCities() throws {
    try change { session, dog in
      let key = ObjectKey(1)
      let city = session.schema.schema.named("Town")!
      guard
        case .link(let home)? = try session.value(
          of: dog.named("home")!.id, at: key, in: dog.id),
        case .link(let second)? = try session.sequence(
          at: SequencePlace(classID: dog.id, key: key, column: dog.named("towns")!.id))?
          .value(at: 1)
      else { throw StorageError(.invalidInput, operation: "test", path: "", detail: "") }
      try session.set(ColumnID(0), at: home, in: city.id, to: .string("Pisa"))
      try session.set(ColumnID(0), at: second, in: city.id, to: .string("Kiel"))
    }
  }

  @Test func differencesAreShownInALine() throws {
    let watch = try ToolProcess(folder, ["watch", "a.realm", "Dog", "--exit-after", "1"])
    for _ in 0..<3 { _ = try watch.line() }
    try set("numbers=[1,9,4]", "tags=[\"a\",\"c\"]", "marks={\"x\":2,\"y\":null}")
    #expect(try watch.line() == "version 2  Dog  ~1  now 1 object")
    #expect(
      try watch.line() == """
          ~ [0] 1  numbers -[1] 2 -[2] 3 +[1] 9  tags -[0] b +[0] a  marks ~["x"] 1.5 → 2.0
        """)
  }
}
