internal import CTarn
internal import Glibc

/// A record in a file whose commits are not synced: whether all of its pages are on the disk.
///
/// It is set and synced before the first such commit, and removed by the last process that closes
/// the file, after a sync. So if it is there and no process has the file open, the last one was
/// killed. That does no harm while the pages are in the system's memory, which they are as long as
/// the system runs and the file system is mounted: the record has both. In another run, or through
/// another mount, pages may be missing, and the file must be checked before it is used.
///
/// It is in the unused rest of the first header page, like `FileStamp`, in a sector of its own. At
/// byte 1,536, little endian:
///
///      0  u64 magic          8  u32 format        12  u32 state
///     16  2 x u64 the run of the system           32  u64 the mount
///     40  u32 0             44  u32 CRC-32C of all before it
struct UseMark: Equatable {
  enum State: UInt32 {
    /// All pages are on the disk.
    case closed = 0
    /// Commits may be in memory alone.
    case inUse = 1
    /// Pages may be missing. Only a check of the whole file ends this.
    case uncertain = 2
  }

  /// A run of the system, and a mount in it.
  struct Place: Equatable {
    var run: (UInt64, UInt64) = (0, 0)
    var mount: UInt64 = 0

    static func of(_ descriptor: Int32) -> Place {
      Place(run: bootID, mount: tarn_mount_number(descriptor))
    }

    /// False if one of them is not known.
    static func == (a: Place, b: Place) -> Bool {
      a.run == b.run && a.mount == b.mount && a.mount != 0 && a.run != (0, 0)
    }

    /// Zeros if the system does not show it.
    private static let bootID: (UInt64, UInt64) = {
      let text = SystemLimit.text(of: "kernel/random/boot_id").filter { $0 != UInt8(ascii: "-") }
      guard text.count >= 32 else { return (0, 0) }
      func number(_ digits: ArraySlice<UInt8>) -> UInt64 {
        UInt64(String(decoding: digits, as: UTF8.self), radix: 16) ?? 0
      }
      return (number(text[0..<16]), number(text[16..<32]))
    }()
  }

  var state: State
  var place: Place

  static let offset = 1536
  static let byteCount = 48
  /// The smallest pages whose rest has room for it.
  static let pageByteCountMin = 2048
  private static let magic: UInt64 = 0x6573_556e_7261_5421
  private static let format: UInt32 = 1
  private static let sumAt = 44

  /// The mark of a file; closed if there is none. A damaged one counts as uncertain.
  static func read(_ descriptor: Int32) -> UseMark {
    let none = UseMark(state: .closed, place: Place())
    var bytes = [UInt8](repeating: 0, count: byteCount)
    let count = unsafe bytes.withUnsafeMutableBytes {
      unsafe pread(descriptor, $0.baseAddress, $0.count, off_t(offset))
    }
    guard count == byteCount, bytes.contains(where: { $0 != 0 }) else { return none }
    return unsafe bytes.withUnsafeBytes { bytes in
      func load<T: FixedWidthInteger & BitwiseCopyable>(_ offset: Int) -> T {
        unsafe T(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: T.self))
      }
      let sum: UInt32 = load(sumAt)
      guard load(0) == magic, load(8) == format, let state = State(rawValue: load(12)),
        unsafe sum == tarn_crc32c(bytes.baseAddress, sumAt)
      else { return UseMark(state: .uncertain, place: Place()) }
      return UseMark(state: state, place: Place(run: (load(16), load(24)), mount: load(32)))
    }
  }

  /// - Returns: a system error number, or 0.
  func write(_ descriptor: Int32) -> Int32 {
    var bytes = [UInt8](repeating: 0, count: Self.byteCount)
    let count = unsafe bytes.withUnsafeMutableBytes { bytes in
      func store<T: FixedWidthInteger>(_ number: T, _ offset: Int) {
        unsafe bytes.storeBytes(of: number.littleEndian, toByteOffset: offset, as: T.self)
      }
      store(Self.magic, 0)
      store(Self.format, 8)
      store(state.rawValue, 12)
      store(place.run.0, 16)
      store(place.run.1, 24)
      store(place.mount, 32)
      store(unsafe tarn_crc32c(bytes.baseAddress, Self.sumAt), Self.sumAt)
      return unsafe pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(Self.offset))
    }
    return count == Self.byteCount ? 0 : count < 0 ? errno : EIO
  }
}
