public import Foundation
import Synchronization
import TarnStore

/// A change of a property, or of the object that has it.
struct PropertyEffect {
  enum Kind: Equatable {
    case setting
    case insertion(IndexSet)
    case removal(IndexSet)
    case replacement(IndexSet)
    /// The object is deleted. It may return if the write that deletes it is cancelled, unless this
    /// is for good.
    case leaving(forGood: Bool)
    /// The deletion of the object is cancelled.
    case returning
  }

  let row: ObjectRef
  /// Nil for a change of the object itself.
  let column: ColumnID?
  let kind: Kind

  init(_ row: ObjectRef, _ column: ColumnID, _ kind: Kind = .setting) {
    self.row = row
    self.column = column
    self.kind = kind
  }

  init(_ row: ObjectRef, _ kind: Kind) {
    self.row = row
    column = nil
    self.kind = kind
  }
}

extension PropertyEffect.Kind {
  /// True for a change of an object, not of a property.
  var isOfObject: Bool {
    switch self {
    case .leaving, .returning: true
    case .setting, .insertion, .removal, .replacement: false
    }
  }

  /// Both changes at once. A change of the object takes precedence over changes of its properties.
  func merged(with other: Self) -> Self {
    if self == other || isOfObject { return self }
    return other.isOfObject ? other : .setting
  }

  /// True if no element is inserted or removed.
  var isOfNothing: Bool { self == .insertion([]) || self == .removal([]) }

  /// The form in which observers receive it.
  func described<Value>(
    _: Value.Type
  ) -> (kind: PropertyObservedChange<Value>.Kind, indexes: IndexSet?) {
    switch self {
    case .setting, .leaving, .returning: (.setting, nil)
    case .insertion(let indexes): (.insertion, indexes)
    case .removal(let indexes): (.removal, indexes)
    case .replacement(let indexes): (.replacement, indexes)
    }
  }
}

/// A receiver of changes of a property, before and after each.
///
/// It observes a chain of rows, or of unmanaged objects: it begins with the observed object, each
/// one links to the next, and the last one has the property. It is hooked to each of them, and
/// hooked again when a link changes.
class PropertyObservation {
  private static let lastSerial = Atomic<UInt64>(0)

  let state = ObservationState(.property)
  /// The order of calls: that of registration.
  let serial = PropertyObservation.lastSerial.wrappingAdd(1, ordering: .relaxed).newValue
  /// The open write has deleted the object.
  fileprivate(set) var isGone = false
  /// The tables in which it is registered.
  private var hooks: [any PropertyHooks] = []

  /// Called before a change.
  ///
  /// - Returns: a closure to call after the change; nil if the change does not concern it.
  func begin(_ kind: PropertyEffect.Kind) -> (() -> Void)? { nil }

  /// Hooks it to its current chain.
  func hook() {}

  final func hook(to hooks: any PropertyHooks, _ entry: PropertyRegistration) {
    hooks.add(entry)
    self.hooks.append(hooks)
  }

  final func unhook() {
    for table in hooks { table.remove(self) }
    hooks = []
  }
}

/// One link of the chain that an observation follows.
struct PropertyRegistration {
  let observation: PropertyObservation
  /// The column, or for an unmanaged object the property's number; nil to observe the object
  /// itself.
  let column: ColumnID?
  /// True for the observed object, false behind a link.
  var isRoot: Bool
  /// True for the property itself, false for a link on the path to it.
  var isLast: Bool

  func concerns(_ column: ColumnID?, _ kind: PropertyEffect.Kind) -> Bool {
    guard observation.state.isActive, observation.isGone == (kind == .returning) else {
      return false
    }
    return kind.isOfObject ? isRoot : self.column == column
  }
}

/// A table in which observations are registered.
protocol PropertyHooks: AnyObject {
  func add(_ hook: PropertyRegistration)
  func remove(_ observation: PropertyObservation)
}

/// The observers that were called before a change and have not been called after it.
struct PropertyNotification {
  /// The call of one observation.
  struct Call {
    let observation: PropertyObservation
    var kind: PropertyEffect.Kind
    var movesChain: Bool
  }

  private struct Told {
    let call: Call
    let finish: (() -> Void)?
  }

  private let told: [Told]

  /// Calls the observations in their order, each only once, whatever happens to it.
  init(_ hooks: [(hook: PropertyRegistration, kind: PropertyEffect.Kind)]) {
    var calls: [UInt64: Call] = [:]
    for (hook, kind) in hooks {
      let kind = hook.isLast || kind.isOfObject ? kind : .setting
      let movesChain = !hook.isLast || kind == .returning
      if let known = calls[hook.observation.serial] {
        calls[hook.observation.serial]!.kind = known.kind.merged(with: kind)
        calls[hook.observation.serial]!.movesChain = known.movesChain || movesChain
      } else {
        calls[hook.observation.serial] = Call(
          observation: hook.observation, kind: kind, movesChain: movesChain)
      }
    }
    told = calls.values.sorted { $0.observation.serial < $1.observation.serial }.compactMap {
      $0.observation.state.isActive ? Told(call: $0, finish: $0.observation.begin($0.kind)) : nil
    }
  }

  /// Calls the observations that are still active. First all of them update their chains.
  func finish() {
    for told in told where told.call.observation.state.isActive {
      let observation = told.call.observation
      if told.call.kind.isOfObject { observation.isGone = told.call.kind != .returning }
      guard told.call.movesChain else { continue }
      observation.unhook()
      observation.hook()
    }
    for told in told where told.call.observation.state.isActive {
      told.finish?()
      if told.call.kind == .leaving(forGood: true), told.call.observation.state.end() {
        told.call.observation.unhook()
      }
    }
  }
}

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
