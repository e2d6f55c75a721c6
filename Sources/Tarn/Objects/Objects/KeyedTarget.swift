import Foundation
import TarnStore

extension RealmCollection {
  /// A property of each element, in the order of the collection; nil where it is null. Values have
  /// the stored type, as in ``ObjectBase/value(forKey:)``. The key "self" returns the elements
  /// themselves. For a set, repeated values are left out: each is listed once, at its first
  /// position.
  ///
  /// Traps if the elements are not objects or have no such property.
  public func value(forKey key: String) -> [Any?] {
    ElementKeys.distinctValues(of: self, key)
  }

  /// A property of each element through links, such as `mother.age`, like `value(forKey:)`; or an
  /// aggregate: `@count`, or `@min`, `@max`, `@sum` or `@avg` followed by a path, such as
  /// `@max.age`. Aggregates ignore nil and NaN; over no values, the sum is 0 and the others are
  /// nil. `@sum.self` is the sum of the elements themselves.
  ///
  /// `@unionOfObjects` followed by a path gives the values as an array of `Any?`, repeated ones of
  /// a set included, and `@distinctUnionOfObjects` each once, at its first position.
  /// `@unionOfArrays` and `@distinctUnionOfArrays` give the elements of all collections that the
  /// path leads to.
  ///
  /// Traps in the same cases as `value(forKey:)`, for other operators, and for aggregates of values
  /// that are neither numbers nor dates.
  public func value(forKeyPath path: String) -> Any? {
    path.beginsWithBytes(of: "@")
      ? ElementKeys.aggregate(of: self, path) : ElementKeys.distinctValues(of: self, path)
  }

  /// Sets a property of each element, like `setValue(_:forKey:)` of an object, and traps in the
  /// same cases; a managed collection traps even if it is empty.
  public func setValue(_ value: Any?, forKey key: String) {
    ElementKeys.set(value, of: self, key, realm)
  }

  /// Sets a property of each element through links, such as `mother.age`, like
  /// ``ObjectBase/setValue(_:forKeyPath:)``.
  public func setValue(_ value: Any?, forKeyPath path: String) {
    ElementKeys.set(value, of: self, path, realm)
  }
}

extension Map {
  /// The value under a key; nil if the key does not exist or its value is nil. It has the stored
  /// type, as in ``ObjectBase/value(forKey:)``.
  ///
  /// For a property of all values, use the values: `map.values.map { $0?.age }`.
  public func value(forKey key: String) -> Any? {
    storedContent(of: self[Key(_mapKey: key)] as Any)
  }

  /// The value under a key, nil if the key does not exist; the same as the subscript.
  public func object(forKey key: Key) -> Value? { self[key] }

  /// The value at a path that begins with a key, such as `rex.mother.age`; nil if a value on the
  /// path is. A key with dots is written in back quotes. Or an aggregate: `@count`, or `@min`,
  /// `@max`, `@sum` or `@avg` followed by a path that begins at the values, such as `@max.age`,
  /// like `List`.
  public func value(forKeyPath path: String) -> Any? {
    if path.beginsWithBytes(of: "@") { return ElementKeys.aggregate(of: values, path) }
    let (key, rest) = KeyedTarget.split(path)
    let value = value(forKey: key)
    guard let rest else { return value }
    return KeyedTarget(value)
      .value(behind: rest, "The value under '\(key)' in '\(path)' is not an object.")
  }

  /// Sets the value under a key; nil removes the key, and `NSNull` stores nil under it.
  ///
  /// Accepts the same values as `create(value:)` for a value of the map; objects are stored as they
  /// are. Traps for a value that does not fit, and outside of a write.
  public func setValue(_ value: Any?, forKey key: String) {
    let key = Key(_mapKey: key)
    guard let content = value.flatMap({ flattened($0) }) else { return removeObject(for: key) }
    let core = backing.core
    let property = (backing as? ManagedSequence)?.property ?? PropertyReflection(of: Map.self)
    var reader = ValueReader(.taken, core, keepsRefused: core != nil)
    do throws(Realm.InvalidValue) {
      guard let boxed = try reader.readElement(content, for: property) else {
        trap(
          "Invalid value '\(content)' of type '\(type(of: content))' for the key '\(key)': the map "
            + "holds values of type '\(Value.self)'.")
      }
      core?.makeRows(for: reader, .error)
      set(boxed, for: key)
      core?.keepRefused(reader, .error)
    } catch {
      trap(error.description)
    }
  }

  /// Sets the value at a path that begins with a key, such as `rex.mother.age`, like
  /// ``ObjectBase/setValue(_:forKeyPath:)``.
  public func setValue(_ value: Any?, forKeyPath path: String) {
    let (key, rest) = KeyedTarget.split(path)
    guard let rest else { return setValue(value, forKey: key) }
    KeyedTarget(self.value(forKey: key))
      .set(value, behind: rest, "The value under '\(key)' in '\(path)' is not an object.")
  }
}

/// A map with keys and values of any types.
protocol AnyMap {
  func value(forKeyPath path: String) -> Any?
  func setValue(_ value: Any?, forKeyPath path: String)
}

extension Map: AnyMap {}

/// The value of a name in a path, from which the rest of the path continues.
enum KeyedTarget {
  case nothing
  case object(ObjectBase)
  case elements(any RealmCollection)
  case map(any AnyMap)
  case value

