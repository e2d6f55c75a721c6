internal import CLMDB
internal import Glibc

/// LMDB's reader table: a slot for each read transaction of all processes, including those of dead
/// processes until they are cleared.
enum ReaderTable {
  struct Slot: Equatable {
    let processID: Int32
    /// The commit that it pins; nil for a pooled transaction.
    let transactionID: UInt64?
  }

  /// Takes no lock; a transaction that begins or ends meanwhile may be missing or included.
  ///
  /// LMDB: `mdb_reader_list`.
  static func slots(of handle: LMDBHandle) -> [Slot] {
    var text = ""
    unsafe withUnsafeMutablePointer(to: &text) { text in
      _ = unsafe mdb_reader_list(
        handle.raw,
        { line, context in
          guard let line = unsafe line, let context = unsafe context else { return 0 }
          unsafe context.assumingMemoryBound(to: String.self).pointee += String(cString: line)
          return 0
        }, text)
    }
    return parse(text)
  }

  /// The least id of a transaction in the table; nil without any. Like `slots`, but makes no texts:
  /// commits ask for it.
  static func oldest(of handle: LMDBHandle) -> UInt64? {
    var oldest = UInt64.max
    unsafe withUnsafeMutablePointer(to: &oldest) { oldest in
      _ = unsafe mdb_reader_list(
        handle.raw,
        { line, context in
          guard let line = unsafe line, let context = unsafe context else { return 0 }
          let oldest = unsafe context.assumingMemoryBound(to: UInt64.self)
          if let id = unsafe ReaderTable.transactionID(inLine: line) {
            unsafe oldest.pointee = unsafe min(oldest.pointee, id)
          }
          return 0
        }, oldest)
    }
    return oldest == .max ? nil : oldest
  }

  /// The third field of a line, if it is a number.
  static func transactionID(inLine line: UnsafePointer<CChar>) -> UInt64? {
    var (fields, isInField, id) = (0, false, UInt64?.none)
    var next = unsafe line
    while unsafe next.pointee != 0, unsafe next.pointee != CChar(UInt8(ascii: "\n")) {
      let byte = unsafe UInt8(bitPattern: next.pointee)
      unsafe next += 1
      if byte == UInt8(ascii: " ") {
        isInField = false
        continue
      }
      if !isInField { fields += 1 }
      isInField = true
      guard fields == 3 else { continue }
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
      id = (id ?? 0) &* 10 &+ UInt64(byte - UInt8(ascii: "0"))
    }
    return fields == 3 ? id : nil
  }

  /// LMDB's table as text: process id, thread, transaction id or "-".
  static func parse(_ text: String) -> [Slot] {
    text.splitASCII("\n").compactMap { line in
      let fields = line.splitASCII(" ")
      guard fields.count == 3, let processID = Int32(fields[0]) else { return nil }
      return Slot(processID: processID, transactionID: UInt64(fields[2]))
    }
  }

  /// The error of a reader if no slot is free.
  static func full(
    _ handle: LMDBHandle, _ lockPath: String, operation: String, path: String
  ) -> StorageError {
    let slots = slots(of: handle)
    let counts = Dictionary(slots.map { ($0.processID, 1) }, uniquingKeysWith: +)
    var detail =
      "all \(slots.count) read transactions that the processes share are in use"
    if let (id, count) = counts.max(by: { ($0.value, $0.key) < ($1.value, $1.key) }) {
      detail +=
        "; \(name(of: id, lockPath)) has \(count) of them. Let it release frozen Realms, or "
        + "end it"
    }
    return StorageError(.readersFull, operation: operation, path: path, detail: detail)
  }

  /// Outside its container, its id may be another process's; its lock identifies it.
  private static func name(of processID: Int32, _ lockPath: String) -> String {
    let byte = Int64(processID)
    let holder = FileFacts.at(lockPath).flatMap {
      LockHolders.of($0.identity, bytes: byte...byte).first
    }
    return holder?.description ?? "process \(processID)"
  }

  /// A killed process with this one's id leaves slots that are never cleared: LMDB takes the slots
  /// of its own id for its own. That happens where programs restart under the same id, like the
  /// first process of a container.
  static func hasSlots(of processID: Int32, _ handle: LMDBHandle) -> Bool {
    slots(of: handle).contains { $0.processID == processID }
  }
}
