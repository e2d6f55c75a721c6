public import Foundation
import TarnStore

/// What `Results`, `List`, `MutableSet`, `LinkingObjects` and `AnyRealmCollection` have in common:
/// elements at positions from 0 on, live if they are managed, in the order that the Realm shows.
///
/// Lazy: `map`, `filter` and `compactMap` with a closure make no array, but a view that calls the
/// closure whenever an element is read. Where an array is expected they make one.
public protocol RealmCollection: RandomAccessCollection, LazyCollectionProtocol, Equatable,
  _DeltaCollection, _AggregatedCollection, _ObjectAggregating, CustomStringConvertible
where
  Element: RealmCollectionValue, Index == Int, _Looked == Element, _Aggregated == Element,
  _Member == Element,
  _Change == RealmCollectionChange<Self>, _Delta == CollectionDelta<Element>
{
  /// The elements' type, under the name that older code uses.
  typealias ElementType = Element
  /// The first element, or nil.
  var first: Element? { get }
  /// The last element, or nil.
  var last: Element? { get }
  /// The first position of an element, or nil.
  func index(of element: Element) -> Int?
  /// The elements at those positions. Traps if one of them is out of bounds.
  func objects(at positions: IndexSet) -> [Element]
  /// What results are derived from; traps where none can be.
  var _derivation: _Derivation { get }
  /// True for a set, of which `value(forKey:)` has no repeats.
  var _isSet: Bool { get }

  /// Calls `block` with the collection and then with each difference. Traps for an unmanaged
  /// collection.
  func observe(_ block: @escaping (RealmCollectionChange<Self>) -> Void) -> NotificationToken
}

extension RealmCollection {
  public var _isSet: Bool { false }

  /// The elements at those positions. Traps if one of them is out of bounds.
  public func objects(at positions: IndexSet) -> [Element] { positions.map { self[$0] } }
}

extension RealmCollection {
  func append(_ name: String, to dump: inout TextDump) {
    if isInvalidated { return dump.append("\(name) [invalidated]") }
    dump.append(elements: self, of: name)
  }
}
