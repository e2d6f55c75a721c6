import TarnStore

/// The contents of lists, sets and maps in the file, with the names of their elements.
///
/// The file itself has no names: an element is known by the server's content that it came with, and
/// by the changes of the file's own commits since then. An element that a commit here has inserted
/// is named by that commit, however often this is computed.
struct LocalContents {
  /// The names of replicas in a file: a copy of it is a replica of its own.
  struct Author: Equatable {
    /// Commits after this version have the name.
    var version: UInt64
    var number: UInt32
  }

  let history: SequenceHistory
  /// Oldest first.
  let authors: [Author]
  /// The replica's number on the server.
  let number: UInt32

  /// - Parameters:
  ///   - parts: the elements at a version.
  ///   - place: the property's.
  ///   - kept: what is known of the property.
  func content(
    _ parts: SequenceParts, _ place: SequencePlace, _ kept: [KeptContent],
    _ coder: ContentCoder, at version: UInt64
  ) -> Content<WireItem> {
    let items = parts.values.map { coder.items.item($0) }
    let start = start(kept, place, at: version)
    let former = start.map { coder.content($0.local ?? $0.server, at: $0.stamp).content }
    let steps = history.steps(of: place).filter {
      $0.commit.version.rawValue > start?.version ?? 0 && $0.commit.version.rawValue <= version
    }
    switch former ?? coder.empty {
    case .single: trap("internal error: a single value has no parts")
    case .set: return .set(Set(items))
    case .map(let entries):
      // A value that a commit has set to what it was has the old stamp.
      let stamp = Stamp(Int64(clamping: steps.last?.commit.stamp ?? 0), by: number)
      var found: [StoredText: Stamped<WireItem>] = [:]
      for (key, item) in zip(parts.keys, items) {
        let known = entries[StoredText(key)]
        found[StoredText(key)] = known?.value == item ? known : Stamped(item, stamp)
      }
      return .map(found)
    case .list(let elements):
      let names =
        former == nil
        ? created(place, steps, items.count)
        : elements.map { Name(id: $0.id, stamp: $0.content.stamp) }
      let found = self.names(after: steps, names)
      let fitting =
        found.flatMap { $0.count == items.count ? $0 : nil }
        ?? self.names(of: items, asIn: kept, coder, steps.last?.commit)
      return .list(zip(items, fitting).map { ListElement($1.id, $0, $1.stamp) })
    }
  }

  /// What was known at a version. An object that was created since is another one.
  func start(
    _ kept: [KeptContent], _ place: SequencePlace, at version: UInt64
  ) -> KeptContent? {
    let creation = history.creation(of: place.key, in: place.classID)?.version.rawValue ?? 0
    return kept.last { $0.version <= version && $0.version >= creation }
  }

  // MARK: - Names

  private typealias Name = (id: ElementID, stamp: Stamp)

  /// The names of the elements with which an object was created.
  private func created(
    _ place: SequencePlace, _ steps: [SequenceHistory.Step], _ count: Int
  ) -> [Name] {
    let commit = history.creation(of: place.key, in: place.classID)
    let first = steps.first?.script.oldCount ?? count
    return (0..<first).map { name($0, commit) }
  }

  /// - Parameter commit: that inserted the element; nil for one from before the file was a replica.
  private func name(_ position: Int, _ commit: SequenceHistory.Commit?) -> Name {
    let version = commit?.version.rawValue ?? 0
    let author = authors.last { $0.version < version } ?? authors.first
    let id = ElementID(
      author: author?.number ?? 0, version: version,
      salt: UInt32(truncatingIfNeeded: commit?.id ?? 0),
      number: UInt32(truncatingIfNeeded: position))
    return (id, ListNames.inserted)
  }

  /// - Returns: nil if the changes do not lead on from the elements, such as after a migration.
  private func names(after steps: [SequenceHistory.Step], _ names: [Name]) -> [Name]? {
    var names = names
    for step in steps {
      guard step.script.oldCount == names.count else { return nil }
      var next: [Name] = []
      next.reserveCapacity(step.script.newCount)
      for run in step.script.runs {
        switch run {
        case .old(let first, let count): next += names[first..<first + count]
        case .fresh(let count):
          for _ in 0..<count { next.append(name(next.count, step.commit)) }
        }
      }
      let stamp = Stamp(Int64(clamping: step.commit.stamp), by: number)
      for position in step.script.modified { next[Int(position.rawValue)].stamp = stamp }
      names = next
    }
    return names
  }

  /// The names that equal elements had last, in the same order.
  private func names(
    of items: [WireItem], asIn kept: [KeptContent], _ coder: ContentCoder,
    _ commit: SequenceHistory.Commit?
  ) -> [Name] {
    var names = items.indices.map { name($0, commit) }
    guard let last = kept.last,
      case .list(let known) = coder.content(last.local ?? last.server, at: last.stamp).content
    else { return names }
    for (old, new) in CommonElements.pairs(known.map(\.content.value), items) {
      names[new] = (known[old].id, known[old].content.stamp)
    }
    return names
  }
}
