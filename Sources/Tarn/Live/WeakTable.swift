/// Things that are shared for as long as somebody uses them, by what they are made of.
struct WeakTable<Key: Hashable> {
  private struct Entry {
    weak var object: AnyObject?
  }

  /// Above that, entries whose object has gone are cleared out before one is added.
  private static var crowded: Int { 64 }

  private var entries: [Key: Entry] = [:]

  subscript(key: Key) -> AnyObject? { entries[key]?.object }

  mutating func insert(_ object: AnyObject, for key: Key) {
    if entries.count > Self.crowded { entries = entries.filter { $0.value.object != nil } }
    entries[key] = Entry(object: object)
  }
}
