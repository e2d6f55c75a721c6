internal import CTarn
internal import Glibc

/// Opens a signal file: create, lock the byte of initialisation, check, repair if no process is
/// alive, map, take a slot, unlock. A process killed in between leaves either no magic, and the
/// next one starts over, or a valid file.
///
/// The signal file of an unused store also shows whether its name is durable: the process that made
/// or replaced the data may have died before it synced the folder. So the first opener of data that
/// the signal file does not name syncs the folder before it names them.
@safe struct SignalOpening {
  let descriptor: Int32
  let base: UnsafeMutableRawPointer
  let identity: FileIdentity
  let slot: Int

  /// The byte of initialisation stays locked until `finish`.
  ///
  /// - Parameters:
  ///   - facts: the data file, whose permissions it gets; nil for a file without a name, which only
  ///     this process uses.
  ///   - syncsName: whether the name of a data file that is new here is made durable.
  static func open(
    path: String, data: FileIdentity, lock: FileIdentity, like facts: FileFacts?,
    deadline: Deadline, syncsName: Bool
  ) throws(StorageError) -> SignalOpening {
    let fields = [data.device, data.inode, lock.device, lock.inode]
    while true {
      let file =
        if let facts { try CompanionFile.open(.signal, at: path, like: facts) } else {
          try NamelessFiles.inMemory(for: path)
        }
      let descriptor = file.release()
      do throws(StorageError) {
        let isNamed = facts != nil
        try begin(descriptor, path, deadline)
        let opening = try prepare(
          descriptor, path, fields, isNamed: isNamed, syncsName: isNamed && syncsName)
        if let opening { return opening }
        tarn_unlock_and_close(descriptor)
      } catch {
        tarn_unlock_and_close(descriptor)
        throw error
      }
    }
  }

  static func finish(_ opening: SignalOpening) {
    _ = tarn_unlock(opening.descriptor, SignalLayout.initLockByte, 1)
  }

  /// Locks the byte of initialisation.
  ///
  /// Errors: `.busy` at the deadline.
  private static func begin(
    _ descriptor: Int32, _ path: String, _ deadline: Deadline
  ) throws(StorageError) {
    var result = tarn_close_in_child(descriptor)
    if result == 0 {
      let isDecided = deadline.wait {
        result = tarn_lock_exclusive(descriptor, SignalLayout.initLockByte, 1)
        return result != EAGAIN && result != EACCES
      }
      if !isDecided {
        let facts = FileFacts.of(descriptor: descriptor)
        throw LockFile.busy(facts, at: SignalLayout.initLockByte, path)
      }
    }
    if result != 0 { throw StorageError(errno: result, operation: "open", path: path) }
  }

  /// Nil if the file was removed meanwhile.
  private static func prepare(
    _ descriptor: Int32, _ path: String, _ fields: [UInt64], isNamed: Bool, syncsName: Bool
  ) throws(StorageError) -> SignalOpening? {
    let facts = try FileFacts.known(of: descriptor, path, "open")
    if isNamed, try !FileFacts.leads(path, to: facts.identity, "open") { return nil }
    FaultPoint.hit("signal.locked")
    let isInUse =
      tarn_is_locked_elsewhere(
        descriptor, SignalLayout.processLockByte, Int64(SignalLayout.processCount)) != 0
    if isInUse {
      let found = try state(of: descriptor, facts, fields, path)
      if found != .right { throw refusal(found, path) }
    } else {
      if syncsName, try state(of: descriptor, facts, fields, path) != .right { try syncName(path) }
      // Its contents are obsolete: a counter with a flipped bit would hide later versions.
      try initialise(descriptor, path, fields)
    }
    let base = unsafe try map(descriptor, path)
    guard let slot = unsafe takeSlot(descriptor, base) else {
      unsafe munmap(base, SignalLayout.byteCount)
      throw StorageError(
        .limitExceeded, operation: "open", path: path,
        detail: "\(SignalLayout.processCount) processes have the store open")
    }
    return unsafe SignalOpening(
      descriptor: descriptor, base: base, identity: facts.identity, slot: slot)
  }

  /// A folder that cannot be read cannot be synced either. The store opens nevertheless.
  private static func syncName(_ path: String) throws(StorageError) {
    do throws(StorageError) {
      try FilePaths.syncFolder(of: path, operation: "open")
    } catch {
      if error.code != .permissionDenied { throw error }
    }
  }

