import Foundation
import StressFaults

/// The bytes that a disk has at one moment of a trace, and the changes that may have reached it.
///
/// A sync makes everything durable that was written to the file before. After a power failure, each
/// sector has one of the states that it had since the last sync, the file has one of its lengths,
/// and the first few changes of names are there.
struct CrashDisk {
  static let sectorByteCount = 512
  static let blockByteCount = 4096

  /// Bytes of one write within one sector.
  private struct Piece {
    let order: Int
    /// In the file.
    let offset: Int
    /// In the trace.
    let range: Range<Int>
  }

  private struct File {
    /// The durable contents, by number; those that are missing are zeros.
    var blocks: [Int: [UInt8]] = [:]
    var byteCount = 0
    /// The lengths since the last sync.
    var lengths: [Int] = []
    /// The writes since the last sync, by sector.
    var pieces: [Int: [Piece]] = [:]

    /// The order of the first write since the last sync.
    var firstOrder = 0

    var lastLength: Int { lengths.last ?? byteCount }
  }

  private enum NameChange {
    case add(String, UInt64)
    case remove(String)
    case move(String, String, UInt64)
  }

  private let trace: PowerTrace
  private var files: [UInt64: File] = [:]
  private var names: [String: UInt64] = [:]
  private var nameChanges: [NameChange] = []
  private var order = 0
  /// A medium that only says that it has synced, to test the checks.
  var isLying = false

  init(_ trace: PowerTrace) { self.trace = trace }

  /// The call has been made: its bytes may reach the disk from now on.
  mutating func begin(_ event: PowerTrace.Event) {
    order += 1
    let last = files[event.inode, default: File()].lastLength
    switch event.kind {
    case stress_wrote:
      write(event)
      let end = event.offset + event.range.count
      if end > last { size(event.inode, end) }
    case stress_sized: size(event.inode, event.offset)
    case stress_extended: if event.offset > last { size(event.inode, event.offset) }
    case stress_named, stress_unnamed, stress_renamed: note(event)
    default: break
    }
  }

  /// The call has returned: what it makes durable is so.
  mutating func finish(_ event: PowerTrace.Event) {
    switch event.kind {
    case stress_wrote where event.isBefore || event.isAtOnce: settle(event)
    case stress_sized where event.isBefore: sync(event.inode)
    case stress_named where event.isBefore: settleNames()
    case stress_synced where isLying: break
    case stress_synced where event.isOfFolder: settleNames()
    case stress_synced: sync(event.inode)
    default: break
    }
  }

  /// How much is undecided: sectors, lengths and names since their last sync.
  var undecided: Int {
    files.values.reduce(nameChanges.count) { $0 + $1.pieces.count + $1.lengths.count }
  }

  // MARK: - Contents

  private mutating func size(_ inode: UInt64, _ byteCount: Int) {
    files[inode, default: File()].lengths.append(byteCount)
  }

  private mutating func write(_ event: PowerTrace.Event) {
    if files[event.inode, default: File()].pieces.isEmpty {
      files[event.inode, default: File()].firstOrder = order
    }
    var offset = event.offset
    var at = event.range.lowerBound
    while at < event.range.upperBound {
      let sector = offset / Self.sectorByteCount
      let count = min(
        (sector + 1) * Self.sectorByteCount - offset, event.range.upperBound - at)
      files[event.inode, default: File()].pieces[sector, default: []].append(
        Piece(order: order, offset: offset, range: at..<at + count))
      offset += count
      at += count
    }
  }

  /// The sectors of one write have reached the disk as they are now.
  private mutating func settle(_ event: PowerTrace.Event) {
    guard !event.range.isEmpty, var file = files[event.inode] else { return }
    let end = event.offset + event.range.count
    for sector in event.offset / Self.sectorByteCount...(end - 1) / Self.sectorByteCount {
      for piece in file.pieces.removeValue(forKey: sector) ?? [] { put(piece, &file.blocks) }
    }
    file.byteCount = max(file.byteCount, end)
    files[event.inode] = file
  }

  private mutating func sync(_ inode: UInt64) {
    guard var file = files.removeValue(forKey: inode) else { return }
    for pieces in file.pieces.values { for piece in pieces { put(piece, &file.blocks) } }
    file.pieces = [:]
    file.byteCount = file.lastLength
    file.lengths = []
    files[inode] = file
  }

