internal import CTarn
internal import Glibc

/// Creates a store's file so that neither a kill nor a power cut at any moment leaves one that
/// cannot be opened, and so that processes that create one together get the same store.
///
/// LMDB builds every store in memory, together with its first content: only finished bytes are
/// written to a file, and no process adds a head record to a file that is already open.
///
/// - Without a file, the bytes are written to a nameless one and synced. Then it is linked to the
///   path, and the folder is synced: a file at the path is always complete. If another process was
///   faster, its file is opened. If this process dies before the folder is synced, the next opener
///   syncs it (`SignalOpening`).
/// - An existing empty file is kept. One process at a time writes into it, under a lock on a byte
///   far beyond the data: a mark, the content, the second header page, the first, each synced
///   before the next. The sector at the start of the first page completes the store. Until then
///   `StoreHeader` finds the mark and no store, and the next opener starts over. The mark is
///   removed when that sector is durable: other sectors may reach the disk before it. Zeros without
///   the mark are damage.
/// - If the file system has no nameless files, or cannot link them, an empty file is created, and
///   the store in it.
///
/// An empty file that a process has open as a store was truncated. No store is created in it,
/// because that process would continue with the old contents.
struct NewStore {
  let path: String
  let content: Environment.FirstContent?
  /// How long another process may take to create the store in the same file.
  var patience = Duration.seconds(10)

  /// Creates a file with a store at the path, or an empty file if the file system allows nothing
  /// else.
  ///
  /// - Returns: false if another process has created a file there meanwhile.
  func create() throws(StorageError) -> Bool {
    let nameless = unsafe FilePaths.folder(of: path).withPath {
      unsafe tarn_nameless_file($0, 0o666)
    }
    if nameless >= 0 {
      let file = OwnedDescriptor(adopting: nameless)
      try write(image(), to: file.raw, isNamed: false)
      FaultPoint.hit("new.written")
      if try link(file.raw) { return true }
      // The path may be a link whose target does not exist yet.
      if FileFacts.at(path) != nil { return false }
    }
    _ = try OwnedDescriptor(opening: path, flags: O_RDWR | O_CREAT, operation: "open")
    return true
  }

  private func link(_ file: Int32) throws(StorageError) -> Bool {
    let source = "/proc/self/fd/\(file)"
    let isLinked = unsafe path.withPath {
      unsafe linkat(AT_FDCWD, source, AT_FDCWD, $0, AT_SYMLINK_FOLLOW) == 0
    }
    guard isLinked else { return false }
    FaultPoint.hit("new.linked")
    guard let facts = FileFacts.of(descriptor: file) else {
      throw StorageError(errno: errno, operation: "create", path: path)
    }
    try CreatedFiles(data: facts.identity, path: path).keptOnlyIf { () throws(StorageError) in
      try FilePaths.syncFolder(of: path, operation: "create")
    }
    return true
  }

  /// Creates the store in an existing file without one, unless another process does so first.
  ///
  /// Errors: `.corrupted` if processes have the file open as a store; `.busy` if another process
  /// has been creating it for too long.
  func finish(_ file: Int32) throws(StorageError) {
    try lock(file)
    defer { _ = tarn_unlock(file, DataLocks.making, 1) }
    FaultPoint.hit("new.locked")
    guard try StoreHeader.read(descriptor: file, path: path) == nil else { return }
    try Self.refuseEmptied(file, path)
    do throws(StorageError) {
      try write(image(), to: file, isNamed: true)
    } catch {
      // Without the first header it was never a store.
      if try StoreHeader.read(descriptor: file, path: path) == nil { _ = ftruncate(file, 0) }
      throw error
    }
    try FilePaths.syncFolder(of: path, operation: "create")
  }

  /// - Throws: `.corrupted` if a process has the now empty file open as a store.
  static func refuseEmptied(_ file: Int32, _ path: String) throws(StorageError) {
    // In this order: a store that was created in between is open and is a store.
    guard tarn_is_locked_elsewhere(file, DataLocks.shared, 0) != 0,
      try StoreHeader.read(descriptor: file, path: path) == nil
    else { return }
    throw StoreHeader.corrupted(
      path,
      "it was emptied while processes have it open as a store; end them before a store is made "
        + "in it again"
    )
  }

