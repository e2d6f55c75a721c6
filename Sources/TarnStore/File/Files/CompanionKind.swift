/// The two files next to the data, and how each is recognized.
enum CompanionKind {
  /// LMDB's reader table. A new one has that many slots.
  case lock(readerCount: Int)
  /// Shared memory of the store's processes.
  case signal

  static let signalMagic: UInt64 = 0x3147_4953_4e52_4154  // "TARNSIG1"
  static let signalByteCount = 16384
  /// The first four bytes of each of LMDB's lock files.
  private static let lockMagic: UInt32 = 0xBEEF_C0DE

  var ending: String {
    switch self {
    case .lock: "-lock"
    case .signal: "-signal"
    }
  }

  /// The length of a new file.
  var byteCount: Int64 {
    switch self {
    // LMDB's formula: a header of three cache lines, and a line for each reader but one.
    case .lock(let readerCount): Int64(readerCount - 1) * 64 + 192
    case .signal: Int64(Self.signalByteCount)
    }
  }

  /// The contents of an existing file.
  enum Content { case blank, known, foreign }

  /// How many bytes at the start `content` reads.
  static let startByteCount = 4096

  /// A file of zeros is also blank: its creator, or the machine, died before writing it.
  ///
  /// - Parameters:
  /// - start: its first bytes, `startByteCount` of them if it has that many.
  /// - byteCount: the length of the whole file.
  func content(start: [UInt8], byteCount: Int64) -> Content {
    guard Int64(start.count) == min(byteCount, Int64(Self.startByteCount)) else { return .foreign }
    if start.allSatisfy({ $0 == 0 }) {
      return byteCount <= self.byteCount || isLength(byteCount, start) ? .blank : .foreign
    }
    let magic = start.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let isOurs =
      switch self {
      case .lock: UInt32(truncatingIfNeeded: magic) == Self.lockMagic
      case .signal: magic == Self.signalMagic
      }
    return isOurs && isLength(byteCount, start) ? .known : .foreign
  }

  /// The first process decides how many readers a table has; another version of this library may
  /// create longer signal files, which contain their length.
  private func isLength(_ byteCount: Int64, _ start: [UInt8]) -> Bool {
    switch self {
    case .lock: return byteCount >= 192 && byteCount % 64 == 0 && byteCount <= 1 << 30
    case .signal:
      let said = start.dropFirst(12).prefix(4).reversed().reduce(Int64(0)) { $0 << 8 | Int64($1) }
      return said == byteCount
    }
  }
}
