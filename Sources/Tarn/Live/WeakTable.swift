/// Things that are shared for as long as somebody uses them, by what they are made of.
struct WeakTable<Key: Hashable> {
  private struct Entry {
    weak var object: AnyObject?
  }

  private static var few: Int { 64 }

  private var entries: [Key: Entry] = [:]
  /// Where there are so many, entries whose object has gone are cleared out before one is added.
  /// Twice what was left the last time, so that adding many that stay takes no longer for each.
  private var crowded = few

  subscript(key: Key) -> AnyObject? { entries[key]?.object }

  mutating func insert(_ object: AnyObject, for key: Key) {
    if entries.count >= crowded {
      entries = entries.filter { $0.value.object != nil }
      crowded = max(Self.few, 2 * entries.count)
    }
    entries[key] = Entry(object: object)
  }
}
