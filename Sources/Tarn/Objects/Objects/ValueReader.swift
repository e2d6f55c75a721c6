import Foundation
import TarnStore

/// Reads values that do not come from typed properties: those of `create(value:)`, `init(value:)`,
/// `setValue(_:forKey:)`, dynamic objects and migrations. Values for objects become unmanaged
/// objects here; nothing in a Realm is changed.
///
/// Objects wait in `made` for their values, so that neither long chains nor cycles of them need
/// recursion. An object to be copied is copied once, even if it is reachable by several paths.
struct ValueReader {
  /// The treatment of objects among the values.
  enum Treatment {
    /// Objects are used themselves, as in an assignment.
    case taken
    /// The same, but embedded ones that belong to another object are copied.
    case shared
    /// All that are not in the Realm are copied, and embedded ones always. In a migration an object
    /// of the old side means its counterpart, which is in the Realm.
    case copied
  }

  /// An object whose values are read, in the order of their discovery.
  struct Made {
    let object: ObjectBase
    let reflection: ClassReflection
    /// The source of its values.
    let source: Any
    let location: Location
    /// The properties that were given a value.
    var names: Set<String> = []
    /// The values of a dynamic object, which cannot hold them itself.
    var values: [(property: PropertyReflection, value: GivenValue)] = []
  }

  /// The place of an object's values in the input.
  struct Location {
    /// The number of the object that has it as a value.
    var outer: Int?
    var property = ""
    var step = Step.none
  }

  /// A place in a collection.
  enum Step {
    case none
    case position(Int)
    case key(String)

    var text: String {
      switch self {
      case .none: ""
      case .position(let position): "[\(position)]"
      case .key(let key): "['\(key)']"
      }
    }
  }

  /// A value that the type of its property refuses, but its column can hold.
  struct Refused {
    let object: ObjectBase
    let property: PropertyReflection
    let value: _BoxedValue
  }

  let treatment: Treatment
  /// The instance that the objects are for; nil if they stay unmanaged.
  let core: RealmCore?
  /// True if values that a property's type refuses can be stored as they are.
  let keepsRefused: Bool
  let allowsUnknownKeys: Bool
  /// True if no value at all may trap.
  private(set) var isChecked = false
  private(set) var made: [Made] = []
  private(set) var refused: [Refused] = []
  private var copies: [Original: Int] = [:]
  private var converted: [Converted] = []

  /// A property of a custom type, which is stored as an embedded object.
  private struct Converted {
    let value: GivenValue
    let property: PropertyReflection
    let number: Int
  }

  /// The original of a copy: its row, or the Swift object while it is unmanaged.
  private enum Original: Hashable {
    case row(ObjectIdentifier, ObjectRef)
    case object(ObjectIdentifier)

    init(_ object: ObjectBase) {
      if let core = object._core {
        let row = ObjectRef(classID: object._binding!.classID, key: ObjectKey(object._key))
        self = .row(ObjectIdentifier(core), row)
      } else {
        self = .object(ObjectIdentifier(object))
      }
    }
  }

  init(
    _ treatment: Treatment, _ core: RealmCore?, keepsRefused: Bool, allowsUnknownKeys: Bool = true
  ) {
    self.treatment = treatment
    self.core = core
    self.keepsRefused = keepsRefused
    self.allowsUnknownKeys = allowsUnknownKeys
  }

  /// Reads values from outside of the program: an error names the value that does not fit.
  init(checking core: RealmCore, allowsUnknownKeys: Bool) {
    self.init(.copied, core, keepsRefused: false, allowsUnknownKeys: allowsUnknownKeys)
    isChecked = true
  }

  // MARK: - Objects

  /// Gives an object its values, and also the objects made for it.
  mutating func fill(
    _ object: ObjectBase, _ reflection: ClassReflection, from value: Any
  ) throws(Realm.InvalidValue) {
    if isChecked, !CheckedValue.isShallow(value) {
      throw Realm.InvalidValue(.tooDeep, reflection.name, nil, value: ShownValue(typeOf: value))
    }
    if isChecked, let reason = CheckedValue.fault(in: value) {
      throw Realm.InvalidValue(reason, reflection.name, nil, value: ShownValue(value))
    }
    letGoByList(object)
    if treatment == .copied, let original = value as? ObjectBase {
      copies[Original(original)] = made.count
    }
    made.append(Made(object: object, reflection: reflection, source: value, location: Location()))
    try fillWaiting()
  }

