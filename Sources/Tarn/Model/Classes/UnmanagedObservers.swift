import TarnStore

/// The observers of one unmanaged object's properties. The object holds it in the place of its
/// image; its properties have their numbers instead of columns.
final class UnmanagedObservers: PropertyHooks {
  private var hooks: [PropertyRegistration] = []
  /// The properties whose lists and maps notify these observers.
  private var reaching: Set<ColumnID> = []

  func add(_ hook: PropertyRegistration) {
    removeEnded()
    hooks.append(hook)
  }

  func remove(_ observation: PropertyObservation) {
    hooks.removeAll { $0.observation === observation }
  }

  /// Removes observations that ended elsewhere.
  private func removeEnded() { hooks.removeAll { !$0.observation.state.isActive } }

  var isEmpty: Bool {
    removeEnded()
    return hooks.isEmpty
  }

  /// Notifies the observers of that property.
  func begin(_ column: ColumnID, _ kind: PropertyEffect.Kind) -> PropertyNotification {
    PropertyNotification(hooks.filter { $0.concerns(column, kind) }.map { ($0, kind) })
  }
}

extension UnmanagedObservers {
  /// Makes the list, set or map of a property notify these observers.
  fileprivate func reach(_ property: PropertyReflection, _ number: ColumnID, _ object: ObjectBase) {
    guard property.collection != .none || property.type == .any,
      reaching.insert(number).inserted
    else { return }
    collection(property, object)?.noteObservers(UnmanagedProperty(observers: self, number: number))
  }

  /// The value is replaced: its list or map must not notify these observers any more.
  fileprivate func letGo(
    _ property: PropertyReflection, _ number: ColumnID, _ object: ObjectBase
  ) -> Bool {
    guard reaching.remove(number) != nil else { return false }
    let known = UnmanagedProperty(observers: self, number: number)
    collection(property, object)?.forgetObservers(known)
    return true
  }

  private func collection(
    _ property: PropertyReflection, _ object: ObjectBase
  ) -> (any UnmanagedCollection)? {
    property.collection != .none
      ? property.read(object) as? any UnmanagedCollection
      : property.readBoxed(object).nested as? any UnmanagedCollection
  }
}

/// An observed property of an unmanaged object, for the list, set or map in it, and for those
/// within.
struct UnmanagedProperty: Hashable {
  let observers: UnmanagedObservers
  let number: ColumnID

  static func == (a: UnmanagedProperty, b: UnmanagedProperty) -> Bool {
    a.observers === b.observers && a.number == b.number
  }
  func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(observers))
    hasher.combine(number)
  }

  func begin(_ kind: PropertyEffect.Kind) -> PropertyNotification { observers.begin(number, kind) }
}

/// Observers that have been notified that a property of an unmanaged object is about to be
/// assigned.
public struct _UnmanagedTelling {
  private let telling: PropertyNotification
  /// Makes the assigned list or map notify the observers.
  private let reach: (() -> Void)?

  init(_ telling: PropertyNotification, _ reach: (() -> Void)?) {
    self.telling = telling
    self.reach = reach
  }

  /// Notifies them of the assignment.
  public func finish() {
    reach?()
    telling.finish()
  }
}

extension ObjectBase {
  /// Called before a property of an observed unmanaged object is assigned.
  public final func _beginAssigning(_ number: UInt16) -> _UnmanagedTelling {
    guard let observers = unmanagedObservers else {
      trap("internal error: an observed object without observers")
    }
    let (property, column) = (_reflection.properties[Int(number)], ColumnID(number))
    let telling = observers.begin(column, .setting)
    guard observers.letGo(property, column, self) else { return _UnmanagedTelling(telling, nil) }
    return _UnmanagedTelling(telling) { observers.reach(property, column, self) }
  }

  private final var unmanagedObservers: UnmanagedObservers? {
    guard _state.contains(.observed), let image = unsafe _image else { return nil }
    return unsafe Unmanaged<UnmanagedObservers>.fromOpaque(image).takeUnretainedValue()
  }

  /// Attaches an observation to a property of this unmanaged object.
  final func hook(
    _ observation: PropertyObservation, to property: PropertyReflection, isRoot: Bool, isLast: Bool
  ) {
    let observers = unmanagedObservers ?? makeObservers()
    let number = _reflection.number(of: property)
    observation.hook(
      to: observers,
      PropertyRegistration(observation: observation, column: number, isRoot: isRoot, isLast: isLast)
    )
    if isLast { observers.reach(property, number, self) }
  }

  private final func makeObservers() -> UnmanagedObservers {
    let observers = UnmanagedObservers()
    _reflection.numberProperties(of: self)
    unsafe _image = unsafe UnsafeRawPointer(Unmanaged.passRetained(observers).toOpaque())
    _state.insert(.observed)
    return observers
  }

  /// Removes the observers of an unmanaged object.
  final func _endObservers() {
    guard _state.contains(.observed), let image = unsafe _image else { return }
    unsafe Unmanaged<UnmanagedObservers>.fromOpaque(image).release()
    unsafe _image = nil
    _state.remove(.observed)
  }
}

extension ObjectBase {
  /// Traps for an object with observers that is about to be added.
  final func _refuseObserved() {
    require(
      unmanagedObservers?.isEmpty != false,
      "An object of class '\(_className)' with observed properties cannot be added to a Realm: "
        + "its observers watch the unmanaged object. Invalidate their tokens, add the object, "
        + "then observe it again.")
    _endObservers()
  }
}

/// A collection as the object that owns it sees it.
protocol UnmanagedCollection: AnyObject {
  /// The elements; nil if the collection is managed by now.
  var unmanagedElements: [_BoxedValue]? { get }
  /// Makes the collection, and those within it, notify the observers of a property that contains
  /// it.
  func noteObservers(_ property: UnmanagedProperty)
  /// Undoes that.
  func forgetObservers(_ property: UnmanagedProperty)
}

extension ClassReflection {
  fileprivate func number(of property: PropertyReflection) -> ColumnID {
    guard let number = properties.firstIndex(where: { $0.name == property.name }) else {
      trap("internal error: '\(property.name)' is not a property of '\(name)'")
    }
    return ColumnID(UInt16(number))
  }

  fileprivate func numberProperties(of object: ObjectBase) {
    let base = unsafe Unmanaged.passUnretained(object).toOpaque()
    for (number, property) in properties.enumerated() {
      unsafe base.storeBytes(
        of: UInt16(number), toByteOffset: property.offset + property.wrapper.columnOffset,
        as: UInt16.self)
    }
  }
}
