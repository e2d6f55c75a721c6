import TarnStore

/// The classes of a watch that its stores do not have yet.
struct ClassLacks {
  /// So many names of other classes are shown.
  private static let namesMax = 10

  private let watch: WatchSettings
  /// The stores that lack a class, by the class.
  private var paths: [String: [String]] = [:]
  /// The classes of all stores.
  private var known: Set<String> = []

  init(_ watch: WatchSettings) { self.watch = watch }

  mutating func add(_ path: String, _ awaited: [String], _ schema: StoreSchema) {
    for name in awaited { paths[name, default: []].append(path) }
    known.formUnion(schema.classes.filter { !$0.isVacant && !$0.isEmbedded }.map(\.name))
  }

  /// A class that no store has may be misspelt; one that only some lack is made there later.
  func findings() -> [Finding] {
    watch.classes.map(\.name).flatMap { name -> [Finding] in
      let paths = paths[name] ?? []
      if paths.isEmpty { return [] }
      if known.contains(name) || known.isEmpty {
        return paths.map { .note(watch.name, "\($0): waiting for the class '\(name)'") }
      }
      let others = known.sorted().prefix(Self.namesMax).map { "'\($0)'" }.joined(separator: ", ")
      let more = known.count > Self.namesMax ? " and others" : ""
      return [
        .warning(
          watch.name,
          "\(watch.file): waiting for the class '\(name)', which may be misspelt: there are "
            + others + more)
      ]
    }
  }
}
