import CTarn
import TarnStore

/// One change to the bytes of a store.
///
/// Blind damage hits any byte or page. Targeted damage changes a field of a page's header or node,
/// or a record with a valid checksum: no checksum detects it, so the reader of the record must.
struct DamageMutation {
  private enum Kind: Int, CaseIterable {
    case bit, bytes, zeros, randomPage, swappedPages, swappedContents, copiedPage, olderPage, cut
    case header, pageHeader, node, key, record, sealedRecord, sealedNumber, otherRecord
  }

  private static let pageSize = 4096
  private static let nodeHeader = 8

  let map: DamageMap
  private(set) var bytes: [UInt8]
  private(set) var title = ""

  init(_ map: DamageMap) {
    self.map = map
    bytes = map.store.bytes
  }

  private var pages: Int { bytes.count / Self.pageSize }

  mutating func run(_ random: inout StressRandom) {
    let often: [Kind] = [.sealedRecord, .sealedRecord, .sealedNumber, .sealedNumber, .record]
    let choices = Kind.allCases + often
    let kind = choices[random.below(choices.count)]
    title += (title.isEmpty ? "" : ", ") + "\(kind)"
    // Earlier damage may have truncated the file.
    guard pages > 2 else { return }
    switch kind {
    case .bit, .bytes, .zeros, .cut: damageAnywhere(kind, &random)
    case .randomPage, .swappedPages, .swappedContents, .copiedPage, .olderPage:
      damagePage(kind, &random)
    case .header, .pageHeader, .node: damageStructure(kind, &random)
    case .key, .record, .sealedRecord, .sealedNumber, .otherRecord: damageRecord(kind, &random)
    }
  }

  private mutating func say(_ index: Int) { title += " \(index)" }

  private mutating func damageAnywhere(_ kind: Kind, _ random: inout StressRandom) {
    let at = random.below(bytes.count)
    say(at)
    switch kind {
    case .bit: bytes[at] ^= 1 << UInt8(random.below(8))
    case .bytes: scatter(at..<min(bytes.count, at + 1 + random.below(16)), &random)
    case .zeros:
      for index in at..<min(bytes.count, at + 1 + random.below(6000)) { bytes[index] = 0 }
    default: bytes.removeSubrange((random.chance(70) ? at / Self.pageSize * Self.pageSize : at)...)
    }
  }

  private mutating func damagePage(_ kind: Kind, _ random: inout StressRandom) {
    let one = random.chance(85) ? map.usedPages[random.below(map.usedPages.count)] : 0
    let other = random.below(pages)
    guard one < pages else { return }
    let (a, b) = (one * Self.pageSize, other * Self.pageSize)
    say(one)
    switch kind {
    case .randomPage: scatter(a..<a + Self.pageSize, &random)
    case .copiedPage:
      for offset in 8..<Self.pageSize { bytes[a + offset] = bytes[b + offset] }
    case .olderPage:
      guard a + Self.pageSize <= map.store.earlier.count else { return }
      for offset in 0..<Self.pageSize { bytes[a + offset] = map.store.earlier[a + offset] }
    default:
      // With or without the pages' numbers.
      for offset in (kind == .swappedPages ? 0 : 8)..<Self.pageSize {
        bytes.swapAt(a + offset, b + offset)
      }
    }
  }

  private mutating func damageStructure(_ kind: Kind, _ random: inout StressRandom) {
    switch kind {
    case .header:
      let at = random.below(2) * Self.pageSize + random.below(152)
      say(at)
      change(at, &random)
    case .pageHeader:
      let at = map.usedPages[random.below(map.usedPages.count)] * Self.pageSize + random.below(40)
      say(at)
      if at < bytes.count { change(at, &random) }
    default:
      let entry = map.entries[random.below(map.entries.count)]
      let at = entry.key.lowerBound - Self.nodeHeader + random.below(Self.nodeHeader)
      say(at)
      if at < bytes.count { change(at, &random) }
    }
  }

  private mutating func damageRecord(_ kind: Kind, _ random: inout StressRandom) {
    let tags = map.tags
    let tag = tags[random.below(tags.count)]
    let entries = map.entriesByTag[tag]!
    let entry = entries[random.below(entries.count)]
    guard entry.value.upperBound <= bytes.count, !entry.value.isEmpty else { return }
    title += " \(String(tag, radix: 16)) at \(entry.value.lowerBound)"
    let value = entry.value
    switch kind {
    case .key: change(entry.key.lowerBound + random.below(entry.key.count), &random)
    case .record: change(value.lowerBound + random.below(value.count), &random)
    case .sealedRecord:
      for _ in 0...random.below(4) {
        let most = random.chance(60) ? min(64, value.count) : value.count
        change(value.lowerBound + random.below(most), &random)
      }
    case .sealedNumber: putNumber(value, &random)
    default:
      let same = entries.filter { $0.value.count == value.count }
      let source = same[random.below(same.count)].value
      for offset in 0..<value.count {
        bytes[value.lowerBound + offset] = map.store.bytes[source.lowerBound + offset]
      }
    }
    if kind != .record && kind != .key { seal(entry, tag) }
  }

