import TarnStore

/// Collections of objects that are added over others.
extension ManagedSequence {
  /// Takes over elements, and leaves what is the same to the bit already: nobody is told of it.
  ///
  /// Embedded objects have no keys of their own. An unmanaged one is the same as the one that is at
  /// its position of the list, or under its key of the map: that one takes over what differs.
  func merge(_ other: any SequenceBacking) {
    let (boxes, keys) = (other.all, kind == .map ? other.allKeys : [])
    takingIn { session throws(StorageError) in
      let (old, oldKeys) = (values(), kind == .map ? allKeys : [])
      // Elements of a set have neither a position nor a key.
      guard kind != .set, property.target is EmbeddedObject.Type else {
        let new = try stored(boxes)
        if isSame(new, keys, old, oldKeys) { return }
        return try changing(.setting) { () throws(StorageError) in
          try session.put(new, keys: keys, in: place)
        }
      }
      let new = try mergeEmbedded(boxes, keys, old, oldKeys)
      session.refuseRepeated(new, for: place)
      let front = zip(old, new).prefix { $0 == $1 }.count
      let isSame = front == old.count && front == new.count && keys == oldKeys
      if isSame { return }
      try changing(.setting, leaving: 0..<old.count, with: boxes) { () throws(StorageError) in
        if kind == .map {
          try put(new, keys, old, oldKeys, session)
        } else {
          try session.replace(front..<old.count, with: Array(new[front...]), in: place)
        }
      }
    }
  }

  private func isSame(
    _ new: [Value], _ keys: [String], _ old: [Value], _ oldKeys: [String]
  ) -> Bool {
    guard new.count == old.count, keys == oldKeys else { return false }
    if kind == .set { return Set(old.map(KeyValue.init)) == Set(new.map(KeyValue.init)) }
    return zip(old, new).allSatisfy { $0.hasSameBits(as: $1) }
  }

  private func mergeEmbedded(
    _ boxes: [_BoxedValue], _ keys: [String], _ old: [Value], _ oldKeys: [String]
  ) throws(StorageError) -> [Value] {
    let oldIndices = Dictionary(zip(oldKeys, old.indices)) { first, _ in first }
    // Those that come themselves are nobody else.
    let coming = Set(boxes.compactMap { $0.object?._core == nil ? nil : $0.object!._key })
    var new: [Value] = []
    for (index, boxed) in boxes.enumerated() {
      let known = kind == .map ? oldIndices[keys[index]] : index < old.count ? index : nil
      if let object = boxed.object, object._core == nil, let known,
        case .link(let there) = old[known], !coming.contains(there.rawValue)
      {
        instance.merge(object, into: there, .modified)
      }
      new.append(try stored(boxed))
    }
    return new
  }

  /// Gives a map of embedded objects these, and leaves the keys whose object stays.
  private func put(
    _ new: [Value], _ keys: [String], _ old: [Value], _ oldKeys: [String],
    _ session: WriteSession
  ) throws(StorageError) {
    let before = Dictionary(zip(oldKeys, old)) { first, _ in first }
    for (key, value) in zip(keys, new) where before[key] != value {
      try session.set(value, forKey: key, inMap: place)
    }
    let coming = Set(keys)
    for key in oldKeys where !coming.contains(key) {
      try session.removeValue(forKey: key, fromMap: place)
    }
  }
}
