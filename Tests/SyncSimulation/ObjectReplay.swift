import TarnSync

/// Repeats what this replica's unsent commits did to one object on a newer state of it.
///
/// A replica shows the last state that it downloaded, with the differences of its own commits that
/// this state does not contain. So after each download the commits that remain are replayed, as
/// differences: another one's insertion into a list stays beside ours, and of two values the later
/// stays.
struct ObjectReplay {
  /// The object after the commits that have been replayed; nil if it does not exist.
  private(set) var row: ObjectRow<Int>?
  /// The incarnations that unsent commits know, and what they are on the server: two replicas that
  /// create one key have made one object, whose incarnation is that of the first to arrive.
  private var joined: [Int64: Int64] = [:]
  private var lost: ObjectRow<Int>?
  private let replica: UInt32
  private let author: UInt32

  /// - Parameters:
  ///   - row: the object as it was downloaded; nil if the server does not have it.
  ///   - lost: the object as this replica had it, if the server has neither it nor its tombstone: a
  ///     server that was restored has lost it. The first edit sends it as a whole, or makes it one
  ///     with an object that others have created under its key since.
  ///   - replica: the number of this replica on the server.
  ///   - author: the number by which elements of this replica are known.
  init(
    on row: ObjectRow<Int>?, lost: ObjectRow<Int>? = nil, replica: UInt32, author: UInt32
  ) {
    self.row = row
    self.lost = lost
    self.replica = replica
    self.author = author
  }

  /// Replays one commit's change.
  ///
  /// - Parameter time: the commit's time stamp.
  /// - Returns: the change as a difference from the newer state; nil if nothing of it remains, such
  ///   as when it edits an object that was deleted.
  mutating func apply(
    _ change: ObjectChange, time: Int64
  ) -> ObjectChange? {
    // The number of the replica may be another one than when the commit was made.
    let stamp = Stamp(time, by: replica)
    switch change {
    case .created(let made):
      guard let present = row else {
        let whole = ObjectRow(
          incarnation: made.incarnation, values: made.values.mapValues { .init($0.content, stamp) })
        (row, lost) = (whole, nil)
        return .created(whole)
      }
      joined[made.incarnation] = present.incarnation
      return edit(present, made.creation) { _ in stamp }
    case .deleted(let incarnation):
      let known = joined[incarnation] ?? incarnation
      guard row?.incarnation == known else { return nil }
      row = nil
      return .deleted(incarnation: known)
    case .edited(let incarnation, let edits):
      if let whole = lost, whole.incarnation == incarnation { return revive(whole, edits, stamp) }
      guard let present = row, present.incarnation == joined[incarnation] ?? incarnation else {
        return nil
      }
      return edit(present, edits) { _ in stamp }
    }
  }

  /// Edits an object that the server has lost, and puts it under its key again.
  private mutating func revive(
    _ whole: ObjectRow<Int>, _ edits: [String: ObjectChange.Edit], _ stamp: Stamp
  ) -> ObjectChange? {
    lost = nil
    let present = row
    _ = edit(whole, edits) { _ in stamp }
    guard let present, let edited = row else { return row.map { .created($0) } }
    joined[whole.incarnation] = present.incarnation
    return edit(present, edited.creation) { name in edited.values[name]?.stamp }
  }

  private mutating func edit(
    _ present: ObjectRow<Int>, _ edits: [String: ObjectChange.Edit],
    _ stamp: (String) -> Stamp?
  ) -> ObjectChange? {
    var (result, remaining) = (present, [String: ObjectChange.Edit]())
    for (name, edit) in edits {
      guard let stamp = stamp(name) else { continue }
      guard let former = present.values[name] else {
        result.values[name] = ObjectRow.Property(edit.after, stamp)
        remaining[name] = edit
        continue
      }
      guard let merged = merged(former, edit, stamp) else { continue }
      result.values[name] = merged
      remaining[name] = ObjectChange.Edit(from: former.content, to: merged.content)
    }
    row = result
    return remaining.isEmpty
      ? nil : .edited(incarnation: present.incarnation, remaining)
  }

  /// The property after an edit; nil if another one's value stays.
  private func merged(
    _ former: ObjectRow<Int>.Property, _ edit: ObjectChange.Edit, _ stamp: Stamp
  ) -> ObjectRow<Int>.Property? {
    let merged = Content.merged(
      base: edit.before, theirs: former.content, mine: edit.after, author: author, removal: stamp)
    guard let content = merged else {
      guard former.stamp < stamp else { return nil }
      return ObjectRow.Property(edit.after, stamp)
    }
    // The server takes structure only from a replica that has merged with its newest state.
    let later = Stamp(max(stamp.time, former.stamp.time + 1), by: replica)
    return content == former.content ? nil : ObjectRow.Property(content, later)
  }
}

extension ObjectRow<Int> {
  /// The object as edits of one that is empty.
  fileprivate var creation: [String: ObjectChange.Edit] {
    values.mapValues { property in
      ObjectChange.Edit(from: property.content.emptied, to: property.content)
    }
  }
}

extension Content<Int> {
  /// The empty content of the same kind, that a creation found.
  fileprivate var emptied: Self {
    switch self {
    case .single: self
    case .one: .one(nil)
    case .list: .list([])
    case .set: .set([])
    case .map: .map([:])
    }
  }
}
