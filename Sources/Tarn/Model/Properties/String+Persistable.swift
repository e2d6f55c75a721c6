public import CTarn
public import Foundation
import TarnStore

// String and Data. Their loads are calls: in line they would be long, and a String costs more.

extension String: _PersistableScalar, _Indexable, _PrimaryKey {
  public static var _description: _ColumnDescription { _ColumnDescription(.string) }
  @inlinable public static func _default() -> String { "" }

  @inlinable @inline(__always)
  public static func _load(_ object: ObjectBase, _ column: UInt16) -> String {
    object._string(column)
  }
  @inlinable @inline(__always)
  public static func _loadOptional(_ object: ObjectBase, _ column: UInt16) -> String? {
    object._optionalString(column)
  }
  public static func _raw(_ object: ObjectBase, _ column: UInt16) -> tarn_bytes {
    unsafe tarn_cluster_bytes(object._image, UInt32(column), object._slot)
  }
  public static func _make(_ raw: tarn_bytes, _ object: ObjectBase, _ column: UInt16) -> String {
    object.makeString(raw, column) ?? ""
  }
  public static func _put(_ value: String, _ object: ObjectBase, _ column: UInt16) {
    let (rows, column, slot) = object.row(column)
    rows.setString(column, slot, value)
  }
  public func _box() -> _BoxedValue { _BoxedValue(.string(self)) }
  public static func _unbox(_ boxed: _BoxedValue) -> String? {
    guard case .string(let value) = boxed.value else { return nil }
    return value
  }
}

extension ObjectBase {
  @_effects(releasenone) @inline(never) @usableFromInline
  final func _string(_ column: UInt16) -> String {
    let raw = unsafe tarn_cluster_bytes(_image, UInt32(column), _slot)
    if raw.state == TARN_STATE_VALUE, let small = SmallString.make(raw) { return small }
    return makeString(raw, column) ?? ""
  }

  @_effects(releasenone) @inline(never) @usableFromInline
  final func _optionalString(_ column: UInt16) -> String? {
    let raw = unsafe tarn_cluster_bytes(_image, UInt32(column), _slot)
    if raw.state == TARN_STATE_VALUE, let small = SmallString.make(raw) { return small }
    return makeString(raw, column)
  }

  @inline(never)
  final func makeString(_ raw: tarn_bytes, _ column: UInt16) -> String? {
    switch raw.state {
    case TARN_STATE_VALUE:
      let bytes = unsafe UnsafeBufferPointer(start: raw.bytes, count: Int(raw.length))
      return unsafe String(decoding: bytes, as: UTF8.self)
    case TARN_STATE_NULL: return nil
    default:
      return unsafe withSlowBytes(column, raw.state) { unsafe String(decoding: $0, as: UTF8.self) }
    }
  }
}

/// Builds the standard library's form of a string of at most 15 ASCII bytes directly, which is
/// three times as fast as decoding. The layout is not guaranteed, so it is compared with real
/// strings once in each process, and not used if it differs.
enum SmallString {
  @inline(__always)
  static func make(_ raw: tarn_bytes) -> String? {
    guard raw.length <= 15, layoutIsKnown else { return nil }
    let small = unsafe tarn_small_bytes(raw.bytes, UInt32(truncatingIfNeeded: raw.length))
    guard (small.low | small.high) & 0x8080_8080_8080_8080 == 0 else { return nil }
    return unsafe unsafeBitCast(bits(small.low, small.high, raw.length), to: String.self)
  }

  @inline(__always)
  private static func bits(_ low: UInt64, _ high: UInt64, _ count: UInt64) -> (UInt64, UInt64) {
    (low.littleEndian, (high | (0xE0 | count) << 56).littleEndian)
  }

  private static let layoutIsKnown: Bool = {
    guard MemoryLayout<String>.size == 16 else { return false }
    for count in 0...15 {
      let bytes = (0..<count).map { UInt8(ascii: "a") + UInt8($0) }
      // Sixteen bytes in memory, because the load reads that many.
      let padded = bytes + [UInt8](repeating: 0, count: 16 - count)
      let small = unsafe padded.withUnsafeBufferPointer {
        unsafe tarn_small_bytes($0.baseAddress, UInt32(count))
      }
      let built = bits(small.low, small.high, UInt64(count))
      let real = unsafe unsafeBitCast(
        String(decoding: bytes, as: UTF8.self), to: (UInt64, UInt64).self)
      guard built == real else { return false }
    }
    return true
  }()
}

extension Data: _PersistableScalar {
  public static var _description: _ColumnDescription { _ColumnDescription(.data) }
  @inlinable public static func _default() -> Data { Data() }

  @inlinable @inline(__always)
  public static func _load(_ object: ObjectBase, _ column: UInt16) -> Data {
    object._data(column) ?? Data()
  }
  @inlinable @inline(__always)
  public static func _loadOptional(_ object: ObjectBase, _ column: UInt16) -> Data? {
    object._data(column)
  }
  public static func _raw(_ object: ObjectBase, _ column: UInt16) -> tarn_bytes {
    unsafe tarn_cluster_bytes(object._image, UInt32(column), object._slot)
  }
  public static func _make(_ raw: tarn_bytes, _ object: ObjectBase, _ column: UInt16) -> Data {
    object._data(column) ?? Data()
  }
  public static func _put(_ value: Data, _ object: ObjectBase, _ column: UInt16) {
    let (rows, column, slot) = object.row(column)
    unsafe value.withUnsafeBytes { unsafe rows.setBytes(column, slot, $0) }
  }
  public func _box() -> _BoxedValue { _BoxedValue(.data([UInt8](self))) }
  public static func _unbox(_ boxed: _BoxedValue) -> Data? {
    guard case .data(let bytes) = boxed.value else { return nil }
    return Data(bytes)
  }
}

extension ObjectBase {
  @_effects(releasenone) @inline(never) @usableFromInline
  final func _data(_ column: UInt16) -> Data? {
    let raw = unsafe tarn_cluster_bytes(_image, UInt32(column), _slot)
    switch raw.state {
    case TARN_STATE_VALUE:
      return unsafe Data(UnsafeBufferPointer(start: raw.bytes, count: Int(raw.length)))
    case TARN_STATE_NULL: return nil
    default: return unsafe withSlowBytes(column, raw.state) { unsafe Data($0) }
    }
  }
}