  /// Reads the value of an object's property; the caller assigns it.
  mutating func read(
    _ value: Any, for property: PropertyReflection, of object: ObjectBase
  ) throws(Realm.InvalidValue) -> GivenValue {
    let given: GivenValue
    do {
      given = try read(value, property, nil)
    } catch {
      throw error.invalid(value, object._className, property.name, path: property.name)
    }
    try fillWaiting()
    return given
  }

  mutating func fillWaiting() throws(Realm.InvalidValue) {
    var number = 0
    while number < made.count {
      try fill(number)
      number += 1
    }
    try convertObjects()
  }

  private mutating func fill(_ number: Int) throws(Realm.InvalidValue) {
    let (reflection, source) = (made[number].reflection, made[number].source)
    if let other = source as? ObjectBase {
      for (name, value) in other._givenValues(byColumn: reflection.type == DynamicObject.self) {
        guard let property = reflection.property(name), !property.isComputed else { continue }
        try put(value, property, number)
      }
    } else if let entries = entries(of: source) {
      // Sorted if the error must be the same each time.
      for (name, value) in allowsUnknownKeys ? entries : entries.sorted(by: { $0.0 < $1.0 }) {
        guard let property = reflection.property(name), !property.isComputed else {
          if allowsUnknownKeys { continue }
          throw Realm.InvalidValue(
            .unknownKey, reflection.name, name, path: path(to: name, number),
            value: ShownValue(value))
        }
        try put(value, property, number)
      }
    } else if let values = source as? [Any] {
      let stored = reflection.properties.filter { !$0.isComputed }
      guard values.count <= stored.count else {
        throw Realm.InvalidValue(
          .tooManyValues, reflection.name, nil, path: path(of: number),
          value: ShownValue("\(values.count) values for the \(stored.count) properties"))
      }
      for (property, value) in zip(stored, values) { try put(value, property, number) }
    } else {
      throw Realm.InvalidValue(
        .wrongType, reflection.name, nil, path: path(of: number), value: ShownValue(source))
    }
  }

  private mutating func put(
    _ value: Any, _ property: PropertyReflection, _ number: Int
  ) throws(Realm.InvalidValue) {
    do {
      let given = try read(value, property, number)
      if property.isDynamic {
        made[number].values.append((property, given))
      } else if given.isObject, !(property.wrapper.valueType is any _Linking.Type) {
        // Made from an object, which must have its values first.
        converted.append(Converted(value: given, property: property, number: number))
        return
      } else if try !assign(given, property, made[number].object) {
        return
      }
    } catch {
      throw error.invalid(
        value, made[number].reflection.name, property.name, path: path(to: property.name, number))
    }
    made[number].names.insert(property.name)
  }

  /// Sets the properties whose types are stored as objects, the innermost first.
  private mutating func convertObjects() throws(Realm.InvalidValue) {
    while let next = converted.popLast() {
      let owner = made[next.number]
      do {
        guard try assign(next.value, next.property, owner.object) else { continue }
      } catch {
        let path = path(to: next.property.name, next.number)
        throw error.invalid("", owner.reflection.name, next.property.name, path: path)
      }
      made[next.number].names.insert(next.property.name)
    }
  }

  /// Sets a property of the program's class. False if its type refuses the value, which is noted.
  mutating func assign(
    _ given: GivenValue, _ property: PropertyReflection, _ object: ObjectBase
  ) throws(Unfit) -> Bool {
    switch given {
    case .elements(let backing): property.write(elements: backing, object)
    case .single(let value):
      if property.write(value, object) { return true }
      guard property.wrapper.canHold(value) else {
        throw Unfit(property.type.isNumeric ? .outOfRange : .wrongType)
      }
      guard keepsRefused, !property.isPrimaryKey else { throw Unfit(.refused) }
      refused.append(Refused(object: object, property: property, value: value))
      return false
    }
    return true
  }

  // MARK: - Locations

  func path(to name: String, _ number: Int) -> String {
    let outer = path(of: number)
    return outer.isEmpty ? name : "\(outer).\(name)"
  }

  func path(of number: Int) -> String {
    var names: [String] = []
    var location = made[number].location
    while true {
      if !location.property.isEmpty { names.append(location.property + location.step.text) }
      guard let outer = location.outer else { break }
      location = made[outer].location
    }
    return names.reversed().joined(separator: ".")
  }

  // MARK: - Making and copying

