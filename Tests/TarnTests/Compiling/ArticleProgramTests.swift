import Foundation
import TestSupport
import Testing

/// The compiler takes the programs in the articles. Each block is a function of its own, so that
/// what it declares is its own; what else it names is in `ArticlePrelude`.
struct ArticleProgramTests {
  private static let articles =
    URL(fileURLWithPath: #filePath).pathComponents.dropLast(4).joined(separator: "/")
    + "/Sources/Tarn/Documentation.docc"

  /// A function for each block of Swift, which the compiler calls by its lines in the article.
  /// Blocks in lists are indented.
  private static func functions(in article: String, of text: String) -> [String] {
    var functions: [String] = []
    var (block, start, indent): ([String]?, Int, Int) = (nil, 0, 0)
    for (number, line) in text.components(separatedBy: "\n").enumerated() {
      let words = line.drop { $0 == " " }
      if block == nil, words == "```swift" {
        (block, start, indent) = ([], number + 2, line.count - words.count)
      } else if words == "```", let lines = block {
        functions.append(function("block\(start)", in: article, from: start, lines))
        block = nil
      } else {
        block?.append(String(line.dropFirst(min(indent, line.count - words.count))))
      }
    }
    return functions
  }

  private static func function(
    _ name: String, in article: String, from start: Int, _ lines: [String]
  ) -> String {
    // Those that wait by themselves, not within a function of their own.
    let waits = lines.contains { $0.first != " " && $0.contains("await ") }
    let body = lines.map {
      // An ellipsis stands for what the reader does with a change.
      $0.hasPrefix("import ") ? "" : $0.replacingOccurrences(of: "…", with: "_ = change")
    }
    return """
      extension \(article) {
      static func \(name)()\(waits ? " async" : "") throws {
      #sourceLocation(file: "\(article).md", line: \(start))
      \(body.joined(separator: "\n"))
      #sourceLocation()
      }
      }
      """
  }

  @Test func theProgramsInTheArticlesCompile() throws {
    let files = FileManager.default
    let names = try files.contentsOfDirectory(atPath: Self.articles).sorted()
      .filter { $0.hasSuffix(".md") }.map { String($0.dropLast(3)) }
    var (program, count) = (ArticlePrelude.text, 0)
    for name in names {
      let path = "\(Self.articles)/\(name).md"
      let functions = Self.functions(
        in: "Article\(name)", of: try String(contentsOfFile: path, encoding: .utf8))
      program += "\nenum Article\(name) {}\n" + functions.joined(separator: "\n")
      count += functions.count
    }
    #expect(count > 45)
    let folder = TemporaryFolder()
    let source = try folder.file("articles.swift", Array(program.utf8))
    let said = try BuiltLibrary().check(source, ["-parse-as-library"])
    let errors = said.split(separator: "\n").filter { $0.contains(": error: ") }
    #expect(errors == [], "\(errors.joined(separator: "\n"))")
  }
}
