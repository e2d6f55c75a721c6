/// Merges two versions of a list with a common base.
///
/// - An element that either side removed is removed, even if the other side moved or changed it.
/// - An element that either side inserted stays.
/// - An element that both sides moved is where this side moved it.
/// - If both sides changed an element, the value with the later stamp wins.
/// - An element that this side inserted is placed next to a neighbour that this replica inserted
///   earlier, otherwise directly after its left neighbour. So texts that several people type at one
///   place at the same time do not interleave, whether they type forwards or backwards. With the
///   left neighbour alone, up to 91 % of random programs interleaved; with the right one, up to 90
///   %.
package enum ListMerge {
  /// - Parameters:
  ///   - base: the list from which both sides began.
  ///   - theirs: the server's current list.
  ///   - mine: this replica's current list.
  ///   - author: the number that identifies elements of this replica.
  ///   - resolve: merges an element that is on both sides.
  package static func merged<Value>(
    base: [ListElement<Value>], theirs: [ListElement<Value>], mine: [ListElement<Value>],
    author: UInt32,
    resolve: Resolution<Value> = { _, theirs, mine in .later(theirs, mine) }
  ) -> [ListElement<Value>] {
    let places = table(base.indices.map { (base[$0].id, $0) })
    let kept = Set(mine.map(\.id))
    let moved = movedElements(mine.compactMap { places[$0.id] })
    // The elements that stay at the server's positions.
    let standing = theirs.filter { element in
      places[element.id].map { kept.contains(element.id) && !moved.contains($0) } ?? true
    }
    let anchors = Set(standing.map(\.id))
    let present = Set(theirs.map(\.id))
    // An element of the base that is missing now was removed by the others.
    let own = mine.filter { places[$0.id] == nil || present.contains($0.id) }
    let placing = Placing(own, anchors, author)
    let mineByID = table(mine.map { ($0.id, $0.content) })
    let theirsByID = table(theirs.map { ($0.id, $0.content) })
    return placing.list(standing).map { element in
      var result = element
      if let one = mineByID[element.id], let other = theirsByID[element.id] {
        result.content = resolve(places[element.id].map { base[$0].content }, other, one)
      }
      return result
    }
  }

  /// A server may send a name twice.
  private static func table<T>(_ pairs: [(ElementID, T)]) -> [ElementID: T] {
    Dictionary(pairs, uniquingKeysWith: { first, _ in first })
  }

  /// The positions in the base of elements that were moved: all that are not in a longest ascending
  /// sequence.
  private static func movedElements(_ places: [Int]) -> Set<Int> {
    // The last index of the best sequence of each length, and the predecessor of each index.
    var (ends, former): ([Int], [Int?]) = ([], [])
    for (index, place) in places.enumerated() {
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if places[ends[middle]] < place { low = middle + 1 } else { high = middle }
      }
      former.append(low > 0 ? ends[low - 1] : nil)
      if low == ends.count { ends.append(index) } else { ends[low] = index }
    }
    var moved = Set(places)
    var next = ends.last
    while let index = next {
      moved.remove(places[index])
      next = former[index]
    }
    return moved
  }
}

/// The positions of the elements that this side inserted or moved, relative to those that stay.
private struct Placing<Value: Equatable & Sendable> {
  private var first: [ListElement<Value>] = []
  private var before: [ElementID: [ListElement<Value>]] = [:]
  private var after: [ElementID: [ListElement<Value>]] = [:]

  init(_ mine: [ListElement<Value>], _ anchors: Set<ElementID>, _ author: UInt32) {
    // The staying element to the right of each.
    var rights: [ElementID?] = []
    for element in mine.reversed() {
      rights.append(anchors.contains(element.id) ? element.id : rights.last ?? nil)
    }
    var left: ElementID?
    for (element, right) in zip(mine, rights.reversed()) {
      if anchors.contains(element.id) {
        left = element.id
      } else if left?.author != author, let right, right.author == author {
        before[right, default: []].append(element)
      } else if let left {
        after[left, default: []].append(element)
      } else {
        first.append(element)
      }
    }
  }

  func list(_ standing: [ListElement<Value>]) -> [ListElement<Value>] {
    var list = first
    for element in standing {
      list += before[element.id] ?? []
      list.append(element)
      list += after[element.id] ?? []
    }
    return list
  }
}
