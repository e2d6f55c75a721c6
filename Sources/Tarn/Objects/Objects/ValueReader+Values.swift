import Foundation
import TarnStore

/// Reads the value of one property.
extension ValueReader {
  /// The maximum depth of lists and maps within values.
  static var depthMax: Int { 100 }

  mutating func read(
    _ value: Any, _ property: PropertyReflection, _ number: Int?
  ) throws(Unfit) -> GivenValue {
    guard property.collection == .none else {
      return .elements(try collection(value, property, number))
    }
    return .single(try single(value, property, number, .none))
  }

  /// One value of a property, or one element of a collection.
  private mutating func single(
    _ value: Any, _ property: PropertyReflection, _ number: Int?, _ step: Step
  ) throws(Unfit) -> _BoxedValue {
    if let fits = Value(common: value)?.converted(to: property.type) { return _BoxedValue(fits) }
    guard let content = try readable(value) else {
      guard property.isOptional || property.type == .any else { throw Unfit(.missing) }
      return _BoxedValue(.null)
    }
    switch property.type {
    case .any: return try any(content, property, number, step, depth: 1)
    case .link:
      // A value of a custom type, which is stored as an embedded object.
      let custom = (content as? any _Persistable)?.objectToStore
      if isChecked, let custom, let reason = CheckedValue.fault(in: custom) { throw Unfit(reason) }
      return try object(for: custom ?? content, property, number, step)._boxElement()
    default:
      guard let natural = Value(single: content) else { throw Unfit(.wrongType) }
      guard let converted = natural.converted(to: property.type) else {
        throw Unfit(natural.isNumber && property.type.isNumeric ? .outOfRange : .wrongType)
      }
      return _BoxedValue(converted)
    }
  }

  private mutating func any(
    _ value: Any, _ property: PropertyReflection, _ number: Int?, _ step: Step, depth: Int
  ) throws(Unfit) -> _BoxedValue {
    guard let content = try readable(value) else { return _BoxedValue(.null) }
    if let object = content as? ObjectBase {
      if object._isEmbedded { throw Unfit(.wrongType) }
      return try self.object(for: object, property, number, step)._boxElement()
    }
    if let single = Value(single: content) { return _BoxedValue(single) }
    guard depth <= Self.depthMax else { throw Unfit(.tooDeep) }
    // An unmanaged object keeps the very object that the program holds.
    if treatment != .copied {
      if let list = content as? List<AnyRealmValue> { return list.boxedAsValue }
      if let map = content as? Map<String, AnyRealmValue> { return map.boxedAsValue }
    }
    let kind: CollectionKind = entries(of: content) == nil ? .list : .map
    let nested = try sequence(kind, content) { reader, value, step throws(Unfit) in
      try reader.any(value, property, number, step, depth: depth + 1)
    }
    return _BoxedValue(.null, nested: nested)
  }

  // MARK: - Collections

  private mutating func collection(
    _ value: Any, _ property: PropertyReflection, _ number: Int?
  ) throws(Unfit) -> any SequenceBacking {
    guard let content = try readable(value) else { return UnmanagedSequence(property.collection) }
    if let whole = taken(content, property) { return whole }
    return try sequence(property.collection, content) { reader, value, step throws(Unfit) in
      try reader.element(value, property, number, step)
    }
  }

  private mutating func element(
    _ value: Any, _ property: PropertyReflection, _ number: Int?, _ step: Step
  ) throws(Unfit) -> _BoxedValue {
    let boxed = try single(value, property, number, step)
    // The value of a custom type whose object is missing, as after the object's deletion.
    if boxed.object == nil, boxed.value == .null, property.collection == .map,
      property.type == .link
    {
      return boxed
    }
    guard property.wrapper.canHold(boxed) else {
      throw Unfit(property.type.isNumeric ? .outOfRange : .wrongType)
    }
    guard keepsRefused || property.wrapper.fits(boxed) else { throw Unfit(.refused) }
    if property.collection == .set, boxed.nested != nil { throw Unfit(.wrongType) }
    return boxed
  }

  /// One element of a collection; nil if the value is not one.
  mutating func readElement(
    _ value: Any, for property: PropertyReflection
  ) throws(Realm.InvalidValue) -> _BoxedValue? {
    guard let boxed = try? element(value, property, nil, .none) else { return nil }
    try fillWaiting()
    return boxed
  }

