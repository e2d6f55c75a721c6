import TarnStore

/// The changes of an ordered collection since the observer's last call.
///
/// All arrays of positions ascend. Removing the deletions from the old collection and then
/// inserting the elements of the new one at the insertions gives the new collection; see
/// `apply(to:)`.
///
/// The new collection is the one that is being reported. Its elements stay readable here even if a
/// callback, also one of another observer, has written since. Objects are still live: objects that
/// were deleted since are invalidated.
///
/// Threading: like the collection. While it is referenced, it keeps the versions before and after
/// the change in the file: pages that only they use cannot be reused. So read what you need, and
/// release it.
public struct CollectionDelta<Element> {
  /// An element that stayed in the collection and moved.
  public struct Move: Hashable, Sendable {
    /// The old position.
    public let from: Int
    /// The new position.
    public let to: Int
  }

  /// Old positions of elements that were removed or moved.
  public let deletions: [Int]
  /// New positions of elements that were inserted or moved.
  public let insertions: [Int]
  /// Old positions of elements that changed and did not move.
  public let modifications: [Int]
  /// The new positions of the same elements, in the same order.
  public let modificationsNew: [Int]
  /// The elements that moved, by their old positions: each is also deleted and inserted, and may
  /// have changed as well. Empty for a collection with its own order, such as a set.
  public let moves: [Move]
  /// The number of elements in the new collection.
  public var count: Int { elements.count }

  let elements: PastElements
  /// The instance of the collection.
  let host: any DeliveryHost
  /// The elements are objects whose classes the program does not have.
  let isDynamic: Bool
  private let make: (Value) -> Element

  /// - Parameter make: converts a stored element to the program's type.
  init(
    _ changes: IndexChanges, _ elements: PastElements, on host: any DeliveryHost,
    isDynamic: Bool, _ make: @escaping (Value) -> Element
  ) {
    self.host = host
    self.isDynamic = isDynamic
    deletions = changes.deletions
    insertions = changes.insertions
    modifications = changes.modifications
    modificationsNew = changes.modificationsNew
    moves = changes.moves.map { Move(from: $0.from, to: $0.to) }
    self.elements = elements
    self.make = make
  }

  private init<Other>(_ other: CollectionDelta<Other>, _ make: @escaping (Value) -> Element) {
    deletions = other.deletions
    insertions = other.insertions
    modifications = other.modifications
    modificationsNew = other.modificationsNew
    moves = other.moves.map { Move(from: $0.from, to: $0.to) }
    elements = other.elements
    host = other.host
    isDynamic = other.isDynamic
    self.make = make
  }

  /// The same changes with each element converted.
  func map<Other>(_ transform: @escaping (Element) -> Other) -> CollectionDelta<Other> {
    CollectionDelta<Other>(self) { [make] in transform(make($0)) }
  }

  /// The same changes with each element converted together with the value that was at the end of a
  /// path from it.
  func map<Other>(
    along path: ScopePath, _ transform: @escaping (Element, Value) -> Other
  ) -> CollectionDelta<Other> {
    CollectionDelta<Other>(self) { [make, elements] in
      transform(make($0), elements.value(along: path, from: $0))
    }
  }

  /// The element at a position of the new collection. Traps if it is out of bounds.
  public func element(at position: Int) -> Element { make(value(at: position)) }

  /// The element at a position as it is stored. Traps if it is out of bounds.
  func value(at position: Int) -> Value {
    require(
      position >= 0 && position < count,
      "Index \(position) is out of bounds: the collection has \(count) elements after the change.")
    return elements.value(at: position)
  }

  /// Turns the old collection into the new one, including changed elements. Traps if the array does
  /// not have the length of the old collection. Threading: like the collection.
  public func apply(to array: inout [Element]) {
    requireOld(array.count)
    if !deletions.isEmpty || !insertions.isEmpty {
      array = array.rearranged(deleting: deletions, inserting: insertions, count: count) {
        element(at: $0)
      }
    }
    for position in modificationsNew { array[position] = element(at: position) }
  }

  /// Traps if the old collection had another number of elements.
  func requireOld(_ number: Int) {
    require(
      number - deletions.count + insertions.count == count,
      "The change is for a collection with \(count - insertions.count + deletions.count) elements, "
        + "not of one with \(number): apply every change exactly once.")
  }
}

extension Array {
  /// The elements that stay, at their new positions, and the inserted ones.
  ///
  /// - Parameters:
  ///   - deletions: old positions, ascending.
  ///   - insertions: new positions, ascending.
  ///   - count: the number of elements afterwards.
  ///   - element: the inserted element at a new position.
  func rearranged(
    deleting deletions: [Int], inserting insertions: [Int], count: Int, _ element: (Int) -> Element
  ) -> [Element] {
    var new: [Element] = []
    new.reserveCapacity(count)
    var (cursor, deletion) = (0, 0)
    func keep(upTo count: Int) {
      while new.count < count {
        while deletion < deletions.count, deletions[deletion] == cursor {
          deletion += 1
          cursor += 1
        }
        let end = deletion < deletions.count ? deletions[deletion] : self.count
        let next = Swift.min(end, cursor + count - new.count)
        new += self[cursor..<next]
        cursor = next
      }
    }
    for position in insertions {
      keep(upTo: position)
      new.append(element(position))
    }
    keep(upTo: count)
    return new
  }
}

@available(*, unavailable, message: "it belongs to one thread or actor: pass its positions")
extension CollectionDelta: Sendable {}
