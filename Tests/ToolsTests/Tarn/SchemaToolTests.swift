import Foundation
import TestSupport
import Testing
import ToolSupport

@testable import TarnStore

/// `tarn schema` and `tarn create`.
@Suite struct SchemaToolTests {
  private let folder = TemporaryFolder()

  private func tarn(_ arguments: String..., input: String = "") throws -> ToolProcess.Result {
    try ToolProcess(folder, arguments, input: input).finish()
  }

  /// A file with a class of everything, and what that class is called.
  private func makeFile() throws {
    var properties = ColumnType.allCases.filter { $0 != .link && $0 != .any }.map {
      ClassDefinition.Property(name: "p\($0)", type: $0, isOptional: $0 == .date)
    }
    properties[0].isPrimaryKey = true
    properties[2].isIndexed = true
    properties += [
      .init(name: "link", type: .link, isOptional: true, target: "Toy", deleteRule: .cascade),
      .init(name: "toys", type: .link, collection: .list, target: "Toy"),
      .init(name: "names", type: .string, collection: .set),
      .init(name: "counts", type: .int, collection: .map, isOptional: true),
      .init(name: "toyMap", type: .link, collection: .map, target: "Toy"),
      .init(name: "mixed", type: .any, isOptional: true), .init(name: "class", type: .string),
      .init(name: "two words", type: .int),
    ]
    var options = Store.Options()
    options.classes = [
      ClassDefinition(
        name: "All", properties: properties, uniqueRules: [["pstring", "two words"]]),
      ClassDefinition(
        name: "Toy", properties: [.init(name: "size", type: .double)], isEmbedded: true),
    ]
    _ = try StoreRegistry.open(folder.file("a.tarn"), options)
  }

  @Test func createsWhatItPrints() throws {
    try makeFile()
    let printed = try tarn("schema", "a.tarn", "--json")
    #expect(printed.status == 0)
    let made = try tarn("create", "b.tarn", "--schema", "-", input: printed.output)
    #expect(made == .init(status: 0, output: "b.tarn: 2 classes\n", errors: ""))
    #expect(try tarn("schema", "b.tarn", "--json").output == printed.output)
    #expect(try tarn("diff", "a.tarn", "b.tarn").status == 0)
    #expect(try tarn("inspect", "b.tarn", "--check").status == 0)
  }

  @Test func printsSwiftThatCanBePasted() throws {
    try makeFile()
    let source = try tarn("schema", "a.tarn", "--swift").output
    #expect(
      source == """
        import Foundation
        import Tarn

        final class All: Object {
          @Persisted(primaryKey: true) var pint: Int
          @Persisted var pbool: Bool
          @Persisted(indexed: true) var pstring: String
          @Persisted var pdata: Data
          @Persisted var pdate: Date?
          @Persisted var pfloat: Float
          @Persisted var pdouble: Double
          @Persisted var pobjectID: ObjectId
          @Persisted var pdecimal: Decimal128
          @Persisted var puuid: UUID
          @Persisted(onDelete: .cascade) var link: Toy?
          @Persisted var toys: List<Toy>
          @Persisted var names: MutableSet<String>
          @Persisted var counts: Map<String, Int?>
          @Persisted var toyMap: Map<String, Toy?>
          @Persisted var mixed: AnyRealmValue
          @Persisted var `class`: String
          @Persisted var two_words: Int

          override class func propertiesMapping() -> [String: String] {
            ["two_words": "two words"]
          }

          override class func uniqueProperties() -> [[String]] {
            [["pstring", "two_words"]]
          }
        }

        final class Toy: EmbeddedObject {
          @Persisted var size: Double
        }

        """)
  }

  @Test func namesTheClassesForPeople() throws {
    try makeFile()
    let text = try tarn("schema", "a.tarn", "Toy").output
    #expect(text == "Toy (embedded)\n  size: Double\n")
    #expect(
      try tarn("schema", "a.tarn", "All").output.contains("  pint: Int  (primary key)\n"))
    #expect(try tarn("schema", "a.tarn", "Cat").status == 1)
  }

  @Test(arguments: [
    ("{}", "the schema is not a list"), ("[1]", "class 1 is not an object"),
    ("[{\"class\":\"A\",\"columns\":[{\"name\":\"a\",\"type\":\"text\"}]}]", "unknown type 'text'"),
    ("[{\"class\":\"A\",\"colour\":1}]", "class 1 has the unknown member \"colour\""),
    ("[{\"class\":\"A\",\"key\":\"b\",\"columns\":[]}]", "class A has no column 'b' to be its key"),
    ("[{\"class\":\"A\",\"columns\":[{\"name\":\"a\",\"type\":\"link\"}]}]", "have a target"),
  ])
  func refusesAnotherSchema(_ schema: String, _ reason: String) throws {
    let result = try tarn("create", "b.tarn", "--schema", "-", input: schema)
    #expect(result.status == 1)
    #expect(result.errors.contains(reason))
    #expect(!folder.names.contains("b.tarn"))
  }

  @Test func createsNoFileTwice() throws {
    try makeFile()
    let result = try tarn("create", "a.tarn", "--schema", "-", input: "[]")
    #expect(result.errors == "tarn: a.tarn: there is a file already\n")
  }
}
