import Foundation
import TestSupport
import Testing

/// Classes of libraries that a program loads while it runs.
struct LoadedClassesTests {
  private static let program = """
    import Foundation
    import Tarn

    class Own: Object { @Persisted var name: String }

    func open() throws -> Realm {
      let url = URL(fileURLWithPath: CommandLine.arguments[1] + "/a.realm")
      return try Realm(configuration: Realm.Configuration(fileURL: url))
    }
    func names() throws -> String {
      try open().schema.objectSchema.map(\\.className).sorted().joined(separator: " ")
    }

    print(try names())
    for library in CommandLine.arguments.dropFirst(2) {
      guard dlopen(library, RTLD_NOW) != nil else { fatalError(String(cString: dlerror())) }
      print(try names())
      let realm = try open()
      try realm.write { _ = realm.dynamicCreate("Late", value: ["id": 7, "name": "Kim"]) }
      print(Array(realm.dynamicObjects("Late")).map { "\\($0[\"name\"]!)" }.joined())
    }

    """
  private static let late = """
    import Tarn
    class Late: Object {
      @Persisted(primaryKey: true) var id: Int
      @Persisted var name: String
    }
    """
  private static let refused = """
    import Tarn
    class LateTwins: Object {
      @Persisted(primaryKey: true) var a: Int
      @Persisted(primaryKey: true) var b: Int
    }
    class LateKey: Object {
      @Persisted var weight: Double
      override class func primaryKey() -> String? { "weight" }
    }
    """

  private let folder = TemporaryFolder()

  private func write(_ text: String, _ name: String) throws -> String {
    try folder.file(name, Array(text.utf8))
  }

  @Test func classesThatAreLoadedLaterAreFound() throws {
    let library = try BuiltLibrary()
    let (late, refused) = (folder.file("liblate.so"), folder.file("librefused.so"))
    let program = folder.file("program")
    for build in [
      try library.buildProgram(write(Self.program, "main.swift"), to: program),
      try library.buildPlugin(write(Self.late, "late.swift"), to: late),
      try library.buildPlugin(write(Self.refused, "refused.swift"), to: refused),
    ] { try #require(build.status == 0, "\(build.errors)") }
    let done = try library.run(program, [folder.path, late])
    #expect(done.output == "Own\nLate Own\nKim\n", "\(done.errors)")
    #expect(done.status == 0)
    // What is wrong with those that came is said all at once.
    let refusal = try library.run(program, [folder.path, refused])
    #expect(refusal.status != 0)
    for part in [
      "2 problems in the model classes", "'LateTwins' has more than one primary key",
      "'LateKey.weight' cannot be a primary key",
    ] { #expect(refusal.errors.contains(part), "\(refusal.errors)") }
  }
}