  /// The first name of a path, and the rest after its dot.
  static func split(_ path: String) -> (name: String, rest: String?) {
    let (name, rest) = PathText.first(of: path[...])
    return (name, rest.map(String.init))
  }

  init(_ value: Any?) {
    switch value.flatMap({ flattened($0) }) {
    case nil: self = .nothing
    case let object as ObjectBase: self = .object(object)
    case let element as any KeypathSortable:
      self = element._boxElement().object.map { .object($0) } ?? .value
    case let elements as any RealmCollection: self = .elements(elements)
    case let map as any AnyMap: self = .map(map)
    case let value as AnyRealmValue:
      switch value {
      case .none: self = .nothing
      case .object(let object): self = .object(object)
      case .list(let list): self = .elements(list)
      case .dictionary(let map): self = .map(map)
      default: self = .value
      }
    default: self = .value
    }
  }

  /// The value at the rest of the path. Traps if the path continues from a value without members.
  func value(behind path: String, _ mistake: @autoclosure () -> String) -> Any? {
    switch self {
    case .nothing: return nil
    case .object(let object): return object.value(forKeyPath: path)
    case .elements(let elements): return elements.value(forKeyPath: path)
    case .map(let map): return map.value(forKeyPath: path)
    case .value: trap(mistake())
    }
  }

  /// Sets the value at the rest of the path; does nothing through nil.
  func set(_ value: Any?, behind path: String, _ mistake: @autoclosure () -> String) {
    switch self {
    case .nothing: break
    case .object(let object): object.setValue(value, forKeyPath: path)
    case .elements(let elements): elements.setValue(value, forKeyPath: path)
    case .map(let map): map.setValue(value, forKeyPath: path)
    case .value: trap(mistake())
    }
  }
}

/// Properties of the elements of a collection by name.
private enum ElementKeys {
  /// The result of `value(forKey:)`: for a set without repeats.
  static func distinctValues<C: RealmCollection>(of elements: C, _ path: String) -> [Any?] {
    let values = values(of: elements, path)
    return elements._isSet ? distinct(values) : values
  }

  private static func distinct(_ values: [Any?]) -> [Any?] {
    var seen: Set<AnyHashable?> = []
    return values.filter { value in
      guard let value else { return seen.insert(nil).inserted }
      if let stored = value as? any _Persistable {
        let boxed = stored._box()
        if boxed.object == nil, boxed.nested == nil {
          return seen.insert(ElementKey(boxed.value)).inserted
        }
      }
      guard let value = value as? AnyHashable else { return true }
      return seen.insert(value).inserted
    }
  }

  private static func values<S: Sequence>(of elements: S, _ path: String) -> [Any?] {
    elements.map { element in
      if path == "self" { return storedContent(of: element) }
      return KeyedTarget(element)
        .value(behind: path, "Elements of type '\(S.Element.self)' have no property '\(path)'.")
    }
  }

  static func aggregate<C: Collection>(of elements: C, _ path: String) -> Any? {
    if path == "@count" { return elements.count }
    let (name, rest) = KeyedTarget.split(path)
    guard let rest, !rest.isEmpty else { trapOperator(path) }
    switch name {
    case "@min", "@max", "@sum", "@avg": break
    case "@unionOfObjects": return values(of: elements, rest)
    case "@distinctUnionOfObjects": return distinct(values(of: elements, rest))
    case "@unionOfArrays": return joined(values(of: elements, rest), path)
    case "@distinctUnionOfArrays": return distinct(joined(values(of: elements, rest), path))
    default: trapOperator(path)
    }
    var fold = ValueFold(name == "@min" || name == "@max" ? .ends : .totals)
    for value in values(of: elements, rest) {
      if let value { fold.add(number(value, path)) }
    }
    switch name {
    case "@min": return fold.ends.least.plain
    case "@max": return fold.ends.greatest.plain
    case "@sum": return fold.totals.sum.plain
    case "@avg": return fold.totals.average.plain
    default: trapOperator(path)
    }
  }

  /// The elements of all collections among the values.
  private static func joined(_ values: [Any?], _ path: String) -> [Any?] {
    values.flatMap { value -> [Any?] in
      switch value {
      case nil: []
      case let values as [Any?]: values
      case let elements as any RealmCollection: self.values(of: elements, "self")
      default:
        trap(
          "The path '\(path)' leads to '\(value!)', which is not a collection: use "
            + "@unionOfObjects.")
      }
    }
  }

  static func set(
    _ value: Any?, of elements: some Sequence, _ path: String, _ realm: Realm?
  ) {
    if let realm { _ = realm.core.writing("modify managed objects") }
    for element in elements {
      KeyedTarget(element).set(
        value, behind: path, "Elements of type '\(type(of: element))' have no property '\(path)'.")
    }
  }

  private static func number(_ value: Any, _ path: String) -> Value {
    let boxed = (value as? any _Persistable)?._box().value ?? .null
    switch boxed {
    case .date where !path.beginsWithBytes(of: "@m"):
      trap("Dates have no sum and no average: '\(path)'.")
    case .int, .float, .double, .decimal, .date: return boxed
    default: trap("The path '\(path)' leads to '\(value)', which is neither a number nor a date.")
    }
  }

  private static func trapOperator(_ path: String) -> Never {
    trap(
      "The path '\(path)' must be '@count', or '@min', '@max', '@sum', '@avg', '@unionOfObjects' "
        + "or '@distinctUnionOfObjects' with a property."
    )
  }
}
