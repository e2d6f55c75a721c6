public import CTarn
import TarnStore

// `Int` and the other integers, `Bool`, `Float`, `Double`.

/// An integer type that a property can have. All are stored as 64-bit integers.
public protocol _PersistableInteger: _PersistableScalar, _Indexable, _PrimaryKey, _ValueLimiting,
  FixedWidthInteger
where _Loaded == tarn_int {}

extension _PersistableInteger {
  public static var _description: _ColumnDescription {
    _ColumnDescription(.int, limiting: Self.self)
  }
  public static var _limits: _ValueLimits {
    _ValueLimits(domain: bitWidth == 64 ? nil : .integers(Int64(min)...Int64(max)))
  }
  @inlinable public static func _default() -> Self { 0 }

  @inlinable @inline(__always)
  public static func _raw(_ object: ObjectBase, _ column: UInt16) -> tarn_int {
    let raw = unsafe tarn_cluster_int(object._image, UInt32(column), object._slot)
    return raw.state == TARN_STATE_SLOW ? object._slowInt(column) : raw
  }

  /// Traps if the value does not fit: another program stores larger numbers in this column.
  @inlinable @inline(__always)
  public static func _make(_ raw: tarn_int, _ object: ObjectBase, _ column: UInt16) -> Self {
    if Self.bitWidth == 64 { return Self(truncatingIfNeeded: raw.value) }
    guard let value = Self(exactly: raw.value) else {
      object._valueDoesNotFit(column, raw.value, "\(Self.self)")
    }
    return value
  }

  @inlinable
  public static func _put(_ value: Self, _ object: ObjectBase, _ column: UInt16) {
    object._putInt(Int64(truncatingIfNeeded: value), column)
  }
  public func _box() -> _BoxedValue { _BoxedValue(.int(Int64(truncatingIfNeeded: self))) }
  public static func _unbox(_ boxed: _BoxedValue) -> Self? {
    guard case .int(let value) = boxed.value else { return nil }
    return Self(exactly: value)
  }
}

extension Int: _PersistableInteger {}
extension Int8: _PersistableInteger {}
extension Int16: _PersistableInteger {}
extension Int32: _PersistableInteger {}
extension Int64: _PersistableInteger {}

extension ObjectBase {
  @inline(never) @usableFromInline
  final func _putInt(_ value: Int64, _ column: UInt16) {
    let (rows, column, slot) = row(column)
    rows.setInt(column, slot, value)
  }

  @inline(never) @usableFromInline
  final func _valueDoesNotFit(_ column: UInt16, _ value: Int64, _ type: String) -> Never {
    trap(
      """
      \(_propertyName(column)) holds \(value), which does not fit \(type): a program whose \
      model declares a wider type wrote it. Declare the property as Int.
      """)
  }
}

extension Bool: _PersistableScalar, _Indexable {
  public static var _description: _ColumnDescription { _ColumnDescription(.bool) }
  @inlinable public static func _default() -> Bool { false }

  @inlinable @inline(__always)
  public static func _raw(_ object: ObjectBase, _ column: UInt16) -> tarn_bool {
    let raw = unsafe tarn_cluster_bool(object._image, UInt32(column), object._slot)
    return raw.state == TARN_STATE_SLOW ? object._slowBool(column) : raw
  }
  @inlinable @inline(__always)
  public static func _make(_ raw: tarn_bool, _ object: ObjectBase, _ column: UInt16) -> Bool {
    raw.value != 0
  }
  public static func _put(_ value: Bool, _ object: ObjectBase, _ column: UInt16) {
    let (rows, column, slot) = object.row(column)
    rows.setBool(column, slot, value)
  }
  public func _box() -> _BoxedValue { _BoxedValue(.bool(self)) }
  public static func _unbox(_ boxed: _BoxedValue) -> Bool? {
    guard case .bool(let value) = boxed.value else { return nil }
    return value
  }
}

extension Float: _PersistableScalar {
  public static var _description: _ColumnDescription { _ColumnDescription(.float) }
  @inlinable public static func _default() -> Float { 0 }

  @inlinable @inline(__always)
  public static func _raw(_ object: ObjectBase, _ column: UInt16) -> tarn_float {
    let raw = unsafe tarn_cluster_float(object._image, UInt32(column), object._slot)
    return raw.state == TARN_STATE_SLOW ? object._slowFloat(column) : raw
  }
  @inlinable @inline(__always)
  public static func _make(_ raw: tarn_float, _ object: ObjectBase, _ column: UInt16) -> Float {
    raw.value
  }
  public static func _put(_ value: Float, _ object: ObjectBase, _ column: UInt16) {
    let (rows, column, slot) = object.row(column)
    rows.setFloat(column, slot, value)
  }
  public func _box() -> _BoxedValue { _BoxedValue(.float(self)) }
  public static func _unbox(_ boxed: _BoxedValue) -> Float? {
    switch boxed.value {
    case .float(let value): value
    case .double(let value): Float(value)
    case .int(let value): Float(exactly: value)
    default: nil
    }
  }
}

extension Double: _PersistableScalar {
  public static var _description: _ColumnDescription { _ColumnDescription(.double) }
  @inlinable public static func _default() -> Double { 0 }

  @inlinable @inline(__always)
  public static func _raw(_ object: ObjectBase, _ column: UInt16) -> tarn_double {
    let raw = unsafe tarn_cluster_double(object._image, UInt32(column), object._slot)
    return raw.state == TARN_STATE_SLOW ? object._slowDouble(column) : raw
  }
  @inlinable @inline(__always)
  public static func _make(_ raw: tarn_double, _ object: ObjectBase, _ column: UInt16) -> Double {
    raw.value
  }
  public static func _put(_ value: Double, _ object: ObjectBase, _ column: UInt16) {
    let (rows, column, slot) = object.row(column)
    rows.setDouble(column, slot, value)
  }
  public func _box() -> _BoxedValue { _BoxedValue(.double(self)) }
  public static func _unbox(_ boxed: _BoxedValue) -> Double? {
    switch boxed.value {
    case .double(let value): value
    case .float(let value): Double(value)
    case .int(let value): Double(exactly: value)
    default: nil
    }
  }
}
