import Foundation

/// A file with one class `Item`, which has a property of most types: `a: Int`, `b: String`,
/// `c: Int?`, `d: Double`, `e: Bool`, `f: Date?`, `g: String?` and a link `h: Item?`.
package enum ItemFile {
  private static let clusterSize = 256

  /// The key of the object with that number: a cluster's worth of keys in each 65,536.
  package static func key(_ number: Int) -> Int64 {
    Int64(number & 0xff | (number & ~0xff) << 8)
  }

  /// The number of the object that a link leads to; nil without a link.
  package static func target(_ number: Int) -> Int? { number % 3 == 0 ? number / 2 : nil }

  package static func text(_ number: Int) -> String? {
    switch number % 4 {
    case 0: ""
    case 1: nil
    default: "a text of object \(number)"
    }
  }

  /// Writes a file with so many objects.
  package static func write(to path: String, count: Int) throws {
    var writer = RealmFileWriter()
    var clusters: [(offset: Int64, ref: Int)] = []
    for first in stride(from: 0, to: count, by: clusterSize) {
      let range = first..<min(count, first + clusterSize)
      clusters.append((key(first), cluster(range, &writer)))
    }
    let root = root(clusters, count, &writer)
    let table = writer.table(columns, root: root, key: 0)
    let top = writer.group([("class_Item", table)])
    try Data(writer.file(top: top)).write(to: URL(fileURLWithPath: path))
  }

  private static let columns: [RealmFileWriter.Column] = {
    let nullable = 16
    var columns: [RealmFileWriter.Column] = [
      .init("a", type: 0, place: 0), .init("b", type: 2, place: 1),
      .init("c", type: 0, attributes: nullable, place: 2), .init("d", type: 10, place: 3),
      .init("e", type: 1, place: 4), .init("f", type: 8, attributes: nullable, place: 5),
      .init("g", type: 2, attributes: nullable, place: 6),
      .init("h", type: 12, attributes: nullable, table: 0, place: 7),
      .init(nil, type: 14, table: 0, place: 8),
    ]
    columns[7].otherColumn = columns[8].key
    columns[8].otherColumn = columns[7].key
    return columns
  }()

  private static func cluster(_ range: Range<Int>, _ writer: inout RealmFileWriter) -> Int {
    let leaves = [
      writer.numbers(range.map { Int64($0) }),
      writer.strings(range.map { "n\($0)" }),
      writer.optionalNumbers(range.map { $0 % 5 == 0 ? nil : Int64($0 % 1000) - 500 }),
      writer.doubles(range.map { Double($0) / 4 }),
      writer.numbers(range.map { $0 % 2 == 0 ? 1 : 0 }),
      dates(range, &writer),
      writer.mediumStrings(range.map(text)),
      writer.numbers(range.map { target($0).map { key($0) + 1 } ?? 0 }),
      writer.refs(range.map { _ in .empty }),
    ]
    return writer.cluster(count: range.count, leaves)
  }

  private static func dates(_ range: Range<Int>, _ writer: inout RealmFileWriter) -> Int {
    let seconds = writer.optionalNumbers(
      range.map { $0 % 2 == 0 ? 1_600_000_000 + Int64($0) : nil })
    let nanoseconds = writer.numbers(range.map { $0 % 2 == 0 ? Int64($0) * 1000 % 1_000_000 : 0 })
    return writer.refs([.ref(seconds), .ref(nanoseconds)])
  }

  /// A tree over the clusters.
  private static func root(
    _ clusters: [(offset: Int64, ref: Int)], _ count: Int, _ writer: inout RealmFileWriter
  ) -> Int {
    var (level, depth) = (clusters, 0)
    var sizes = clusters.indices.map { min(clusterSize, count - $0 * clusterSize) }
    while level.count > 1 {
      depth += 1
      var (above, aboveSizes): ([(offset: Int64, ref: Int)], [Int]) = ([], [])
      for first in stride(from: 0, to: level.count, by: clusterSize) {
        let range = first..<min(level.count, first + clusterSize)
        let offset = level[first].offset
        let size = sizes[range].reduce(0, +)
        let children = level[range].map { (offset: $0.offset - offset, ref: $0.ref) }
        above.append((offset, writer.node(depth: depth, count: size, children)))
        aboveSizes.append(size)
      }
      (level, sizes) = (above, aboveSizes)
    }
    return level.first?.ref ?? writer.cluster(count: 0, [])
  }
}
