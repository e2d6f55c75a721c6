internal import CTarn
internal import Glibc

/// A record of the file that a store is in. It shows that another program, such as `cp`, has copied
/// the file, once the copy is opened for writing.
///
/// It is in the part of the first header page that LMDB never writes, within one sector, so that a
/// power failure leaves all of it or nothing. An opener for writing adds it to files without one:
/// new stores, those of older libraries, and copies made by this one.
///
/// A file is identified by its inode and the time of its creation. Both stay as they are when the
/// file is written, renamed or linked. A copy has others, and so has a file that was moved to
/// another file system: the two cannot be distinguished. Clones of whole disks and file systems
/// have the same ones, and a file that is overwritten with a copy keeps its own, so neither is
/// noticed.
///
/// So this is information for people. Nothing depends on it: a consumer that continues from a
/// position compares version and commit id with the file.
///
/// At byte 1,024, little endian:
///
///      0  u64 magic          8  u32 format         12  u32 0
///     16  the file          40  the file that it was copied from, or zero
///     64  i64 time at which that was noticed, in microseconds since 1970
///     72  u32 0             76  u32 CRC-32C of all before it
///
/// A file is u64 inode, i64 seconds, u32 nanoseconds, u32 0.
struct FileStamp: Equatable {
  struct File: Equatable {
    var inode: UInt64 = 0
    var seconds: Int64 = 0
    var nanoseconds: UInt32 = 0

    /// Nil where inodes or times of creation do not last as long as the file, as on many network
    /// file systems.
    static func of(_ descriptor: Int32) -> File? {
      var file = File()
      let isKnown = unsafe tarn_file_birth(
        descriptor, &file.inode, &file.seconds, &file.nanoseconds)
      return isKnown ? file : nil
    }
  }

  var file: File
  var notice: CopyNotice?

  static let offset = 1024
  static let byteCount = 80
  /// The smallest pages whose rest has room for it.
  static let pageByteCountMin = 2048
  static let magic: UInt64 = 0x706d_6174_536e_7254
  static let format: UInt32 = 1
  private static let sumAt = 76

  /// The result of comparing the stamp with the file, when a file is opened.
  struct Finding: Equatable {
    var notice: CopyNotice?
    /// Whether no earlier opener for writing has noticed it.
    var isNews = false
  }

  /// Compares the stamp with the file, and replaces it if it does not fit. A failure to do so must
  /// not keep anyone from opening the file.
  ///
  /// - Parameter writes: false to change nothing.
  static func check(_ descriptor: Int32, writes: Bool) -> Finding {
    guard let file = File.of(descriptor) else { return Finding() }
    var stamp = FileStamp(file: file)
    switch read(descriptor) {
    case .newer: return Finding()
    case .none: break
    case .stamp(let found) where found.file == file: return Finding(notice: found.notice)
    case .stamp(let found):
      stamp.notice = CopyNotice(inode: found.file.inode, time: now, file: found.file)
    }
    if writes { stamp.write(descriptor) }
    return Finding(notice: stamp.notice, isNews: stamp.notice != nil && writes)
  }

  enum Found: Equatable {
    /// No stamp, or a damaged one.
    case none
    /// One of a later library, which is left alone.
    case newer
    case stamp(FileStamp)
  }

  static func read(_ descriptor: Int32) -> Found {
    var bytes = [UInt8](repeating: 0, count: byteCount)
    let count = unsafe bytes.withUnsafeMutableBytes {
      unsafe pread(descriptor, $0.baseAddress, $0.count, off_t(offset))
    }
    guard count == byteCount else { return .none }
    return unsafe bytes.withUnsafeBytes { unsafe decode($0) }
  }

  private static func decode(_ bytes: UnsafeRawBufferPointer) -> Found {
    func load<T: FixedWidthInteger & BitwiseCopyable>(_ offset: Int) -> T {
      unsafe T(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: T.self))
    }
    func file(_ offset: Int) -> File {
      File(inode: load(offset), seconds: load(offset + 8), nanoseconds: load(offset + 16))
    }
    guard load(0) == magic else { return .none }
    let found: UInt32 = load(8)
    if found > format { return .newer }
    guard unsafe load(sumAt) == tarn_crc32c(bytes.baseAddress, sumAt) else { return .none }
    let (own, origin) = (file(16), file(40))
    let notice =
      origin == File() ? nil : CopyNotice(inode: origin.inode, time: load(64), file: origin)
    return .stamp(FileStamp(file: own, notice: notice))
  }

  private func write(_ descriptor: Int32) {
    var bytes = [UInt8](repeating: 0, count: Self.byteCount)
    unsafe bytes.withUnsafeMutableBytes { bytes in
      func store<T: FixedWidthInteger & BitwiseCopyable>(_ number: T, _ offset: Int) {
        unsafe bytes.storeBytes(of: number.littleEndian, toByteOffset: offset, as: T.self)
      }
      func store(_ file: File, _ offset: Int) {
        store(file.inode, offset)
        store(file.seconds, offset + 8)
        store(file.nanoseconds, offset + 16)
      }
      store(Self.magic, 0)
      store(Self.format, 8)
      store(file, 16)
      if let notice {
        store(notice.file, 40)
        store(notice.time, 64)
      }
      store(unsafe tarn_crc32c(bytes.baseAddress, Self.sumAt), Self.sumAt)
    }
    _ = unsafe bytes.withUnsafeBytes {
      unsafe pwrite(descriptor, $0.baseAddress, $0.count, off_t(Self.offset))
    }
  }

  private static var now: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }
}

/// A file is a copy that was made by other means than this library's, or was moved from another
/// file system.
package struct CopyNotice: Equatable, Sendable {
  /// The inode of the file before.
  package let inode: UInt64
  /// When an opener noticed it, in microseconds since 1970.
  package let time: Int64
  let file: FileStamp.File
}
