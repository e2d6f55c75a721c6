/// The layers of a library are its folders, the lowest first: a file names no type that a folder
/// above its own declares.
struct Layers {
  let module: String
  let folders: [String]

  var name: Substring { module.split(separator: "/").last ?? "" }

  static let engine = Layers(
    module: "Sources/TarnStore",
    folders: [
      "Threads", "Sorting", "Files", "Storage", "Signals", "Scalars", "Keys", "Records",
      "Schemas", "Clusters", "Indexes", "Directories", "Changes", "Snapshots", "Sequences",
      "Writing", "Unique", "Checks", "Migrations", "Store", "Conditions", "Texts", "Parsing",
      "Reading", "Matching", "Binding", "Scanning", "Reach", "Orders", "OrderedRows", "Queries",
      "Grouping", "Following",
    ])

  static let library = Layers(
    module: "Sources/Tarn",
    folders: [
      "Logging", "Primitives", "Sources", "Scheduling", "Observing", "Instances", "Classes",
      "Core", "Properties", "Collections", "Objects", "Querying", "Results", "Groups", "Sections",
      "Projections", "Transactions", "Migrating", "Opening", "Freezing", "Passing", "Realms",
    ])
}

/// Which folder uses which, found out from the types that each declares and names.
enum LayerChecks {
  /// Every name that stands for a type of a higher layer.
  static func order(_ files: [SourceFile], _ layers: Layers) -> [Finding] {
    var declared: [Substring: Set<Int>] = [:]
    for file in files {
      guard let layer = layer(of: file, layers) else { continue }
      for line in file.code {
        if let name = declaredType(line) { declared[name, default: []].insert(layer) }
      }
    }
    var findings: [Finding] = []
    for file in files {
      guard let layer = layer(of: file, layers) else { continue }
      for (number, line) in file.code.enumerated() {
        for word in words(in: line).map(\.word) where !isMember(word, in: line) {
          guard let lowest = declared[word]?.min(), lowest > layer else { continue }
          let (user, used) = (layers.folders[layer], layers.folders[lowest])
          let text = "\(user) names \(word), which \(used) above it declares"
          findings.append(Finding(file, number + 1, text))
        }
      }
    }
    return findings
  }

  /// What stands behind a dot is declared inside of what is named before it.
  private static func isMember(_ word: Substring, in line: String) -> Bool {
    line[..<word.startIndex].last == "."
  }

  /// A file that lies in no layer escapes the order.
  static func everyFileHasALayer(_ files: [SourceFile], _ layers: Layers) -> [Finding] {
    files.compactMap { file in
      guard file.isSwift, file.module == layers.module, layer(of: file, layers) == nil else {
        return nil
      }
      return Finding(file, 1, "in no layer: \(layers.folders.joined(separator: ", "))")
    }
  }

  /// A folder that is listed and is not there.
  static func emptyLayers(_ files: [SourceFile], _ layers: Layers) -> [String] {
    let present = Set(files.compactMap { layer(of: $0, layers) })
    return layers.folders.indices.filter { !present.contains($0) }.map { layers.folders[$0] }
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

  /// The thread sanitizer follows a `Lock`, not the `Mutex` in it.
  static func mutexInUse(_ file: SourceFile) -> [Finding] {
    if file.path == "Sources/TarnStore/Threads/Lock.swift" { return [] }
    return file.code.enumerated().compactMap { number, line in
      let named = words(in: line).contains { $0.word == "Mutex" }
      return named ? Finding(file, number + 1, "take a Lock, which sanitizers can follow") : nil
    }
  }

  private static func layer(of file: SourceFile, _ layers: Layers) -> Int? {
    let parts = file.path.split(separator: "/")
    guard file.isSwift, file.module == layers.module, parts.count > 3 else { return nil }
    return layers.folders.firstIndex(of: String(parts[2]))
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
