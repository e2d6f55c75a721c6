import TarnStore

/// A type that a map's keys can have: `String`.
public protocol _MapKey: Hashable, SendableMetatype {
  /// The key stored as this string.
  init(_mapKey: String)
  var _mapKey: String { get }
}

extension String: _MapKey {
  /// The string itself.
  public init(_mapKey: String) { self = _mapKey }
  public var _mapKey: String { self }
}

/// A key of a map with its value: the element of a loop over a map.
public typealias SingleMapEntry<Key, Value> = (key: Key, value: Value)

/// The common interface of maps: values under keys, live if they are managed.
public protocol RealmKeyedCollection: Sequence, Equatable, ThreadConfined, _AggregatedCollection,
  CustomStringConvertible
where _Aggregated == Value {
  /// The type of the keys.
  associatedtype Key: _MapKey
  /// The type of the values.
  associatedtype Value: RealmCollectionValue
  /// The number of keys.
  var count: Int { get }
  /// The keys, in bytewise order.
  var keys: [Key] { get }
  /// The values, in the order of the keys.
  var values: [Value] { get }
  /// The value under a key, nil if there is none.
  subscript(key: Key) -> Value? { get set }
  /// Sets the value under a key.
  func updateValue(_ value: Value, forKey key: Key)
  /// Removes a key.
  func removeObject(for key: Key)
  /// Removes all keys.
  func removeAll()
}

/// A to-many property like a dictionary: values under string keys.
///
///     class Person: Object {
///       @Persisted var scores: Map<String, Int>
///       @Persisted var pets: Map<String, Dog?>
///     }
///
/// Objects as values are optional, because any object can be deleted; its key then stays, with nil.
/// Any string can be a key. Keys are in the order of their UTF-8; two that differ only in Unicode
/// composition are different. Otherwise like `List`: the map of an unmanaged object becomes a live
/// view when the object is added, and assigning copies.
public final class Map<Key: _MapKey, Value: RealmCollectionValue>: _CollectionProperty {
  public var _handle: _SequenceHandle

  /// A map with existing elements.
  public init(_handle: _SequenceHandle) { self._handle = _handle }

  /// An empty, unmanaged map.
  public convenience init() { self.init(_handle: _SequenceHandle(UnmanagedSequence(.map))) }

  public static var _description: _ColumnDescription {
    var description = Value._elementDescription.collected(.map)
    // Deleting the object behind a value leaves its key.
    if Value.self is any FailableCustomPersistable.Type, description.type == .link {
      description.isOptional = true
    }
    return description
  }

  public static func _canHold(_ boxed: _BoxedValue) -> Bool { Value._canHoldElement(boxed) }
  public static func _fits(_ boxed: _BoxedValue) -> Bool { Value._unboxElement(boxed) != nil }
}

extension Map: RealmKeyedCollection {
  /// The number of keys.
  public var count: Int { backing.count }

  /// True if there are no keys.
  public var isEmpty: Bool { count == 0 }

  /// The keys, in bytewise order.
  public var keys: [Key] { backing.allKeys.map { Key(_mapKey: $0) } }

  /// The values, in the order of the keys.
  public var values: [Value] { backing.all.map { typedElement($0, backing.title) } }

  /// The value under a key, nil if there is none. Setting nil removes the key; to store nil as a
  /// value use `updateValue(_:forKey:)`. Setting traps outside of a write.
  public subscript(key: Key) -> Value? {
    get {
      let found = backing.find(key._mapKey)
      return found.isFound ? typedElement(backing.element(at: found.index), backing.title) : nil
    }
    set {
      if let newValue { updateValue(newValue, forKey: key) } else { removeObject(for: key) }
    }
  }

  /// The value under a key, or a default if there is none.
  public subscript(key: Key, default value: @autoclosure () -> Value) -> Value {
    get { self[key] ?? value() }
    set { updateValue(newValue, forKey: key) }
  }

  /// Sets the value under a key, whether or not the key exists. Traps outside of a write.
  public func updateValue(_ value: Value, forKey key: Key) {
    set(value._boxElement(), for: key)
  }

  func set(_ value: _BoxedValue, for key: Key) {
    backing.set(value, for: key._mapKey)
  }

  /// Removes a key, if it exists. Objects stay in the Realm.
  public func removeObject(for key: Key) { backing.removeValue(for: key._mapKey) }

  /// Removes all keys. Objects stay in the Realm.
  public func removeAll() { backing.removeAll() }

  /// Sets values under keys.
  ///
  /// - Parameters:
  ///   - entries: the new entries.
  ///   - combine: chooses between the existing value and the new one.
  public func merge<S: Sequence>(
    _ entries: S, uniquingKeysWith combine: (Value, Value) throws -> Value
  ) rethrows where S.Element == (Key, Value) {
    for (key, value) in Array(entries) {
      if let present = self[key] {
        updateValue(try combine(present, value), forKey: key)
      } else {
        updateValue(value, forKey: key)
      }
    }
  }

  /// Sets the values of another map.
  ///
  /// - Parameters:
  ///   - other: the new entries.
  ///   - combine: chooses between the existing value and the new one.
  public func merge(
    _ other: Map<Key, Value>, uniquingKeysWith combine: (Value, Value) throws -> Value
  ) rethrows {
    try merge(other.map { ($0.key, $0.value) }, uniquingKeysWith: combine)
  }

  /// Sets the values of a dictionary.
  ///
  /// - Parameters:
  ///   - other: the new entries.
  ///   - combine: chooses between the existing value and the new one.
  public func merge(
    _ other: [Key: Value], uniquingKeysWith combine: (Value, Value) throws -> Value
  ) rethrows {
    try merge(other.map { ($0.key, $0.value) }, uniquingKeysWith: combine)
  }

  /// The entries as key-value pairs: the map itself.
  public func asKeyValueSequence() -> some Sequence<(key: Key, value: Value)> { self }

  /// Iterates the current entries, whatever happens to the map meanwhile.
  public func makeIterator() -> MapIterator<Key, Value> { MapIterator(backing) }
}

/// Iterates the entries that a map had when the iterator was created.
public struct MapIterator<Key: _MapKey, Value: RealmCollectionValue>: IteratorProtocol {
  private let keys: [String]
  private var values: ElementIterator<Value>
  private var position = 0

  init(_ backing: any SequenceBacking) {
    keys = backing.allKeys
    values = ElementIterator(backing)
  }

  public mutating func next() -> (key: Key, value: Value)? {
    guard let value = values.next() else { return nil }
    defer { position += 1 }
    return (Key(_mapKey: keys[position]), value)
  }
}

extension Map: CustomStringConvertible, DumpedCollection {
  func append(to dump: inout TextDump) {
    let name = "Map<string, \(Value.textOfType)>"
    if isInvalidated { return dump.append("\(name) [invalidated]") }
    dump.append(name, count: count, lazy.map { ($0.key._mapKey, $0.value as Any) })
  }
}

extension Map: _Linking where Value: OptionalProtocol, Value.Wrapped: ObjectBase {}

@available(*, unavailable, message: "it belongs to one thread or actor: pass a ThreadSafeReference")
extension Map: Sendable {}

@available(*, unavailable, message: "it belongs to one thread or actor: make the loop there")
extension MapIterator: Sendable {}

extension Map: UnmanagedCollection, ArrivingCollection {}
