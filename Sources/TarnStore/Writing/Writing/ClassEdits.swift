// Small containers of an open write. Most writes change one class and open one cluster of it: then
// these need no memory of their own, or little.

/// The edits of classes, by their ids.
struct ClassEdits {
  /// The one that was added first.
  private var first: ClassEdit?
  /// The others, by their ids.
  private var others: ContiguousArray<ClassEdit?> = []

  /// The class's edit; nil while the write has not changed it.
  subscript(id: ClassID) -> ClassEdit? {
    if let first, first.schema.id == id { return first }
    let index = Int(id.rawValue)
    return index < others.count ? others[index] : nil
  }

  /// Adds the edit of a class that has none yet.
  mutating func insert(_ edit: ClassEdit) {
    guard first != nil else {
      first = edit
      return
    }
    let index = Int(edit.schema.id.rawValue)
    while others.count <= index { others.append(nil) }
    others[index] = edit
  }

  /// In the order of the ids.
  var all: [ClassEdit] {
    guard let first else { return [] }
    if others.isEmpty { return [first] }
    return (others.compactMap { $0 } + [first]).sorted { $0.schema.id < $1.schema.id }
  }
}

/// Clusters of the file under edit, by their boundaries in the file.
struct OpenedClusters {
  private var first: EditedCluster?
  private var others: [ObjectKey: EditedCluster] = [:]

  var count: Int { (first == nil ? 0 : 1) + others.count }

  subscript(boundary: ObjectKey) -> EditedCluster? {
    if let first, first.boundary == boundary { return first }
    return others.isEmpty ? nil : others[boundary]
  }

  /// Adds a cluster that is not there yet.
  mutating func insert(_ cluster: EditedCluster) {
    if first == nil { first = cluster } else { others[cluster.boundary] = cluster }
  }

  /// In no particular order.
  var all: [EditedCluster] {
    guard let first else { return [] }
    return others.isEmpty ? [first] : [first] + others.values
  }

  /// The only one; nil if there are more or none.
  var only: EditedCluster? { others.isEmpty ? first : nil }
}
