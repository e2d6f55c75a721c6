public import Foundation
import TarnStore

/// The common interface of `Results`, `List`, `MutableSet`, `LinkingObjects` and
/// `AnyRealmCollection`: elements at positions from 0 on, live if they are managed, in the Realm's
/// order.
///
/// Lazy: `map`, `filter` and `compactMap` with a closure make no array, but a view that calls the
/// closure whenever an element is read. Where an array is expected they make one.
public protocol RealmCollection: RandomAccessCollection, LazyCollectionProtocol, Equatable,
  _ScopedCollection, _AggregatedCollection, _ObjectAggregating, CustomStringConvertible
where
  Element: RealmCollectionValue, Index == Int, _ScopeRoot == Element, _Aggregated == Element,
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
  /// The description from which results are derived; traps where that is impossible.
  var _derivation: _Derivation { get }
  /// True for a set, whose `value(forKey:)` has no repeated values.
  var _isSet: Bool { get }
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
