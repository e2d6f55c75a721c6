import Foundation

/// A name in one file that another file declares.
struct SymbolUse: Hashable {
  let path: String
  /// Counted from 1.
  let line: Int
  /// As it is declared: `treeOrder`, `deleteAll(_:of:)`.
  let name: String
  let home: String
  let homeLine: Int
  /// The name does not stand in the line: a conformance is declared there, and what a requirement
  /// of its protocol needs is declared at `home`.
  var isFulfilment = false
}

/// Which file uses what of which other file, as the compiler found out.
///
/// Reading the sources instead would need no index, but is not exact: which extension's member or
/// which type behind a dot is meant depends on the types of expressions. By names and argument
/// labels alone half of the upward uses in `Tarn` were missed: lower members had the same names.
/// The index is there whenever these tests are, because every debug build writes it.
struct SymbolIndex {
  /// Paths are relative to the root of the repository.
  let uses: [SymbolUse]
  /// The files that the compiler has seen.
  let files: Set<String>

  /// An optimized build has no index; the layers are the same there.
  static var isExpected: Bool {
    #if DEBUG
      true
    #else
      false
    #endif
  }

  /// Of the sources that this test was built with.
  static let tree = Result { try SymbolIndex(of: SourceTree.root) }

  private init(of root: URL) throws {
    let build = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent()
    let start = root.path + "/"
    var names: [Named] = []
    var homes: [String: Home] = [:]
    var files: Set<String> = []
    var seen: Set<String> = []
    try IndexLibrary().forEachRecord(ofStoreAt: build.path + "/index/store") {
      file, name, records in
      // Of a file that was moved the index still has the old place.
      guard file.hasPrefix(start), FileManager.default.fileExists(atPath: file),
        seen.insert(name).inserted
      else { return }
      let path = String(file.dropFirst(start.count))
      files.insert(path)
      records.forEach(of: name) { found in
        if found.isDefinition, homes[found.symbol] == nil {
          homes[found.symbol] = Home(path, found.line, found.isOfProtocol)
        }
        let isAccessor = found.name.hasPrefix("getter:") || found.name.hasPrefix("setter:")
        if !isAccessor, found.isUse || found.isFulfilment { names.append(Named(path, found)) }
      }
    }
    self.files = files
    let inheriting = Self.inheritingLines(of: SourceTree.files)
    let uses = Set(names.compactMap { $0.use(homes[$0.symbol]) }).filter {
      !$0.isFulfilment || inheriting[$0.path]?.contains($0.line) != true
    }
    self.uses = uses.sorted {
      ($0.path, $0.line, $0.name, $0.home) < ($1.path, $1.line, $1.name, $1.home)
    }
  }

  /// The lines that declare a class with a superclass and no protocols. The index lists there some
  /// of the conformances that the class inherits, more or fewer depending on which files the
  /// compiler took together. They belong to the superclass.
  static func inheritingLines(of files: [SourceFile]) -> [String: Set<Int>] {
    let declaration = /\bclass (?<name>\w+)(?:: (?<super>\w+) \{)?/
    let found = files.filter(\.isSwift).flatMap { file in
      file.code.enumerated().compactMap { index, line in
        line.firstMatch(of: declaration).map { (file.path, index + 1, $0.output) }
      }
    }
    let classes = Set(found.map { String($0.2.name) })
    let inheriting = found.filter { $0.2.super.map { classes.contains(String($0)) } ?? false }
    return Dictionary(grouping: inheriting, by: \.0).mapValues { Set($0.map(\.1)) }
  }

  private struct Home {
    let path: String
    let line: Int
    let isOfProtocol: Bool

    init(_ path: String, _ line: Int, _ isOfProtocol: Bool) {
      (self.path, self.line, self.isOfProtocol) = (path, line, isOfProtocol)
    }
  }

  private struct Named {
    let path: String
    let line: Int
    let name: String
    let symbol: String
    let isUse: Bool

    init(_ path: String, _ found: IndexLibrary.Occurrence) {
      (self.path, line, name) = (path, found.line, found.name)
      (symbol, isUse) = (found.symbol, found.isUse)
    }

    /// Nil for what the file declares itself, and for what a protocol has for all of its types:
    /// that is the protocol's, wherever it lies.
    func use(_ home: Home?) -> SymbolUse? {
      guard let home, home.path != path, isUse || !home.isOfProtocol else { return nil }
      return SymbolUse(
        path: path, line: line, name: name, home: home.path, homeLine: home.line,
        isFulfilment: !isUse)
    }
  }
}
