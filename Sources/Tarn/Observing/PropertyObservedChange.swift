public import Foundation

/// What the observer of a property wants to be told.
public struct PropertyObservingOptions: OptionSet, Sendable {
  /// The options as bits.
  public let rawValue: UInt
  /// Options of those bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// The value after the change.
  public static let new = PropertyObservingOptions(rawValue: 1)
  /// The value before the change.
  public static let old = PropertyObservingOptions(rawValue: 2)
  /// A first call before `observe` returns, of kind `.setting`.
  public static let initial = PropertyObservingOptions(rawValue: 4)
  /// A call before each change besides the one after it.
  public static let prior = PropertyObservingOptions(rawValue: 8)
}

/// What the observer of a property is called with.
public struct PropertyObservedChange<Value> {
  /// What happened to the property.
  public enum Kind: Sendable {
    /// It was assigned, or so much happened to the list that it counts as another one.
    case setting
    /// Elements came into the list.
    case insertion
    /// Elements left the list.
    case removal
    /// Elements of the list were set or moved.
    case replacement
  }

  /// What happened. Always `.setting` for a property that is no list.
  public let kind: Kind
  /// The positions of the elements in the list: after an insertion, before a removal. Nil for
  /// `.setting`.
  public let indexes: IndexSet?
  /// The value before the change, if `.old` was asked for. Nil for a collection, which is live: its
  /// observer can read it in the prior call. Nil, too, where a key path with `!` leads nowhere.
  public let oldValue: Value?
  /// The value after the change, if `.new` was asked for; nil in a prior call, and where a key path
  /// with `!` leads nowhere.
  public let newValue: Value?
  /// True for the call before the change.
  public let isPrior: Bool
}

extension PropertyObservedChange: Sendable where Value: Sendable {}
