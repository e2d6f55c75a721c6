import Glibc
import TarnStore
import TestSupport
import Testing

/// A page of memory with one behind it that nobody may touch.
private final class GuardedPage {
  private let base: UnsafeMutableRawPointer
  private static let pageBytes = 4_096

  init() {
    base = mmap(
      nil, 2 * Self.pageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    precondition(base != MAP_FAILED)
    precondition(mprotect(base + Self.pageBytes, Self.pageBytes, PROT_NONE) == 0)
  }

  deinit { munmap(base, 2 * Self.pageBytes) }

  /// The bytes, copied so that they end where the page ends.
  func position(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
    let start = base + Self.pageBytes - bytes.count
    bytes.withUnsafeBytes {
      if let source = $0.baseAddress { start.copyMemory(from: source, byteCount: $0.count) }
    }
    return UnsafeRawBufferPointer(start: start, count: bytes.count)
  }
}

/// Damaged bytes: validation throws, or every read stays inside. Reading behind the image would
/// end the process.
@Suite struct ClusterDamageTests {
  private func image(_ seed: UInt64) throws -> [UInt8] {
    var dice = SeededRandom(seed: seed)
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
  private func exercise(_ bytes: [UInt8], _ page: GuardedPage) {
    guard let image = try? ClusterImage(validating: page.position(bytes)) else { return }
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
      for slot in 0..<image.rowCount {
        guard case .inline(let bytes)? = try? image.bytes(column, slot) else { continue }
        sum += bytes.reduce(0) { $0 + Int($1) }
      }
    }
  }

  private func edit(_ cluster: WorkingCluster) {
    for index in 1..<ClusterFixture.allTypes.columns.count where cluster.rowCount > 0 {
      var dice = SeededRandom(seed: UInt64(index))
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

  /// In one way each, with `TARN_SEEDS=all` in each of three.
  @Test(arguments: [1, 2] as [UInt64])
  func anyDamagedByteIsFoundOrHarmless(seed: UInt64) throws {
    let bytes = try image(seed)
    let page = GuardedPage()
    for index in bytes.indices {
      for flip in Seeds.inTurn([0xff, 0x01, 0x80] as [UInt8], at: index) {
        var damaged = bytes
        damaged[index] ^= flip
        exercise(damaged, page)
      }
    }
  }

  @Test(arguments: [3, 4] as [UInt64])
  func randomBytesAreFoundOrHarmless(seed: UInt64) throws {
    var dice = SeededRandom(seed: seed)
    let bytes = try image(seed)
    let page = GuardedPage()
    for _ in 0..<400 {
      var damaged = bytes
      for _ in 0..<(1 + dice.below(12)) {
        let tableEnd = 24 + 21 * 8
        let index = dice.chance(70) ? dice.below(tableEnd) : dice.below(damaged.count)
        damaged[index] = UInt8(truncatingIfNeeded: dice.next())
      }
      exercise(damaged, page)
      exercise(Array(bytes.prefix(dice.below(bytes.count))), page)
    }
  }

  private func put16(_ bytes: inout [UInt8], _ at: Int, _ value: Int) {
    bytes[at] = UInt8(truncatingIfNeeded: value)
    bytes[at + 1] = UInt8(truncatingIfNeeded: value >> 8)
  }

  private func get16(_ bytes: [UInt8], _ at: Int) -> Int {
    Int(bytes[at]) | Int(bytes[at + 1]) << 8
  }

  @Test func everyFieldOfADescriptorIsChecked() throws {
    let bytes = try image(2)
    let page = GuardedPage()
    let positions =
      Array(stride(from: bytes.count - 150, to: bytes.count + 2, by: 7)) + [0, 0xffff]
    for column in 0..<get16(bytes, 4) {
      let descriptor = 24 + 8 * column
      for field in [2, 4, 6] {
        for position in positions {
          var damaged = bytes
          put16(&damaged, descriptor + field, position)
          exercise(damaged, page)
        }
      }
      for kind in 0..<9 as Range<UInt8> {
        for width in [0, 1, 2, 4, 8, 12, 16, 0x40, 0x48, 0x80, 0xff] as [UInt8] {
          var damaged = bytes
          damaged[descriptor] = kind
          damaged[descriptor + 1] = width
          exercise(damaged, page)
        }
      }
    }
    for header in [2, 4, 6, 12, 14] {
      for value in positions + Array(0..<40) {
        var damaged = bytes
        put16(&damaged, header, value)
        exercise(damaged, page)
      }
    }
  }

  @Test func stringsThatEndBehindTheImageAreFound() throws {
    let bytes = try image(2)
    let page = GuardedPage()
    for column in 0..<get16(bytes, 4) {
      let descriptor = 24 + 8 * column
      guard bytes[descriptor] == ClusterColumnKind.bytes.rawValue else { continue }
      let ends = get16(bytes, descriptor + 2)
      let room = bytes.count - get16(bytes, descriptor + 6)
      for slot in 0...get16(bytes, 2) {
        for past in [-17, -16, -15, -8, -1, 0, 1, 30] {
          var damaged = bytes
          put16(&damaged, ends + 2 * slot, room + past)
          exercise(damaged, page)
          guard past > -16, slot > 0 else { continue }
          try ClusterFixture.validated(damaged) { image in
            let id = ColumnID(UInt16(column))
            let code = StorageError.code {
              if image.isNull(id, slot - 1) { try image.checkRows(ClusterFixture.allTypes) }
              _ = try image.bytes(id, slot - 1)
            }
            #expect(code == .corrupted)
          }
        }
      }
    }
  }

  @Test func overlappingColumnsAreReadButNotEdited() throws {
    let schema = ClusterFixture.schema([(.double, false), (.double, false)])
    let cluster = WorkingCluster(schema)
    for key in 0..<Int64(5) {
      let slot = cluster.insert(ObjectKey(key))
      cluster.setDouble(ColumnID(0), slot, 1)
      cluster.setDouble(ColumnID(1), slot, 2)
    }
    var bytes: [UInt8] = []
    try cluster.encode(emitLong: { _, _, _ in }, emit: { _, _, image in bytes = Array(image) })
    try ClusterFixture.validated(bytes) { try $0.checkRows(schema) }
    put16(&bytes, 24 + 8 + 2, get16(bytes, 24 + 2) + 16)
    try ClusterFixture.validated(bytes) { image in
      #expect(image.double(ColumnID(1), 0) == 1)
      #expect(StorageError.code { try WorkingCluster(image, schema) } == .corrupted)
    }
  }

  @Test func aWrongChecksumIsFound() throws {
    var bytes = try image(5)
    try ClusterFixture.validated(bytes) { try $0.verifyChecksum() }
    bytes[bytes.count - 1] ^= 1
    let code = StorageError.code {
      try ClusterFixture.validated(bytes) { try $0.verifyChecksum() }
    }
    #expect(code == .corrupted)
  }

  @Test func anotherFormatIsRefusedAsNewer() throws {
    var bytes = try image(5)
    bytes[0] = 2
    #expect { try ClusterFixture.validated(bytes) { $0.rowCount } } throws: {
      ($0 as? StorageError)?.code == .newerFormat
    }
  }
}
