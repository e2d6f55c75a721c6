import TarnStore
import TarnText

/// A property with parts of a downloaded row.
struct DownloadedContent {
  var wire: WireValue?
  var stamp: Stamp
  let place: SequencePlace
  let coder: ContentCoder?
  /// Whether there are unsent changes of it.
  var isMine = false
  /// Whether the file may differ although it has this content.
  var isForced = false
  /// After a refusal: the contents to store if the server had accepted the commit.
  var refused: [KeptContent]?

  init(
    _ row: RowReader.Row, _ key: ObjectKey, _ property: ExchangeClass.Property,
    _ one: ReplicaClass
  ) {
    wire = row.wire(property)
    stamp = row.stamp(of: property)
    place = SequencePlace(classID: one.id, key: key, column: property.id)
    coder = property.contents
  }
}

/// Properties with parts of downloaded rows.
extension ReplicaEdit {
  /// Shows the server's content, with the unsent changes of this file applied to it.
  func set(_ content: DownloadedContent) throws(StorageError) {
    let (wire, stamp, place) = (content.wire, content.stamp, content.place)
    guard let coder = content.coder, try exists(place.key, in: place.classID) else { return }
    if let refused = content.refused { return try takeBack(content, coder, refused) }
    let kept = try kept(place)
    // Copies of a file may have sent the same commit to servers with other contents. A row whose
    // other properties changed has the same bytes, which are not decoded then.
    if let last = kept.last, last.stamp == stamp, !leavings.isReadAgain,
      last.server == wire
        || coder.content(last.server, at: last.stamp) == coder.content(wire, at: stamp)
    {
      // A push may have sent less than the file shows.
      let isShown = last.local == nil && !isStale && !content.isForced
      if content.isMine || isShown { return }
    }
    var faults: [ValueFault] = []
    let found = coder.content(wire, at: stamp, &faults)
    note(faults, at: place)
    guard let theirs = found else {
      return content.isForced ? try showLast(kept, coder, place) : ()
    }
    let mine = try self.content(place, kept, coder)
    let server = wire ?? coder.wire(coder.empty)
    guard content.isMine else {
      // The file may lack parts of the content that was stored.
      let present = leavings.isReadAgain ? nil : mine
      let entry = try show(theirs, over: present, place, coder, server, stamp)
      return try keep([entry], place)
    }
    var former = KeptContent.trimmed(kept, sentUpTo: done)
    if let lost = try recalled(kept, place, coder, theirs, mine) { former = [lost] }
    let locals = try locals()
    let base = locals.base(former, place, coder, at: snapshot.version.rawValue)
    let merged = locals.merged(
      base, theirs, mine, coder, asIn: former.isEmpty ? mine : base)
    try show(merged: merged, theirs, mine, content, coder, former)
  }

  /// Shows the last content of the server that the property could hold, if any.
  private func showLast(
    _ kept: [KeptContent], _ coder: ContentCoder, _ place: SequencePlace
  ) throws(StorageError) {
    let mine = try content(place, kept, coder)
    let theirs = kept.last.map { coder.content($0.server, at: $0.stamp) } ?? coder.empty
    let entry = try show(
      theirs, over: mine, place, coder, kept.last?.server ?? coder.wire(coder.empty),
      kept.last?.stamp ?? Stamp(0, by: 0))
    if !kept.isEmpty { try keep([entry], place) }
  }

  /// Shows the server's contents instead of those that a refused commit changed, with the changes
  /// of later commits applied to them.
  private func takeBack(
    _ refusedContent: DownloadedContent, _ coder: ContentCoder, _ refused: [KeptContent]
  ) throws(StorageError) {
    guard let last = refused.last else { return }
    var content = refusedContent
    let mine = try self.content(content.place, refused, coder)
    var faults: [ValueFault] = []
    let found = coder.content(content.wire, at: content.stamp, &faults)
    note(faults, at: content.place)
    if found == nil { (content.wire, content.stamp) = (last.server, last.stamp) }
    let theirs = found ?? coder.content(last.server, at: last.stamp)
    let base = coder.content(last.server, at: last.stamp)
    try show(
      merged: locals().merged(base, theirs, mine, coder), theirs, mine, content, coder, refused)
  }

  /// Shows a content again whose links may have other targets now.
  func refresh(_ place: SequencePlace, _ coder: ContentCoder) throws(StorageError) {
    guard try exists(place.key, in: place.classID) else { return }
    let kept = try kept(place)
    guard let last = kept.last else {
      // For an object that the server does not have.
      let mine = try content(place, kept, coder)
      _ = try show(mine, over: mine, place, coder, coder.wire(mine), Stamp(0, by: 0))
      return
    }
    // The snapshot has the former content.
    let isNew = shown.contains(place)
    let mine =
      isNew
      ? last.shown(coder)
      : try content(place, kept, coder)
    var entry = try show(mine, over: isNew ? nil : mine, place, coder, last.server, last.stamp)
    let whole = coder.wire(mine)
    if whole != last.server { entry.local = whole }
    if entry.version == last.version, entry == last { return }
    try keep(
      KeptContent.trimmed(isNew ? kept.dropLast() : kept, sentUpTo: done) + [entry], place)
  }

