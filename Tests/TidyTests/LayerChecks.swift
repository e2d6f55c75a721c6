/// The engine's layers: a file names no type that a layer above its own declares.
enum LayerChecks {
  /// The folders of TarnStore, the lowest first.
  static let layers = ["Storage", "Signals", "Rows", "Changes", "Versions", "Queries"]

  static func order(_ files: [SourceFile]) -> [Finding] {
    var declared: [Substring: Set<Int>] = [:]
    for file in files {
      guard let layer = layer(of: file) else { continue }
      for line in file.code {
        if let name = declaredType(line) { declared[name, default: []].insert(layer) }
      }
    }
    var findings: [Finding] = []
    for file in files {
      guard let layer = layer(of: file) else { continue }
      for (number, line) in file.code.enumerated() {
        for (word, _) in words(in: line) {
          guard let lowest = declared[word]?.min(), lowest > layer else { continue }
          let text = "\(layers[layer]) names \(word), which \(layers[lowest]) above it declares"
          findings.append(Finding(file, number + 1, text))
        }
      }
    }
    return findings
  }

  /// A file of TarnStore that lies in no layer escapes the order.
  static func everyFileHasALayer(_ files: [SourceFile]) -> [Finding] {
    files.compactMap { file in
      guard file.module == "Sources/TarnStore", layer(of: file) == nil else { return nil }
      return Finding(file, 1, "in no layer: \(layers.joined(separator: ", "))")
    }
  }

  /// LMDB is talked to in one folder, and by the floors of the benchmark.
  static func lmdbImport(_ file: SourceFile) -> [Finding] {
    let homes = ["Sources/TarnStore/Storage/", "Sources/CLMDB/", "Tools/BenchFloors/"]
    if homes.contains(where: file.path.hasPrefix) { return [] }
    return file.code.enumerated().compactMap { number, line in
      let words = words(in: line).map(\.word)
      let imports = words.contains("import") && words.contains("CLMDB")
      let includes = words.first == "include" && words.contains("lmdb")
      return imports || includes ? Finding(file, number + 1, "only Storage talks to LMDB") : nil
    }
  }

  private static func layer(of file: SourceFile) -> Int? {
    let parts = file.path.split(separator: "/")
    guard file.isSwift, file.module == "Sources/TarnStore", parts.count > 3 else { return nil }
    return layers.firstIndex(of: String(parts[2]))
  }

  /// The type that a line at the top level declares for more than its own file.
  private static func declaredType(_ line: String) -> Substring? {
    guard let first = line.first, first.isLetter || first == "@" else { return nil }
    let words = words(in: line).map(\.word)
    if words.contains("private") || words.contains("fileprivate") { return nil }
    let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "actor", "typealias"]
    guard let kind = words.firstIndex(where: kinds.contains), kind + 1 < words.count else {
      return nil
    }
    // `extension Frog where Tail: class` and the like declare nothing.
    return words[..<kind].contains("extension") ? nil : words[kind + 1]
  }
}
