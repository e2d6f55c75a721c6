extension CollectionTest {
  private static let pointType = Array("Point".utf8)

  /// Whether the row stores a place within a region.
  func isWithin<Rows: RowReading, Source: RowSource>(
    _ region: GeoRegion, _ type: ColumnPath, _ rows: Rows, _ slot: Int, _ source: Source
  ) throws(StorageError) -> Bool {
    guard case .values(let column) = elements else { return false }
    let isPoint = try unsafe source.withText(rows, slot, type) { bytes in
      guard let bytes = unsafe bytes else { return false }
      return unsafe bytes.elementsEqual(Self.pointType)
    }
    guard isPoint else { return false }
    var numbers: [Double] = []
    try source.forEachElement(of: way.place(column, rows.key(at: slot))) { value in
      if case .double(let number) = value { numbers.append(number) } else { numbers.append(.nan) }
      return numbers.count < 2
    }
    guard numbers.count == 2,
      let place = GeoPosition(latitude: numbers[1], longitude: numbers[0])
    else { return false }
    return region.contains(place)
  }
}
