import Foundation

/// A file of the source tree with what the checks ask of it.
struct SourceFile {
  /// Relative to the root of the repository: `Sources/TarnStore/Pages/Scalars/Value.swift`.
  let path: String
  let lines: [String]
  /// The lines without comments and literals.
  let code: [String]

  init(path: String, text: String) {
    self.path = path
    lines = Self.split(text)
    code = Self.split(SourceMask.code(of: text, isC: !path.hasSuffix(".swift")))
  }

  var isSwift: Bool { path.hasSuffix(".swift") }
  var name: String { String(path.split(separator: "/").last ?? "") }

  /// The folder that is a module: `Sources/TarnStore`.
  var module: String { path.split(separator: "/").prefix(2).joined(separator: "/") }

  private static func split(_ text: String) -> [String] {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if lines.last == "" { lines.removeLast() }
    return lines
  }
}

/// What a check has against a line.
struct Finding: Equatable, CustomStringConvertible {
  let path: String
  /// Counted from 1.
  let line: Int
  let message: String

  init(_ file: SourceFile, _ line: Int, _ message: String) {
    path = file.path
    self.line = line
    self.message = message
  }

  init(_ path: String, _ line: Int, _ message: String) {
    (self.path, self.line, self.message) = (path, line, message)
  }

  var description: String { "\(path):\(line): \(message)" }
}

/// The source tree that this test was built from.
enum SourceTree {
  /// The root of the repository, found from where this file lay when it was compiled.
  static let root: URL = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// Every Swift and C file under Sources, Tests and Tools.
  static let files: [SourceFile] = {
    var files: [SourceFile] = []
    for folder in ["Sources", "Tests", "Tools"] {
      let base = root.appendingPathComponent(folder).path
      for path in FileManager.default.enumerator(atPath: base)?.compactMap({ $0 as? String }) ?? []
      {
        guard [".swift", ".c", ".h"].contains(where: path.hasSuffix),
          let text = try? String(contentsOfFile: "\(base)/\(path)", encoding: .utf8)
        else { continue }
        files.append(SourceFile(path: "\(folder)/\(path)", text: text))
      }
    }
    return files.sorted { $0.path < $1.path }
  }()
}

/// The identifiers and keywords of a line of code, with the position after each.
func words(in code: String) -> [(word: Substring, end: String.Index)] {
  var found: [(Substring, String.Index)] = []
  var index = code.startIndex
  while index < code.endIndex {
    guard isWordPart(code[index]) else {
      index = code.index(after: index)
      continue
    }
    let end = code[index...].firstIndex { !isWordPart($0) } ?? code.endIndex
    found.append((code[index..<end], end))
    index = end
  }
  return found
}

func isWordPart(_ letter: Character) -> Bool {
  letter.isLetter || letter.isNumber || letter == "_"
}
