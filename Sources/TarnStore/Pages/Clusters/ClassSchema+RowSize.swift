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