  private mutating func sequence(
    _ kind: CollectionKind, _ content: Any,
    _ element: (inout ValueReader, Any, Step) throws(Unfit) -> _BoxedValue
  ) throws(Unfit) -> UnmanagedSequence {
    let result = UnmanagedSequence(kind)
    if kind == .map {
      guard let entries = entries(of: content) else { throw Unfit(.wrongType) }
      for (key, value) in entries.sorted(by: { ElementOrder.precedes($0.0, $1.0) }) {
        let step = Step.key(key)
        do { result.set(try element(&self, value, step), for: key) } catch {
          throw error.within(step, value)
        }
      }
      return result
    }
    guard let elements = elements(of: content) else { throw Unfit(.wrongType) }
    var boxes: [_BoxedValue] = []
    boxes.reserveCapacity(elements.count)
    for (position, value) in elements.enumerated() {
      let step = Step.position(position)
      do { boxes.append(try element(&self, value, step)) } catch { throw error.within(step, value) }
    }
    if kind == .list {
      result.replace(0..<0, with: boxes)
    } else {
      for boxed in boxes { result.insert(boxed) }
    }
    return result
  }

  /// A collection of the property's own type, if its elements need not be examined one by one.
  private func taken(_ content: Any, _ property: PropertyReflection) -> (any SequenceBacking)? {
    guard let collection = content as? any _CollectionProperty,
      property.wrapper.valueType == type(of: collection)
    else { return nil }
    let hasObjects = property.type == .link || property.type == .any
    let isCopied =
      switch treatment {
      case .taken: false
      case .shared: property.target is EmbeddedObject.Type
      case .copied: hasObjects
      }
    return isCopied ? nil : collection.backing
  }

  // MARK: - Forms of values

  /// The value without optionals and `AnyRealmValue`; nil for nil, and for JSON's null.
  private func present(_ value: Any) -> Any? {
    guard let content = flattened(value) else { return nil }
    switch content {
    case is NSNull: return nil
    case let any as AnyRealmValue:
      switch any {
      case .none: return nil
      case .object(let object): return object
      case .list(let list): return list
      case .dictionary(let map): return map
      default: return any
      }
    case let boxed as _BoxedValue:
      if let object = boxed.object { return object }
      if let nested = boxed.nested { return _SequenceHandle(nested) }
      return boxed.value == .null ? nil : boxed
    default: return content
    }
  }

  /// The value, checked if it comes from outside of the program: others trap when they are read.
  private func readable(_ value: Any) throws(Unfit) -> Any? {
    guard let content = present(value) else { return nil }
    if isChecked, let reason = CheckedValue.fault(in: content) { throw Unfit(reason) }
    return content
  }

  private func backing(of content: Any) -> (any SequenceBacking)? {
    if let handle = content as? _SequenceHandle { return handle.backing }
    return (content as? any _CollectionProperty)?.backing
  }

  /// Values by names or keys, in any order; nil if the value has none.
  func entries(of content: Any) -> [(String, Any)]? {
    if let entries = content as? [String: Any] { return entries.map { ($0, $1) } }
    guard let map = backing(of: content), map.kind == .map else { return nil }
    return zip(map.allKeys, map.all).map { ($0, $1) }
  }

  /// The elements of a list, a set or any other sequence, except strings, data and maps.
  private func elements(of content: Any) -> [Any]? {
    if let backing = backing(of: content) { return backing.kind == .map ? nil : backing.all }
    switch content {
    case is String, is Data, is [String: Any]: return nil
    case let array as [Any]: return array
    case let sequence as any Sequence: return sequence.anyElements
    default: return nil
    }
  }
}

extension Sequence {
  fileprivate var anyElements: [Any] { map { $0 } }
}

extension _CollectionProperty {
  fileprivate var boxedAsValue: _BoxedValue { _BoxedValue(.null, nested: backing) }
}

extension _Persistable {
  /// The object that represents the value in the file, if there is one.
  fileprivate var objectToStore: ObjectBase? {
    Self._description.type == .link ? _box().object : nil
  }
}

extension ColumnType {
  /// True for types that accept numbers.
  var isNumeric: Bool {
    switch self {
    case .int, .bool, .float, .double, .decimal: true
    default: false
    }
  }
}
