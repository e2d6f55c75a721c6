public import CTarn
import TarnStore

/// Loads that need more than the image: the row is under edit, or the cluster is older than the
/// column (then every row has null, or the type's zero). They run no user code, as "releasenone"
/// promises to the getters.
extension ObjectBase {
  /// The cluster under edit; nil if the row is in none.
  @inline(__always)
  private final var workingCluster: WorkingCluster? {
    guard let working = unsafe _working else { return nil }
    assert(
      unsafe _instance == nil || _isWritten(in: working.toOpaque()),
      "internal error: an accessor has a column that the open write does not know")
    return unsafe working.takeUnretainedValue()
  }

  /// The cluster under edit and the slot in it; nil if the value is null.
  @inline(__always)
  private final func slow(_ column: UInt16) -> (WorkingCluster, Int)? {
    guard let working = workingCluster else { return nil }
    return working.isNull(ColumnID(column), Int(_slot)) ? nil : (working, Int(_slot))
  }

  /// Notes that the column is read, if reads are tracked, and loads it unless it is under edit. Nil
  /// if tracking is off, and for a cluster that does not have the column.
  @inline(__always)
  private final func tracked<Raw: _LoadedValue>(
    _ column: UInt16, _ load: (UnsafeRawPointer) -> Raw
  ) -> Raw? {
    guard let tracking = _instance?.tracking else { return nil }
    guard let image = unsafe _image(ColumnID(column), noting: tracking) else { return nil }
    let raw = unsafe load(image)
    return raw.state == TARN_STATE_SLOW ? nil : raw
  }

  @_effects(releasenone) @inline(never) @usableFromInline
  final func _slowInt(_ column: UInt16) -> tarn_int {
    if let raw = unsafe tracked(column, { unsafe tarn_cluster_int($0, UInt32(column), _slot) }) {
      return raw
    }
    guard let (rows, slot) = slow(column) else { return tarn_int(value: 0, state: TARN_STATE_NULL) }
    return tarn_int(value: rows.int(ColumnID(column), slot), state: TARN_STATE_VALUE)
  }

  @_effects(releasenone) @inline(never) @usableFromInline
  final func _slowBool(_ column: UInt16) -> tarn_bool {
    if let raw = unsafe tracked(column, { unsafe tarn_cluster_bool($0, UInt32(column), _slot) }) {
      return raw
    }
    guard let (rows, slot) = slow(column) else {
      return tarn_bool(value: 0, state: TARN_STATE_NULL)
    }
    return tarn_bool(value: rows.bool(ColumnID(column), slot) ? 1 : 0, state: TARN_STATE_VALUE)
  }

  @_effects(releasenone) @inline(never) @usableFromInline
  final func _slowFloat(_ column: UInt16) -> tarn_float {
    if let raw = unsafe tracked(column, { unsafe tarn_cluster_float($0, UInt32(column), _slot) }) {
      return raw
    }
    guard let (rows, slot) = slow(column) else {
      return tarn_float(value: 0, state: TARN_STATE_NULL)
    }
    return tarn_float(value: rows.float(ColumnID(column), slot), state: TARN_STATE_VALUE)
  }

  @_effects(releasenone) @inline(never) @usableFromInline
  final func _slowDouble(_ column: UInt16) -> tarn_double {
    if let raw = unsafe tracked(column, { unsafe tarn_cluster_double($0, UInt32(column), _slot) }) {
      return raw
    }
    guard let (rows, slot) = slow(column) else {
      return tarn_double(value: 0, state: TARN_STATE_NULL)
    }
    return tarn_double(value: rows.double(ColumnID(column), slot), state: TARN_STATE_VALUE)
  }

  @_effects(releasenone) @inline(never) @usableFromInline
  final func _slowDate(_ column: UInt16) -> tarn_date {
    if let raw = unsafe tracked(column, { unsafe tarn_cluster_date($0, UInt32(column), _slot) }) {
      return raw
    }
    guard let (rows, slot) = slow(column) else {
      return tarn_date(seconds: 0, nanoseconds: 0, state: TARN_STATE_NULL)
    }
    let date = rows.date(ColumnID(column), slot)
    return tarn_date(
      seconds: date.seconds, nanoseconds: date.nanoseconds, state: TARN_STATE_VALUE)
  }

  @_effects(releasenone) @inline(never) @usableFromInline
  final func _slowBytes12(_ column: UInt16) -> tarn_bytes12 {
    if let raw = unsafe tracked(column, { unsafe tarn_cluster_bytes12($0, UInt32(column), _slot) })
    {
      return raw
    }
    guard let (rows, slot) = slow(column) else {
      return tarn_bytes12(high: 0, low: 0, state: TARN_STATE_NULL)
    }
    let bytes = rows.bytes12(ColumnID(column), slot)
    return tarn_bytes12(high: bytes.high, low: bytes.low, state: TARN_STATE_VALUE)
  }

  @_effects(releasenone) @inline(never) @usableFromInline
  final func _slowBytes16(_ column: UInt16) -> tarn_bytes16 {
    if let raw = unsafe tracked(column, { unsafe tarn_cluster_bytes16($0, UInt32(column), _slot) })
    {
      return raw
    }
    guard let (rows, slot) = slow(column) else {
      return tarn_bytes16(high: 0, low: 0, state: TARN_STATE_NULL)
    }
    let bytes = rows.bytes16(ColumnID(column), slot)
    return tarn_bytes16(high: bytes.high, low: bytes.low, state: TARN_STATE_VALUE)
  }

  /// Passes the bytes of a string or data column that is under edit or stored in pieces; nil for
  /// null.
  final func withSlowBytes<R>(
    _ column: UInt16, _ state: tarn_state, _ body: (UnsafeRawBufferPointer) -> R
  ) -> R? {
    func long() -> R { unsafe _longBytes(ColumnID(column)).withUnsafeBytes(body) }
    if state == TARN_STATE_LONG { return long() }
    if let raw = unsafe tracked(column, { unsafe tarn_cluster_bytes($0, UInt32(column), _slot) }) {
      switch raw.state {
      case TARN_STATE_VALUE:
        return unsafe body(UnsafeRawBufferPointer(start: raw.bytes, count: Int(raw.length)))
      case TARN_STATE_LONG: return long()
      default: return nil
      }
    }
    guard let (rows, slot) = slow(column) else { return nil }
    switch rows.bytes(ColumnID(column), slot) {
    case .null: return nil
    case .inline(let bytes): return unsafe body(bytes)
    case .long: return long()
    }
  }

  /// The place of a value that needs no other update: the row is under edit.
  @inline(__always)
  final func row(_ column: UInt16) -> (rows: WorkingCluster, column: ColumnID, slot: Int) {
    (workingCluster!, ColumnID(column), Int(_slot))
  }

  @inline(never) @usableFromInline
  final func _putNull(_ column: UInt16) {
    let (rows, column, slot) = row(column)
    rows.setNull(column, slot)
  }
}
