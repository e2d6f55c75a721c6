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
