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

  /// An article's headings, as DocC and as a forge name them.
  private func anchors(_ name: String) throws -> Set<String> {
    let headings = try article(name).split(separator: "\n").filter { $0.hasPrefix("##") }.map {
      String($0.drop { "# ".contains($0) })
    }
    let onForge = headings.map { heading in
      heading.lowercased().filter { $0.isLetter || $0.isNumber || "_- ".contains($0) }
    }
    return Set((headings + onForge).map { $0.replacing(" ", with: "-") })
  }

  /// Links between articles, as DocC or as a forge has them, and to their headings.
  @Test func theLinksOfTheArticlesLeadToArticles() throws {
    let folder = SourceTree.root.appendingPathComponent("Sources/Tarn/Documentation.docc")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix(".md") }.map { String($0.dropLast(3)) }.sorted()
    let anchors = try Dictionary(
      uniqueKeysWithValues: names.map { ($0, try self.anchors($0)) })
    var (missing, count) = ([String](), 0)
    for name in names {
      let text = try article(name)
      let links =
        text.matches(of: /<doc:(\w+)(?:#([^>]+))?>/).map { ($0.1, $0.2) }
        + text.matches(of: /\]\((\w+)\.md(?:#([^)]+))?\)/).map { ($0.1, $0.2) }
      count += links.count
      for (article, anchor) in links {
        let isThere = anchors[String(article)].map { known in
          anchor.map { known.contains(String($0)) } ?? true
        }
        if isThere != true { missing.append("\(name): \(article) \(anchor ?? "")") }
      }
      for picture in text.matches(of: /\]\((Resources\/[^)]+)\)/) {
        let path = folder.appendingPathComponent(String(picture.1)).path
        if !FileManager.default.fileExists(atPath: path) { missing.append("\(name): \(path)") }
      }
    }
    #expect(missing == [])
    #expect(count > 100)
    let contents = try article("Tarn")
    #expect(names.filter { $0 != "Tarn" && !contents.contains("<doc:\($0)>") } == [])
  }

  /// The messages that the articles quote are those of the library, except for names, numbers and
  /// what is in brackets. A message that is put together has up to three pieces between these.
  @Test func theMessagesInTheArticlesAreTheLibrarys() throws {
    let sources = SourceTree.files.filter { $0.isSwift && $0.path.hasPrefix("Sources/") }
      .map { $0.lines.joined(separator: "\n").replacing(/"\s*\+\s*"/, with: "") }
      .joined(separator: "\n")
    let text = Array(sources.utf8CString)
    func pieces(_ part: String) -> Int {
      var (words, count) = (part.split(separator: " ")[...], 0)
      while !words.isEmpty {
        var most = words.count
        while most > 0, strstr(text, words.prefix(most).joined(separator: " ")) == nil {
          most -= 1
        }
        guard most > 0 else { return .max }
        words = words.dropFirst(most)
        count += 1
      }
      return count
    }
    var (unknown, count) = ([String](), 0)
    for name in ["TenRules", "Troubleshooting", "Servers"] {
      let blocks = try article(name).components(separatedBy: "```text\n").dropFirst()
      for line in blocks.flatMap({ $0.components(separatedBy: "```")[0].split(separator: "\n") }) {
        for part in line.split(separator: /…|[0-9][0-9.,]*|'[^']*'|\([^)]*\)/) {
          count += 1
          if pieces(String(part)) > 3 { unknown.append("\(name): \(part)") }
        }
      }
    }
    #expect(unknown == [])
    #expect(count > 50)
  }

  /// Which tests run or compare the blocks of each kind, by the articles that have them. Blocks of
  /// "swift" are compiled wherever they are.
  private static let kinds: [String: [String: [String]]] = [
    "Swift": [
      "BookProgramTests": ["Isolation", "Servers", "Testing", "Tutorial", "TwoProcesses"],
      "ExampleTests": ["CursorExamples"], "SyncArticleTests": ["FromAtlasDeviceSync"],
    ],
    "diff": ["BookProgramTests": ["FromRealmSwift"]],
    "text": [
      "BookProgramTests": ["Isolation", "Tutorial", "TwoProcesses"],
      "ArticleTests": ["Servers", "TenRules", "Troubleshooting"],
    ],
    "sh": [
      "BookCommandTests": [
        "BackupAndUpgrade", "FromGRDB", "FromRealmFiles", "FromSwiftData", "Installing", "Shell",
        "Testing", "Tutorial",
      ],
      "DaemonExampleTests": ["DaemonExamples"], "FirstProgramTests": ["TwoProcesses"],
    ],
    "ini": ["BookCommandTests": ["BackupAndUpgrade", "Servers"]],
    "nginx": ["BookCommandTests": ["DaemonExamples"]],
    "yaml": [
      "DaemonArticleTests": ["Daemon", "DaemonExamples"],
      "ConfigurationKeysTests": ["DaemonReference"],
    ],
    "json": ["ArticleTests": ["DaemonReference", "Shell"]],
    "python": ["DaemonExampleTests": ["DaemonExamples"]],
    "sql": ["AppTests": ["FromAtlasDeviceSync"]],
  ]

  @Test func everyBlockHasItsTest() throws {
    // No test builds images.
    let unchecked: Set = ["Servers dockerfile", "Servers yaml"]
    var found: Set<String> = []
    let folder = SourceTree.root.appendingPathComponent("Sources/Tarn/Documentation.docc")
    for file in try FileManager.default.contentsOfDirectory(atPath: folder.path)
    where file.hasSuffix(".md") {
      let name = String(file.dropLast(3))
      for kind in try article(name).matches(of: /(?m)^ *```([A-Za-z]+)$/).map({ String($0.1) })
      where kind != "swift" {
        if Self.kinds[kind]?.values.contains(where: { $0.contains(name) }) != true {
          found.insert("\(name) \(kind)")
        }
      }
    }
    #expect(found.sorted() == unchecked.sorted())
    let lines = SourceTree.files.filter { $0.path.hasPrefix("Tests/") }.flatMap(\.lines)
    let suites = Set(Self.kinds.values.flatMap(\.keys))
    #expect(suites.filter { suite in !lines.contains { $0.contains("struct \(suite)") } } == [])
  }

  /// A block is one value, or one in each line.
  @Test(arguments: ["DaemonReference", "Shell"])
  func theJSONOfTheArticlesIsJSON(_ name: String) throws {
    let blocks = try article(name).components(separatedBy: "```json\n").dropFirst()
      .map { $0.components(separatedBy: "```")[0] }
    #expect(!blocks.isEmpty)
    func isJSON(_ text: String) -> Bool {
      (try? JSONSerialization.jsonObject(with: Data(text.utf8))) != nil
    }
    for block in blocks where !isJSON(block) {
      #expect(block.split(separator: "\n").filter { !isJSON(String($0)) } == [])
    }
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
