public import Foundation

/// The values and calls that the observer of a property requests.
public struct PropertyObservingOptions: OptionSet, Sendable {
  /// The options as bits.
  public let rawValue: UInt
  /// The set with these bits.
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

/// The argument of a property's observer.
public struct PropertyObservedChange<Value> {
  /// The kind of change.
  public enum Kind: Sendable {
    /// The property was assigned, or the list changed in more than one way.
    case setting
    /// Elements were inserted into the list.
    case insertion
    /// Elements were removed from the list.
    case removal
    /// Elements of the list were set or moved.
    case replacement
  }

  /// The kind of change. Always `.setting` for a property that is not a list.
  public let kind: Kind
  /// The positions of the elements in the list: after an insertion, before a removal. Nil for
  /// `.setting`.
  public let indexes: IndexSet?
  /// The value before the change, if `.old` was requested. Nil for a collection, which is live: its
  /// observer can read it in the prior call. Also nil if a key path with `!` passes through nil.
  public let oldValue: Value?
  /// The value after the change, if `.new` was requested; nil in a prior call, and if a key path
  /// with `!` passes through nil.
  public let newValue: Value?
  /// True for the call before the change.
  public let isPrior: Bool
}

extension PropertyObservedChange: Sendable where Value: Sendable {}
