/// Things that are shared for as long as somebody uses them, by what they are made of.
struct WeakTable<Key: Hashable> {
  /// A key that is hashed once and never copied: a query's is large.
  struct Name: Hashable {
    private final class Box {
      let key: Key
      init(_ key: Key) { self.key = key }
    }

    private let box: Box
    private let hash: Int

    init(_ key: Key) {
      box = Box(key)
      hash = key.hashValue
    }

    static func == (a: Name, b: Name) -> Bool {
      a.hash == b.hash && (a.box === b.box || a.box.key == b.box.key)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
  }

  private struct Entry {
    weak var object: AnyObject?
  }

  private static var few: Int { 64 }

  private var entries: [Name: Entry] = [:]
  /// Where there are so many, entries whose object has gone are cleared out before one is added.
  /// Twice what was left the last time, so that adding many that stay takes no longer for each.
  private var crowded = few

  var isEmpty: Bool { entries.isEmpty }

  subscript(name: Name) -> AnyObject? { entries[name]?.object }

  mutating func insert(_ object: AnyObject, for name: Name) {
    if entries.count >= crowded {
      entries = entries.filter { $0.value.object != nil }
      crowded = max(Self.few, 2 * entries.count)
    }
    entries[name] = Entry(object: object)
  }
}
