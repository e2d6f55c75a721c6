import TarnStore

/// The order in which objects from before the file was a replica are sent: a push has a part of
/// them, and the server requires the objects that foreign keys refer to.
///
/// Classes are in the order of their foreign keys. Single objects are ordered only where that is
/// not sufficient: a key refers to the same class, or to a later one.
struct UploadOrder {
  private let classes: [ReplicaClass]
  private let reader: SnapshotReader
  /// A property, and the index of the class that it refers to.
  private typealias Key = (property: ExchangeClass.Property, target: Int)
  /// The foreign keys to follow, by index of the class.
  private let followed: [[Key]]
  /// Whether objects of a class may have to precede or follow others of it or of later ones.
  private var isFollowed: [Bool]
  private let order: [Int]

  init(_ classes: [ReplicaClass], _ snapshot: Snapshot) throws(StorageError) {
    self.classes = classes
    reader = try SnapshotReader(snapshot)
    order = ForeignKey.parentsFirst(classes.map(\.exchange))
    var ranks = [Int](repeating: 0, count: classes.count)
    for (rank, place) in order.enumerated() { ranks[place] = rank }
    let keys = classes.indices.map { place in Self.keys(of: place, classes) }
    // Objects that precede their class need the objects that they refer to before them.
    var early: Set<Int> = []
    var open = classes.indices.flatMap { place in
      keys[place].filter { ranks[$0.target] >= ranks[place] }.map(\.target)
    }
    while let place = open.popLast() {
      if early.insert(place).inserted { open += keys[place].map(\.target) }
    }
    followed = classes.indices.map { place in
      keys[place].filter { early.contains(place) || ranks[$0.target] >= ranks[place] }
    }
    isFollowed = classes.indices.map { early.contains($0) }
    for place in classes.indices where !followed[place].isEmpty { isFollowed[place] = true }
  }

  private static func keys(of place: Int, _ classes: [ReplicaClass]) -> [Key] {
    let exchange = classes[place].exchange
    return exchange.rules.foreignKeys.compactMap { key in
      guard let target = classes.firstIndex(where: { $0.exchange.id == key.target }),
        let property = exchange.others.first(where: { $0.name == key.column })
      else { return nil }
      return (property, target)
    }
  }

  /// - Parameter missing: the objects, by index of the class.
  func sorted(_ missing: [[ObjectKey]]) throws(StorageError) -> [(place: Int, key: ObjectKey)] {
    var sorted: [(place: Int, key: ObjectKey)] = []
    let wanted = missing.enumerated().map { place, keys in
      isFollowed[place] ? Set(keys) : []
    }
    var met = missing.map { _ in Set<ObjectKey>() }
    for place in order {
      guard isFollowed[place] else {
        sorted += missing[place].map { (place, $0) }
        continue
      }
      for key in missing[place] {
        var open = [(place: place, key: key, isLast: false)]
        while let next = open.popLast() {
          if next.isLast {
            sorted.append((next.place, next.key))
            continue
          }
          guard wanted[next.place].contains(next.key), met[next.place].insert(next.key).inserted
          else { continue }
          open.append((next.place, next.key, true))
          for target in try targets(of: next.key, next.place) {
            open.append((target.place, target.key, false))
          }
        }
      }
    }
    return sorted
  }

  private func targets(
    of key: ObjectKey, _ place: Int
  ) throws(StorageError) -> [(place: Int, key: ObjectKey)] {
    var found: [(place: Int, key: ObjectKey)] = []
    for (property, target) in followed[place] {
      guard let value = try reader.value(of: property.id, at: key, in: classes[place].id) else {
        continue
      }
      switch value {
      case .null: break
      case .link(let key): found.append((target, key))
      default:
        let id = classes[target].id
        if let key = try reader.find(primaryKey: value, in: id) { found.append((target, key)) }
      }
    }
    return found
  }
}
