extension OrderedRoot {
  /// The root after some rows were removed, inserted or may have moved.
  ///
  /// All of `removals` and `insertions` are removed first, if they are in the root; then
  /// `insertions` are inserted, by comparing only rows that stayed and the new values of inserted
  /// ones. So a row that may have moved belongs in `insertions` only, and a row in neither must
  /// compare as before. O(k log n) in time and new memory.
  ///
  /// - Parameter insertions: no key twice; in any order, unless `insertionsAreOrdered`.
  /// - Parameter prefixes: for each of `insertions`, which are then ordered, a prefix of its sort
  ///   value; empty if this root does not have the prefixes of its rows.
  /// - Parameter isOrderedBefore: a strict total order; not called for keyed roots. If it is not a
  ///   strict total order, the order of the result is unspecified.
  package func applying(
    removals: [ObjectKey], insertions: [ObjectKey], insertionsAreOrdered: Bool = false,
    prefixes: [UInt64] = [],
    isOrderedBefore: (ObjectKey, ObjectKey) throws(StorageError) -> Bool
  ) throws(StorageError) -> OrderedRoot {
    try updating(
      removals: removals, insertions: insertions, insertionsAreOrdered: insertionsAreOrdered,
      prefixes: prefixes, isOrderedBefore: isOrderedBefore
    ).root
  }

  /// Like `applying`, with data from which the difference of the two roots is computed at almost no
  /// cost.
  package func updating(
    removals: [ObjectKey], insertions: [ObjectKey], insertionsAreOrdered: Bool = false,
    prefixes: [UInt64] = [],
    isOrderedBefore: (ObjectKey, ObjectKey) throws(StorageError) -> Bool
  ) throws(StorageError) -> OrderedUpdate {
    require(prefixes.isEmpty || insertionsAreOrdered && prefixes.count == insertions.count)
    assert(Set(insertions).count == insertions.count, "a key is inserted twice")
    if removals.isEmpty && insertions.isEmpty { return OrderedUpdate(old: self, root: self) }
    switch storage {
    case .keyed: return updating(removals: removals, insertions: insertions)
    case .sorted(let rows, let labels):
      if removals.isEmpty && insertions.count == 1,
        try stays(insertions[0], prefixes.first ?? 0, rows, labels, isOrderedBefore)
      {
        return OrderedUpdate(old: self, root: self, keys: ContiguousArray(insertions))
      }
      var update = SortedUpdate(rows, labels)
      update.takeOut(removals, insertions)
      var ordered = insertions
      if !insertionsAreOrdered { try mergeSort(&ordered, isOrderedBefore) }
      let incoming = ordered.indices.map {
        SortedUpdate.Incoming(key: ordered[$0], prefix: prefixes.isEmpty ? 0 : prefixes[$0])
      }
      try update.putIn(incoming, isOrderedBefore)
      return OrderedUpdate(
        old: self, root: update.result,
        keys: ContiguousArray(update.keys.map { Self.key(biased: $0) }),
        ranks: .init(old: update.oldRows, new: update.newRows))
    }
  }

  /// Removals and insertions in a keyed root, which needs no order.
  func updating(removals: [ObjectKey], insertions: [ObjectKey]) -> OrderedUpdate {
    guard case .keyed(let blocks) = storage else {
      trap("a sorted root needs an order")
    }
    let (gone, new) = (KeySet(removals), KeySet(insertions))
    return OrderedUpdate(
      old: self, root: OrderedRoot(.keyed(Self.update(blocks, gone, new))),
      keys: ContiguousArray(gone.union(new)))
  }

  /// True if the row exists, has the same prefix, and is still between the right neighbours.
  private func stays(
    _ key: ObjectKey, _ prefix: UInt64, _ rows: OrderStatisticTree<OrderedRow>,
    _ labels: OrderStatisticTree<LabelPair>,
    _ isOrderedBefore: (ObjectKey, ObjectKey) throws(StorageError) -> Bool
  ) throws(StorageError) -> Bool {
    var cursor = OrderStatisticTree<LabelPair>.Cursor(labels)
    let (index, isFound) = cursor.seek(Self.biased(key))
    if !isFound { return false }
    var rowCursor = OrderStatisticTree<OrderedRow>.Cursor(rows)
    let offset = rowCursor.seek(cursor.entries[index].value).index
    let leaf = rowCursor.entries
    if leaf[offset].prefix != prefix { return false }
    let position = rowCursor.start + offset
    if position > 0 {
      let before = offset > 0 ? leaf[offset - 1] : rows.entry(at: position - 1)
      if before.prefix == prefix, try !isOrderedBefore(Self.key(biased: before.value), key) {
        return false
      }
    }
    if position + 1 < rows.weight {
      let after = offset + 1 < leaf.count ? leaf[offset + 1] : rows.entry(at: position + 1)
      if after.prefix == prefix, try !isOrderedBefore(key, Self.key(biased: after.value)) {
        return false
      }
    }
    return true
  }

  private static func update(
    _ blocks: OrderStatisticTree<LabelBlock>, _ gone: KeySet, _ new: KeySet
  ) -> OrderStatisticTree<LabelBlock> {
    var edits: ContiguousArray<OrderStatisticTree<LabelBlock>.Edit> = []
    var cursor = OrderStatisticTree<LabelBlock>.Cursor(blocks)
    var changed: LabelBlock?
    func change(_ key: ObjectKey, isIn: Bool) {
      let order = biased(key) >> 6
      if changed?.order != order {
        if let changed { edits.append(edit(changed)) }
        let (index, isFound) = cursor.seek(order)
        changed = LabelBlock(order: order, bits: isFound ? cursor.entries[index].bits : 0)
      }
      if isIn { changed!.bits |= bit(key) } else { changed!.bits &= ~bit(key) }
    }
    // Merged, so that each block is visited once; a key in both is inserted.
    var insertion = new.makeIterator()
    var next = insertion.next()
    for key in gone {
      while let inserted = next, inserted < key {
        change(inserted, isIn: true)
        next = insertion.next()
      }
      change(key, isIn: false)
    }
    while let inserted = next {
      change(inserted, isIn: true)
      next = insertion.next()
    }
    if let changed { edits.append(edit(changed)) }
    return blocks.applying(edits)
  }

  private static func edit(_ block: LabelBlock) -> OrderStatisticTree<LabelBlock>.Edit {
    block.bits == 0 ? .init(remove: block) : .init(put: block)
  }
}

/// Two roots, one made from the other, and the rows that were removed or inserted.
package struct OrderedUpdate: Sendable {
  package let old: OrderedRoot
  package let root: OrderedRoot
  /// The rows, ascending.
  let keys: ContiguousArray<ObjectKey>
  /// The old and new positions, if the update found them.
  let ranks: Ranks?
  /// Rows that might have been removed or moved and were not.
  var staying = KeySet()

  /// Both ascending by position; `index` is the index in `keys`.
  struct Ranks: Sendable {
    var old: ContiguousArray<OrderedRoot.Ranked>
    var new: ContiguousArray<OrderedRoot.Ranked>
  }

  init(
    old: OrderedRoot, root: OrderedRoot, keys: ContiguousArray<ObjectKey> = [],
    ranks: Ranks? = nil
  ) {
    self.old = old
    self.root = root
    self.keys = keys
    self.ranks = ranks
  }

  /// True if it is known to have removed or inserted a row.
  var hasRows: Bool { ranks.map { !$0.old.isEmpty || !$0.new.isEmpty } ?? false }
}
