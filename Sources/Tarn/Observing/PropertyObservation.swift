import Foundation
import Synchronization
import TarnStore

/// What happens to a property, or to the object that has it.
struct PropertyEffect {
  enum Kind: Equatable {
    case setting
    case insertion(IndexSet)
    case removal(IndexSet)
    case replacement(IndexSet)
    /// The object goes. It may come back if the write that deletes it is cancelled, unless this is
    /// for good.
    case leaving(forGood: Bool)
    /// The deletion of the object is cancelled.
    case returning
  }

  let row: ObjectRef
  /// Nil for what happens to the object.
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
  /// Of an object, not of a property.
  var isOfObject: Bool {
    switch self {
    case .leaving, .returning: true
    case .setting, .insertion, .removal, .replacement: false
    }
  }

  /// Both at once. What happens to the object comes first: what its properties do then is nothing.
  func merged(with other: Self) -> Self {
    if self == other || isOfObject { return self }
    return other.isOfObject ? other : .setting
  }

  /// No element comes or goes.
  var isOfNothing: Bool { self == .insertion([]) || self == .removal([]) }

  /// As it is told to observers.
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

/// Something that is told of a property before it changes and afterwards.
///
/// What it observes is a chain of rows, or of unmanaged objects: the first is the object that is
/// observed, each further one what a link of the one before leads to, and in the last one is the
/// property. It is hooked to each of them, and hooked anew when a link changes.
class PropertyObservation {
  private static let lastSerial = Atomic<UInt64>(0)

  let state = ObservationState(.property)
  /// The order of calls: that of registration.
  let serial = PropertyObservation.lastSerial.wrappingAdd(1, ordering: .relaxed).newValue
  /// The open write has deleted the object.
  fileprivate(set) var isGone = false
  /// Where it is hooked.
  private var hooks: [any PropertyHooks] = []

  /// Tells that something is about to happen.
  ///
  /// - Returns: what is to be called when it has happened; nil if it is none of its business.
  func begin(_ kind: PropertyEffect.Kind) -> (() -> Void)? { nil }

  /// Hooks it to what it observes now.
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
  /// Of an unmanaged object the number of the property; nil if the object itself is observed.
  let column: ColumnID?
  /// In the object that is observed, not behind a link.
  var isRoot: Bool
  /// Where the property is, not a link on the way to it.
  var isLast: Bool

  func concerns(_ column: ColumnID?, _ kind: PropertyEffect.Kind) -> Bool {
    guard observation.state.isActive, observation.isGone == (kind == .returning) else {
      return false
    }
    return kind.isOfObject ? isRoot : self.column == column
  }
}

/// What observations are hooked to.
protocol PropertyHooks: AnyObject {
  func add(_ hook: PropertyRegistration)
  func remove(_ observation: PropertyObservation)
}

/// Observers that were told that something is about to happen, until they are told that it has.
struct PropertyNotification {
  /// Whom to tell of what.
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

  /// Tells them in their order. Each is told once, whatever happens to it.
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

  /// Tells those who still observe. First all of them get to know where their chains lead now.
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
