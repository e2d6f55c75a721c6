/// Following links.
extension StoreRows {
  /// The objects that a step leads to from one of `keys`.
  func after(_ keys: KeySet, through link: LinkStep) throws(StorageError) -> KeySet {
    link.isBackwards ? try origins(of: keys, link, .max) ?? KeySet() : try targets(of: keys, link)
  }

  /// The objects from which a step leads to one of `keys`; nil if there are more than `most`.
  func before(
    _ keys: KeySet, through link: LinkStep, atMost most: Int
  ) throws(StorageError) -> KeySet? {
    link.isBackwards ? try targets(of: keys, link) : try origins(of: keys, link, most)
  }

  private func origins(
    of targets: KeySet, _ link: LinkStep, _ most: Int
  ) throws(StorageError) -> KeySet? {
    let isAny = schema[link.classID][link.column].type == .any
    var origins: [ObjectKey] = []
    for key in targets {
      let value: Value = isAny ? .object(link.target, key) : .link(key)
      origins += try keys(in: link.classID, where: link.column, is: value)
      if origins.count > most { return nil }
    }
    return KeySet(origins)
  }

  private func targets(of origins: KeySet, _ link: LinkStep) throws(StorageError) -> KeySet {
    let column = schema[link.classID][link.column]
    var targets: [ObjectKey] = []
    for key in origins {
      let place = SequencePlace(classID: link.classID, key: key, column: link.column)
      if column.type == .any {
        for target in try anyLinks(from: column, at: place).keys
        where target.classID == link.target { targets.append(target.key) }
      } else if column.collection == .none {
        let target = try withRow(link.classID, key) { row, slot in
          row.isNull(link.column, slot) ? nil : ObjectKey(row.int(link.column, slot))
        }
        if let target, let target { targets.append(target) }
      } else {
        try forEachElement(of: place) { value in
          if case .link(let target) = value { targets.append(target) }
          return true
        }
      }
    }
    return KeySet(targets)
  }
}
