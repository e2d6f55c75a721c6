/// The two files beside the data, and by what each is known.
enum CompanionKind {
  /// LMDB's table of readers. A new one has room for so many.
  case lock(readerCount: Int)
  /// Shared memory of the store's processes.
  case signal

  static let signalMagic: UInt64 = 0x3147_4953_4e52_4154  // "TARNSIG1"
  static let signalByteCount = 16384
  /// In the first four bytes of every lock file of LMDB's.
  private static let lockMagic: UInt32 = 0xBEEF_C0DE

  var ending: String {
    switch self {
    case .lock: "-lock"
    case .signal: "-signal"
    }
  }

  /// The length of a new one.
  var byteCount: Int64 {
    switch self {
    // LMDB's own sum: a header of three lines of cache, a line for each reader but one.
    case .lock(let readerCount): Int64(readerCount - 1) * 64 + 192
    case .signal: Int64(Self.signalByteCount)
    }
  }

  /// What a file that exists turns out to be.
  enum Content { case blank, known, foreign }

  /// How much of a file's start `content` looks at.
  static let startByteCount = 4096

  /// Blank is also a file of zeros: its maker died before anything was written, or the machine did.
  ///
  /// - Parameters:
  ///   - start: its first bytes, `startByteCount` of them if it has so many.
  ///   - byteCount: the length of the whole file.
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
  /// make longer signal files, which say so themselves.
  private func isLength(_ byteCount: Int64, _ start: [UInt8]) -> Bool {
    switch self {
    case .lock: return byteCount >= 192 && byteCount % 64 == 0 && byteCount <= 1 << 30
    case .signal:
      let said = start.dropFirst(12).prefix(4).reversed().reduce(Int64(0)) { $0 << 8 | Int64($1) }
      return said == byteCount
    }
  }
}
