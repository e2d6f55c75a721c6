/// How long a row of a class can get. Strings, data and what refers to collections can be kept
/// outside of the row; everything else lies in it, and a row lies in one page.
extension ClassSchema {
  /// Bytes of a row that has a value in every column and is alone in its cluster.
  var rowByteCountMax: Int {
    columns.reduce(ClusterFormat.headerBytes + ClusterFormat.paddingBytes) { sum, column in
      let isKey = keyIsPrimary && column.id == primaryKey
      return sum + ClusterFormat.descriptorBytes
        + ColumnStorage(column, isKey: isKey).cellByteCountMax
    }
  }

  /// No class has more columns than that, whatever their types.
  static let columnCountMax =
    (ClusterFormat.imageBytesMax - ClusterFormat.headerBytes - ClusterFormat.paddingBytes)
    / ClusterFormat.descriptorBytes

  /// What is wrong with so many properties, and the way out.
  var tooWide: String { Self.tooWide(name, columns.count { !$0.isRemoved }) }

  static func tooWide(_ name: String, _ propertyCount: Int) -> String {
    "class '\(name)' has \(propertyCount) properties, more than one object can hold: about 250 "
      + "integers, or 190 collections or strings of any length, fit. Move some of the "
      + "properties into embedded objects"
  }
}

extension ColumnStorage {
  /// Bytes of the longest cell in a cluster of one row, longer strings being kept elsewhere.
  fileprivate var cellByteCountMax: Int {
    switch self {
    case .none, .key: 0
    case .int: 8
    case .bool: 1
    case .date: 12
    case .float, .double, .bytes12, .bytes16: fixedWidth
    // Two offsets, the length, the bit that says that it is one.
    case .bytes: 4 + ClusterFormat.longReferenceBytes + 1
    }
  }
}

extension StoreSchema {
  /// Refuses a class that got more columns than an object can have values for. Those that the file
  /// has already are left alone: their objects may have few values.
  ///
  /// Errors: `.limitExceeded`.
  func requireRoom(addingTo stored: StoreSchema, path: String) throws(StorageError) {
    for item in classes where item.rowByteCountMax > ClusterFormat.imageBytesMax {
      if let before = stored[item.id], before.columns.count == item.columns.count { continue }
      throw StorageError(.limitExceeded, operation: "open", path: path, detail: item.tooWide)
    }
  }
}
