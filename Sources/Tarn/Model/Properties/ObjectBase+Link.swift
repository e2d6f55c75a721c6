import CTarn
import TarnStore

// To-one links: `@Persisted var mother: Dog?`, `@Persisted var address: Address?`. Always optional,
// because any object can be deleted.

extension Optional: _Linking where Wrapped: ObjectBase {}

extension ObjectBase: _OptionalPersistable {
  public static var _optionalDescription: _ColumnDescription {
    _ColumnDescription(.link, isOptional: true, target: self)
  }

  public static var _insideDescription: _ColumnDescription { _optionalDescription }
  public static func _insideDefault() -> Self { self.init() }

  /// A new Swift object for the row at each read; compare with `isSameObject(as:)`.
  public static func _loadOptional(_ object: ObjectBase, _ column: UInt16) -> Self? {
    let raw = Int64._raw(object, column)
    if raw.state == TARN_STATE_NULL { return nil }
    let target = object._core!.linkedObject(
      object, ColumnID(column), ObjectKey(raw.value), as: self)
    return unsafe unsafeDowncast(target, to: self)
  }

  public static func _storeOptional(
    _ object: ObjectBase, _ column: UInt16, _ value: ObjectBase?
  ) {
    object._core!.setLink(object, ColumnID(column), to: value)
  }

  public static func _putOptional(_ value: ObjectBase?, _ object: ObjectBase, _ column: UInt16) {
    if let value { object._core!.setLink(object, ColumnID(column), to: value) }
  }

  public static var _optionalMover: _Mover {
    { wrapper, object, column in
      // A wrapper of a link looks the same whatever the class.
      let wrapper = unsafe wrapper.assumingMemoryBound(to: Persisted<ObjectBase?>.self)
      let value = unsafe wrapper.pointee._value ?? nil
      unsafe wrapper.pointee._value = .none
      unsafe wrapper.pointee._column = column
      _putOptional(value, object, column)
    }
  }

  public static func _boxOptional(_ value: ObjectBase?) -> _BoxedValue {
    guard let value else { return _BoxedValue(.null) }
    let isManaged = unsafe value._context != nil
    return _BoxedValue(isManaged ? .link(ObjectKey(value._key)) : .null, object: value)
  }

  public static func _unboxOptional(_ boxed: _BoxedValue, _ fits: inout Bool) -> Self? {
    let object = boxed.object as? Self
    fits = object != nil || boxed.object == nil && boxed.value == .null
    return object
  }
}
