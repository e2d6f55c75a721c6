import Foundation

/// Writes files in the format of Realm's databases, for tests: sound ones of any size, and ones
/// that no library would write.
///
/// Arrays are put one after another, the leaves first; each call returns the offset of its array.
package struct RealmFileWriter {
  private static let cookie: UInt64 = 0x3034_1252_37e5_26c8
  package private(set) var bytes: [UInt8]

  package init() {
    bytes = [UInt8](repeating: 0xff, count: 8) + [UInt8](repeating: 0, count: 8)
    bytes += Array("T-DB".utf8) + [24, 0, 0, 0]
  }

  /// The whole file, written in one go.
  package func file(top: Int, format: UInt8 = 24) -> [UInt8] {
    var all = bytes
    all[20] = format
    Self.append(UInt64(top), &all)
    Self.append(Self.cookie, &all)
    return all
  }

  private static func append<T: FixedWidthInteger>(_ number: T, _ bytes: inout [UInt8]) {
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
  }

  private mutating func begin(_ flags: UInt8, _ count: Int) -> Int {
    let ref = bytes.count
    bytes += [0x41, 0x41, 0x41, 0x41, flags]
    bytes += [UInt8(count >> 16 & 0xff), UInt8(count >> 8 & 0xff), UInt8(count & 0xff)]
    return ref
  }

  private mutating func end() {
    while bytes.count % 8 != 0 { bytes.append(0) }
  }

  // MARK: - Arrays

  /// An array of numbers, as wide as they need.
  package mutating func numbers(_ values: [Int64], flags: UInt8 = 0) -> Int {
    let (low, high) = values.reduce((Int64(0), Int64(0))) { (min($0.0, $1), max($0.1, $1)) }
    let width =
      switch (low, high) {
      case (0, 0): 0
      case (0, ...1): 1
      case (0, ...3): 2
      case (0, ...15): 3
      case ((-128)..., ..<128): 4
      case ((-32_768)..., ..<32_768): 5
      case ((-0x8000_0000)..., ..<0x8000_0000): 6
      default: 7
      }
    let ref = begin(flags | UInt8(width), values.count)
    switch width {
    case 0: break
    case 1, 2, 3: appendParts(values, bits: 1 << (width - 1))
    case 4: for value in values { Self.append(Int8(value), &bytes) }
    case 5: for value in values { Self.append(Int16(value), &bytes) }
    case 6: for value in values { Self.append(Int32(value), &bytes) }
    default: for value in values { Self.append(value, &bytes) }
    }
    end()
    return ref
  }

  private mutating func appendParts(_ values: [Int64], bits: Int) {
    var (byte, used) = (UInt8(0), 0)
    for value in values {
      byte |= UInt8(value) << UInt8(used)
      used += bits
      if used == 8 {
        bytes.append(byte)
        (byte, used) = (0, 0)
      }
    }
    if used > 0 { bytes.append(byte) }
  }

  /// A slot of an array of references.
  package enum Slot {
    case empty
    case ref(Int)
    case number(Int)
  }

  /// An array of references.
  package mutating func refs(
    _ slots: [Slot], isInner: Bool = false, hasContext: Bool = false
  ) -> Int {
    numbers(
      slots.map { slot in
        switch slot {
        case .empty: 0
        case .ref(let ref): Int64(ref)
        case .number(let number): Int64(number) << 1 | 1
        }
      }, flags: 0x40 | (isInner ? 0x80 : 0) | (hasContext ? 0x20 : 0))
  }

  package mutating func doubles(_ values: [Double]) -> Int {
    let ref = begin(0x0c, values.count)
    for value in values { Self.append(value.bitPattern, &bytes) }
    end()
    return ref
  }

  package mutating func blob(_ content: [UInt8]) -> Int {
    let ref = begin(0x11, content.count)
    bytes += content
    end()
    return ref
  }

  /// Short texts; nil is null. The longest one may have 62 bytes.
  package mutating func strings(_ values: [String?]) -> Int {
    let longest = values.reduce(values.contains(nil) ? 0 : -1) { max($0, $1?.utf8.count ?? 0) }
    let code = values.isEmpty ? 0 : (1...7).first { 1 << ($0 - 1) > longest } ?? 7
    let width = (1 << code) >> 1
    let ref = begin(0x08 | UInt8(code), values.count)
    for value in values {
      guard let value else {
        bytes += [UInt8](repeating: 0, count: width - 1) + [UInt8(width)]
        continue
      }
      let unused = width - 1 - value.utf8.count
      bytes.append(contentsOf: value.utf8)
      for _ in 0..<unused { bytes.append(0) }
      bytes.append(UInt8(unused))
    }
    end()
    return ref
  }

  /// Texts of any length in one blob; nil is null.
  package mutating func mediumStrings(_ values: [String?]) -> Int {
    var (ends, nulls): ([Int64], [Int64]) = ([], [])
    var content: [UInt8] = []
    for value in values {
      content.append(contentsOf: (value ?? "").utf8)
      content.append(0)
      ends.append(Int64(content.count))
      nulls.append(value == nil ? 1 : 0)
    }
    return refs([.ref(numbers(ends)), .ref(blob(content)), .ref(numbers(nulls))])
  }

  /// Numbers that can be null.
  package mutating func optionalNumbers(_ values: [Int64?]) -> Int {
    let null = (values.lazy.compactMap { $0 }.max() ?? 0) + 1
    return numbers([null] + values.map { $0 ?? null })
  }

  // MARK: - Tables

  /// A column to write.
  package struct Column {
    package var name: String?
    package var type: Int
    package var attributes: Int
    /// The key of the table that links lead to, or come from.
    package var table: Int?
    /// The key of the other column of links.
    package var otherColumn: Int?
    package var place: Int

    /// - Parameter name: nil for a column of backlinks.
    package init(
      _ name: String?, type: Int, attributes: Int = 0, table: Int? = nil, place: Int
    ) {
      self.name = name
      self.type = type
      self.attributes = attributes
      self.table = table
      self.place = place
    }

    package var key: Int { place | type << 16 | (attributes & 0xff) << 22 | 1 << 30 }
  }

  /// A table with that tree of objects.
  package mutating func table(
    _ columns: [Column], root: Int, key: Int, flags: Int = 0, primaryKey: Int? = nil
  ) -> Int {
    let types = numbers(columns.map { Int64($0.type) })
    let names = strings(columns.compactMap(\.name))
    let attributes = numbers(columns.map { Int64($0.attributes) })
    let keys = numbers(columns.map { Int64($0.key) })
    let spec = refs([.ref(types), .ref(names), .ref(attributes), .empty, .empty, .ref(keys)])
    let byPlace = columns.sorted { $0.place < $1.place }
    let tables = numbers(byPlace.map { Int64($0.table ?? 0x7fff_ffff) })
    let others = numbers(byPlace.map { Int64($0.otherColumn ?? .max) })
    return refs([
      .ref(spec), .empty, .ref(root), .number(key), .empty, .number(0), .number(0), .ref(tables),
      .ref(others), .number(0), .empty, primaryKey.map { .number($0) } ?? .empty, .number(flags),
      .empty,
    ])
  }

  /// The array of a version with these tables.
  package mutating func group(_ tables: [(name: String, ref: Int)]) -> Int {
    let names = strings(tables.map(\.name))
    let list = refs(tables.map { .ref($0.ref) })
    // Longer than what comes after, but not than the file.
    return refs([.ref(names), .ref(list), .number(bytes.count)])
  }

  /// A cluster of objects with the keys from 0 on.
  package mutating func cluster(count: Int, _ leaves: [Int]) -> Int {
    refs([.number(count)] + leaves.map { .ref($0) })
  }

  /// A node above clusters or other nodes.
  package mutating func node(
    depth: Int, count: Int, _ children: [(offset: Int64, ref: Int)]
  ) -> Int {
    let keys = numbers(children.map(\.offset))
    return refs(
      [.ref(keys), .number(depth), .number(count)] + children.map { .ref($0.ref) }, isInner: true)
  }
}
