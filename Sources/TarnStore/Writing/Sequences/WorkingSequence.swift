/// A list, set or map inside an open write: as in the file until it is first changed, then with the
/// write's changes.
///
/// Unchanged pages are not loaded. The commit determines the result: new pages, the owner's cell,
/// and a script of how positions moved.
package final class WorkingSequence {
  package let place: SequencePlace
  package let shape: SequenceShape
  /// The sequence before the write.
  let base: StoredSequence
  /// Nil until the first change.
  private(set) var chunks: SequenceChunks?
  /// Everything that the file has under its old id is removed.
  private(set) var dropsPages = false
  /// Some element may be long or a collection.
  var hasOutside: Bool

  /// Always alive when it is used: only `begin` uses it, at the first change, and all code that
  /// changes a sequence is internal to the engine and called by the write session, which retains
  /// `edits` as long as itself. A strong reference would be a cycle: `edits` retains this object.
  private unowned let edits: SequenceEdits

  init(_ place: SequencePlace, _ base: StoredSequence, _ edits: SequenceEdits) {
    self.place = place
    self.edits = edits
    self.shape = base.shape
    self.base = base
    switch base.cell {
    case .empty: hasOutside = false
    case .small(let elements):
      hasOutside =
        elements.keys.contains(where: \.isOutside)
        || elements.values.contains(where: \.isOutside)
    case .large(let large): hasOutside = large.hasOutside
    }
  }

  package var count: Int { chunks?.count ?? base.count }

  var isEdited: Bool { chunks != nil }

  // MARK: - Reading

  /// The element at that position; for a map the value.
  package func value(at position: Int) throws(StorageError) -> Value {
    try base.resolve(element(at: position))
  }

  /// The key at that position of a map.
  package func key(at position: Int) throws(StorageError) -> String {
    try base.text(keyElement(at: position))
  }

  func element(at position: Int) throws(StorageError) -> TaggedValue {
    guard chunks != nil else { return try base.element(at: position) }
    let (body, slot) = try locate(position)
    if let body { return body.elements.values[slot] }
    return try base.element(at: slot)
  }

  func keyElement(at position: Int) throws(StorageError) -> TaggedValue {
    guard chunks != nil else { return try base.keyElement(at: position) }
    let (body, slot) = try locate(position)
    if let body { return body.elements.keys[slot] }
    return try base.keyElement(at: slot)
  }

  /// The location of an element: in a loaded chunk, or at a position of the base.
  private func locate(
    _ position: Int
  ) throws(StorageError) -> (SequenceChunks.Body?, Int) {
    let location = try chunks!.location(of: position)
    let chunk = chunks![location]
    let offset = position - location.start
    return chunk.body.map { ($0, offset) } ?? (nil, chunk.oldStart + offset)
  }

  /// The stored numbers, if the write has not changed them.
  package var numberPages: NumberPages? { chunks == nil ? base.numberPages : nil }

  /// Calls `body` with every element in the range, for a map the values, in order, until it returns
  /// false. `body` must not change the sequence.
  package func forEach(
    in range: Range<Int>, _ body: (Value) throws(StorageError) -> Bool
  ) throws(StorageError) {
    guard chunks != nil else { return try base.forEach(in: range, body) }
    try forEachElement(in: range) { element throws(StorageError) in
      try body(base.resolve(element))
    }
  }

  func forEachElement(
    in range: Range<Int>, _ body: (TaggedValue) throws(StorageError) -> Bool
  ) throws(StorageError) {
    for position in range {
      guard try body(element(at: position)) else { return }
    }
  }

  // MARK: - Searching

  /// The position of that element of a set, or where it would be inserted.
  package func find(_ value: Value) throws(StorageError) -> (index: Int, isFound: Bool) {
    guard chunks != nil else { return try base.find(value) }
    return try find(SearchKey(value, shape))
  }

  /// The position of that key of a map, or where it would be inserted.
  package func find(key: String) throws(StorageError) -> (index: Int, isFound: Bool) {
    guard chunks != nil else { return try base.find(key: key) }
    return try find(SearchKey(key: key))
  }

  /// First the chunk, then the position in it. Ordered searches find the chunk used last.
  private func find(_ sought: SearchKey) throws(StorageError) -> (index: Int, isFound: Bool) {
    if let location = chunks!.recentLocation {
      let chunk = chunks![location]
      if try order(ofFirst: chunk, to: sought) <= 0 {
        let (slot, isFound) = try find(sought, in: chunk)
        if slot < chunk.count || location.start + slot == count {
          return (location.start + slot, isFound)
        }
      }
    }
    let found = try chunks!.lastLocation { chunk throws(StorageError) in
      try order(ofFirst: chunk, to: sought) <= 0
    }
    guard let found else { return (0, false) }
    let (slot, isFound) = try find(sought, in: chunks![found])
    return (found.start + slot, isFound)
  }

  private func order(
    ofFirst chunk: SequenceChunks.Chunk, to sought: SearchKey
  ) throws(StorageError) -> Int {
    guard let body = chunk.body else {
      return try base.order(ofPageFrom: chunk.oldStart, to: sought)
    }
    return try base.order(of: body.elements.sortElement(0), to: sought)
  }

  private func find(
    _ sought: SearchKey, in chunk: SequenceChunks.Chunk
  ) throws(StorageError) -> (index: Int, isFound: Bool) {
    guard let body = chunk.body else {
      return try base.find(sought, inPageFrom: chunk.oldStart)
    }
    return try (0..<chunk.count).search { slot throws(StorageError) in
      try base.order(of: body.elements.sortElement(slot), to: sought)
    }
  }

  // MARK: - Changing

  private func begin() throws(StorageError) {
    guard chunks == nil else { return }
    switch base.cell {
    case .empty: chunks = SequenceChunks()
    case .small(let elements): chunks = SequenceChunks(elements)
    case .large: chunks = SequenceChunks(try base.countPages())
    }
    edits.keep(self)
  }

  /// Loads the chunk with that element.
  private func load(_ position: Int) throws(StorageError) {
    try chunks!.load(position, of: base)
  }

  func insert(_ elements: SequenceElements, at position: Int) throws(StorageError) {
    let origins = ContiguousArray(
      repeating: SequenceChunks.Origin.fresh, count: elements.count)
    try insert(elements, origins, at: position)
  }

  private func insert(
    _ elements: SequenceElements, _ origins: ContiguousArray<SequenceChunks.Origin>,
    at position: Int
  ) throws(StorageError) {
    try begin()
    if elements.count > 0 { try chunks!.insert(elements, origins, at: position, of: base) }
  }

  func insert(
    _ element: TaggedValue, key: TaggedValue?, at position: Int
  ) throws(StorageError) {
    try begin()
    try chunks!.insert(element, key: key, .fresh, at: position, of: base)
  }

  func remove(_ range: Range<Int>) throws(StorageError) {
    try begin()
    require(range.lowerBound >= 0 && range.upperBound <= count, "no such elements")
    var end = range.upperBound
    while end > range.lowerBound {
      let location = try chunks!.location(of: end - 1)
      let first = max(location.start, range.lowerBound)
      let isWhole = first == location.start && end == location.start + chunks![location].count
      if !isWhole, chunks![location].body == nil {
        // It may become several chunks.
        try load(first)
        continue
      }
      chunks!.remove(first..<end, in: location)
      end = first
    }
  }

  func removeAll() throws(StorageError) {
    try begin()
    chunks!.removeAll()
    dropsPages = base.large != nil
  }

  func set(_ value: TaggedValue, at position: Int) throws(StorageError) {
    try begin()
    let (body, slot) = try loaded(position)
    body.elements.values[slot] = value
    if !body.origins[slot].isFresh { body.origins[slot].modify() }
  }

  /// Removes an element and inserts it so that its position is `target`.
  func move(from position: Int, to target: Int) throws(StorageError) {
    try begin()
    let (body, slot) = try loaded(position)
    let element = body.elements[slot..<slot + 1]
    let origin = body.origins[slot]
    try remove(position..<position + 1)
    try insert(element, [origin], at: target)
  }

  /// Removes elements and inserts others at `target`. Elements that come from a position of this
  /// sequence are recorded as moved.
  ///
  /// - Parameter positions: the removed positions, ascending, including those of the moved
  ///   elements.
  func rearrange(
    removing positions: [Int], inserting items: [(element: TaggedValue, from: Int?)],
    at target: Int
  ) throws(StorageError) {
    try begin()
    var origins = ContiguousArray<SequenceChunks.Origin>()
    for item in items {
      guard let position = item.from else {
        origins.append(.fresh)
        continue
      }
      let (body, slot) = try loaded(position)
      origins.append(body.origins[slot])
    }
    var end = positions.count
    while end > 0 {
      var start = end - 1
      while start > 0, positions[start - 1] == positions[start] - 1 { start -= 1 }
      try remove(positions[start]..<positions[end - 1] + 1)
      end = start
    }
    let elements = SequenceElements(keys: [], values: ElementValues(items.map(\.element)))
    try insert(elements, origins, at: target)
  }

  /// Swaps two elements.
  func swap(_ a: Int, _ b: Int) throws(StorageError) {
    if a == b { return }
    try begin()
    let first = try loaded(a)
    let second = try loaded(b)
    let element = first.body.elements.values[first.slot]
    first.body.elements.values[first.slot] = second.body.elements.values[second.slot]
    second.body.elements.values[second.slot] = element
    let origin = first.body.origins[first.slot]
    first.body.origins[first.slot] = second.body.origins[second.slot]
    second.body.origins[second.slot] = origin
  }

  private func loaded(
    _ position: Int
  ) throws(StorageError) -> (body: SequenceChunks.Body, slot: Int) {
    try load(position)
    let location = try chunks!.location(of: position)
    guard let body = chunks![location].body else {
      trap("internal error: a loaded chunk is missing")
    }
    return (body, position - location.start)
  }

  // MARK: - The result

  /// How positions have moved since the start of the write.
  package var script: EditScript {
    var builder = EditScript.Builder(oldCount: base.count)
    guard let chunks else { return .identity(count: base.count) }
    for block in chunks.blocks {
      if let old = block.untouched {
        builder.appendOld(old)
        continue
      }
      for chunk in block.chunks {
        guard let body = chunk.body else {
          builder.appendOld(chunk.oldStart..<chunk.oldStart + chunk.count)
          continue
        }
        body.origins.forEachRun { origin, count in
          if origin.isFresh {
            builder.appendFresh(count)
          } else if origin.isModified {
            builder.append(old: origin.position, isModified: true)
          } else {
            builder.appendOld(origin.position..<origin.position + count)
          }
        }
      }
    }
    return builder.finish()
  }

  /// Loads the chunk at that position, so that its elements are packed again.
  func unpack(at position: Int) throws(StorageError) { try load(position) }
}

