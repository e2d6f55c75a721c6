package import TarnStore

/// Merges an element that both sides may have changed: the former one if it existed, theirs, and
/// mine.
package typealias Resolution<Value: Equatable & Sendable> = (
  Stamped<Value>?, Stamped<Value>, Stamped<Value>
) -> Stamped<Value>

/// A property's value, by how it is merged. Values are compared by their bytes.
package enum Content<Value: Hashable & Sendable>: Equatable, Sendable {
  /// One value; the later one wins.
  case single(Value)
  /// One value with parts, or nil; it has a name like an element of a list.
  case one(ListElement<Value>?)
  case list([ListElement<Value>])
  case set(Set<Value>)
  case map([StoredText: Stamped<Value>])

  /// Merges two versions of a content with parts.
  ///
  /// - Parameters:
  ///   - base: the content from which both sides began.
  ///   - theirs: the server's current content.
  ///   - mine: this replica's current content.
  ///   - author: the number that identifies elements of this replica.
  ///   - removal: the stamp of this replica's removals from a map, and of its nils.
  ///   - resolve: merges an element that both sides changed.
  /// - Returns: nil for single values, and for contents of different kinds: the later one wins.
  package static func merged(
    base: Self, theirs: Self, mine: Self, author: UInt32, removal: Stamp,
    resolve: Resolution<Value> = { _, theirs, mine in .later(theirs, mine) }
  ) -> Self? {
    switch (base, theirs, mine) {
    case (.one(let base), .one(let theirs), .one(let mine)):
      .one(one(base, theirs, mine, removal, resolve))
    case (.list(let base), .list(let theirs), .list(let mine)):
      .list(
        ListMerge.merged(base: base, theirs: theirs, mine: mine, author: author, resolve: resolve))
    case (.set(let base), .set(let theirs), .set(let mine)):
      .set(SetMerge.merged(base: base, theirs: theirs, mine: mine))
    case (.map(let base), .map(let theirs), .map(let mine)):
      .map(
        MapMerge.merged(base: base, theirs: theirs, mine: mine, removal: removal, resolve: resolve))
    default: nil
    }
  }

  /// An element with another name is another one: it replaces the former one as a whole.
  private static func one(
    _ base: ListElement<Value>?, _ theirs: ListElement<Value>?, _ mine: ListElement<Value>?,
    _ removal: Stamp, _ resolve: Resolution<Value>
  ) -> ListElement<Value>? {
    // SQL writes no names: it has changed the existing element.
    if var result = theirs, let mine,
      result.id == mine.id || result.id.isOfSQL && base?.id == mine.id
    {
      let former = base?.id == mine.id ? base?.content : nil
      result.content = resolve(former, result.content, mine.content)
      return result
    }
    if mine?.id == base?.id { return theirs }
    if theirs?.id == base?.id { return mine }
    let (their, my) = (theirs?.content.stamp ?? removal, mine?.content.stamp ?? removal)
    return their < my ? mine : theirs
  }

  /// This base with the parts of a content that others have seen since. If a part has two values,
  /// the base gets the earlier one, so that the later one wins.
  package func adding(_ mine: Self, metIn later: [Self]) -> Self {
    if later.isEmpty { return self }
    switch (self, mine) {
    case (.list(let base), .list(let list)):
      var met: [ElementID: ListElement<Value>] = [:]
      for case .list(let other) in later {
        met.merge(other.map { ($0.id, $0) }) { first, _ in first }
      }
      for element in base { met[element.id] = nil }
      return .list(base + list.compactMap { mine in met[mine.id].map { earlier(mine, $0) } })
    case (.set(let base), .set(let values)):
      var met: Set<Value> = []
      for case .set(let other) in later { met.formUnion(other) }
      return .set(base.union(values.intersection(met)))
    case (.map(let base), .map(let entries)):
      var result = base
      for case .map(let other) in later {
        for (key, value) in other where base[key] == nil && entries[key] == value {
          result[key] = value
        }
      }
      return .map(result)
    case (.one(nil), .one(let element)):
      for case .one(let met?) in later where met.id == element?.id {
        return .one(element.map { earlier($0, met) })
      }
      return self
    default: return self
    }
  }

  private func earlier(
    _ a: ListElement<Value>, _ b: ListElement<Value>
  ) -> ListElement<Value> {
    b.content.stamp < a.content.stamp ? b : a
  }
}
