import TarnStore

/// What became of a collection with positions since the observer was told last.
///
/// All arrays of positions ascend. Removing the deletions from the old collection and then putting
/// in the elements of the new one at the insertions gives the new one; `apply(to:)` does that.
///
/// The new collection is the one that the observer is told of. A callback, also one of another
/// observer, may write before it is asked for: what is read here stays as it was. Objects are live
/// all the same: those that were deleted since are invalidated.
///
/// Threading: as the collection. For as long as it is referenced it keeps two versions in the file,
/// the one that it leads to and the one before: pages that only they use are not written anew. So
/// take from it what you need, and let go of it.
public struct CollectionDelta<Element> {
  /// An element that stayed in the collection and moved.
  public struct Move: Hashable, Sendable {
    /// The old position.
    public let from: Int
    /// The new position.
    public let to: Int
  }

  /// Old positions of elements that went or moved.
  public let deletions: [Int]
  /// New positions of elements that came or moved.
  public let insertions: [Int]
  /// Old positions of elements that stayed where they were among the others, and changed.
  public let modifications: [Int]
  /// The new positions of the same elements, in the same order.
  public let modificationsNew: [Int]
  /// The elements that moved, by their old positions: each is also deleted and inserted, and may
  /// have changed as well. A collection that keeps an order of its own, such as a set, has none.
  public let moves: [Move]
  /// The number of elements in the new collection.
  public var count: Int { elements.count }

  let elements: PastElements
  /// Where the collection is.
  let host: any DeliveryHost
  /// The elements are objects whose classes the program does not have.
  let isDynamic: Bool
  private let make: (Value) -> Element

  /// - Parameter make: an element as the program sees it, from what is stored.
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

  /// The same of what is made of each element.
  func map<Other>(_ transform: @escaping (Element) -> Other) -> CollectionDelta<Other> {
    CollectionDelta<Other>(self) { [make] in transform(make($0)) }
  }

  /// The same of what is made of each element and of what was at the end of a path from it then.
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

  /// Makes the new collection of the old one, the changed elements included. Traps for an array of
  /// another length than the old collection had. Threading: as the collection.
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
  /// The elements that stay, in their new positions, and those that came.
  ///
  /// - Parameters:
  ///   - deletions: old positions, ascending.
  ///   - insertions: new positions, ascending.
  ///   - count: how many there are then.
  ///   - element: what is inserted at a new position.
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
