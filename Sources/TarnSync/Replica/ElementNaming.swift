import TarnStore

/// Names the elements that this file's commits have inserted.
struct ElementNaming {
  typealias Name = (id: ElementID, stamp: Stamp)

  /// Oldest first.
  let authors: [LocalContents.Author]
  /// The replica's number on the server.
  let number: UInt32
  let limit: StampLimit

  /// The name of every mixed value that is not in a collection.
  static let mixed = ElementID(author: 0, version: 0, salt: 0, number: 0)

  /// - Parameter commit: the commit that inserted the element; nil for one from before the file was
  ///   a replica.
  func name(_ position: Int, _ commit: SequenceHistory.Commit?) -> Name {
    let version = commit?.version.rawValue ?? 0
    let author = authors.last { $0.version < version } ?? authors.first
    let id = ElementID(
      author: author?.number ?? 0, version: version,
      salt: UInt32(truncatingIfNeeded: commit?.id ?? 0),
      number: UInt32(truncatingIfNeeded: position))
    return (id, ListNames.inserted)
  }

  /// The names of the elements with which an object was created.
  ///
  /// - Parameters:
  ///   - steps: the changes since then.
  ///   - elements: the elements after the changes.
  func created(
    _ commit: SequenceHistory.Commit?, _ steps: [SequenceHistory.Step], _ elements: LocalElements
  ) -> [Name] {
    let count = steps.first?.script.oldCount ?? elements.items.count
    return (0..<count).map { name($0, commit) }
  }

  /// The names after changes.
  ///
  /// - Returns: nil if the changes do not begin at these elements, for example after a migration.
  func names(after steps: [SequenceHistory.Step], _ names: [Name]) -> [Name]? {
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
      let time = limit.limited(
        Int64(clamping: step.commit.stamp), madeAt: step.commit.time,
        as: step.commit.version.rawValue)
      let stamp = Stamp(time, by: number)
      for position in step.script.modified { next[Int(position.rawValue)].stamp = stamp }
      names = next
    }
    return names
  }

  /// The former names of equal elements, in the same order.
  func names(
    of items: [WireItem], asIn former: [ListElement<WireItem>], _ commit: SequenceHistory.Commit?
  ) -> [Name] {
    var names = items.indices.map { name($0, commit) }
    for (old, new) in CommonElements.pairs(former.map(\.content.value), items) {
      names[new] = (former[old].id, former[old].content.stamp)
    }
    return names
  }
}
