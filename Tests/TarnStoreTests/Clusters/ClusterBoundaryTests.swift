import TarnStore
import Testing

@Suite struct ClusterBoundaryTests {
  private func encode(_ cluster: WorkingCluster) throws -> [[UInt8]] {
    var images: [[UInt8]] = []
    try cluster.encode(
      emitLong: { _, _, _ in }, emit: { _, _, bytes in images.append([UInt8](bytes)) })
    return images
  }

  @Test func numbersAtTheirEndsSurvive() throws {
    let schema = ClusterFixture.schema([(.int, false), (.int, true), (.date, false)])
    let numbers: [Int64] = [.min, .max, 0, -1, 1, 255, 256, 65_535, 65_536, 1 << 32, -(1 << 31)]
    for a in numbers {
      for b in numbers {
        let cluster = WorkingCluster(schema)
        for (slot, number) in [a, b].enumerated() {
          cluster.insert(ObjectKey(slot == 0 ? .min : .max))
          cluster.setInt(ColumnID(0), slot, number)
          cluster.setInt(ColumnID(1), slot, number)
          cluster.setDate(
            ColumnID(2), slot, Timestamp(seconds: number, nanoseconds: 999_999_999))
        }
        let images = try encode(cluster)
        try ClusterFixture.validated(images[0]) { image in
          #expect(image.key(at: 0).rawValue == .min)
          #expect(image.key(at: 1).rawValue == .max)
          for (slot, number) in [a, b].enumerated() {
            #expect(image.int(ColumnID(0), slot) == number)
            #expect(image.int(ColumnID(1), slot) == number)
            #expect(!image.isNull(ColumnID(1), slot))
            #expect(
              image.date(ColumnID(2), slot)
                == Timestamp(seconds: number, nanoseconds: 999_999_999))
          }
        }
      }
    }
  }

  /// Nothing is stored a row, so the image is shorter than a bitmap of the rows would be.
  @Test func aFullClusterOfEqualRowsIsValid() throws {
    let cluster = WorkingCluster(ClusterFixture.schema([(.int, false)]))
    for key in 0..<1_024 {
      cluster.insert(ObjectKey(Int64(key)))
      cluster.setInt(ColumnID(0), key, 7)
    }
    let images = try encode(cluster)
    #expect(images.count == 1)
    try ClusterFixture.validated(images[0]) { image in
      #expect(image.rowCount == 1_024)
      #expect(image.int(ColumnID(0), 1_023) == 7)
    }
  }

  @Test func floatingPointKeepsEveryBit() throws {
    let schema = ClusterFixture.schema([(.double, false), (.float, true)])
    let patterns: [UInt64] = [
      0, 1 << 63, 0x7FF8_0000_0000_1234, 0x7FF0_0000_0000_0001, 0x7FF0_0000_0000_0000, 1,
    ]
    let cluster = WorkingCluster(schema)
    for (slot, pattern) in patterns.enumerated() {
      cluster.insert(ObjectKey(Int64(slot)))
      cluster.setDouble(ColumnID(0), slot, Double(bitPattern: pattern))
      cluster.setFloat(ColumnID(1), slot, Float(bitPattern: UInt32(pattern >> 32)))
    }
    try ClusterFixture.validated(try encode(cluster)[0]) { image in
      for (slot, pattern) in patterns.enumerated() {
        #expect(image.double(ColumnID(0), slot).bitPattern == pattern)
        #expect(image.float(ColumnID(1), slot).bitPattern == UInt32(pattern >> 32))
      }
    }
  }

  @Test(arguments: [0, 1, 7, 8, 15, 16, 255, 256, 257, 100_000])
  func stringsOfAnyLengthSurvive(length: Int) throws {
    let schema = ClusterFixture.schema([(.string, false), (.data, true)])
    var model = ClusterModel(schema)
    let cluster = WorkingCluster(schema)
    for key in 0..<Int64(3) {
      let text = String(repeating: Character("\(key)"), count: length)
      let slot = cluster.insert(ObjectKey(key))
      cluster.setString(ColumnID(0), slot, text)
      cluster.set(ColumnID(1), slot, .data(Array(text.utf8)))
      model.rows[key] = [.string(text), .data(Array(text.utf8))]
    }
    model.images = try model.encode(cluster)
    #expect(model.longs.isEmpty == (length <= ClusterFormat.inlineBytesMax))
    try model.check()
  }

  @Test func aRowThatFitsNoImageMovesItsLongestStringsOut() throws {
    let schema = ClusterFixture.schema(Array(repeating: (.string, false), count: 40))
    var model = ClusterModel(schema)
    let cluster = WorkingCluster(schema)
    for key in 0..<Int64(3) {
      let slot = cluster.insert(ObjectKey(key))
      var row: [Value] = []
      for column in 0..<40 {
        row.append(.string(String(repeating: "x", count: 150 + 2 * column)))
        cluster.set(ColumnID(UInt16(column)), slot, row[column])
      }
      model.rows[key] = row
    }
    model.images = try model.encode(cluster)
    try model.check()
    #expect(model.images.count == 3)
    #expect(!model.longs.isEmpty)
    #expect(model.longs.count < 120)
    #expect(model.longs.values.allSatisfy { $0.count > 150 })
  }

  @Test func tooManyColumnsForOneRowAreRefused() throws {
    let schema = ClusterFixture.schema(Array(repeating: (.int, false), count: 600))
    let cluster = WorkingCluster(schema)
    cluster.insert(ObjectKey(1))
    #expect(try encode(cluster).count == 1)
    for column in 0..<600 { cluster.setInt(ColumnID(UInt16(column)), 0, 7) }
    #expect { try encode(cluster) } throws: { ($0 as? StorageError)?.code == .limitExceeded }
  }

  @Test func longValuesOfReplacedAndRemovedRowsAreReported() throws {
    let schema = ClusterFixture.schema([(.string, true)])
    var model = ClusterModel(schema)
    let cluster = WorkingCluster(schema)
    for key in 0..<Int64(4) {
      let text = String(repeating: "l", count: 300)
      cluster.setString(ColumnID(0), cluster.insert(ObjectKey(key)), text)
      model.rows[key] = [.string(text)]
    }
    model.images = try model.encode(cluster)
    try model.check()
    let again = try ClusterFixture.validated(model.images[0].bytes) {
      try WorkingCluster($0, schema)
    }
    again.setString(ColumnID(0), 0, "short")
    again.setString(ColumnID(0), 1, String(repeating: "m", count: 400))
    again.setNull(ColumnID(0), 2)
    again.remove(at: 3)
    #expect(again.droppedLongValues.map(\.key.rawValue) == [0, 1, 2, 3])
    model.rows = [
      0: [.string("short")], 1: [.string(String(repeating: "m", count: 400))], 2: [.null],
    ]
    model.images = try model.encode(again)
    try model.check()
  }

  @Test func valuesMayComeFromTheClusterItself() throws {
    let schema = ClusterFixture.schema([(.string, false)])
    let cluster = WorkingCluster(schema)
    cluster.insert(ObjectKey(0))
    cluster.setString(ColumnID(0), 0, String(repeating: "ab", count: 100))
    for key in 1..<Int64(500) {
      let slot = cluster.insert(ObjectKey(key))
      guard case .inline(let bytes) = cluster.bytes(ColumnID(0), slot - 1) else { return }
      cluster.setBytes(ColumnID(0), slot, bytes)
    }
    for _ in 0..<2_000 {
      guard case .inline(let bytes) = cluster.bytes(ColumnID(0), 0) else { return }
      cluster.setBytes(ColumnID(0), 7, bytes)
    }
    let expected = Value.string(String(repeating: "ab", count: 100))
    let column = cluster.schema[ColumnID(0)]
    #expect(try (0..<500).allSatisfy { try cluster.value(column, $0) == expected })
  }

  @Test func anEmptyImageAnswersNothing() throws {
    let image = try ClusterImage(validating: ClusterImage.empty.bytes)
    try image.verifyChecksum()
    #expect(image.rowCount == 0)
    #expect(image.columnCount == 0)
    #expect(image.slot(of: ObjectKey(0)) == nil)
    #expect(image.slot(atOrAfter: ObjectKey(.min)) == 0)
  }
}