  /// Drops the contents that others have written into an object that they have deleted: it
  /// continues in the state in which it was created here.
  func leaveAlone(_ key: ObjectKey, _ one: ReplicaClass) throws(StorageError) {
    for property in one.exchange.others {
      guard let coder = property.contents else { continue }
      let place = SequencePlace(classID: one.id, key: key, column: property.id)
      let kept = try kept(place)
      guard let last = kept.last else { continue }
      let mine = try content(place, kept, coder)
      let base = coder.content(last.server, at: last.stamp)
      let merged = try locals().merged(base, coder.empty, mine, coder)
      let none = coder.wire(coder.empty)
      var entry = try show(merged, over: mine, place, coder, none, last.stamp)
      entry.local = coder.wire(merged)
      try keep([entry], place)
    }
  }

  // MARK: - Showing

  private func show(
    merged: Content<WireItem>, _ theirs: Content<WireItem>,
    _ mine: Content<WireItem>, _ content: DownloadedContent, _ coder: ContentCoder,
    _ former: [KeptContent]
  ) throws(StorageError) {
    var entry = try show(
      merged, over: mine, content.place, coder, content.wire ?? coder.wire(coder.empty),
      content.stamp)
    if merged != theirs { entry.local = coder.wire(merged) }
    try keep(former + [entry], content.place)
  }

  /// - Parameter present: the current content of the file; nil if its elements have no names.
  private func show(
    _ content: Content<WireItem>, over present: Content<WireItem>?, _ place: SequencePlace,
    _ coder: ContentCoder, _ server: WireValue, _ stamp: Stamp
  ) throws(StorageError) -> KeptContent {
    shown.insert(place)
    let writer = ContentWriter(LocalWriter(session: session), place, coder)
    let (isChanged, waiting) = try writer.write(content, over: present)
    try WaitingLinks.set(waiting, at: place, &objects)
    // Unwritten contents keep their version.
    let version = snapshot.version.rawValue + (isChanged ? 1 : 0)
    return KeptContent(version: version, stamp: stamp, server: server)
  }

  /// Stores the server's contents of an object that no longer exists here.
  ///
  /// - Parameter isFormer: whether another object was created here with its key.
  func keepContents(
    of row: RowReader.Row, _ key: ObjectKey, _ one: ReplicaClass, isFormer: Bool = false
  ) throws(StorageError) {
    var table = try objects.contents(of: key, in: one.id)
    for property in one.exchange.others {
      guard let coder = property.contents else { continue }
      let (kept, stamp) = (table[property.id] ?? [], row.stamp(of: property))
      if kept.last?.stamp == stamp { continue }
      let entry = KeptContent(
        version: isFormer ? KeptContent.formerVersion : snapshot.version.rawValue, stamp: stamp,
        server: row.wire(property) ?? coder.wire(coder.empty))
      table[property.id] = KeptContent.trimmed(kept, sentUpTo: done) + [entry]
    }
    objects.set(table, of: key, in: one.id)
  }

  /// The entries of a property of an object that exists here.
  private func kept(_ place: SequencePlace) throws(StorageError) -> [KeptContent] {
    let all = try objects.contents(of: place.key, in: place.classID)[place.column] ?? []
    return all.filter { !$0.isOfFormer }
  }

  private func keep(_ kept: [KeptContent], _ place: SequencePlace) throws(StorageError) {
    var table = try objects.contents(of: place.key, in: place.classID)
    table[place.column] = kept
    objects.set(table, of: place.key, in: place.classID)
  }

  // MARK: - Reading

  /// The content in the file before this write.
  private func content(
    _ place: SequencePlace, _ kept: [KeptContent], _ coder: ContentCoder
  ) throws(StorageError) -> Content<WireItem> {
    let reader = try SnapshotReader(snapshot)
    let rows = PastRows(reader, RecordedPast(at: snapshot.version))
    // Links that waited before this write, or since the push concerned.
    let object = ObjectRef(classID: place.classID, key: place.key)
    let waiting = try (WaitingLinks.links(of: object, ReplicaObjects(snapshot)) + accepted)
      .filter { $0.place.object == object && $0.place.column == place.column }
    return try locals().content(place, kept, coder, in: rows, waiting: waiting)
  }

  /// The content at which commits began that a restored server has lost, and which are sent again;
  /// nil if it is known. Other commits began at a download, and are later.
  private func recalled(
    _ kept: [KeptContent], _ place: SequencePlace, _ coder: ContentCoder,
    _ theirs: Content<WireItem>, _ mine: Content<WireItem>
  ) throws(StorageError) -> KeptContent? {
    guard let last = kept.last, !kept.contains(where: { $0.version <= done }),
      try unsent.hasChanged(place, upTo: kept[0].version)
    else { return nil }
    // Downloads before the first of them are included in it.
    let first = try locals().history.steps(of: place).first?.commit.version.rawValue
    let rows = try rows(at: max(done, first.map { $0 - 1 } ?? done))
    guard try rows.contains(ObjectRef(classID: place.classID, key: place.key)) else { return nil }
    let elements = try LocalItems(rows: rows).elements(of: place)
    let content = Content.recalled(elements, coder, as: [theirs, mine])
    return KeptContent(version: done, stamp: last.stamp, server: coder.wire(content))
  }
}
