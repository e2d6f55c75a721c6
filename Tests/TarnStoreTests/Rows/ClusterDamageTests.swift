import TarnStore
import Testing

/// Damaged bytes: validation throws, or every read stays inside. The image lies at the end of its
/// own memory, so that under the address sanitizer a read outside ends the test.
@Suite struct ClusterDamageTests {
  private func image(_ seed: UInt64) throws -> [UInt8] {
    var dice = ClusterDice(seed)
    let schema = ClusterFixture.allTypes
    let cluster = WorkingCluster(schema)
    for key in 0..<Int64(4 + seed % 3 * 6) {
      let slot = cluster.insert(ObjectKey(key * 3))
      for column in schema.columns.dropFirst() where !dice.chance(10) {
        cluster.set(column.id, slot, ClusterFixture.value(column, &dice))
      }
    }
    var images: [[UInt8]] = []
    try cluster.encode(
      emitLong: { _, _, _ in }, emit: { _, _, bytes in images.append([UInt8](bytes)) })
    return images[0]
  }

  /// Reads everything that can be read, and edits what may be edited.
  private func exercise(_ bytes: [UInt8]) {
    let exact = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    defer { exact.deallocate() }
    exact.copyBytes(from: bytes)
    guard let image = try? ClusterImage(validating: UnsafeRawBufferPointer(exact)) else { return }
    let schema = ClusterFixture.allTypes
    for slot in 0..<image.rowCount {
      _ = image.slot(of: image.key(at: slot))
      for column in schema.columns {
        if let value = try? image.value(column, slot), case .data(let data) = value {
          _ = data.reduce(0, ^)
        }
      }
    }
    scan(image)
    guard let cluster = try? WorkingCluster(image, schema) else { return }
    edit(cluster)
  }

  private func scan(_ image: ClusterImage) {
    let ints = UnsafeMutablePointer<Int64>.allocate(capacity: image.rowCount + 1)
    let doubles = UnsafeMutablePointer<Double>.allocate(capacity: image.rowCount + 1)
    let nanoseconds = UnsafeMutablePointer<Int32>.allocate(capacity: image.rowCount + 1)
    let words = UnsafeMutablePointer<UInt64>.allocate(capacity: image.bitmapWords + 1)
    defer {
      ints.deallocate()
      doubles.deallocate()
      nanoseconds.deallocate()
      words.deallocate()
    }
    image.decodeKeys(into: ints)
    for index in 0..<UInt16(ClusterFixture.allTypes.columns.count + 1) {
      let column = ColumnID(index)
      image.decodeInts(column, into: ints)
      image.decodeDoubles(column, into: doubles)
      image.decodeDates(column, seconds: ints, nanoseconds: nanoseconds)
      image.decodeBools(column, into: words)
      image.decodeNulls(column, into: words)
      if let dictionary = image.dictionary(column) {
        for code in 0..<dictionary.count { _ = try? dictionary.entry(code) }
      }
      var sum = 0
      try? image.forEachBytes(column) { _, bytes in
        if case .inline(let bytes) = bytes { sum += bytes.reduce(0) { $0 + Int($1) } }
      }
    }
  }

  private func edit(_ cluster: WorkingCluster) {
    for index in 1..<ClusterFixture.allTypes.columns.count where cluster.rowCount > 0 {
      var dice = ClusterDice(UInt64(index))
      let column = ClusterFixture.allTypes.columns[index]
      cluster.set(column.id, cluster.rowCount - 1, ClusterFixture.value(column, &dice))
    }
    try? cluster.encode(emitLong: { _, _, _ in }, emit: { _, _, _ in })
    if cluster.rowCount > 0 { cluster.remove(at: 0) }
    try? cluster.encode(
      emitLong: { _, _, _ in },
      emit: { _, _, bytes throws(StorageError) in
        _ = try ClusterImage(validating: bytes)
      })
  }

  @Test(arguments: [1, 2] as [UInt64])
  func anyDamagedByteIsFoundOrHarmless(seed: UInt64) throws {
    let bytes = try image(seed)
    for index in bytes.indices {
      for flip in [0xff, 0x01, 0x80] as [UInt8] {
        var damaged = bytes
        damaged[index] ^= flip
        exercise(damaged)
      }
    }
  }

  @Test(arguments: [3, 4] as [UInt64])
  func randomBytesAreFoundOrHarmless(seed: UInt64) throws {
    var dice = ClusterDice(seed)
    let bytes = try image(seed)
    for _ in 0..<400 {
      var damaged = bytes
      for _ in 0..<(1 + dice.below(12)) {
        let tableEnd = 24 + 21 * 8
        let index = dice.chance(70) ? dice.below(tableEnd) : dice.below(damaged.count)
        damaged[index] = UInt8(truncatingIfNeeded: dice.next())
      }
      exercise(damaged)
      exercise(Array(bytes.prefix(dice.below(bytes.count))))
    }
  }

  @Test func aWrongChecksumIsFound() throws {
    var bytes = try image(5)
    try ClusterFixture.validated(bytes) { try $0.verifyChecksum() }
    bytes[bytes.count - 1] ^= 1
    #expect(throws: StorageError.self) {
      try ClusterFixture.validated(bytes) { try $0.verifyChecksum() }
    }
  }

  @Test func anotherFormatIsRefusedAsNewer() throws {
    var bytes = try image(5)
    bytes[0] = 2
    #expect { try ClusterFixture.validated(bytes) { $0.rowCount } } throws: {
      ($0 as? StorageError)?.code == .newerFormat
    }
  }
}