  private func lock(_ file: Int32) throws(StorageError) {
    let start = ContinuousClock.now
    while true {
      let result = tarn_lock_exclusive(file, DataLocks.making, 1)
      if result == 0 { return }
      guard result == EAGAIN || result == EACCES else {
        throw StorageError(errno: result, operation: "open", path: path)
      }
      if ContinuousClock.now - start > patience {
        throw StorageError(
          .busy, operation: "open", path: path,
          detail: "another process has been creating the store in this file for \(patience)")
      }
      usleep(1000)
    }
  }

  // MARK: - Bytes

  private struct Image {
    let bytes: [UInt8]
    let pageSize: Int
  }

  /// A new store, built by LMDB in memory.
  private func image() throws(StorageError) -> Image {
    var options = EnvironmentOptions()
    options.durability = .relaxed
    options.mapByteCount = 1 << 20
    options.readerCount = 2
    let opened = try FileToOpen(inMemoryAt: .file(path)).open(options)
    let environment = Environment(opened: opened, options: options)
    defer { environment.shutDown() }
    if let content { try environment.write(content) }
    let byteCount = environment.statistics.fileByteCount
    require(
      byteCount <= StoreHeader.newPageCount * environment.pageSize,
      "internal error: a new store has \(byteCount) bytes")
    var bytes = [UInt8](repeating: 0, count: byteCount)
    let count = unsafe bytes.withUnsafeMutableBytes {
      unsafe pread(environment.descriptor, $0.baseAddress, $0.count, 0)
    }
    guard count == byteCount else {
      throw StorageError(errno: count < 0 ? errno : EIO, operation: "open", path: path)
    }
    return Image(bytes: bytes, pageSize: environment.pageSize)
  }

  private func write(
    _ image: Image, to file: Int32, isNamed: Bool
  ) throws(StorageError) {
    if isNamed { try putMark(file) }
    // So that a full disk is noticed before the content is written.
    let result = tarn_allocate(file, Int64(image.bytes.count))
    if result != 0 { throw StorageError(errno: result, operation: "open", path: path) }
    let (bytes, page) = (image.bytes, image.pageSize)
    try put(bytes[(2 * page)...], to: file, syncs: isNamed)
    FaultPoint.hit("new.content")
    try put(bytes[page..<2 * page], to: file, syncs: isNamed)
    FaultPoint.hit("new.secondHeader")
    let mark = StoreHeader.unfinishedMarkRange
    var first = bytes[..<page]
    if isNamed { first.replaceSubrange(mark, with: StoreHeader.unfinishedMark) }
    try put(first, to: file, syncs: true)
    FaultPoint.hit("new.firstHeader")
    if isNamed { try put(bytes[mark], to: file, syncs: false) }
  }

  private func putMark(_ file: Int32) throws(StorageError) {
    let mark = StoreHeader.unfinishedMark
    let bytes = [UInt8](repeating: 0, count: StoreHeader.unfinishedMarkRange.lowerBound) + mark
    try put(bytes[...], to: file, syncs: true)
    FaultPoint.hit("new.marked")
  }

  /// Writes these bytes of the image to the same offset of the file.
  private func put(
    _ bytes: ArraySlice<UInt8>, to file: Int32, syncs: Bool
  ) throws(StorageError) {
    let count = unsafe bytes.withUnsafeBytes {
      unsafe pwrite(file, $0.baseAddress, $0.count, off_t(bytes.startIndex))
    }
    guard count == bytes.count else {
      throw StorageError(
        errno: count < 0 ? errno : SizeLimit.reason(forShortWriteTo: file), operation: "open",
        path: path)
    }
    if syncs, fsync(file) != 0 {
      throw StorageError(errno: errno, operation: "open", path: path)
    }
  }
}
