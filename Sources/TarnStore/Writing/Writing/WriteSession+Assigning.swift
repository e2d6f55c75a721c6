/// Assigns other elements to a collection, with as few deletions and insertions as the common
/// elements allow.
///
/// Bitwise equal elements stay: in a list those that `CommonElements` finds, in a map the values
/// with the same key, in a set the equal ones. A nested list or map is changed into its replacement
/// if that is of the same kind, by the same rules.
extension WriteSession {
  /// - Parameter keys: for a map, the keys of the elements.
  /// - Returns: false if the collection was equal; then nothing is recorded.
  @discardableResult
  package func assign(
    _ elements: [CopiedValue], keys: [String], in place: SequencePlace
  ) throws(StorageError) -> Bool {
    try changing { () throws(StorageError) in
      let sequence = try existing(place)
      switch sequence.shape.kind {
      case .none: trap("internal error: a property that is not a collection")
      case .list: return try assignList(elements, in: sequence)
      case .set: return try assignSet(elements, in: sequence)
      case .map: return try assignMap(elements, keys, in: sequence)
      }
    }
  }

  /// The same for plain values, and for lists and maps that were just created.
  package func put(
    _ values: [Value], keys: [String], in place: SequencePlace
  ) throws(StorageError) {
    try assign(values.map { .value($0) }, keys: keys, in: place)
  }

  /// Records the assignment of a property that changed nothing.
  package func noteAssigned(_ place: SequencePlace) { touch(place) }

  /// The value to store for a copy at that place; lists and maps in it are created.
  package func make(
    _ copy: CopiedValue, in place: SequencePlace
  ) throws(StorageError) -> Value {
    switch copy {
    case .value(let value): return value
    case .list(let items):
      let id = try makeNested(.list, in: place)
      let inner = place.nested(id)
      try insert(make(items, in: inner), at: 0, in: inner)
      return .list(id)
    case .map(let keys, let items):
      let id = try makeNested(.map, in: place)
      let inner = place.nested(id)
      for (key, item) in zip(keys, items) {
        try set(make(item, in: inner), forKey: key, inMap: inner)
      }
      return .map(id)
    }
  }

  private func make(
    _ copies: [CopiedValue], in place: SequencePlace
  ) throws(StorageError) -> [Value] {
    var values: [Value] = []
    values.reserveCapacity(copies.count)
    for copy in copies { values.append(try make(copy, in: place)) }
    return values
  }

  /// Changes the list or map at a place into another, if both are of the same kind.
  ///
  /// - Parameter value: the current value.
  /// - Returns: whether something changed; nil if nothing can be kept.
  package func assign(
    _ copy: CopiedValue, over value: Value, at place: SequencePlace
  ) throws(StorageError) -> Bool? {
    guard copy.kind != .none, value.collectionKind == copy.kind, let id = value.collection else {
      return nil
    }
    let (elements, keys) = copy.items
    return try assign(elements, keys: keys, in: place.nested(id))
  }

  // MARK: - Comparing

  /// True if the collection's elements are bitwise equal to these.
  package func holds(
    _ elements: [CopiedValue], keys: [String], in place: SequencePlace
  ) throws(StorageError) -> Bool {
    let sequence = try existing(place)
    let present = try copies(of: sequence)
    switch sequence.shape.kind {
    case .set: return Set(present) == Set(elements)
    case .map:
      return try .map(keys: sequence.parts().keys, values: present)
        == CopiedValue.map(keys: keys, values: elements)
    case .list, .none: return present == elements
    }
  }

  /// The same for a property with a single value.
  package func holds(_ copy: CopiedValue, at place: SequencePlace) throws(StorageError) -> Bool {
    guard let value = try value(of: place.column, at: place.key, in: place.classID) else {
      return false
    }
    return try CopiedValue(value) { id throws(StorageError) in
      try sequence(at: place.nested(id))?.parts()
    } == copy
  }

  // MARK: - Lists

  private func assignList(
    _ new: [CopiedValue], in sequence: WorkingSequence
  ) throws(StorageError) -> Bool {
    let place = sequence.place
    if ownsElements(place) { refuseRepeated(new.compactMap(\.plain), for: place) }
    if sequence.count == 0 || new.isEmpty {
      if sequence.count == new.count { return false }
      try replace(0..<sequence.count, with: new, in: place)
      return true
    }
    let old = try copies(of: sequence)
    let pairs: [CommonElements.Pair]
    if ownsElements(place) {
      // `replaceOwned` keeps the embedded objects between them that occur again.
      let (front, back) = CommonElements.ends(old, new)
      pairs = front + back
    } else {
      pairs = CommonElements.pairs(old, new)
    }
    if pairs.count == old.count, pairs.count == new.count { return false }
    // From the end, so that earlier positions stay valid.
    var (oldEnd, newEnd) = (old.count, new.count)
    for pair in pairs.reversed() + [(old: -1, new: -1)] {
      let (gap, coming) = (pair.old + 1..<oldEnd, pair.new + 1..<newEnd)
      if !gap.isEmpty || !coming.isEmpty {
        try replace(gap, of: old, with: new[coming], in: sequence)
      }
      (oldEnd, newEnd) = (pair.old, pair.new)
    }
    return true
  }

