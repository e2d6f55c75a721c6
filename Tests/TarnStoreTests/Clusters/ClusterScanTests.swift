import TarnStore
import TestSupport
import Testing

/// Whole columns decode to what reading row by row gives.
@Suite struct ClusterScanTests {
  private func images(_ seed: UInt64) throws -> [[UInt8]] {
    var dice = SeededRandom(seed: seed)
    let schema = ClusterFixture.allTypes
    let cluster = WorkingCluster(schema)
    for key in 0..<Int64(300) {
      let slot = cluster.insert(ObjectKey(key * (seed % 2 == 0 ? 1 : 7)))
      for column in schema.columns.dropFirst() where !dice.chance(10) {
        cluster.set(column.id, slot, ClusterFixture.value(column, &dice))
      }
    }
    var images: [[UInt8]] = []
    try cluster.encode(
      emitLong: { _, _, _ in }, emit: { _, _, bytes in images.append([UInt8](bytes)) })
    return images
  }

  @Test(arguments: [6, 7] as [UInt64])
  func bulkDecodingAgreesWithSingleReads(seed: UInt64) throws {
    for bytes in try images(seed) {
      try ClusterFixture.validated(bytes) { image in
        for column in ClusterFixture.allTypes.columns {
          checkNulls(image, column.id)
          switch column.type {
          case .int, .link: checkInts(image, column.id)
          case .bool: checkBools(image, column.id)
          case .double: checkDoubles(image, column.id)
          case .date: checkDates(image, column.id)
          case .string, .data, .any: try checkBytes(image, column.id)
          case .float, .objectID, .uuid, .decimal: break
          }
        }
      }
    }
  }

  private func checkNulls(_ image: ClusterImage, _ column: ColumnID) {
    var words = [UInt64](repeating: 0, count: image.bitmapWords)
    words.withUnsafeMutableBufferPointer { _ = image.decodeNulls(column, into: $0.baseAddress!) }
    for slot in 0..<image.rowCount {
      #expect((words[slot >> 6] >> UInt64(slot & 63) & 1 == 1) == image.isNull(column, slot))
    }
    let used = image.rowCount & 63
    #expect(used == 0 || words.last! >> UInt64(used) == 0)
  }

  private func checkInts(_ image: ClusterImage, _ column: ColumnID) {
    var values = [Int64](repeating: 0, count: image.rowCount)
    values.withUnsafeMutableBufferPointer { image.decodeInts(column, into: $0.baseAddress!) }
    for slot in 0..<image.rowCount where !image.isNull(column, slot) {
      #expect(values[slot] == image.int(column, slot))
      if let range = image.packedInts(column)?.range { #expect(range.contains(values[slot])) }
    }
  }

  private func checkBools(_ image: ClusterImage, _ column: ColumnID) {
    var words = [UInt64](repeating: 0, count: image.bitmapWords)
    words.withUnsafeMutableBufferPointer { image.decodeBools(column, into: $0.baseAddress!) }
    for slot in 0..<image.rowCount where !image.isNull(column, slot) {
      #expect((words[slot >> 6] >> UInt64(slot & 63) & 1 == 1) == image.bool(column, slot))
    }
  }

  private func checkDoubles(_ image: ClusterImage, _ column: ColumnID) {
    var values = [Double](repeating: 0, count: image.rowCount)
    values.withUnsafeMutableBufferPointer {
      image.decodeDoubles(column, into: $0.baseAddress!)
    }
    #expect((0..<image.rowCount).allSatisfy { values[$0] == image.double(column, $0) })
  }

  private func checkDates(_ image: ClusterImage, _ column: ColumnID) {
    var seconds = [Int64](repeating: 0, count: image.rowCount)
    var nanoseconds = [Int32](repeating: 0, count: image.rowCount)
    seconds.withUnsafeMutableBufferPointer { seconds in
      nanoseconds.withUnsafeMutableBufferPointer {
        image.decodeDates(
          column, seconds: seconds.baseAddress!, nanoseconds: $0.baseAddress!)
      }
    }
    for slot in 0..<image.rowCount where !image.isNull(column, slot) {
      let date = Timestamp(seconds: seconds[slot], nanoseconds: nanoseconds[slot])
      #expect(date == image.date(column, slot))
    }
  }

  /// A dictionary has for each row what the row itself has.
  private func checkBytes(_ image: ClusterImage, _ column: ColumnID) throws {
    guard let dictionary = image.dictionary(column) else { return }
    for slot in 0..<image.rowCount {
      guard case .inline(let bytes) = try image.bytes(column, slot) else { continue }
      let entry = try dictionary.entry(Int(dictionary.codes[slot]))
      #expect(entry.elementsEqual(bytes))
    }
  }

  @Test func fewDistinctStringsMakeADictionaryAndManyDoNot() throws {
    let schema = ClusterFixture.schema([(.string, false), (.string, false)])
    let cluster = WorkingCluster(schema)
    for key in 0..<100 {
      let slot = cluster.insert(ObjectKey(Int64(key)))
      cluster.setString(ColumnID(0), slot, "city number \(key % 9)")
      cluster.setString(ColumnID(1), slot, "a name \(key)")
    }
    try cluster.encode(
      emitLong: { _, _, _ in },
      emit: { _, rows, bytes throws(StorageError) in
        let image = try ClusterImage(validating: bytes)
        #expect(rows == 100)
        #expect(image.dictionary(ColumnID(0))?.count == 9)
        #expect(image.dictionary(ColumnID(1)) == nil)
      })
  }
}
