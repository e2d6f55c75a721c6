package import TarnStore

/// A property's value, by how it is merged. Values are compared by their bytes.
package enum Content<Value: Hashable & Sendable>: Equatable, Sendable {
  /// One value; the later one stays.
  case single(Value)
  case list([ListElement<Value>])
  case set(Set<Value>)
  case map([StoredText: Stamped<Value>])

  /// Merges two versions of a content with parts.
  ///
  /// - Parameters:
  ///   - base: from which both sides began.
  ///   - theirs: as the server has it now.
  ///   - mine: as this replica has it now.
  ///   - author: the number by which elements of this replica are known.
  ///   - removal: the stamp of this replica's removals from a map.
  /// - Returns: nil for single values, and for contents of different kinds: the later one stays.
  package static func merged(
    base: Self, theirs: Self, mine: Self, author: UInt32, removal: Stamp
  ) -> Self? {
    switch (base, theirs, mine) {
    case (.list(let base), .list(let theirs), .list(let mine)):
      .list(ListMerge.merged(base: base, theirs: theirs, mine: mine, author: author))
    case (.set(let base), .set(let theirs), .set(let mine)):
      .set(SetMerge.merged(base: base, theirs: theirs, mine: mine))
    case (.map(let base), .map(let theirs), .map(let mine)):
      .map(MapMerge.merged(base: base, theirs: theirs, mine: mine, removal: removal))
    default: nil
    }
  }

  /// The empty content of the same kind, that a creation found.
  package var emptied: Self {
    switch self {
    case .single: self
    case .list: .list([])
    case .set: .set([])
    case .map: .map([:])
    }
  }
}
