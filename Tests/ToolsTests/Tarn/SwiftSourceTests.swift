import Foundation
import TestSupport
import Testing

@testable import TarnStore

/// `tarn schema --swift` of 200 classes with odd names: the source compiles, and a program with it
/// reads the files and adds nothing to them.
@Suite(.timeLimit(.minutes(30))) struct SwiftSourceTests {
  private static let (files, classes) = (20, 10)

  private static let names = [
    "a", "A", "_a", "__a", "a b", "a-b", "a_b", "a.b", "a b ", " ", "_", "__", "1", "1a", "ä",
    "a\u{308}", "日本", "😀", "\"", "\\", "\\(x)", "\n", "\u{1}", "\u{a0}", "`", "`a`", "$0", "$a",
    "ﬁ", "a\u{200d}b", "class", "self", "Self", "Type", "Protocol", "init", "deinit", "default",
    "true", "nil", "Any", "description", "debugDescription", "hashValue", "hash", "realm",
    "isFrozen", "isInvalidated", "objectSchema", "observe", "changes", "value", "freeze",
    "detached",
    "customMirror", "state", "_state", "row", "_row", "instance", "_instance", "key", "_key", "id",
    "_id", "count", "name", "wrappedValue", "projectedValue", "String", "Int", "Data", "Date",
    "UUID", "List", "Map", "MutableSet", "Object", "EmbeddedObject", "Persisted", "ObjectId",
    "Decimal128", "AnyRealmValue", "Tarn", "Swift", "Foundation", "Realm", "Optional", "Array",
    "Never", "Error", "print", "My Class", "My_Class", "My-Class", "await", "async", "actor",
    "some", "any", "each", "borrowing", "consuming", "sending", "get", "set", "willSet", "didSet",
    "left", "where", "operator", "package",
    "className", "primaryKey", "ignoredProperties", "propertiesMapping", "uniqueProperties",
    "Bool", "Double", "Float", "isSameObject", "setValue", "encode", "thaw", "isManaged",
  ]

  private let folder = TemporaryFolder()

  /// Classes of one file, with random names and types.
  private func definitions(_ random: inout SeededRandom) -> [ClassDefinition] {
    let names = distinctNames(Self.classes, &random)
    let embedded = Set(names.suffix(2))
    return names.map { name in
      let isEmbedded = embedded.contains(name)
      var properties = distinctNames(1 + random.below(8), &random).map { column in
        property(column, names, embedded, &random)
      }
      if !isEmbedded, properties[0].type == .int || properties[0].type == .string,
        properties[0].collection == .none
      {
        properties[0].isPrimaryKey = true
        // An integer is the object's key itself.
        properties[0].isIndexed = properties[0].type == .string
      }
      let simple = properties.filter {
        $0.collection == .none && $0.type != .any && $0.type != .link
      }
      return ClassDefinition(
        name: name, properties: properties, isEmbedded: isEmbedded,
        uniqueRules: random.chance(30) && !simple.isEmpty && !isEmbedded
          ? [simple.map(\.name)] : [])
    }
  }

  private func distinctNames(_ count: Int, _ random: inout SeededRandom) -> [String] {
    var found: [String] = []
    while found.count < count {
      let name = Self.names[random.below(Self.names.count)]
      if !found.contains(name) { found.append(name) }
    }
    return found
  }

  private func property(
    _ name: String, _ classes: [String], _ embedded: Set<String>, _ random: inout SeededRandom
  ) -> ClassDefinition.Property {
    let type = ColumnType.allCases[random.below(ColumnType.allCases.count)]
    let collection = CollectionKind.allCases[random.below(CollectionKind.allCases.count)]
    if type == .link {
      let target = classes[random.below(classes.count)]
      let isSet = collection == .set && embedded.contains(target)
      return ClassDefinition.Property(
        name: name, type: type, collection: isSet ? .list : collection,
        isOptional: collection == .none || collection == .map, target: target)
    }
    return ClassDefinition.Property(
      name: name, type: type, collection: collection,
      isOptional: type != .any && random.chance(30),
      isIndexed: collection == .none && [.int, .string, .bool].contains(type) && random.chance(20))
  }

  /// Makes a file with one object of each class that is not embedded.
  private func makeFile(_ path: String, _ random: inout SeededRandom) throws {
    var options = Store.Options()
    options.isDurable = false
    options.classes = definitions(&random)
    let store = try StoreRegistry.open(path, options)
    let schema = try store.newestSnapshot().schema.schema
    _ = try store.write { session in
      for described in schema.classes where !described.isEmbedded {
        var values: [ColumnID: Value] = [:]
        if let key = described.primaryKey {
          values[key] = described[key].type == .int ? .int(1) : .string("k")
        }
        _ = try session.create(values, in: described.id)
      }
    }
  }

  @Test func compilesAndReadsTheFiles() throws {
    var random = SeededRandom(seed: 22)
    var main = "import Foundation\nimport Tarn\n"
    var schemas: [String] = []
    for number in 0..<Self.files {
      let file = "\(number).tarn"
      try makeFile(folder.file(file), &random)
      schemas.append(try schema(file))
      let source = try ToolProcess.run(folder, "schema", file, "--swift").output
      let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
      let body = lines.dropFirst(2).joined(separator: "\n")
      _ = try folder.file(
        "Source\(number).swift",
        Array("import Foundation\nimport Tarn\nenum File\(number) {\n\(body)\n}\n".utf8))
      let classes = lines.filter { $0.hasPrefix("final class ") }.map { line in
        (line.dropFirst(12).prefix { $0 != ":" }, line.hasSuffix(": Object {"))
      }
      let types = classes.map { "File\(number).\($0.0).self" }
      let counts = classes.filter(\.1).map { "realm.objects(File\(number).\($0.0).self).count" }
      main += """
        do {
          let realm = try Realm(configuration: Realm.Configuration(
            fileURL: URL(fileURLWithPath: "\(folder.file(file))"),
            objectTypes: [\(types.joined(separator: ", "))], durability: .relaxed))
          let counts = [\(counts.joined(separator: ", "))]
          print(\(number), counts.allSatisfy { $0 == 1 }, counts.count)
        }

        """
    }
    _ = try folder.file("main.swift", Array(main.utf8))
    let program = try compile()
    let run = try ToolProcess(folder, [], program: program).finish()
    #expect(run.errors == "")
    #expect(run.output == (0..<Self.files).map { "\($0) true \(Self.classes - 2)\n" }.joined())
    for (number, schema) in schemas.enumerated() {
      #expect(try self.schema("\(number).tarn") == schema, "file \(number)")
    }
  }

  /// The classes of a file. The library gives links and keys their indexes, which the engine does
  /// not ask for.
  private func schema(_ file: String) throws -> String {
    try ToolProcess.run(folder, "schema", file, "--json").output
      .replacing(#","indexed":true"#, with: "")
  }

  /// Compiles the sources with the library as it was built for this test.
  private func compile() throws -> String {
    let root = URL(fileURLWithPath: #filePath).pathComponents.dropLast(4).joined(separator: "/")
    let built = ToolProcess.tarn.deletingLastPathComponent().path
    let objects = try ["Tarn", "TarnStore"].flatMap { try objectFiles(of: $0, in: built) }
    let command = """
      exec nice swiftc -swift-version 6 -Onone -gnone -module-name Odd -o odd \
      -I '\(built)/Modules' -I '\(root)/Sources/CTarn/include' -I '\(root)/Sources/CLMDB' *.swift \
      '\(built)/CTarn.build/'*.o \(objects.joined(separator: " ")) \
      -llmdb -lbidgcc100 -licui18n -licuuc
      """
    let done = try ToolProcess(folder, ["-c", command], program: "/bin/sh").finish()
    try #require(done.status == 0, "\(done.output)\(done.errors)")
    return folder.file("odd")
  }

  /// The object files of a module's present sources: the folder may also have those of former ones.
  private func objectFiles(of module: String, in built: String) throws -> [String] {
    let map = try Data(
      contentsOf: URL(fileURLWithPath: "\(built)/\(module).build/output-file-map.json"))
    let outputs = try JSONDecoder().decode([String: [String: String]].self, from: map)
    return outputs.values.compactMap { $0["object"] }.map { "'\($0)'" }.sorted()
  }

  /// Names that two properties would share, and classes that the library would confuse.
  @Test func mapsOtherNames() throws {
    var options = Store.Options()
    options.isDurable = false
    options.classes = [
      ClassDefinition(
        name: "My Class",
        properties: [
          .init(name: "a b", type: .int, isPrimaryKey: true), .init(name: "a-b", type: .int),
          .init(name: "a_b", type: .int),
          .init(name: "Type", type: .link, isOptional: true, target: "Data"),
        ], uniqueRules: [["a-b"]]),
      ClassDefinition(
        name: "Data", properties: [.init(name: "x", type: .data), .init(name: "_x", type: .int)]),
      ClassDefinition(name: "Other", properties: [.init(name: "\"\n", type: .int)]),
    ]
    _ = try StoreRegistry.open(folder.file("a.tarn"), options)
    #expect(
      try ToolProcess.run(folder, "schema", "a.tarn", "My Class", "--swift").output == """
        import Foundation
        import Tarn

        final class My_Class: Object {
          @Persisted(primaryKey: true) var a_b_: Int
          @Persisted var a_b_3: Int
          @Persisted var a_b: Int
          @Persisted var Type_: Data_?

          override class func className() -> String { "My Class" }

          override class func propertiesMapping() -> [String: String] {
            ["a_b_": "a b", "a_b_3": "a-b", "Type_": "Type"]
          }

          override class func uniqueProperties() -> [[String]] {
            [["a_b_3"]]
          }
        }

        final class Data_: Object {
          @Persisted var x: Data
          @Persisted var _x_: Int

          override class func className() -> String { "Data" }

          override class func propertiesMapping() -> [String: String] {
            ["_x_": "_x"]
          }
        }

        """)
    #expect(
      try ToolProcess.run(folder, "schema", "a.tarn", "Other", "--swift").output.contains(
        #"["__": "\"\u{a}"]"#))
  }
}