  private func put(_ piece: Piece, _ blocks: inout [Int: [UInt8]]) {
    let number = piece.offset / Self.blockByteCount
    let start = piece.offset % Self.blockByteCount
    trace.bytes.withUnsafeBytes { bytes in
      blocks[number, default: Self.zeros].withUnsafeMutableBytes { block in
        UnsafeMutableRawBufferPointer(rebasing: block[start...])
          .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[piece.range]))
      }
    }
  }

  private static let zeros = [UInt8](repeating: 0, count: blockByteCount)

  // MARK: - Names

  private mutating func note(_ event: PowerTrace.Event) {
    let paths = trace.names(of: event)
    switch event.kind {
    case stress_named: nameChanges.append(.add(paths[0], event.inode))
    case stress_unnamed: nameChanges.append(.remove(paths[0]))
    default: nameChanges.append(.move(paths[0], paths[1], event.inode))
    }
  }

  private mutating func settleNames() {
    names = names(after: nameChanges.count)
    nameChanges = []
  }

  private func names(after count: Int) -> [String: UInt64] {
    var names = names
    for change in nameChanges.prefix(count) {
      switch change {
      case .add(let path, let inode): names[path] = inode
      case .remove(let path): names[path] = nil
      case .move(let from, let to, let inode):
        names[from] = nil
        names[to] = inode
      }
    }
    return names
  }

  // MARK: - Images

  /// Which of the sectors have reached the disk.
  private enum Reached {
    /// Each with this probability, in any of its states.
    case some(percent: Int)
    /// All writes before this one, and some sectors of it.
    case inOrder(last: Int)
    /// All but these writes.
    case allWithout(Int)
  }

  /// A state of the file at the path that a power failure may leave now; nil for no file.
  ///
  /// - Parameter sectors: the bytes that the medium writes as one.
  func image(of path: String, torn sectors: Int, _ random: inout StressRandom) -> CrashImage? {
    let name = names(after: random.below(nameChanges.count + 1))[path]
    guard let name, let file = files[name] else { return nil }
    var image = CrashImage(blocks: file.blocks, byteCount: file.byteCount)
    if !file.lengths.isEmpty, random.chance(75) {
      image.byteCount =
        random.chance(60) ? file.lastLength : file.lengths[random.below(file.lengths.count)]
    }
    guard !file.pieces.isEmpty else { return image }
    // Some of these orders are of other files: then all or none of the writes have arrived.
    let one = file.firstOrder + random.below(order - file.firstOrder + 1)
    let reached: Reached =
      switch random.below(10) {
      case 0...5: .some(percent: [0, 5, 30, 50, 80, 95, 100][random.below(7)])
      case 6...7: .inOrder(last: one)
      default: .allWithout(one)
      }
    for (group, pieces) in grouped(file.pieces, sectors) {
      var last = pieces[pieces.count - 1].order
      switch reached {
      case .some(let percent):
        if !random.chance(percent) {
          last = 0
        } else if random.chance(30) {
          last = pieces[random.below(pieces.count)].order
        }
      case .inOrder(let limit):
        last = random.chance(50) ? limit : limit - 1
      case .allWithout(let order):
        if pieces.contains(where: { $0.order == order }) { last = order - 1 }
      }
      let arrived = pieces.filter { $0.order <= last }
      for piece in arrived { put(piece, &image.blocks) }
      if arrived.isEmpty, group * sectors >= file.byteCount, sectors >= Self.sectorByteCount {
        spoil(group * sectors, sectors, &image, &random)
      }
    }
    return image
  }

  /// The writes by the units that the medium writes at once, in the order of the file.
  private func grouped(_ pieces: [Int: [Piece]], _ sectors: Int) -> [(Int, [Piece])] {
    if sectors < Self.sectorByteCount { return torn(pieces, sectors) }
    var groups: [Int: [Piece]] = [:]
    for (sector, some) in pieces {
      groups[sector * Self.sectorByteCount / sectors, default: []] += some
    }
    return groups.sorted { $0.key < $1.key }.map { number, some in
      (number, some.sorted { ($0.order, $0.offset) < ($1.order, $1.offset) })
    }
  }

  /// The same for less than a sector: no medium does this. It tests the checks.
  private func torn(_ pieces: [Int: [Piece]], _ sectors: Int) -> [(Int, [Piece])] {
    var groups: [Int: [Piece]] = [:]
    for piece in pieces.values.joined() {
      for skipped in stride(from: 0, to: piece.range.count, by: sectors) {
        let start = piece.range.lowerBound + skipped
        groups[(piece.offset + skipped) / sectors, default: []].append(
          Piece(
            order: piece.order, offset: piece.offset + skipped,
            range: start..<min(start + sectors, piece.range.upperBound)))
      }
    }
    return groups.sorted { $0.key < $1.key }.map { number, some in
      (number, some.sorted { $0.order < $1.order })
    }
  }

  /// Behind the end that the file had, a sector that was not written may have what was on the disk
  /// there before: other bytes of the store, as likely as zeros.
  private func spoil(
    _ offset: Int, _ count: Int, _ image: inout CrashImage, _ random: inout StressRandom
  ) {
    guard random.chance(50), let other = image.blocks[random.below(image.blocks.count + 1)]
    else { return }
    let number = offset / Self.blockByteCount
    let start = offset % Self.blockByteCount
    image.blocks[number, default: Self.zeros].replaceSubrange(
      start..<start + count, with: other[start..<start + count])
  }
}

/// A file as a power failure leaves it.
struct CrashImage {
  /// By number; those that are missing are zeros.
  var blocks: [Int: [UInt8]]
  var byteCount: Int

  /// Writes it to a new file.
  func write(to path: String) throws {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw CocoaError(.fileWriteUnknown) }
    defer { close(file) }
    var start = 0
    var run: [UInt8] = []
    func flush() {
      let count = min(run.count, max(0, byteCount - start))
      _ = run.withUnsafeBytes { pwrite(file, $0.baseAddress, count, off_t(start)) }
      run.removeAll(keepingCapacity: true)
    }
    for (number, bytes) in blocks.sorted(by: { $0.key < $1.key }) {
      let offset = number * CrashDisk.blockByteCount
      if offset != start + run.count {
        flush()
        start = offset
      }
      run += bytes
    }
    flush()
    guard ftruncate(file, off_t(byteCount)) == 0 else { throw CocoaError(.fileWriteUnknown) }
  }
}
