/// Objects that are shared as long as they are used, by the values that they are made from.
struct WeakTable<Key: Hashable> {
  /// A key that is never copied: a query's is large.
  final class Box {
    let key: Key
    init(_ key: Key) { self.key = key }
  }

  /// A key that is hashed once.
  struct Name: Hashable {
    private let box: Box
    private let hash: Int

    init(_ box: Box) {
      self.box = box
      hash = box.key.hashValue
    }

    init(_ key: Key) { self.init(Box(key)) }

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
  /// At this size, entries of released objects are removed before one is added. It is twice the
  /// number left the last time, so that adding many objects that stay has constant amortized cost.
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
