import TarnStore

/// Who observes properties of one unmanaged object. The object has it where a managed one has its
/// image; its properties have their numbers instead of columns.
final class UnmanagedObservers: PropertyHooks {
  private var hooks: [PropertyHook] = []

  func add(_ hook: PropertyHook) {
    removeEnded()
    hooks.append(hook)
  }

  func remove(_ observation: PropertyObservation) {
    hooks.removeAll { $0.observation === observation }
  }

  /// Observations that ended elsewhere are forgotten here.
  private func removeEnded() { hooks.removeAll { !$0.observation.state.isActive } }

  var isEmpty: Bool {
    removeEnded()
    return hooks.isEmpty
  }

  /// Tells those who observe that property.
  func begin(_ column: ColumnID, _ kind: PropertyEffect.Kind) -> PropertyTelling {
    PropertyTelling(hooks.filter { $0.concerns(column, kind) }.map { ($0, kind) })
  }
}

/// A collection property of an unmanaged object that is observed, as its elements know it.
struct UnmanagedProperty {
  let observers: UnmanagedObservers
  let number: ColumnID

  func begin(_ kind: PropertyEffect.Kind) -> PropertyTelling { observers.begin(number, kind) }
}

/// Observers that have been told that a property of an unmanaged object is about to be assigned.
public struct _UnmanagedTelling {
  private let telling: PropertyTelling?

  init(_ telling: PropertyTelling?) { self.telling = telling }

  /// Tells them that it has been.
  public func finish() { telling?.finish() }
}

extension ObjectBase {
  /// Called before a property of an observed unmanaged object is assigned.
  public final func _beginAssigning(_ number: UInt16) -> _UnmanagedTelling {
    _UnmanagedTelling(unmanagedObservers?.begin(ColumnID(number), .setting))
  }

  private final var unmanagedObservers: UnmanagedObservers? {
    guard _state.contains(.observed), let image = unsafe _image else { return nil }
    return unsafe Unmanaged<UnmanagedObservers>.fromOpaque(image).takeUnretainedValue()
  }

  /// Hooks an observation to a property of this unmanaged object.
  final func hook(
    _ observation: PropertyObservation, to property: PropertyReflection, isRoot: Bool, isLast: Bool
  ) {
    let observers = unmanagedObservers ?? makeObservers()
    let number = _reflection.number(of: property)
    observation.hook(
      to: observers,
      PropertyHook(observation: observation, column: number, isRoot: isRoot, isLast: isLast))
    guard isLast, property.collection != .none,
      let collection = property.read(self) as? any UnmanagedCollection
    else { return }
    collection.noteObservers(UnmanagedProperty(observers: observers, number: number))
  }

  private final func makeObservers() -> UnmanagedObservers {
    let observers = UnmanagedObservers()
    _reflection.numberProperties(of: self)
    unsafe _image = unsafe UnsafeRawPointer(Unmanaged.passRetained(observers).toOpaque())
    _state.insert(.observed)
    return observers
  }

  /// Lets go of the observers of an unmanaged object.
  final func _endObservers() {
    guard _state.contains(.observed), let image = unsafe _image else { return }
    unsafe Unmanaged<UnmanagedObservers>.fromOpaque(image).release()
    unsafe _image = nil
    _state.remove(.observed)
  }
}

extension RealmCore {
  /// Traps for an object that has observers and is to be added.
  func refuseObserved(_ object: ObjectBase) {
    require(
      object.hasNoObservers,
      "An object of class '\(object._className)' with observed properties cannot be added to a "
        + "Realm: what its observers are told of would be another thing. Invalidate their tokens "
        + "first, and observe it anew once it is added.")
    object._endObservers()
  }
}

extension ObjectBase {
  fileprivate final var hasNoObservers: Bool { unmanagedObservers?.isEmpty != false }
}

/// A collection as the object knows it that has it.
protocol UnmanagedCollection: AnyObject {
  func noteObservers(_ property: UnmanagedProperty)
}

extension ClassReflection {
  fileprivate func number(of property: PropertyReflection) -> ColumnID {
    guard let number = properties.firstIndex(where: { $0.name == property.name }) else {
      trap("'\(property.name)' is not a property of '\(name)': bug in this package")
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
