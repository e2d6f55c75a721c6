import TarnStore
import TarnText

/// The contents of properties with parts in the file, with the names of their elements.
///
/// The file itself has no names: an element is identified by the server's content that it came
/// from, and by the changes of the file's own commits since then. An element that a commit inserted
/// here is named by that commit, however often this is computed. Links whose targets are missing
/// here are included in the content, so that a push does not remove them.
struct LocalContents {
  /// The name of the replica for commits of a file: a copy of the file is a separate replica.
  struct Author: Equatable {
    /// Commits after this version have this name.
    var version: UInt64
    var number: UInt32
  }

  let history: SequenceHistory
  /// The stamp of the last commit that counts, in microseconds since 1970.
  let time: Int64
  let naming: ElementNaming
  /// The schema of the file.
  let schema: StoreSchema

  /// - Parameters:
  ///   - place: the place of the property.
  ///   - kept: the stored contents of the property.
  ///   - rows: the rows at the version.
  ///   - waiting: links of the property that the file does not show, even if their targets exist by
  ///     now.
  func content(
    _ place: SequencePlace, _ kept: [KeptContent], _ coder: ContentCoder, in rows: PastRows,
    waiting: [WaitingLinks.Waiting] = []
  ) throws(StorageError) -> Content<WireItem> {
    let version = rows.version.rawValue
    let start = start(kept, place, at: version)
    let former = start.map { $0.shown(coder) }
    if let former, start?.version == version { return former }
    let elements = try LocalItems(rows: rows).elements(of: place)
    // Earlier ones changed a former object with the same key.
    let creation = history.creation(of: place.key, in: place.classID)
    let first = max(start?.version ?? 0, creation?.version.rawValue ?? 0)
    let steps = history.steps(of: place).filter {
      $0.commit.version.rawValue > first && $0.commit.version.rawValue <= version
    }
    // For a value written as a whole, such as an embedded object.
    let stamp = Stamp(time, by: naming.number)
    let shown = ShownItems(
      coder.items.column, schema, rows, after: start?.version ?? 0, history, waiting)
    switch former ?? coder.empty {
    case .single: trap("internal error: a single value has no parts")
    case .one(let element):
      return .one(try one(elements.items.first, element, place, start, stamp, shown))
    case .set(let items):
      var found = Set(elements.items)
      for item in items where try shown.isHidden(item) { found.insert(item) }
      return .set(found)
    case .map(let entries):
      var found: [StoredText: Stamped<WireItem>] = [:]
      for (name, item) in zip(elements.keys, elements.items) {
        let key = StoredText(name)
        found[key] = try shown.restored(item, entries[key], stamp)
      }
      return .map(found)
    case .list(let list):
      var visible: [ElementNaming.Name] = []
      for element in list where try !shown.wasOmitted(element.content.value) {
        visible.append((element.id, element.content.stamp))
      }
      let names =
        former == nil
        ? naming.created(creation, steps, elements)
        : visible
      let found =
        naming.names(after: steps, names).flatMap {
          $0.count == elements.items.count ? $0 : nil
        } ?? naming.names(of: elements.items, asIn: list, steps.last?.commit)
      let known = Dictionary(list.map { ($0.id, $0) }) { $1 }
      var own: [ListElement<WireItem>] = []
      for (item, name) in zip(elements.items, found) {
        let was = known[name.id]?.content
        let written = was.map { $0.stamp < name.stamp ? name.stamp : stamp } ?? name.stamp
        let content = try shown.restored(item, was, written)
        // Nil in place of a missing link is not a change.
        let isSame = content.value == was?.value
        own.append(
          ListElement(
            name.id, content.value, isSame ? content.stamp : max(content.stamp, name.stamp)))
      }
      return .list(try shown.withHidden(own, list))
    }
  }

  /// An embedded object is the same one as long as the property was not set; a mixed value always
  /// has the same name.
  private func one(
    _ item: WireItem?, _ former: ListElement<WireItem>?, _ place: SequencePlace,
    _ start: KeptContent?, _ stamp: Stamp, _ shown: ShownItems
  ) throws(StorageError) -> ListElement<WireItem>? {
    if let former, try shown.isHidden(former.content.value), item == nil { return former }
    guard let item else { return nil }
    guard shown.isEmbedded else {
      let value = try shown.restored(item, former?.content, stamp)
      return ListElement(ElementNaming.mixed, value.value, value.stamp)
    }
    let creation = history.creation(of: place.key, in: place.classID)
    var commit = history.assignment(of: place)
    if let made = creation?.version, let set = commit?.version, set < made { commit = nil }
    if let former, commit.map({ $0.version.rawValue <= start?.version ?? 0 }) ?? true {
      let value = try shown.restored(item, former.content, stamp)
      return ListElement(former.id, value.value, value.stamp)
    }
    let made = commit ?? creation
    return ListElement(naming.name(0, made).id, item, stamp)
  }