  /// The object for another object, a dictionary or an array; nil if that cannot be an object of
  /// the class.
  mutating func object(
    for content: Any, _ property: PropertyReflection, _ number: Int?, _ step: Step
  ) throws(Unfit) -> ObjectBase {
    let location = Location(outer: number, property: property.name, step: step)
    if let object = content as? ObjectBase {
      if property.type != .any, !isOfTarget(object, property) { throw Unfit(.wrongType) }
      if let same = try asIs(object, property, number) { return same }
      return try copy(object, property, location)
    }
    guard property.type == .link, content is [Any] || entries(of: content) != nil else {
      throw Unfit(.wrongType)
    }
    return wait(target(of: property), content, location)
  }

  private func target(of property: PropertyReflection) -> ClassReflection {
    if let name = property.dynamicTarget { return core!.dynamicBinding(name).reflection }
    return ClassReflection.of(property.target!)
  }

  private func isOfTarget(_ object: ObjectBase, _ property: PropertyReflection) -> Bool {
    if let target = property.target, type(of: object) == target, !property.isDynamic { return true }
    return object._className == target(of: property).name
  }

  /// The object itself, in the type of its property; nil if it must be copied.
  private func asIs(
    _ object: ObjectBase, _ property: PropertyReflection, _ number: Int?
  ) throws(Unfit) -> ObjectBase? {
    switch treatment {
    case .taken:
      // An instance without the program's classes cannot add their objects.
      if property.isDynamic, object._core == nil,
        core?.classes.model.reflection(of: type(of: object)) == nil
      {
        return nil
      }
    case .shared:
      let isAnothers = object._core != nil || number.map { made[$0].source is ObjectBase } == true
      if isAnothers, object._isEmbedded { return nil }
    case .copied:
      if let core, core.isOfOldSide(object) { return core.ownsRow(of: object) ? nil : object }
      if object._core !== core || object._isEmbedded { return nil }
    }
    guard object is DynamicObject, !property.isDynamic, property.type == .link else {
      return object
    }
    guard let owner = object._core, let target = property.target,
      owner.classes.model.reflection(of: target) != nil
    else { throw Unfit(.wrongType) }
    return owner.object(target, ObjectKey(object._key))
  }

  private mutating func copy(
    _ object: ObjectBase, _ property: PropertyReflection, _ location: Location
  ) throws(Unfit) -> ObjectBase {
    if !object._isEmbedded, let known = copies[Original(object)] { return made[known].object }
    try checkIsOutside(of: object, location)
    let reflection: ClassReflection
    if property.type == .link {
      reflection = target(of: property)
    } else if property.isDynamic {
      reflection = core!.dynamicBinding(object._className).reflection
    } else if let known = core?.classes.model[object._className] {
      reflection = known
    } else {
      throw Unfit(.wrongType)
    }
    if !object._isEmbedded { copies[Original(object)] = made.count }
    return wait(reflection, object, location)
  }

  /// An embedded object is copied each time it occurs, which would never end within itself.
  private func checkIsOutside(of object: ObjectBase, _ location: Location) throws(Unfit) {
    guard object._isEmbedded else { return }
    var outer = location.outer
    while let number = outer, let source = made[number].source as? ObjectBase, source._isEmbedded {
      if source.isSameObject(as: object) || source === object { throw Unfit(.tooDeep) }
      outer = made[number].location.outer
    }
  }

  private mutating func wait(
    _ reflection: ClassReflection, _ source: Any, _ location: Location
  ) -> ObjectBase {
    let object = reflection.type.init()
    letGoByList(object)
    made.append(Made(object: object, reflection: reflection, source: source, location: location))
    return object
  }

  /// A long chain of objects must not be released recursively if a value in it is refused.
  private func letGoByList(_ object: ObjectBase) {
    if isChecked { object._state.insert(.unlinksWhenItGoes) }
  }
}

/// The new value of a property.
enum GivenValue {
  case single(_BoxedValue)
  /// The elements of a collection.
  case elements(any SequenceBacking)

  fileprivate var isObject: Bool {
    if case .single(let boxed) = self { boxed.object != nil } else { false }
  }
}

/// The reason why a value does not fit, before its location is known.
struct Unfit: Error {
  let reason: Realm.InvalidValue.Reason
  /// The element of a collection that does not fit, with its place there.
  private var element: ShownValue?
  private var path = ""

  init(_ reason: Realm.InvalidValue.Reason) { self.reason = reason }

  func within(_ step: ValueReader.Step, _ element: Any) -> Unfit {
    var error = self
    if path.isEmpty { error.element = ShownValue(element) }
    error.path = step.text + path
    return error
  }

  func invalid(
    _ value: Any, _ className: String, _ name: String, path outer: String
  ) -> Realm.InvalidValue {
    Realm.InvalidValue(
      reason, className, name, path: outer + path, value: element ?? ShownValue(value))
  }
}
