import TarnStore

extension _CollectionProperty {
  /// The Realm that the collection belongs to, nil while it is unmanaged.
  public var realm: Realm? { backing.core.map { Realm($0) } }

  /// True if the collection's object was deleted or the Realm invalidated. Any other use of the
  /// collection then traps. Traps on a thread other than the Realm's.
  public var isInvalidated: Bool { backing.isInvalidated }

  /// True if both are the same collection of one Realm instance, or have equal elements and at
  /// least one of them is unmanaged, like a literal.
  public static func == (a: Self, b: Self) -> Bool { a === b || a.backing.equals(b.backing) }
}

/// Iterates the elements that a collection had when the iterator was created. For a large
/// collection of numbers, the iterator pins that version as long as it lives.
public struct ElementIterator<Element: RealmCollectionValue>: IteratorProtocol {
  /// Numbers that are read already, of which the first `position` have been returned.
  @usableFromInline var numbers: ContiguousArray<Int64> = []
  @usableFromInline var position = 0
  private var pages: NumberPages?
  /// Elements of other collections.
  private let elements: SequenceSnapshot

  init(_ backing: any SequenceBacking) {
    pages = backing.numberPages
    elements = pages == nil ? backing.snapshot : .boxed([])
  }

  @inlinable public mutating func next() -> Element? {
    if position < numbers.count, let element = Element._element(ofNumber: numbers[position]) {
      position += 1
      return element
    }
    return nextOther()
  }

  /// The next element if it is not read already or is not a number.
  @usableFromInline @inline(never)
  mutating func nextOther() -> Element? {
    guard pages != nil else {
      guard position < elements.count else { return nil }
      defer { position += 1 }
      return typedElement(elements[position], elements.title)
    }
    if position == numbers.count {
      trapping { () throws(StorageError) in try pages!.next(&numbers) }
      position = 0
      if numbers.isEmpty { return nil }
    }
    defer { position += 1 }
    return typedElement(_BoxedValue(.int(numbers[position])))
  }
}

@available(*, unavailable, message: "it belongs to one thread or actor: make the loop there")
extension ElementIterator: Sendable {}