  /// The entry for a version. An object that was created since is another one.
  func start(
    _ kept: [KeptContent], _ place: SequencePlace, at version: UInt64
  ) -> KeptContent? {
    let creation = history.creation(of: place.key, in: place.classID)?.version.rawValue ?? 0
    return kept.last { $0.version <= version && $0.version >= creation }
  }
}

/// The elements of a former content as the file shows them: without links whose targets are missing
/// here, or were created here since then. Deleting a target has removed links to the former one.
struct ShownItems {
  private let column: ColumnSchema
  private let schema: StoreSchema
  private let rows: PastRows
  private let version: UInt64
  private let history: SequenceHistory
  private let waiting: [WaitingLinks.Waiting]
  private let mayLink: Bool
  let isEmbedded: Bool

  /// - Parameters:
  ///   - rows: the rows at the version for which the elements are read.
  ///   - version: the version of the former content.
  init(
    _ column: ColumnSchema, _ schema: StoreSchema, _ rows: PastRows, after version: UInt64,
    _ history: SequenceHistory, _ waiting: [WaitingLinks.Waiting]
  ) {
    (self.column, self.schema, self.rows) = (column, schema, rows)
    (self.version, self.history, self.waiting) = (version, history, waiting)
    mayLink = column.type == .link || column.type == .any
    isEmbedded = ItemCoder.embedded(column, schema) != nil
  }

  private func isHere(_ target: LinkTarget) throws(StorageError) -> Bool {
    guard let key = try rows.find(primaryKey: target.key, in: target.id) else { return false }
    let waits = waiting.contains {
      $0.target == target.id && $0.key == WireValue(target.key)?.bytes
    }
    if waits || firstDeletion(of: target) != nil { return false }
    guard let creation = history.creation(of: key, in: target.id)?.version else { return true }
    return creation.rawValue <= version || creation > rows.version
  }

  /// The first own commit since the former content that deleted a target. It set the link to nil,
  /// even if another object has the key by now.
  private func firstDeletion(of target: LinkTarget) -> Version? {
    history.deletions(of: target.key, in: target.id).lazy.map(\.version)
      .first { $0.rawValue > version && $0 <= rows.version }
  }

  /// Whether the file did not show an element of the former content when it received that.
  func wasOmitted(_ item: WireItem) throws(StorageError) -> Bool {
    guard column.omitsMissingLinks, let target = LinkTarget(item.json, column, schema) else {
      return false
    }
    guard let deletion = firstDeletion(of: target) else { return try !isHere(target) }
    guard let key = try rows.find(primaryKey: target.key, in: target.id),
      let creation = history.creation(of: key, in: target.id)?.version
    else { return false }
    return creation.rawValue > version && creation < deletion
  }

  /// Whether an element is a link that the file does not show.
  func isHidden(_ item: WireItem) throws(StorageError) -> Bool {
    guard mayLink, let target = LinkTarget(item.json, column, schema) else { return false }
    return try !isHere(target)
  }

  /// Whether an element is a link that the file does not show, with nothing in its place.
  func isOmitted(_ item: WireItem) throws(StorageError) -> Bool {
    guard column.omitsMissingLinks else { return false }
    return try isHidden(item)
  }

  /// An element of the file, with the parts of the former one that the file does not show: links
  /// whose targets are missing here, and members that are unknown here.
  ///
  /// - Parameter stamp: the stamp for an element that is another one.
  func restored(
    _ item: WireItem, _ former: Stamped<WireItem>?, _ stamp: Stamp
  ) throws(StorageError) -> Stamped<WireItem> {
    guard let former else { return Stamped(item, stamp) }
    if item == former.value { return former }
    guard mayLink else { return Stamped(item, stamp) }
    let old = former.value.json
    let shown = try LinkTarget.filter(old, column, schema) { target throws(StorageError) in
      try isHere(target)
    }
    let hidden = HiddenParts(schema: schema)
    let whole = WireItem(hidden.restored(item.json, shown, old, column))
    return whole == former.value ? former : Stamped(whole, stamp)
  }

  /// A list with the elements that the file does not show, each next to its left neighbour.
  func withHidden(
    _ own: [ListElement<WireItem>], _ former: [ListElement<WireItem>]
  ) throws(StorageError) -> [ListElement<WireItem>] {
    guard mayLink else { return own }
    let present = Set(own.map(\.id))
    // The file may have replaced the former link by one to the new object.
    let values = Set(own.map(\.content.value))
    var (first, after): ([ListElement<WireItem>], [ElementID: [ListElement<WireItem>]]) = ([], [:])
    var left: ElementID?
    for element in former {
      if present.contains(element.id) {
        left = element.id
      } else if !values.contains(element.content.value), try isOmitted(element.content.value) {
        if let left { after[left, default: []].append(element) } else { first.append(element) }
      }
    }
    return first + own.flatMap { [$0] + (after[$0.id] ?? []) }
  }
}
