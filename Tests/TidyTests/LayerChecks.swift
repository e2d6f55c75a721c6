/// Whether folders are layers: what uses which is known from the compiler's index.
enum LayerChecks {
  /// Every use of what a folder above declares: a type, one behind a dot, a member of an extension,
  /// a function of no type.
  static func upwardUses(_ uses: [SymbolUse], _ layers: Layers) -> [Finding] {
    upward(uses.filter { !$0.isFulfilment }, layers) { "uses \($0.name), which" }
  }

  /// Every conformance for which a folder above declares a member.
  static func fulfilments(_ uses: [SymbolUse], _ layers: Layers) -> [Finding] {
    upward(uses.filter(\.isFulfilment), layers) { "conforms by \($0.name), which" }
  }

  private static func upward(
    _ uses: [SymbolUse], _ layers: Layers, _ what: (SymbolUse) -> String
  ) -> [Finding] {
    uses.compactMap { use in
      guard let user = layers.index(of: use.path), let used = layers.index(of: use.home),
        used > user
      else { return nil }
      let (below, above) = (layers.folders[user], layers.folders[used])
      let text =
        "\(below) \(what(use)) \(above) above it declares at \(use.home):\(use.homeLine)"
      return Finding(use.path, use.line, text)
    }
  }

  /// Each circle of folders that is too large, by a use for each of its pairs.
  static func circles(_ uses: [SymbolUse], _ layers: Layers) -> [Finding] {
    var first: [String: [String: SymbolUse]] = [:]
    for use in uses where !use.isFulfilment {
      guard let user = layers.folder(of: use.path), let used = layers.folder(of: use.home),
        user != used, first[user]?[used] == nil
      else { continue }
      first[user, default: [:]][used] = use
    }
    let circles = Knots.all(in: first.mapValues { Set($0.keys) })
    return circles.filter { $0.count > layers.debts.foldersInACircle }.flatMap { circle in
      circle.flatMap { user in
        circle.compactMap { first[user]?[$0] }.map { use in
          Finding(
            use.path, use.line,
            "circle of \(circle.count) folders: uses \(use.name) of \(use.home):\(use.homeLine)")
        }
      }
    }
  }

  /// The sets of files that use each other, the largest first.
  static func knots(_ uses: [SymbolUse], _ layers: Layers) -> [[String]] {
    var next: [String: Set<String>] = [:]
    for use in uses where !use.isFulfilment {
      guard layers.index(of: use.path) != nil, layers.index(of: use.home) != nil else { continue }
      next[use.path, default: []].insert(use.home)
    }
    return Knots.all(in: next)
  }

  /// Each use that holds a knot of too many files together.
  static func largeKnots(_ uses: [SymbolUse], _ layers: Layers) -> [Finding] {
    let limit = layers.debts.filesInAKnot
    return knots(uses, layers).filter { $0.count > limit }.flatMap { knot in
      let files = Set(knot)
      return uses.filter { !$0.isFulfilment && files.contains($0.path) && files.contains($0.home) }
        .map { use in
          let text = "knot of \(knot.count) files, more than \(limit): uses \(use.name) of "
          return Finding(use.path, use.line, text + "\(use.home):\(use.homeLine)")
        }
    }
  }

  /// Each folder that has more files or lines than one may have.
  static func largeRooms(_ files: [SourceFile], _ layers: Layers) -> [Finding] {
    var sizes: [String: RoomSize] = [:]
    for file in files where file.isSwift {
      guard let folder = layers.folder(of: file.path) else { continue }
      sizes[folder, default: RoomSize(files: 0, lines: 0)].files += 1
      sizes[folder]?.lines += file.lines.count
    }
    return layers.folders.compactMap { folder in
      let limit = layers.debts.rooms[folder] ?? .limit
      guard let size = sizes[folder], !size.fits(limit) else { return nil }
      return Finding("\(layers.module)/\(folder)", 1, "\(size): more than \(limit)")
    }
  }

  /// The folders that two libraries have of one name.
  static func sharedNames(_ one: Layers, _ other: Layers) -> Set<String> {
    Set(one.folders).intersection(other.folders)
  }

  /// A file that lies in no layer escapes the order.
  static func everyFileHasALayer(_ files: [SourceFile], _ layers: Layers) -> [Finding] {
    files.compactMap { file in
      guard file.isSwift, file.path.hasPrefix(layers.module + "/"),
        layers.index(of: file.path) == nil
      else {
        return nil
      }
      return Finding(file, 1, "in no layer: \(layers.folders.joined(separator: ", "))")
    }
  }

  /// A folder that is listed and is not there.
  static func emptyLayers(_ files: [SourceFile], _ layers: Layers) -> [String] {
    let present = Set(files.compactMap { layers.index(of: $0.path) })
    return layers.folders.indices.filter { !present.contains($0) }.map { layers.folders[$0] }
  }

  /// A test that does not lie in a folder named after a room of its library.
  static func testsOutsideRooms(_ files: [SourceFile], _ layers: Layers) -> [Finding] {
    files.compactMap { file in
      guard file.isSwift, file.path.hasPrefix(layers.tests + "/") else { return nil }
      let parts = file.path.dropFirst(layers.tests.count + 1).split(separator: "/")
      let folder = parts.count > 1 ? String(parts[0]) : ""
      if layers.folders.contains(folder) || Layers.otherTestFolders.contains(folder) { return nil }
      return Finding(file, 1, "no folder of \(layers.module) is called \"\(folder)\"")
    }
  }

  /// LMDB is talked to in one folder, and by the floors of the benchmark.
  static func lmdbImport(_ file: SourceFile) -> [Finding] {
    let homes = ["Sources/TarnStore/File/Storage/", "Sources/CLMDB/", "Tools/BenchFloors/"]
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
    if file.path == "Sources/TarnStore/File/Threads/Lock.swift" { return [] }
    return file.code.enumerated().compactMap { number, line in
      let named = words(in: line).contains { $0.word == "Mutex" }
      return named ? Finding(file, number + 1, "take a Lock, which sanitizers can follow") : nil
    }
  }
}

extension Layers {
  /// The folder that a file of the library lies in; nil for other files.
  func folder(of path: String) -> String? { index(of: path).map { folders[$0] } }

  func index(of path: String) -> Int? {
    guard path.hasPrefix(module + "/") else { return nil }
    let parts = path.dropFirst(module.count + 1).split(separator: "/").map(String.init)
    guard parts.count > 1, let wing = wings.first(where: { $0.name == parts[0] }) else {
      return nil
    }
    if wing.rooms.isEmpty { return folders.firstIndex(of: wing.name) }
    return parts.count > 2 && wing.rooms.contains(parts[1]) ? folders.firstIndex(of: parts[1]) : nil
  }
}
