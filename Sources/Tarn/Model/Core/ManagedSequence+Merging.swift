import TarnStore

/// Collections of objects that are added over others.
extension ManagedSequence {
  /// Copies elements, and leaves bitwise equal ones unchanged: they are not reported.
  ///
  /// Embedded objects have no keys. An unmanaged one is taken as the one at its position in the
  /// list, or under its key in the map, which is updated.
  func merge(_ other: any SequenceBacking) {
    let (boxes, keys) = (other.all, kind == .map ? other.allKeys : [])
    takingIn { session throws(StorageError) in
      let (old, oldKeys) = (values(), kind == .map ? allKeys : [])
      let new: [CopiedValue]
      // Elements of a set have neither a position nor a key.
      if kind != .set, property.target is EmbeddedObject.Type {
        new = try mergeEmbedded(boxes, keys, old, oldKeys).map { .value($0) }
      } else {
        new = try copies(boxes)
      }
      if instance.properties != nil, try session.holds(new, keys: keys, in: place) { return }
      try changing(.setting, leaving: 0..<old.count, with: boxes) { () throws(StorageError) in
        try session.assign(new, keys: keys, in: place)
      }
    }
  }

  private func mergeEmbedded(
    _ boxes: [_BoxedValue], _ keys: [String], _ old: [Value], _ oldKeys: [String]
  ) throws(StorageError) -> [Value] {
    let oldIndices = Dictionary(zip(oldKeys.map(StoredText.init), old.indices)) { $1 }
    // New elements that are managed themselves do not match an existing one.
    let coming = Set(boxes.compactMap { $0.object?._core == nil ? nil : $0.object!._key })
    var new: [Value] = []
    for (index, boxed) in boxes.enumerated() {
      let known =
        kind == .map ? oldIndices[StoredText(keys[index])] : index < old.count ? index : nil
      if let object = boxed.object, object._core == nil, let known,
        case .link(let there) = old[known], !coming.contains(there.rawValue)
      {
        instance.merge(object, into: there, .modified)
      }
      new.append(try stored(boxed))
    }
    return new
  }
}
