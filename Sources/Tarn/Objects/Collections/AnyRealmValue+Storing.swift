import CTarn
import Foundation
import TarnStore

extension AnyRealmValue: _Persistable, _Indexable, _SortableElement {
  public static var _description: _ColumnDescription { _ColumnDescription(.any) }
  @inlinable public static func _default() -> AnyRealmValue { .none }

  public static func _load(_ object: ObjectBase, _ column: UInt16) -> AnyRealmValue {
    let value = object._anyValue(column)
    switch value {
    case .object, .list, .map:
      return _unbox(ManagedSequence(object, ColumnID(column)).boxed(value)) ?? .none
    default: return _unbox(_BoxedValue(value)) ?? .none
    }
  }

  public static func _store(_ object: ObjectBase, _ column: UInt16, _ value: AnyRealmValue) {
    object._core!.setAny(object, ColumnID(column), value._box())
  }

  public static func _put(_ value: AnyRealmValue, _ object: ObjectBase, _ column: UInt16) {
    guard value != .none else { return }
    object._core!.setAny(object, ColumnID(column), value._box())
  }

  public func _box() -> _BoxedValue {
    switch self {
    case .none: _BoxedValue(.null)
    case .int(let value): value._box()
    case .bool(let value): value._box()
    case .float(let value): value._box()
    case .double(let value): value._box()
    case .string(let value): value._box()
    case .data(let value): value._box()
    case .date(let value): value._box()
    case .object(let value): value._boxElement()
    case .objectId(let value): value._box()
    case .decimal128(let value): value._box()
    case .uuid(let value): value._box()
    case .dictionary(let map): _BoxedValue(.null, nested: map.backing)
    case .list(let list): _BoxedValue(.null, nested: list.backing)
    }
  }

  public static func _unbox(_ boxed: _BoxedValue) -> AnyRealmValue? {
    if let nested = boxed.nested {
      let handle = _SequenceHandle(nested)
      return nested.kind == .map ? .dictionary(Map(_handle: handle)) : .list(List(_handle: handle))
    }
    if let object = boxed.object { return (object as? Object).map { .object($0) } }
    switch boxed.value {
    case .null, .link, .object, .list, .map: return AnyRealmValue.none
    case .int(let value): return .int(Int(value))
    case .bool(let value): return .bool(value)
    case .float(let value): return .float(value)
    case .double(let value): return .double(value)
    case .string(let value): return .string(value)
    case .data: return Data._unbox(boxed).map { .data($0) }
    case .date: return Date._unbox(boxed).map { .date($0) }
    case .objectID: return ObjectId._unbox(boxed).map { .objectId($0) }
    case .decimal: return Decimal128._unbox(boxed).map { .decimal128($0) }
    case .uuid: return UUID._unbox(boxed).map { .uuid($0) }
    }
  }
}

extension ObjectBase {
  /// The value of a mixed column.
  final func _anyValue(_ column: UInt16) -> Value {
    func decoded(_ bytes: UnsafeRawBufferPointer) -> Value {
      trapping { () throws(StorageError) in
        let value = unsafe try Value(tagged: bytes)
        guard case .object = value, let core = _core else { return value }
        return try core.schemaToBind().checked(value)
      }
    }
    let raw = unsafe tarn_cluster_bytes(_image, UInt32(column), _slot)
    switch raw.state {
    case TARN_STATE_VALUE:
      return unsafe decoded(UnsafeRawBufferPointer(start: raw.bytes, count: Int(raw.length)))
    case TARN_STATE_NULL: return .null
    default: return unsafe withSlowBytes(column, raw.state, decoded) ?? .null
    }
  }
}
