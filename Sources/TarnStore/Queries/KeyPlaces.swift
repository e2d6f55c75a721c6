/// Where objects are in a list of keys: 16 bytes an object. Does not change; any thread may ask.
final class KeyPlaces: Sendable {
  private struct Place: Sendable {
    var key: ObjectKey
    var place: Int
  }

  private let places: ContiguousArray<Place>

  /// - Parameter keys: nil where there is no object.
  init<Keys: Collection<ObjectKey?>>(_ keys: Keys) {
    var places: ContiguousArray<Place> = []
    places.reserveCapacity(keys.count)
    for (place, key) in keys.enumerated() {
      if let key { places.append(Place(key: key, place: place)) }
    }
    radixSort(&places) { OrderedRoot.biased($0.key) }
    self.places = places
  }

  /// All places of those objects, ascending.
  func places(of keys: KeySet) -> [Int] {
    var found: [Int] = []
    for key in keys {
      var index = places.partitioningIndex { $0.key >= key }
      while index < places.count, places[index].key == key {
        found.append(places[index].place)
        index += 1
      }
    }
    found.sort()
    return found
  }
}
