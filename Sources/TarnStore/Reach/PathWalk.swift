/// The way to one property, which somebody looks at from objects of a class.
struct PathWalk: Hashable, Sendable {
  let classID: ClassID
  let dependency: QueryDependency

  init(_ classID: ClassID, _ dependency: QueryDependency) {
    self.classID = classID
    self.dependency = dependency
  }

  /// The objects from which the way leads to something that was set.
  func concerned(
    by changes: ChangeSet, _ rows: StoreRows, among lookedAt: LookedAt
  ) throws(StorageError) -> KeySet {
    let touched = dependency.touchedKeys(in: changes)
    var keys = touched
    for link in dependency.links.reversed() where !keys.isEmpty {
      guard let next = try rows.before(keys, through: link, atMost: lookedAt.budget) else {
        return try forwards(to: touched, rows, lookedAt)
      }
      keys = next
    }
    return keys
  }

  private func forwards(
    to touched: KeySet, _ rows: StoreRows, _ lookedAt: LookedAt
  ) throws(StorageError) -> KeySet {
    var known = Array(repeating: [ObjectKey: Bool](), count: dependency.links.count)
    var found: [ObjectKey] = []
    for key in try lookedAt.keys()[classID] ?? KeySet()
    where try leads(from: key, over: dependency.links[...], to: touched, rows, &known) {
      found.append(key)
    }
    return KeySet(found)
  }

  private func leads(
    from key: ObjectKey, over links: ArraySlice<LinkStep>, to touched: KeySet, _ rows: StoreRows,
    _ known: inout [[ObjectKey: Bool]]
  ) throws(StorageError) -> Bool {
    guard let link = links.first else { return touched.contains(key) }
    if let known = known[links.startIndex][key] { return known }
    var isHit = false
    for next in try rows.after(KeySet(key), through: link) where !isHit {
      isHit = try leads(from: next, over: links.dropFirst(), to: touched, rows, &known)
    }
    known[links.startIndex][key] = isHit
    return isHit
  }
}
