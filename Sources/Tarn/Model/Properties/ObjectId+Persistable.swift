public import CTarn
public import Foundation
import TarnStore

// ObjectId, UUID, Decimal128 and Date: a few bytes of fixed size.

extension ObjectId: _PersistableScalar, _Indexable, _PrimaryKey {
  public static var _description: _ColumnDescription { _ColumnDescription(.objectID) }
  public static func _default() -> ObjectId { .generate() }

  @inlinable @inline(__always)
  public static func _raw(_ object: ObjectBase, _ column: UInt16) -> tarn_bytes12 {
    let raw = unsafe tarn_cluster_bytes12(object._image, UInt32(column), object._slot)
    return raw.state == TARN_STATE_SLOW ? object._slowBytes12(column) : raw
  }
  @inlinable @inline(__always)
  public static func _make(
    _ raw: tarn_bytes12, _ object: ObjectBase, _ column: UInt16
  ) -> ObjectId {
    ObjectId(high: raw.high, low: raw.low)
  }
  public static func _put(_ value: ObjectId, _ object: ObjectBase, _ column: UInt16) {
    let (rows, column, slot) = object.row(column)
    rows.setBytes12(column, slot, value.bytes)
  }
  public func _box() -> _BoxedValue { _BoxedValue(.objectID(bytes)) }
  public static func _unbox(_ boxed: _BoxedValue) -> ObjectId? {
    guard case .objectID(let bytes) = boxed.value else { return nil }
    return ObjectId(bytes)
  }
}

extension UUID: _PersistableScalar, _Indexable, _PrimaryKey {
  public static var _description: _ColumnDescription { _ColumnDescription(.uuid) }
  public static func _default() -> UUID { UUID() }

  @inlinable @inline(__always)
  public static func _raw(_ object: ObjectBase, _ column: UInt16) -> tarn_bytes16 {
    let raw = unsafe tarn_cluster_bytes16(object._image, UInt32(column), object._slot)
    return raw.state == TARN_STATE_SLOW ? object._slowBytes16(column) : raw
  }
  @inlinable @inline(__always)
  public static func _make(_ raw: tarn_bytes16, _ object: ObjectBase, _ column: UInt16) -> UUID {
    let bytes = (raw.high.bigEndian, raw.low.bigEndian)
    return unsafe UUID(uuid: unsafeBitCast(bytes, to: uuid_t.self))
  }
  public static func _put(_ value: UUID, _ object: ObjectBase, _ column: UInt16) {
    let (rows, column, slot) = object.row(column)
    rows.setBytes16(column, slot, value.bytes)
  }
  public func _box() -> _BoxedValue { _BoxedValue(.uuid(bytes)) }
  public static func _unbox(_ boxed: _BoxedValue) -> UUID? {
    guard case .uuid(let bytes) = boxed.value else { return nil }
    return UUID(bytes)
  }
}

extension Decimal128: _PersistableScalar {
  public static var _description: _ColumnDescription { _ColumnDescription(.decimal) }
  @inlinable public static func _default() -> Decimal128 { Decimal128(high: 0, low: 0) }

  @inlinable @inline(__always)
  public static func _raw(_ object: ObjectBase, _ column: UInt16) -> tarn_bytes16 {
    let raw = unsafe tarn_cluster_bytes16(object._image, UInt32(column), object._slot)
    return raw.state == TARN_STATE_SLOW ? object._slowBytes16(column) : raw
  }
  @inlinable @inline(__always)
  public static func _make(
    _ raw: tarn_bytes16, _ object: ObjectBase, _ column: UInt16
  ) -> Decimal128 {
    Decimal128(high: raw.high, low: raw.low)
  }
  public static func _put(_ value: Decimal128, _ object: ObjectBase, _ column: UInt16) {
    let (rows, column, slot) = object.row(column)
    rows.setBytes16(column, slot, value.cell)
  }
  public func _box() -> _BoxedValue { _BoxedValue(.decimal(cell)) }
  public static func _unbox(_ boxed: _BoxedValue) -> Decimal128? {
    switch boxed.value {
    case .decimal(let cell): Decimal128(cell)
    case .int(let value): Decimal128(value)
    case .double(let value): Decimal128(value)
    case .float(let value): Decimal128(value)
    case .string(let text): Decimal128(text)
    default: nil
    }
  }
}

extension Date: _PersistableScalar, _Indexable {
  public static var _description: _ColumnDescription { _ColumnDescription(.date) }
  /// 1 January 1970.
  public static func _default() -> Date { Date(timeIntervalSince1970: 0) }

  @inlinable @inline(__always)
  public static func _raw(_ object: ObjectBase, _ column: UInt16) -> tarn_date {
    let raw = unsafe tarn_cluster_date(object._image, UInt32(column), object._slot)
    return raw.state == TARN_STATE_SLOW ? object._slowDate(column) : raw
  }
  @inlinable @inline(__always)
  public static func _make(_ raw: tarn_date, _ object: ObjectBase, _ column: UInt16) -> Date {
    Date(_seconds: raw.seconds, nanoseconds: raw.nanoseconds)
  }
  public static func _put(_ value: Date, _ object: ObjectBase, _ column: UInt16) {
    let (rows, column, slot) = object.row(column)
    rows.setDate(column, slot, value.timestamp)
  }
  public func _box() -> _BoxedValue { _BoxedValue(.date(timestamp)) }
  public static func _unbox(_ boxed: _BoxedValue) -> Date? {
    guard case .date(let time) = boxed.value else { return nil }
    return Date(time)
  }
}
