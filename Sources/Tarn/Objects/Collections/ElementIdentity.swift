import TarnStore

/// Identifies an element of a collection permanently: an object or a value.
///
/// An object's identity stays the same when its properties change, and is equal in all Realms of
/// one file. A value's identity is the value to the bit: 0 and -0, decimals such as 1.0 and 1.00,
/// and two spellings of the same letters are different, and NaN equals itself. Threading: any.
public struct ElementIdentity: Hashable, Sendable {
  private let value: Value

  /// The identity of an element. Traps for an unmanaged object.
  public init<Element: RealmCollectionValue>(of element: Element) {
    let boxed = element._boxElement()
    if let object = boxed.object {
      guard let binding = object._binding else {
        trap("An unmanaged object has no identity among the elements of a Realm; add it first.")
      }
      value = .object(binding.classID, ObjectKey(object._key))
      return
    }
    value = boxed.value
  }
}

extension CollectionDelta where Element: RealmCollectionValue {
  /// The same change as the difference of identities: an element that changed or moved is removed
  /// and inserted, and the two are associated with each other.
  ///
  /// Traps for an array of another length than the old collection had. Threading: like the
  /// collection; the difference itself may be passed anywhere.
  ///
  /// - Parameter old: the identities of the old collection's elements; applying the difference to
  ///   them gives those of the new one's.
  public func difference(from old: [ElementIdentity]) -> Swift.CollectionDifference<ElementIdentity>
  {
    requireOld(old.count)
    typealias Change = Swift.CollectionDifference<ElementIdentity>.Change
    let targets = Dictionary(uniqueKeysWithValues: moves.map { ($0.from, $0.to) })
    let origins = Dictionary(uniqueKeysWithValues: moves.map { ($0.to, $0.from) })
    var changes: [Change] = []
    for position in deletions + modifications {
      changes.append(
        .remove(offset: position, element: old[position], associatedWith: targets[position]))
    }
    for position in insertions + modificationsNew {
      let identity = ElementIdentity(of: element(at: position))
      changes.append(
        .insert(offset: position, element: identity, associatedWith: origins[position]))
    }
    guard let difference = Swift.CollectionDifference(changes) else {
      trap("internal error: a change with a position twice")
    }
    return difference
  }
}

extension ObservedChange
where
  Delta == CollectionDelta<Collection.Element>, Collection: Sequence,
  Collection.Element: RealmCollectionValue
{
  /// Applies this change to an array of identities, like `apply(to:)` to elements.
  public func apply(toIdentities identities: inout [ElementIdentity]) {
    switch self {
    case .initial(let collection): identities = collection.map { ElementIdentity(of: $0) }
    case .update(_, let delta):
      guard let new = identities.applying(delta.difference(from: identities)) else {
        trap("internal error: a difference that does not fit its origin")
      }
      identities = new
    case .error: break
    }
  }
}
