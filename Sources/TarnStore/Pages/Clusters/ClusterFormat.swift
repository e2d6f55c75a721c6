import CTarn

/// The numbers of the cluster format that Swift code needs; `ctarn_cluster.h` describes the layout.
package enum ClusterFormat {
  /// The maximum size of an image in bytes: the longest value in one page of the file.
  package static let imageBytesMax = 4_080
  /// The maximum number of rows of an image. Only rows of a byte or two reach it.
  package static let rowsMax = 1_024
  /// The longest string or data value stored in the cluster itself; longer ones are stored in
  /// pieces elsewhere. A row that does not fit an image moves shorter ones out, too, longest first.
  package static let inlineBytesMax = 256

  static let headerBytes = Int(TARN_CLUSTER_HEADER_BYTES)
  static let descriptorBytes = Int(TARN_CLUSTER_DESCRIPTOR_BYTES)
  static let paddingBytes = Int(TARN_CLUSTER_PADDING_BYTES)
  static let checkedFrom = Int(TARN_CLUSTER_CHECKED_FROM)
  /// A column with more entries has no dictionary: a code is one byte.
  static let dictionaryEntriesMax = 255
  /// The bytes of a long value in its row: its length.
  static let longReferenceBytes = 8
}

/// The kinds of columns in an image, with the numbers of `ctarn_cluster.h`.
package enum ClusterColumnKind: UInt8, Sendable {
  case absent = 0
  case int = 1
  case bool = 2
  case fixed = 3
  case date = 4
  case bytes = 5
  case dictionary = 6
  case key = 7
}

/// The bytes of a string or data in a cluster. The buffer points into the cluster: it is valid
/// until the cluster is changed or its memory freed.
@safe package enum ClusterBytes {
  case null
  case inline(UnsafeRawBufferPointer)
  /// The value is stored elsewhere, in pieces; only its length is here.
  case long(length: Int)
}

/// The layout of a column's cells in memory, which depends only on the column's type.
enum ColumnStorage: UInt8 {
  /// A removed column: nothing is stored.
  case none
  /// The value is the row's key.
  case key
  case int
  case bool
  case float
  case double
  case bytes12
  case bytes16
  case date
  case bytes

  init(_ column: borrowing ColumnSchema, isKey: Bool) {
    if column.isRemoved {
      self = .none
    } else if isKey {
      self = .key
    } else if column.collection != .none {
      self = .bytes
    } else {
      switch column.type {
      case .int, .link: self = .int
      case .bool: self = .bool
      case .string, .data, .any: self = .bytes
      case .date: self = .date
      case .float: self = .float
      case .double: self = .double
      case .objectID: self = .bytes12
      case .uuid, .decimal: self = .bytes16
      }
    }
  }

  /// Bytes of a cell in memory.
  var stride: Int {
    switch self {
    case .none, .key: 0
    case .bool: 1
    case .float: 4
    case .int, .double: 8
    case .bytes12: 12
    case .bytes16, .date, .bytes: 16
    }
  }

  /// The bytes of a cell in an image of kind FIXED, otherwise 0.
  var fixedWidth: Int {
    switch self {
    case .float, .double, .bytes12, .bytes16: stride
    case .none, .key, .int, .bool, .date, .bytes: 0
    }
  }

  /// Whether an image may have such a column in that kind.
  func accepts(_ column: tarn_column) -> Bool {
    switch ClusterColumnKind(rawValue: column.kind) {
    case .absent: true
    case .int: self == .int
    case .bool: self == .bool
    case .fixed: fixedWidth != 0 && fixedWidth == Int(column.width)
    case .date: self == .date
    case .bytes, .dictionary: self == .bytes
    case .key: self == .key
    case nil: false
    }
  }
}

/// Little-endian numbers at any address.
enum Little {
  @inline(__always)
  static func u16(_ p: UnsafeRawPointer, _ offset: Int) -> Int {
    unsafe Int(p.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
  }

  @inline(__always)
  static func u64(_ p: UnsafeRawPointer, _ offset: Int) -> UInt64 {
    unsafe p.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
  }

  @inline(__always)
  static func put<T: BitwiseCopyable>(
    _ value: T, _ p: UnsafeMutableRawPointer, _ offset: Int
  ) {
    unsafe p.storeBytes(of: value, toByteOffset: offset, as: T.self)
  }

  /// The width in bytes (0, 1, 2, 4 or 8) for every number up to `span`.
  @inline(__always)
  static func width(of span: UInt64) -> Int {
    if span == 0 { return 0 }
    if span <= 0xff { return 1 }
    if span <= 0xffff { return 2 }
    return span <= 0xffff_ffff ? 4 : 8
  }

  /// Bytes of a bitmap of that many rows.
  @inline(__always)
  static func bitmapBytes(_ rows: Int) -> Int { (rows + 7) >> 3 }
}

/// The maximum length of a row. Strings, data and references to collections can be stored outside
/// of the row; everything else is in it, and a row must fit one page.
extension ClassSchema {
  /// The bytes of a row with a value in every column, alone in its cluster.
  var rowByteCountMax: Int {
    columns.reduce(ClusterFormat.headerBytes + ClusterFormat.paddingBytes) { sum, column in
      let isKey = keyIsPrimary && column.id == primaryKey
      return sum + ClusterFormat.descriptorBytes
        + ColumnStorage(column, isKey: isKey).cellByteCountMax
    }
  }

  /// A class cannot have more columns, whatever their types.
  static let columnCountMax =
    (ClusterFormat.imageBytesMax - ClusterFormat.headerBytes - ClusterFormat.paddingBytes)
    / ClusterFormat.descriptorBytes

  /// The error about too many properties, and the way out.
  var tooWide: String { Self.tooWide(name, columns.count { !$0.isRemoved }) }

  static func tooWide(_ name: String, _ propertyCount: Int) -> String {
    "class '\(name)' has \(propertyCount) properties, more than one object can hold: about 250 "
      + "integers, or 190 collections or strings of any length, fit. Move some of the "
      + "properties into embedded objects"
  }
}

extension ColumnStorage {
  /// The bytes of the longest cell in a cluster of one row, with long strings stored elsewhere.
  fileprivate var cellByteCountMax: Int {
    switch self {
    case .none, .key: 0
    case .int: 8
    case .bool: 1
    case .date: 12
    case .float, .double, .bytes12, .bytes16: fixedWidth
    // Two offsets, the length, the bit for long values.
    case .bytes: 4 + ClusterFormat.longReferenceBytes + 1
    }
  }
}

extension StoreSchema {
  /// Refuses a class that gets more columns than an object can have values for. The columns that
  /// the file has already are accepted: their objects may have few values.
  ///
  /// Errors: `.limitExceeded`.
  func requireRoom(addingTo stored: StoreSchema, path: String) throws(StorageError) {
    for item in classes where item.rowByteCountMax > ClusterFormat.imageBytesMax {
      if let before = stored[item.id], before.columns.count == item.columns.count { continue }
      throw StorageError(.limitExceeded, operation: "open", path: path, detail: item.tooWide)
    }
  }
}
