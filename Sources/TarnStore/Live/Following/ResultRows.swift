/// The ordered rows of results at one version.
package enum ResultRows: LiveContent {
  case root(OrderedRoot)
  case elements(ElementsModel.Content)
  case values(ValuesModel.Content)
  indirect case window(WindowModel.Content)

  package var isOwnerGone: Bool {
    switch self {
    case .root: false
    case .elements(let content): content.isOwnerGone
    case .values(let content): content.isOwnerGone
    case .window(let content): content.isOwnerGone
    }
  }

  package var count: Int {
    switch self {
    case .root(let root): root.count
    case .elements(let content): content.rows.count
    case .values(let content): content.rows.values.count
    case .window(let content): content.count
    }
  }

  /// The elements of results of values; nil for objects.
  package var values: ValueRows? {
    switch self {
    case .root, .elements: nil
    case .values(let content): content.rows
    case .window(let content): content.values
    }
  }

  /// The element at a position, for values; nil for objects.
  package func value(at position: Int) -> Value? {
    switch self {
    case .root, .elements: nil
    case .values(let content): content.rows.values[position]
    case .window(let content): content.value(at: position)
    }
  }

  package func key(at position: Int) -> ObjectKey {
    switch self {
    case .root(let root): root.key(at: position)
    case .elements(let content): content.rows.key(at: position)
    case .values: trap("internal error: values have no keys")
    case .window(let content): content.key(at: position)
    }
  }

  package func keys(in range: Range<Int>) -> [ObjectKey] {
    switch self {
    case .root(let root): root.keys(in: range)
    case .elements(let content): content.rows.keys(in: range)
    case .values: trap("internal error: values have no keys")
    case .window(let content): content.keys(in: range)
    }
  }

  /// The first position of an object.
  package func position(of key: ObjectKey) -> Int? {
    switch self {
    case .root(let root): root.position(of: key)
    case .elements(let content): content.rows.keys.firstIndex(of: key)
    case .values: nil
    case .window(let content): content.position(of: key)
    }
  }

  /// Whether each object occurs only once.
  var isOfDistinctObjects: Bool { if case .root = self { true } else { false } }

  /// The objects, each once, in any order.
  package var objects: [ObjectKey] {
    switch self {
    case .root(let root): root.keys
    case .elements(let content): Set(content.rows.keys).sorted()
    case .values: []
    case .window: values == nil ? Set(keys(in: 0..<count)).sorted() : []
    }
  }
}
