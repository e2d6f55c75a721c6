/// The rows of a sequence while its elements stay where they are, so that an element's place names
/// it: a change of a few objects takes time for those, not for all rows. A value.
struct PlacedRows: Sendable {
  /// Of the elements' places.
  let root: OrderedRoot
  /// The objects of the sequence, nil where an element is none.
  let elements: [ObjectKey?]

  init(_ root: OrderedRoot, of elements: [ObjectKey?]) {
    self.root = root
    self.elements = elements
  }

  /// - Parameter isUnsorted: the rows are in the order of the sequence.
  init(_ rows: ElementRows, of elements: [ObjectKey?], isUnsorted: Bool) {
    let places = rows.places.map(Self.name)
    self.init(
      isUnsorted ? OrderedRoot(keyed: KeySet(places)) : OrderedRoot(sorted: places), of: elements)
  }

  /// An element's place as roots name their rows.
  static func name(of place: Int) -> ObjectKey { ObjectKey(Int64(place)) }

  func object(at place: ObjectKey) -> ObjectKey {
    guard let key = elements[Int(place.rawValue)] else {
      trap("a row of what is no object: bug in this package")
    }
    return key
  }

  /// The rows at which the elements of some places are; ascending, without those that are none.
  func rows(at places: [Int]) -> KeySet {
    var lookup = OrderedRoot.Lookup(root)
    return KeySet(
      places.compactMap { lookup.position(of: Self.name(of: $0)) }.sorted().map(Self.name))
  }
}

extension CompiledQuery {
  /// The rows after the objects at some places changed.
  ///
  /// - Precondition: what decides on a row is in the row, and there are no stages behind the order.
  func moving(
    _ old: PlacedRows, at places: [Int], _ rows: StoreRows
  ) throws(StorageError) -> PlacedRows {
    var (removals, insertions): ([ObjectKey], [ObjectKey]) = ([], [])
    var lookup = OrderedRoot.Lookup(old.root)
    for place in places.map(PlacedRows.name) {
      if try predicate.matches(old.object(at: place), in: rows) {
        insertions.append(place)
      } else if lookup.contains(place) {
        removals.append(place)
      }
    }
    let comparator = OrderComparator(order, source: rows)
    var latest: (place: ObjectKey, OrderComparator<StoreRows>.Place)?
    func sorted(_ place: ObjectKey) throws(StorageError) -> OrderComparator<StoreRows>.Place {
      if let latest, latest.place == place { return latest.1 }
      return try comparator.place(of: old.object(at: place))
    }
    let root = try old.root.applying(
      removals: removals, insertions: insertions
    ) { (a, b) throws(StorageError) in
      let right = try sorted(b)
      let order = try comparator.compareTerms(sorted(a), right)
      latest = (b, right)
      return order == 0 ? a < b : order < 0
    }
    return PlacedRows(root, of: old.elements)
  }
}

extension EditScript {
  /// How rows moved of which only those with some names did, came or went.
  init(from old: OrderedRoot, to new: OrderedRoot, moving names: [ObjectKey]) {
    var (before, after) = (OrderedRoot.Lookup(old), OrderedRoot.Lookup(new))
    var gone: [Int] = []
    var come: [(now: Int, before: Int?)] = []
    for name in names {
      let former = before.position(of: name)
      if let former { gone.append(former) }
      if let now = after.position(of: name) { come.append((now, former)) }
    }
    gone.sort()
    come.sort { $0.now < $1.now }
    var builder = Builder(oldCount: old.count)
    var (next, filled, passed) = (0, 0, 0)
    func keep(upTo count: Int) {
      while filled < count {
        while passed < gone.count, gone[passed] == next {
          passed += 1
          next += 1
        }
        let end = passed < gone.count ? gone[passed] : old.count
        let kept = next..<min(end, next + count - filled)
        require(!kept.isEmpty, "rows came that nobody named: bug in this package")
        builder.appendOld(kept)
        next = kept.upperBound
        filled += kept.count
      }
    }
    for row in come {
      keep(upTo: row.now)
      if let former = row.before { builder.append(old: former) } else { builder.appendFresh() }
      filled += 1
    }
    keep(upTo: new.count)
    self = builder.finish()
  }
}