  /// Writes a number that is just out of range, or far out of range.
  private mutating func putNumber(_ value: Range<Int>, _ random: inout StressRandom) {
    let width = [1, 2, 4, 8][random.below(4)]
    guard value.count >= width else { return }
    let most = random.chance(60) ? min(64, value.count) : value.count
    let at = value.lowerBound + random.below(max(1, most - width + 1))
    guard at + width <= value.upperBound else { return }
    let numbers: [UInt64] = [
      0, 1, 0xff, 0xffff, 0xffff_ffff, .max, .max >> 1, 1 << 63, .max - 1, 1 << 62, 0x80, 0x7fff,
      1 << 48, (1 << 48) + 1, UInt64(bytes.count), random.next(),
    ]
    var number = numbers[random.below(numbers.count)]
    for offset in 0..<width {
      bytes[at + offset] = UInt8(truncatingIfNeeded: number)
      number >>= 8
    }
  }

  private mutating func change(_ at: Int, _ random: inout StressRandom) {
    switch random.below(4) {
    case 0: bytes[at] ^= 1 << UInt8(random.below(8))
    case 1: bytes[at] = [0, 0xff, 0x7f, 0x80, 1][random.below(5)]
    case 2: bytes[at] = bytes[at] &+ (random.chance(50) ? 1 : 255)
    default: bytes[at] = UInt8(truncatingIfNeeded: random.next())
    }
  }

  private mutating func scatter(_ range: Range<Int>, _ random: inout StressRandom) {
    for index in range { bytes[index] = UInt8(truncatingIfNeeded: random.next()) }
  }

  // MARK: - Checksums

  /// Recomputes the record's checksum.
  private mutating func seal(_ entry: DamageMap.Entry, _ tag: UInt8) {
    let value = entry.value
    switch TreeKey.Tag(rawValue: tag) {
    case .cluster, .sequencePage, .rowCounts, .sequenceRowCounts, .index, .unique, .schema:
      put(sum(of: value, from: 12, to: value.count), value, 8)
    case .classRecord, .head, .feed:
      put(sum(of: value, from: 0, to: value.count - 4), value, value.count - 4)
    case .nested:
      let kind = value.count > 1 ? UInt32(bytes[value.lowerBound + 1]) : 0
      let rest = value.count > 8 ? sum(of: value, from: 8, to: value.count) : 0
      put(rest ^ kind, value, 4)
    case .change: sealChange(entry)
    default: break
    }
  }

  private mutating func sealChange(_ entry: DamageMap.Entry) {
    let key = map.store.bytes[entry.key]
    guard key.count == 15, entry.value.count >= 5 else { return }
    func number(_ from: Int, _ count: Int) -> UInt64 {
      key[(key.startIndex + from)..<(key.startIndex + from + count)].reduce(0) {
        $0 << 8 | UInt64($1)
      }
    }
    var piece = ChangeRecord.Piece(
      classField: UInt32(number(9, 4)), chunk: UInt16(number(13, 2)),
      bytes: Array(bytes[entry.value]))
    piece.reseal(version: Version(number(1, 8)))
    bytes.replaceSubrange(entry.value, with: piece.bytes)
  }

  private func sum(of value: Range<Int>, from: Int, to: Int) -> UInt32 {
    guard from < to, to <= value.count else { return 0 }
    return bytes[value].withUnsafeBytes { tarn_crc32c($0.baseAddress! + from, to - from) }
  }

  private mutating func put(_ sum: UInt32, _ value: Range<Int>, _ offset: Int) {
    guard offset >= 0, offset + 4 <= value.count else { return }
    for index in 0..<4 {
      bytes[value.lowerBound + offset + index] = UInt8(truncatingIfNeeded: sum >> UInt32(8 * index))
    }
  }
}

/// The layout of a sound store: its pages in use, and the keys and values in their leaves.
struct DamageMap {
  struct Entry {
    var key: Range<Int>
    var value: Range<Int>
  }

  let store: DamageStore
  private(set) var usedPages: [Int] = []
  /// By tag; entries of the free list have the tag 0.
  private(set) var entriesByTag: [UInt8: [Entry]] = [:]
  let entries: [Entry]
  let tags: [UInt8]

  init(_ store: DamageStore) {
    self.store = store
    var found = Finder(bytes: store.bytes)
    let header = found.number(144, 8) < found.number(4096 + 144, 8) ? 4096 : 0
    found.visit(found.number(header + 40 + 40, 8), isFree: true)
    found.visit(found.number(header + 88 + 40, 8), isFree: false)
    usedPages = found.pages
    entriesByTag = found.entries
    entries = found.entries.values.flatMap { $0 }
    tags = found.entries.keys.sorted()
  }

  private struct Finder {
    let bytes: [UInt8]
    var pages: [Int] = []
    var entries: [UInt8: [Entry]] = [:]

    func number(_ at: Int, _ count: Int) -> Int {
      Int(
        truncatingIfNeeded: (0..<count).reduce(UInt64(0)) {
          $0 | UInt64(bytes[at + $1]) << UInt64(8 * $1)
        })
    }

    mutating func visit(_ page: Int, isFree: Bool) {
      guard page >= 0 else { return }
      pages.append(page)
      let base = page * 4096
      for index in 0..<(number(base + 12, 2) - 16) / 2 {
        let node = base + number(base + 16 + 2 * index, 2)
        let key = node + 8..<node + 8 + number(node + 6, 2)
        if bytes[base + 10] & 1 != 0 {
          visit(number(node, 6), isFree: isFree)
        } else {
          let count = number(node, 4)
          let isElsewhere = bytes[node + 4] & 1 != 0
          let start = isElsewhere ? number(key.upperBound, 8) * 4096 + 16 : key.upperBound
          if isElsewhere { pages.append(start / 4096) }
          entries[isFree ? 0 : bytes[key.lowerBound], default: []].append(
            Entry(key: key, value: start..<start + count))
        }
      }
    }
  }
}
