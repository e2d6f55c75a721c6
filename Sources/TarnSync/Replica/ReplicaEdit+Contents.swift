import TarnStore

/// Lists, sets and maps of downloaded rows.
extension ReplicaEdit {
  /// Shows the server's content, with the unsent changes of this file on top.
  ///
  /// - Parameters:
  ///   - isMine: whether there are unsent changes of it.
  ///   - isForced: whether the file may differ although it has this content.
  func setContent(
    _ sent: ObjectRow<WireValue?>.Property, _ key: ObjectKey, _ property: ExchangeClass.Property,
    _ one: ReplicaClass, isMine: Bool,
    isForced: Bool = false
  ) throws(StorageError) {
    guard let coder = property.contents, case .single(let wire) = sent.content else { return }
    let place = SequencePlace(classID: one.id, key: key, column: property.id)
    var table = try objects.contents(of: key, in: one.id)
    let kept = table[property.id] ?? []
    if kept.last?.stamp == sent.stamp, isMine || !isStale && !isForced { return }
    let theirs = coder.content(wire, at: sent.stamp)
    let server = wire ?? coder.wire(coder.empty)
    if isMine {
      let locals = try locals()
      let parts = try session.sequence(at: place)?.parts() ?? SequenceParts()
      let now = snapshot.version.rawValue
      let mine = locals.content(parts, place, kept, coder, at: now)
      var former = KeptContent.trimmed(kept, sentUpTo: done)
      if let lost = try recalled(kept, place, coder, theirs.content, mine) { former = [lost] }
      let merged = locals.merged(
        locals.base(former, place, coder, at: now), theirs, mine)
      var entry = try show(merged, place, coder, server, sent.stamp)
      if merged != theirs.content { entry.local = coder.wire(merged) }
      table[property.id] = former + [entry]
    } else {
      table[property.id] = [try show(theirs.content, place, coder, server, sent.stamp)]
    }
    setContents(table, key, one)
  }

  /// The content from which commits began that a restored server has lost, and which are sent
  /// again; nil where it is known.
  private func recalled(
    _ kept: [KeptContent], _ place: SequencePlace, _ coder: ContentCoder,
    _ theirs: Content<WireItem>, _ mine: Content<WireItem>
  ) throws(StorageError) -> KeptContent? {
    guard let last = kept.last, !kept.contains(where: { $0.version <= done }),
      let parts = try rowsAtDone().sequence(at: place)?.parts()
    else { return nil }
    let content = Content.recalled(parts, coder, as: [theirs, mine])
    return KeptContent(version: done, stamp: last.stamp, server: coder.wire(content))
  }

  private func show(
    _ content: Content<WireItem>, _ place: SequencePlace, _ coder: ContentCoder,
    _ server: WireValue, _ stamp: Stamp
  ) throws(StorageError) -> KeptContent {
    let (values, keys) = coder.values(content)
    let isChanged = try session.assign(
      values.map { .value($0) }, keys: keys, in: place)
    // What is not written has the version that it had.
    let version = snapshot.version.rawValue + (isChanged ? 1 : 0)
    return KeptContent(version: version, stamp: stamp, server: server)
  }

  /// Shows the server's contents instead of those that a refused commit changed, with the changes
  /// of later commits on top.
  ///
  /// - Parameter refused: what would be kept if the server had accepted the commit.
  func takeBack(
    _ sent: ObjectRow<WireValue?>.Property, _ key: ObjectKey, _ property: ExchangeClass.Property,
    _ one: ReplicaClass, _ refused: [KeptContent]
  ) throws(StorageError) {
    guard let coder = property.contents, case .single(let wire) = sent.content,
      let base = refused.last
    else { return }
    let place = SequencePlace(classID: one.id, key: key, column: property.id)
    let locals = try locals()
    let parts = try session.sequence(at: place)?.parts() ?? SequenceParts()
    let mine = locals.content(parts, place, refused, coder, at: snapshot.version.rawValue)
    let theirs = coder.content(wire, at: sent.stamp)
    let merged = locals.merged(
      coder.content(base.server, at: base.stamp).content, theirs, mine)
    var entry = try show(
      merged, place, coder, wire ?? coder.wire(coder.empty), sent.stamp)
    if merged != theirs.content { entry.local = coder.wire(merged) }
    var table = try objects.contents(of: key, in: one.id)
    table[property.id] = refused + [entry]
    setContents(table, key, one)
  }
}