  /// Replaces neighbouring elements that have nothing in common with the new ones, except lists and
  /// maps that can be changed into new ones.
  private func replace(
    _ gap: Range<Int>, of old: [CopiedValue], with new: ArraySlice<CopiedValue>,
    in sequence: WorkingSequence
  ) throws(StorageError) {
    let shared = min(gap.count, new.count)
    var (oldEnd, newEnd) = (gap.upperBound, new.endIndex)
    for offset in (0..<shared).reversed() {
      let (position, index) = (gap.lowerBound + offset, new.startIndex + offset)
      guard old[position].kind != .none, old[position].kind == new[index].kind else { continue }
      try replace(position + 1..<oldEnd, with: Array(new[index + 1..<newEnd]), in: sequence.place)
      _ = try assign(new[index], over: sequence.value(at: position), at: sequence.place)
      (oldEnd, newEnd) = (position, index)
    }
    try replace(
      gap.lowerBound..<oldEnd, with: Array(new[new.startIndex..<newEnd]), in: sequence.place)
  }

  private func replace(
    _ range: Range<Int>, with new: [CopiedValue], in place: SequencePlace
  ) throws(StorageError) {
    if range.isEmpty, new.isEmpty { return }
    try replace(range, with: make(new, in: place), in: place)
  }

  private func copies(of sequence: WorkingSequence) throws(StorageError) -> [CopiedValue] {
    var values: [Value] = []
    values.reserveCapacity(sequence.count)
    try sequence.forEach(in: 0..<sequence.count) { value in
      values.append(value)
      return true
    }
    return try CopiedValue.copies(values) { id throws(StorageError) in
      try self.sequence(at: sequence.place.atAnyDepth(id))?.parts()
    }
  }

  // MARK: - Sets and maps

  private func assignSet(
    _ new: [CopiedValue], in sequence: WorkingSequence
  ) throws(StorageError) -> Bool {
    let place = sequence.place
    let coming = Set(new)
    var changed = try remove(from: sequence) { position throws(StorageError) in
      try !coming.contains(.value(sequence.value(at: position)))
    }
    for copy in new {
      let isNew = try insert(make(copy, in: place), intoSet: place).isNew
      changed = changed || isNew
    }
    return changed
  }

  private func assignMap(
    _ new: [CopiedValue], _ keys: [String], in sequence: WorkingSequence
  ) throws(StorageError) -> Bool {
    let place = sequence.place
    if ownsElements(place) { refuseRepeated(new.compactMap(\.plain), for: place) }
    let coming = Set(keys.map(StoredText.init))
    var changed = try remove(from: sequence) { position throws(StorageError) in
      try !coming.contains(StoredText(sequence.key(at: position)))
    }
    for (key, copy) in zip(keys, new) {
      let (index, isFound) = try sequence.find(key: key)
      if isFound {
        let value = try sequence.value(at: index)
        if .value(value) == copy { continue }
        if let differs = try assign(copy, over: value, at: place) {
          changed = changed || differs
          continue
        }
      }
      try set(make(copy, in: place), forKey: key, inMap: place)
      changed = true
    }
    return changed
  }

  /// Removes the unwanted elements at these positions, all at once if none is kept.
  private func remove(
    from sequence: WorkingSequence, where goes: (Int) throws(StorageError) -> Bool
  ) throws(StorageError) -> Bool {
    var going: [Int] = []
    for position in 0..<sequence.count where try goes(position) { going.append(position) }
    if going.isEmpty { return false }
    if going.count == sequence.count {
      try removeAll(in: sequence.place)
      return true
    }
    var end = going.count
    while end > 0 {
      var start = end - 1
      while start > 0, going[start - 1] == going[start] - 1 { start -= 1 }
      try remove(going[start]..<going[end - 1] + 1, in: sequence.place)
      end = start
    }
    return true
  }
}

extension Value {
  fileprivate var collectionKind: CollectionKind {
    switch self {
    case .list: .list
    case .map: .map
    default: .none
    }
  }
}