extension WorkingSequence {
  /// Traps if the sequence is inconsistent, or a set or map is out of order. For tests.
  package func checkInvariants() throws(StorageError) {
    chunks?.checkInvariants(oldCount: base.count)
    script.checkInvariants()
    require(script.newCount == count)
    guard shape.kind == .set || shape.kind == .map else { return }
    for position in 1..<max(count, 1) {
      let (a, b) = try (sortValue(at: position - 1), sortValue(at: position))
      require(SequenceOrder.compare(a, b) < 0, "a set or map is out of order")
    }
  }

  private func sortValue(at position: Int) throws(StorageError) -> Value {
    try shape.kind == .map ? .string(key(at: position)) : value(at: position)
  }
}

extension SequenceChunks {
  fileprivate func checkInvariants(oldCount: Int) {
    var sum = 0
    for (number, block) in blocks.enumerated() {
      require(blockCount(number) == block.count && block.count >= 0)
      sum += block.count
      guard block.untouched == nil else { continue }
      require(block.counts == ContiguousArray(block.chunks.map(\.count)))
      require(block.counts.reduce(0, +) == block.count)
      require(block.chunks.count <= Self.chunksMax)
      for chunk in block.chunks { chunk.checkInvariants(oldCount: oldCount) }
    }
    require(sum == count)
    guard let recent = recentLocation else { return }
    let before = (0..<recent.block).reduce(0) { $0 + blocks[$1].count }
    require(recent.start == before + blocks[recent.block].counts[..<recent.chunk].reduce(0, +))
  }
}

extension SequenceChunks.Chunk {
  fileprivate func checkInvariants(oldCount: Int) {
    guard let body else {
      require(label != nil && count > 0 && oldStart >= 0 && oldStart + count <= oldCount)
      return
    }
    require(body.elements.values.count == count && body.origins.count == count)
    require(body.elements.keys.isEmpty || body.elements.keys.count == count)
    require(count <= SequenceChunks.elementsMax)
    require(body.origins.allSatisfy { $0.isFresh || $0.position < oldCount })
  }
}