  /// With a separate file description: a mapping keeps its description alive, and a forked child
  /// inherits mappings. The description that holds the locks must go when this process ends.
  private static func map(
    _ descriptor: Int32, _ path: String
  ) throws(StorageError) -> UnsafeMutableRawPointer {
    let other: OwnedDescriptor
    do throws(StorageError) {
      other = try OwnedDescriptor(
        opening: "/proc/self/fd/\(descriptor)", flags: O_RDWR, operation: "open")
    } catch {
      var error = error
      error.path = path
      throw error
    }
    let map = unsafe mmap(
      nil, SignalLayout.byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, other.raw, 0)
    guard let base = unsafe map, unsafe base != MAP_FAILED else {
      throw StorageError(errno: errno, operation: "open", path: path)
    }
    return unsafe base
  }

  private enum State { case right, ofAnotherStore, senseless, newer }

  private static func state(
    of descriptor: Int32, _ facts: FileFacts, _ fields: [UInt64], _ path: String
  ) throws(StorageError) -> State {
    var header = [UInt64](repeating: 0, count: 6)
    var count = -1
    repeat {
      count = unsafe header.withUnsafeMutableBytes {
        unsafe pread(descriptor, $0.baseAddress, $0.count, 0)
      }
    } while count < 0 && errno == EINTR
    guard count >= 0 else {
      throw StorageError(errno: errno, operation: "open", path: path, call: "pread")
    }
    guard count == 48, header[0] == SignalLayout.magic else { return .senseless }
    if UInt32(truncatingIfNeeded: header[1]) != SignalLayout.format { return .newer }
    guard header[1] >> 32 == UInt64(SignalLayout.byteCount),
      facts.byteCount == SignalLayout.byteCount
    else { return .senseless }
    return Array(header[2...]) == fields ? .right : .ofAnotherStore
  }

  private static func refusal(_ state: State, _ path: String) -> StorageError {
    switch state {
    case .ofAnotherStore, .right:
      StorageError(
        .replaced, operation: "open", path: path,
        detail: "the store was replaced while other processes have the one before it open;"
          + " end those first")
    case .newer:
      StorageError(
        .newerFormat, operation: "open", path: path,
        detail: "a process with another version of this library has the store open")
    case .senseless:
      StorageError(
        .corrupted, operation: "open", path: path,
        detail: "the file that connects processes was overwritten while they use it; end them")
    }
  }

  /// No process is alive here. All bytes are written, so that a full disk is an error now and not a
  /// fatal signal when the mapping is touched.
  private static func initialise(
    _ descriptor: Int32, _ path: String, _ fields: [UInt64]
  ) throws(StorageError) {
    var words = [UInt64](repeating: 0, count: SignalLayout.byteCount / 8)
    // First, and not last: a process that dies while writing this must leave a file that is
    // recognized. The next opener finds no live process and writes it again.
    words[0] = SignalLayout.magic
    words[1] = UInt64(SignalLayout.format) | UInt64(SignalLayout.byteCount) << 32
    words.replaceSubrange(2..<6, with: fields)
    let count = unsafe words.withUnsafeBytes {
      unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0)
    }
    if count != words.count * 8 {
      throw StorageError(
        errno: count < 0 ? errno : SizeLimit.reason(forShortWriteTo: descriptor), operation: "open",
        path: path)
    }
    FaultPoint.hit("signal.written")
    if ftruncate(descriptor, off_t(SignalLayout.byteCount)) != 0 {
      throw StorageError(errno: errno, operation: "open", path: path)
    }
    FaultPoint.hit("signal.initialised")
  }

  private static func takeSlot(_ descriptor: Int32, _ base: UnsafeMutableRawPointer) -> Int? {
    func word(_ slot: Int) -> UnsafeMutableRawPointer {
      unsafe base + SignalLayout.processesAt + slot * SignalLayout.processByteCount
    }
    let slots = 0..<SignalLayout.processCount
    // Those without a process first: the kernel searches all locks of the file for each try.
    let empty = slots.lazy.filter { unsafe tarn_load32(word($0)) == 0 }
    let taken = slots.lazy.filter { unsafe tarn_load32(word($0)) != 0 }
    func take(_ slot: Int) -> Bool {
      tarn_lock_exclusive(descriptor, SignalLayout.processLockByte + Int64(slot), 1) == 0
    }
    guard let slot = empty.first(where: take) ?? taken.first(where: take) else { return nil }
    unsafe tarn_store32(word(slot), UInt32(bitPattern: getpid()))
    unsafe tarn_store64(word(slot) + 8, ProcessStatus.ownStartTime)
    return slot
  }
}
