import TarnStore

extension LocalContents {
  /// - Parameters:
  ///   - names: the exchanged classes.
  ///   - end: the last commit that counts; nil for the newest.
  ///   - number: the cursor whose commits are left out.
  init(
    _ state: ReplicaState, _ names: [String], upTo end: Version? = nil, without number: UInt32,
    in snapshot: Snapshot
  ) throws(StorageError) {
    let own = snapshot.schema.schema
    var properties: [ClassID: Set<ColumnID>] = [:]
    for described in own.classes where names.contains(described.name) {
      for column in described.columns where !column.isRemoved {
        guard ContentCoder(column, own) != nil else { continue }
        properties[described.id, default: []].insert(column.id)
      }
    }
    schema = own
    history = try SequenceHistory(
      after: state.done.version, upTo: end ?? snapshot.version,
      of: Set(names.compactMap { own.named($0)?.id }),
      assignmentsOf: properties, without: number, in: snapshot)
    let last = history.last
    time = max(
      state.limit.limited(state.joinedTime, madeAt: state.joinedTime),
      state.limit.limited(
        Int64(clamping: last?.stamp ?? 0), madeAt: last?.time ?? 0, as: last?.version.rawValue))
    naming = ElementNaming(authors: state.authors, number: state.number, limit: state.limit)
  }

  /// The server's content from which the unsent changes up to a version began.
  func base(
    _ kept: [KeptContent], _ place: SequencePlace, _ coder: ContentCoder, at version: UInt64
  ) -> Content<WireItem> {
    start(kept, place, at: version).map { coder.content($0.server, at: $0.stamp) }
      ?? coder.empty
  }

  /// Merges the server's content with this file's.
  ///
  /// - Parameters:
  ///   - theirs: the server's content.
  ///   - known: a content in which the names of elements written by SQL are looked up by equal
  ///     elements; nil for the base.
  func merged(
    _ base: Content<WireItem>, _ theirs: Content<WireItem>, _ mine: Content<WireItem>,
    _ coder: ContentCoder, asIn known: Content<WireItem>? = nil
  ) -> Content<WireItem> {
    let aligned = AlignedNames(known ?? base, theirs)
    let forms = Content.unified(
      [base, aligned?.content ?? theirs, mine], inFormsOf: [theirs, mine], coder.items.column)
    let merged = Content.merged(
      base: forms[0], theirs: forms[1], mine: forms[2],
      author: naming.authors.last?.number ?? 0, removal: Stamp(time, by: naming.number),
      resolve: WireItem.merged)
    guard let merged else { trap("internal error: contents of different kinds") }
    return aligned?.restored(merged) ?? merged
  }

}

extension Content where Value == WireItem {
  /// A content of an earlier version, of which only the elements are known: they have the names and
  /// stamps of equal elements in later contents.
  ///
  /// - Parameter later: the later contents; parts of the first one take precedence.
  static func recalled(
    _ elements: LocalElements, _ coder: ContentCoder, as later: [Self]
  ) -> Self {
    let items = elements.items
    switch coder.empty {
    case .single(let value): return .single(value)
    case .one:
      let known = later.lazy.compactMap { content -> ListElement<WireItem>? in
        if case .one(let element) = content { element } else { nil }
      }
      guard let item = items.first else { return .one(nil) }
      let element = known.first { $0.content.value == item } ?? known.first
      return .one(
        ListElement(
          element?.id ?? ElementNaming.mixed, item, element?.content.stamp ?? ListNames.inserted))
    case .set: return .set(Set(items))
    case .map:
      var entries: [StoredText: Stamped<WireItem>] = [:]
      for (key, item) in zip(elements.keys, items) {
        let known = later.lazy.compactMap { content -> Stamped<WireItem>? in
          guard case .map(let map) = content, let entry = map[StoredText(key)] else { return nil }
          return entry.value == item ? entry : nil
        }.first
        entries[StoredText(key)] = known ?? Stamped(item, ListNames.inserted)
      }
      return .map(entries)
    case .list:
      var list = items.enumerated().map { place, item in
        let id = ElementID(
          author: 0, version: 0, salt: .max, number: UInt32(truncatingIfNeeded: place))
        return ListElement(id, item, ListNames.inserted)
      }
      var taken: Set<ElementID> = []
      for case .list(let other) in later {
        let free = other.filter { !taken.contains($0.id) }
        for (old, new) in CommonElements.pairs(free.map(\.content.value), items)
        where list[new].id.salt == .max && list[new].id.author == 0 {
          list[new] = free[old]
          taken.insert(free[old].id)
        }
      }
      return .list(list)
    }
  }
}

/// A list written by SQL, with the former names of equal elements, so that unsent changes find
/// their neighbours.
private struct AlignedNames {
  private(set) var content: Content<WireItem>
  /// The names in the list written by SQL, by their former names.
  private var names: [ElementID: ElementID] = [:]

  /// - Returns: nil if every element has a name.
  init?(_ former: Content<WireItem>, _ written: Content<WireItem>) {
    guard case .list(let former) = former, case .list(var list) = written else { return nil }
    let (known, present) = (Set(former.map(\.id)), Set(list.map(\.id)))
    let free = former.filter { !present.contains($0.id) }
    let unnamed = list.indices.filter { list[$0].id.author == 0 && !known.contains(list[$0].id) }
    if free.isEmpty || unnamed.isEmpty { return nil }
    let pairs = CommonElements.pairs(
      free.map(\.content.value), unnamed.map { list[$0].content.value })
    for (old, new) in pairs {
      let place = unnamed[new]
      names[free[old].id] = list[place].id
      list[place] = ListElement(
        free[old].id, list[place].content.value, free[old].content.stamp)
    }
    content = .list(list)
  }

  func restored(_ merged: Content<WireItem>) -> Content<WireItem> {
    guard case .list(let list) = merged else { return merged }
    return .list(
      list.map { ListElement(names[$0.id] ?? $0.id, $0.content.value, $0.content.stamp) })
  }
}
