import TarnStore
import TestSupport
import Testing

private func bytes(_ key: TreeKey) -> [UInt8] { key.withBytes { Array($0) } }

@Suite struct TreeKeyTests {
  @Test func `keys have the bytes that the file format gives them`() {
    #expect(bytes(.head) == [0x7e])
    #expect(bytes(.schema(piece: 258)) == [0x02, 1, 2])
    #expect(bytes(.classRecord(ClassID(7))) == [0x10, 0, 0, 0, 7])
    #expect(
      bytes(.cluster(ClassID(1), first: ObjectKey(-1)))
        == [0x20, 0, 0, 0, 1, 0, 0x7f, 255, 255, 255, 255, 255, 255, 255])
    #expect(
      bytes(.rowCounts(ClassID(1), first: ObjectKey(2)))
        == [0x21, 0, 0, 0, 1, 0x80, 0, 0, 0, 0, 0, 0, 2])
    #expect(
      bytes(.longValue(ClassID(1), ObjectKey(2), ColumnID(3), piece: 4))
        == [0x40, 0, 0, 0, 1, 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 3, 0, 0, 0, 4])
    #expect(
      bytes(.change(Version(5), ClassID(0), chunk: 6))
        == [0x70, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 1, 0, 6])
    #expect(
      bytes(.oldValue(Version(5), number: 1, piece: 6))
        == [0x72, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 1, 0, 6])
  }

  @Test(arguments: TreeTest.seeds)
  func `keys read back as what they were made of`(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    for _ in 0..<500 {
      let id = ClassID(UInt32(truncatingIfNeeded: random.next()) >> 1)
      let object = ObjectKey(Int64(bitPattern: random.next()))
      let column = ColumnID(UInt16(random.below(65_536)))
      let version = Version(random.next())
      let number = UInt16(random.below(65_536))
      TreeKey.cluster(id, first: object).withBytes { key in
        let parsed = TreeKey.parseCluster(key)
        #expect(parsed?.classID == id)
        #expect(parsed?.first == object)
        #expect(TreeKey.parseRowCounts(key) == nil)
        #expect(TreeKey.parseChange(key) == nil)
        #expect(TreeKey.tag(of: key) == .cluster)
      }
      TreeKey.rowCounts(id, first: object).withBytes { key in
        let parsed = TreeKey.parseRowCounts(key)
        #expect(parsed?.classID == id)
        #expect(parsed?.first == object)
      }
      TreeKey.longValue(id, object, column, piece: UInt32(number) << 8).withBytes { key in
        let parsed = TreeKey.parseLongValue(key)
        #expect(parsed?.classID == id)
        #expect(parsed?.object == object)
        #expect(parsed?.column == column)
        #expect(parsed?.piece == UInt32(number) << 8)
      }
      TreeKey.oldValue(version, number: id.rawValue, piece: number).withBytes { key in
        let parsed = TreeKey.parseOldValue(key)
        #expect(parsed?.version == version)
        #expect(parsed?.number == id.rawValue)
        #expect(parsed?.piece == number)
        #expect(TreeKey.parseChange(key) == nil)
      }
      TreeKey.change(version, id, chunk: number).withBytes { key in
        let parsed = TreeKey.parseChange(key)
        #expect(parsed?.version == version)
        #expect(parsed?.classID == id)
        #expect(parsed?.chunk == number)
      }
      TreeKey.changeHeader(version).withBytes { key in
        let parsed = TreeKey.parseChange(key)
        #expect(parsed?.version == version)
        #expect(parsed?.classID == nil)
        #expect(parsed?.chunk == 0)
      }
      TreeKey.classRecord(id).withBytes { #expect(TreeKey.parseClassRecord($0) == id) }
      TreeKey.schema(piece: number).withBytes { #expect(TreeKey.parseSchema($0) == number) }
    }
  }

  @Test func `bytes order as the objects' keys do`() {
    let objects: [Int64] = [.min, .min + 1, -256, -1, 0, 1, 255, 256, .max - 1, .max]
    for (a, b) in zip(objects, objects.dropFirst()) {
      let smaller = bytes(.cluster(ClassID(9), first: ObjectKey(a)))
      let larger = bytes(.cluster(ClassID(9), first: ObjectKey(b)))
      #expect(smaller.lexicographicallyPrecedes(larger))
      #expect(ObjectKey(treeOrder: ObjectKey(a).treeOrder) == ObjectKey(a))
    }
    let header = bytes(.changeHeader(Version(3), chunk: 9))
    let first = bytes(.change(Version(3), ClassID(0), chunk: 0))
    #expect(header.lexicographicallyPrecedes(first))
  }

  @Test func `nothing is read from bytes that are no such key`() {
    for count in 0..<30 {
      [UInt8](repeating: 0x20, count: count).withUnsafeBytes { key in
        #expect(TreeKey.parseCluster(key) == nil)
        #expect(TreeKey.parseSchema(key) == nil)
        #expect(TreeKey.parseLongValue(key) == nil)
        #expect(TreeKey.parseClassRecord(key) == nil)
      }
    }
    [UInt8]([0x56]).withUnsafeBytes { #expect(TreeKey.tag(of: $0) == nil) }
    [UInt8]().withUnsafeBytes { #expect(TreeKey.tag(of: $0) == nil) }
  }
}
