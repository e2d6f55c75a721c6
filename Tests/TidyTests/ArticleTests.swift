import Foundation
import Testing

/// What articles say about the tree, compared with the tree.
@Suite struct ArticleTests {
  private func article(_ name: String) throws -> String {
    try String(
      contentsOf: SourceTree.root.appendingPathComponent(
        "Sources/Tarn/Documentation.docc/\(name).md"), encoding: .utf8)
  }

  @Test func theLinksOfTheReadmeLeadToFiles() throws {
    let readme = try String(
      contentsOf: SourceTree.root.appendingPathComponent("README.md"), encoding: .utf8)
    let files = readme.matches(of: /\]\(((?!http)[^)#]+)/).map { String($0.1) }
    let missing = files.filter { file in
      !FileManager.default.fileExists(atPath: SourceTree.root.appendingPathComponent(file).path)
    }
    #expect(missing == [])
    #expect(files.count > 10)
  }

  @Test func theTestsOfFailuresExist() throws {
    let text = try article("RecoveryTests").replacing("\n", with: " ")
    let lines = SourceTree.files.filter { $0.path.hasPrefix("Tests/") }.flatMap(\.lines)
    let suites = text.matches(of: /`(\w+Tests)`/).map { String($0.1) }
    let unknownSuites = Set(suites).filter { suite in
      !lines.contains { $0.contains("struct \(suite)") }
    }
    #expect(unknownSuites.sorted() == [])
    // Those that begin with an ellipsis go on from the one before them.
    let names = text.matches(of: /"(?:… )?([^"]+)"/).map { String($0.1) }
    let unknownNames = names.filter { name in !lines.contains { $0.contains(name) } }
    #expect(unknownNames == [])
    #expect(suites.count > 30)
    #expect(names.count > 30)
  }

  /// Each lock of a property is in the table that says in which order they are taken.
  @Test func theTableOfLocksIsComplete() throws {
    let table = try article("Concurrency")
    let locks = SourceTree.files.filter { $0.isSwift && $0.path.hasPrefix("Sources/") }
      .flatMap(Self.locks)
    #expect(locks.filter { !table.contains("`\($0)`") } == [])
    #expect(locks.count > 30)
    // And what the table has is there; those across processes have no type.
    let rows = table.split(separator: "\n").filter { $0.contains(/^\| [0-9–]+ \| .*`\w+\.\w+`/) }
    let listed = rows.flatMap { $0.matches(of: /`([A-Z]\w+\.\w+)`/).map { String($0.1) } }
    #expect(Set(listed).subtracting(locks).sorted() == [])
  }

  /// The properties of a file that are locks, by the types that they belong to.
  private static func locks(in file: SourceFile) -> [String] {
    file.code.indices.compactMap { number in
      let line = file.code[number]
      guard let match = line.firstMatch(of: /^( *).*\blet (\w+)(: Lock<| = Lock[<(])/) else {
        return nil
      }
      let depth = match.1.count
      for above in file.code[..<number].reversed() {
        let isOutside = above.prefix { $0 == " " }.count < depth
        let type = above.firstMatch(of: /\b(?:class|struct|enum|actor|extension) (\w+)/)
        if isOutside, let type { return "\(type.1).\(match.2)" }
      }
      return nil
    }
  }
}
